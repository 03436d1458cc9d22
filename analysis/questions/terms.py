"""The terms of a question: names in code and words, in English and in Chinese, with what stands for them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from analysis.questions.intent import references_in
from analysis.search.words import UNSPACED, is_common, names, searchable, split_words, stem
from analysis.wordlists import wordlist

STOPWORDS = wordlist("stopwords")
_NAME_WEIGHT, _PART_WEIGHT, _NUMBER_WEIGHT, _RUN_WEIGHT = 1.5, 0.4, 0.7, 0.3
_SYNONYM = 0.6  # weight of a synonym, relative to the word
_MIN_NAME = 3  # letters and digits of a name
_MIN_RARE = 5  # letters of a word that says what is asked about, if few texts have it

_WHOLE = re.compile(r"(?:(?<![\w./])/|-{0,2})[A-Za-z_][\w./-]*\w/?|\d[\w.]*", re.ASCII)
_NAME = re.compile(r"[_./]|^-|[A-Za-z][a-z]+[A-Z]|[A-Z]{2,}[a-z]{2,}")  # code, not a hyphenated word
_ACRONYM = re.compile(r"^(?:[a-z]?[A-Z]{2,}\w*|\w*[A-Za-z]\d\w*)$", re.ASCII)
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:[-./][A-Za-z_]\w*)+", re.ASCII)
_RUN = re.compile(rf"{UNSPACED}{{2,}}")
_SPACED_RUN = re.compile(rf"{UNSPACED}(?: *{UNSPACED})+")  # as the index keeps them
_HAN_STOPWORDS = re.compile(
    r"什么|怎么|如何|为什么|为何|是否|哪些|哪个|多少|会不会|能不能|有没有|要不要|是不是|可以|我们|你们|他们|这个|那个|这次|提交|改动|修改|变更|影响|需要|一下|今天|昨天|请问"
    r"|现在|还是|告诉|知道|吗|呢|的|了|和|与|在|对|把|被|是|有|要|会|能|吧|啊|里|上|中|不|为|用|时|当|改|成|让"
)
_CODE = re.compile(r"`([\w.-]+)`")


class QuestionTerm(NamedTuple):
    """A word or name that a question asks for, as written, and the words that stand for it with their weights.

    Terms that are `telling` (names, words of the field and rare words) prove by their absence that a diff is about something
    else; others may be missing only because the author used another word.
    """

    text: str
    words: Mapping[str, float]
    weight: float = 1.0
    telling: bool = False

    @property
    def is_plain_flag(self) -> bool:
        """Return whether the term is a flag of one word, which without its dashes may mean anything."""
        return self.text.startswith("--") and self.text[2:].isalnum()


def terms_of(text: str) -> tuple[QuestionTerm, ...]:
    """Return the terms of a text; references to commits are none: they say which is meant, not what is asked about it."""
    for reference in references_in(text):
        text = re.sub(re.escape(reference), " ", text, flags=re.IGNORECASE)
    found: dict[str, QuestionTerm] = {}
    for match in _WHOLE.finditer(text):
        for term in _latin_terms(match[0].rstrip("./-")):
            found.setdefault(term.text.lower(), term)
    for term in _chinese_terms(text):
        found.setdefault(term.text, term)
    return tuple(found.values())


def names_in(question: str) -> tuple[str, ...]:
    """Return the names in a question, as written: symbols, flags and paths, and what is quoted as code.

    Such as `threading.Lock`, `--foo` and `pkg/core/`.
    """
    for reference in references_in(question):
        question = question.replace(reference, " ")
    found = (match[0] for match in _WHOLE.finditer(question))
    return tuple(
        dict.fromkeys((*_CODE.findall(question), *(each for each in found if is_name(each) and each[-1] != "_")))
    )


def is_name(word: str) -> bool:
    """Return whether a word can only be a name in code."""
    return bool(_NAME.search(word)) and not word[0].isdigit() and len(re.sub(r"\W", "", word)) >= _MIN_NAME


def name_key(name: str) -> str:
    """Return the form in which spellings of a name are equal: `--kv-cache`, `kv_cache` and `KVCache` give kvcache."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _latin_terms(word: str) -> Iterator[QuestionTerm]:
    if word[0].isdigit():
        yield QuestionTerm(word, {word.lower(): 1.0}, _NUMBER_WEIGHT)
    elif is_name(word):
        last = re.split(r"[./]", word.strip("/"))[-1] if "/" not in word else word.rstrip("/").rpartition("/")[2]
        yield QuestionTerm(word, {name_key(last): 1.0, name_key(word): 1.0}, _NAME_WEIGHT, telling=True)
        for part in _parts(word):
            yield QuestionTerm(part, _with_synonyms(part), _PART_WEIGHT)
    elif word.lower() not in STOPWORDS and len(word) > 1:
        for part in split_words(word):
            rare = part.isalpha() and len(part) >= _MIN_RARE and not is_common(part)
            known = part not in _COMMON and (part in _table("synonyms") or rare)
            acronym = bool(_ACRONYM.match(word)) and len(part) > 1
            if part not in STOPWORDS and len(part) > 1:
                yield QuestionTerm(word if acronym else part, _with_synonyms(part), 1.0, telling=known or acronym)


def _chinese_terms(text: str) -> Iterator[QuestionTerm]:
    """Yield the field's terms, longest first, and what else is Chinese as pairs of characters."""
    table = _table("chinese_terms")
    for term in sorted(table, key=lambda each: (-len(each), each)):
        if term in text:
            words = {stem(word): 1.0 for word in table[term]}
            pairs = {name_key(word): 1.0 for word in table[term] if "_" in word}
            yield QuestionTerm(term, {**words, **pairs, **_pairs(term)}, telling=term not in _COMMON)
            text = text.replace(term, " ")
    for run in _RUN.findall(_HAN_STOPWORDS.sub(" ", text)):
        yield QuestionTerm(run, _pairs(run), _RUN_WEIGHT)


def words_of(text: str) -> frozenset[str]:
    """Return the words by which a text is found: stems of its words and of the parts of its names, and the names whole."""
    text = unicodedata.normalize("NFKC", text)  # full-width letters are letters
    words = {stem(word) for word in split_words(searchable(text))}
    return frozenset(
        words
        | {name_key(each) for each in (*names(text), *_CHAIN.findall(text))}
        | {pair for run in _SPACED_RUN.findall(text) for pair in _pairs(run.replace(" ", ""))}
    )


def _pairs(run: str) -> dict[str, float]:
    return {run[place : place + 2]: 0.5 for place in range(len(run) - 1)}


def _parts(name: str) -> list[str]:
    words = split_words(searchable(name))
    return [word for word in dict.fromkeys(words) if len(word) > 1 and word not in STOPWORDS and word != name.lower()]


def _with_synonyms(word: str) -> Mapping[str, float]:
    synonyms = {stem(each): _SYNONYM for each in _table("synonyms").get(word, ())}
    return MappingProxyType({**synonyms, stem(word): 1.0})


@cache
def _table(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return a word list whose lines are a word and those that stand for it."""
    rows: Iterable[list[str]] = (line.split() for line in wordlist(name))
    return {first: tuple(others) for first, *others in rows}


# Words of the tables that any diff may use or leave out.
_COMMON = wordlist("common_terms")
