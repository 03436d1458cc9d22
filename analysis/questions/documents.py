"""The searchable documents of a commit, one list: facts, changed lines, the author's sentences and other metadata."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.diff import DiffLine, headed_hunks
from analysis.grounding.plain_text import plain_text, sentences
from analysis.instructions import without_instructions
from analysis.locale import catalogue
from analysis.models import Commit, Entry, Fact, FileChange, Language
from analysis.paths import Kind, kind
from analysis.questions.metadata import Record, records
from analysis.questions.query import name_key, stem
from analysis.search.words import names, searchable, split_words
from analysis.writing.fact_sentences import FACT_SENTENCES

_NEIGHBOURS = ((1, 0.35), (2, 0.2))  # lines from a line, and the weight of their words
_PATH, _AROUND = 0.4, 0.25  # weights of a line's path, and of the definition that it is in
_FACTORS = {
    Kind.TEST: 0.6,
    Kind.CI: 0.7,
    Kind.DOCS: 0.8,
    Kind.EXAMPLE: 0.7,
    Kind.DATA: 0.8,
    Kind.GENERATED: 0.2,
    Kind.VENDORED: 0.3,
}
_FACT, _RECORD, _PULL_TEXT = 1.2, 0.5, 0.8
_IMPORT, _CONTEXT, _TRIVIAL = 0.5, 0.2, 0.5  # of lines
_MAX_LINES = 20_000  # of a commit
_MESSAGE = 20_000  # characters
_MIN_TRIVIAL = 5  # characters of a line that says something
_IMPORTING = re.compile(r"^\s*(?:import|from)\s|^\s*#include|^\s*\w+,?$")
_TRAILER = re.compile(r"^[\w-]+-by:.*$|^<!--.*?-->|^\s*[-*] \[[ xX]\].*$", re.IGNORECASE | re.MULTILINE)
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:[-./][A-Za-z_]\w*)+", re.ASCII)
_DEFINITION = re.compile(r"^\s*(?:async )?(?:class|def|func|fn|struct|enum|interface)\s+\w")
_SIGNS = {"-": frozenset({"remov"}), "+": frozenset({"add"})}  # what a changed line is found by, too


class Line(NamedTuple):
    """The place of a line in a commit's diff."""

    file: FileChange
    hunk: tuple[DiffLine, ...]
    place: int

    @property
    def line(self) -> DiffLine:
        return self.hunk[self.place]


class Sentence(NamedTuple):
    """A sentence of the commit's author."""

    text: str


Item = Fact | Record | Line | Sentence


class Document(NamedTuple):
    """Something that can be found: its words, those that stand around it with their weights, and a factor of its score."""

    item: Item
    own: frozenset[str]
    around: tuple[tuple[frozenset[str], float], ...] = ()
    factor: float = 1.0

    def occurrences(self, word: str) -> float:
        """Return how often a word occurs, once if it is the document's own, and in fractions around it."""
        return (word in self.own) + sum(weight for words, weight in self.around if word in words)

    def has_any(self, words: Collection[str]) -> bool:
        """Return whether one of the words occurs in the document or around it."""
        return not self.own.isdisjoint(words) or any(not each.isdisjoint(words) for each, _ in self.around)


def documents_of(entry: Entry, language: Language) -> list[Document]:
    """Return what can be found of a commit; an analysis is not, since what a model wrote proves nothing."""
    known, english = records(entry, language), records(entry, "en")
    return [
        *map(_fact_document, entry.facts),
        *(_text_document(each, f"{each.text} {same.text}", _RECORD) for each, same in zip(known, english, strict=True)),
        *_author_documents(entry.commit),
        *_line_documents(entry.commit),
    ]


@lru_cache(maxsize=65536)
def words_of(text: str) -> frozenset[str]:
    """Return the words by which a text is found: stems of its words and of the parts of its names, and the names whole."""
    words = {stem(word) for word in split_words(searchable(text))}
    return frozenset(words | {name_key(each) for each in (*names(text), *_CHAIN.findall(text))} | {*_han_pairs(text)})


def vocabulary(documents: Iterable[Document], commit: Commit) -> frozenset[str]:
    """Return all words of a commit: of its documents, its paths, and the context of its diff."""
    found: set[str] = set()
    for document in documents:
        found |= document.own
    for file in commit.files:
        found |= words_of(f"{file.path} {file.previous_path or ''}")
        for hunk in headed_hunks(file.patch):
            found |= words_of(hunk.heading)
            for line in hunk.lines:
                if line.sign == " ":
                    found |= words_of(line.text)
    return frozenset(found)


def _text_document(item: Item, text: str, factor: float = 1.0, path: str = "") -> Document:
    return Document(item, words_of(text), ((words_of(path), _PATH),), factor)


def _fact_document(fact: Fact) -> Document:
    change = FACT_SENTENCES[fact.kind].named("", 1, catalogue("en"))
    text = f"{change} {fact.kind.value} {fact.name} {fact.old or ''} {fact.new or ''}"
    return _text_document(fact, text, _FACT, fact.path or "")


def _author_documents(commit: Commit) -> Iterator[Document]:
    """Yield the author's sentences: of the message, then of the pull request."""
    pull = commit.pull
    found = [(each, 1.0) for each in (commit.subject, *_sentences(_TRAILER.sub("", commit.body)[:_MESSAGE]))]
    if pull:
        found += [(each, _PULL_TEXT) for each in (pull.title, *_sentences(_TRAILER.sub("", pull.body)[:_MESSAGE]))]
    seen: list[str] = []
    for sentence, factor in found:
        if sentence == without_instructions(sentence) and not any(sentence in each for each in seen):
            seen.append(sentence)
            yield _text_document(Sentence(sentence), sentence, factor)


def _sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*#\d])", text):
        for sentence in map(str.strip, sentences(plain_text(paragraph))):
            if len(words_of(sentence)) > 1:
                yield sentence


def _line_documents(commit: Commit) -> Iterator[Document]:
    count = 0
    for file in commit.files:
        factor, path = _FACTORS.get(kind(file.path), 1.0), words_of(file.path)
        for hunk in headed_hunks(file.patch):
            words = [words_of(line.text) for line in hunk.lines]
            inside = {sign: words_of(hunk.heading) for sign in "+- "}
            for place, line in enumerate(hunk.lines):
                if count >= _MAX_LINES:
                    return
                if words[place]:
                    count += 1
                    beside = [(words[other], weight) for other, weight in _neighbours(hunk.lines, place)]
                    around = ((path, _PATH), (inside[line.sign], _AROUND), *beside)
                    own = words[place] | _SIGNS.get(line.sign, frozenset())
                    yield Document(Line(file, hunk.lines, place), own, around, factor * _line_factor(line))
                if _DEFINITION.match(line.text):
                    inside[line.sign] = words[place]


def _line_factor(line: DiffLine) -> float:
    factor = _CONTEXT if line.sign == " " else 1.0
    if _IMPORTING.match(line.text):
        factor *= _IMPORT
    return factor if len(line.text.strip()) >= _MIN_TRIVIAL else factor * _TRIVIAL


def _neighbours(lines: Sequence[DiffLine], place: int) -> Iterator[tuple[int, float]]:
    """Yield the places of the lines beside a line on its side of the diff, with their weights."""
    sign = lines[place].sign
    for apart, weight in _NEIGHBOURS:
        for other in (place - apart, place + apart):
            if 0 <= other < len(lines) and (sign == " " or lines[other].sign in (" ", sign)):
                yield other, weight


def _han_pairs(text: str) -> Iterator[str]:
    for run in re.findall(r"[\u4e00-\u9fff]{2,}", text):
        yield from (run[place : place + 2] for place in range(len(run) - 1))
