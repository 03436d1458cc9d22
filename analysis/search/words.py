"""The indexed form of texts and commits, the names in code, and BM25 over them.

Full-text tokenizers split words at spaces and punctuation, so also at `_`. Chinese, Japanese and Korean have no spaces:
each character is indexed as a word. Names in camel case are indexed whole and in parts.

BM25 is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); of a text with fields,
the frequency of a word is the weighted sum of those in its fields (section 3.6).
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import NamedTuple, TypeVar

from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.wordlists import wordlist

T = TypeVar("T")

VERSION = 3  # raised when other words of a commit are indexed, or in another form

# A character of kana, Han or Hangul, which are indexed one by one.
UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_CJK = re.compile(f"({UNSPACED})")
_CAMEL = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])[A-Za-z][A-Za-z0-9]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
# A flag is one name; a hash, a base64 string and other long runs are none.
_NAME = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{1,79}(?![\w-])|(?<!\w)[A-Za-z_]\w{1,79}(?!\w)", re.ASCII)
_WORD = re.compile(r"[^\W_]+")

_MIN_STEM = 3  # letters
_MESSAGE = 20_000  # characters
_NAMES = 3_000  # of a commit's changed lines
TRAILER = re.compile(
    r"^(?:signed-off|co-authored|reviewed|acked|tested|reported|suggested)-by:.*$", re.IGNORECASE | re.MULTILINE
)
_HEADING = re.compile(r"^@@ .*? @@ ?")
_UNINDEXED = (Kind.GENERATED, Kind.VENDORED)


def searchable(text: str) -> str:
    """Return `text` in its indexed form: with spaced characters, and the parts of names in camel case at its end."""
    return " ".join([spaced(text), *_camel_parts(dict.fromkeys(_CAMEL.findall(text)))])


def spaced(text: str) -> str:
    """Return `text` with spaces around the characters of scripts that have none between words."""
    return _CJK.sub(r" \1 ", text)


def names(text: str) -> list[str]:
    """Return the names and flags in code, in order and with repetitions."""
    return _NAME.findall(text)


def without_accents(text: str) -> str:
    """Return a text in lower case without diacritics, as the search indexes compare it."""
    if text.isascii():
        return text.lower()
    letters = (each for each in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", "".join(letters))


def split_words(text: str) -> list[str]:
    """Return the words of a text in its indexed form, as a tokenizer splits them, in lower case."""
    return _WORD.findall(text.lower())


def _camel_parts(found: Iterable[str]) -> list[str]:
    parts = (_PARTS.findall(name) for name in found)
    return [" ".join(each) for each in parts if len(each) > 1]


@cache
def stem(word: str) -> str:
    """Return a lower-case English word without its ending, so that `removes`, `removed` and `removing` are one."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ings", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM and not word.endswith("ss"):
            bare = word[: -len(ending)]
            return bare[:-1] if len(bare) > _MIN_STEM and bare[-1] == bare[-2] and bare[-1] not in "ls" else bare
    return word


def is_common(word: str) -> bool:
    """Return whether any text may use a lower-case word, in whatever form."""
    return stem(word) in _common_stems()


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(map(stem, wordlist("common_words") | wordlist("stopwords")))


class CommitWords(NamedTuple):
    """Indexed texts of a commit; `code` has the names in its changed lines and in the headings of their hunks, each once."""

    title: str
    message: str
    paths: str
    code: str


def commit_words(commit: Commit) -> CommitWords:
    """Return what is indexed of a commit that was read; without patches no code is."""
    return CommitWords(
        title=searchable(commit.title),
        message=searchable(_message(commit)),
        paths=searchable(" ".join(_paths(commit))),
        code=searchable(" ".join(_changed_names(commit))),
    )


def are_all(words: CommitWords, commit: Commit) -> bool:
    """Return whether the indexed words are all of a commit (with patches) but its trailers."""
    is_cut = len(words.message) >= _MESSAGE or words.code.count(" ") >= _NAMES - 1
    return not is_cut and not lacks_patches(commit) and not any(kind(file.path) in _UNINDEXED for file in commit.files)


def may_hold_more(commit: Commit) -> bool:
    """Return whether a commit (without patches) may mention what its indexed words do not."""
    is_long = sum(file.size for file in commit.files) > _NAMES // 2 or sum(map(len, commit.texts)) > _MESSAGE
    return is_long or any(kind(file.path) in _UNINDEXED for file in commit.files)


def lacks_patches(commit: Commit) -> bool:
    """Return whether a file of a commit has changed lines that were not read, since GitHub leaves out large patches."""
    return any(file.size and not file.patch for file in commit.files)


def _paths(commit: Commit) -> Iterator[str]:
    """Yield the paths of the files, of moved ones the previous too."""
    for file in commit.files:
        yield file.path
        if file.previous_path and file.previous_path != file.path:
            yield file.previous_path


def _message(commit: Commit) -> str:
    texts = [commit.body, *((commit.pull.title, commit.pull.body) if commit.pull else ())]
    return TRAILER.sub("", "\n".join(dict.fromkeys(texts)))[:_MESSAGE]


def _changed_names(commit: Commit) -> list[str]:
    found: dict[str, None] = {}
    for file in commit.files:
        if kind(file.path) not in _UNINDEXED:
            for text in _changed_texts(file.patch or ""):
                found.update(dict.fromkeys(names(text)))
                if len(found) >= _NAMES:
                    return list(found)[:_NAMES]
    return list(found)


def _changed_texts(patch: str) -> Iterator[str]:
    """Yield the changed lines of a patch and the headings of its hunks. Every line is looked at: parsing takes ten times as long."""
    for line in patch.split("\n"):
        if line.startswith(("+", "-")):
            yield line[1:]
        elif line.startswith("@@"):
            yield _HEADING.sub("", line)


class IndexedCommit(NamedTuple):
    """A commit to be ranked, with its words in their indexed form (`analysis.search.words`) and its summaries."""

    id: int
    committed_at: datetime
    title: str
    message: str
    paths: str
    code: str
    summary: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The words by field, from the title to the summary."""
        return self[2:]


def idf(held: float, among: float) -> float:
    """Return the inverse document frequency of a word that `held` of `among` documents hold; positive."""
    return math.log(1 + max(0.0, among - held + 0.5) / (held + 0.5))


def saturated(frequency: float, length: float, k1: float, b: float) -> float:
    """Return what a word's frequency in a document counts, at most k1 + 1; `length` is that of the document by the mean's."""
    return frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length))


def score(counts: Mapping[T, float], weights: Mapping[T, float], length: float, k1: float, b: float) -> float:
    """Return the score of a document with so many of each word, of so much weight; `length` as in `saturated`."""
    return sum(weights[word] * saturated(count, length, k1, b) for word, count in counts.items())
