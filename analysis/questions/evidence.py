"""The evidence of a commit for a question: its facts, the passages of its diff and its author's sentences, ranked by BM25.

Words of what a passage stands in, and of its path, count as fractions of an occurrence, as those of fields do.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.diff import headed_hunks
from analysis.grounding.plain_text import plain_text, sentences
from analysis.instructions import without_instructions
from analysis.locale import catalogue
from analysis.models import Commit, Entry, Fact, FactKind
from analysis.paths import Kind, kind
from analysis.questions.definitions import COMMENT, is_definition, spelled_in_code
from analysis.questions.kinds import QuestionKind
from analysis.questions.passages import Passage, passages, replaced
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import QuestionTerm, words_of
from analysis.search.words import idf, saturated
from analysis.writing.fact_sentences import FACT_SENTENCES

_K1, _B = 1.2, 0.35
_INSIDE = 0.35  # weight of what a passage stands in
_PATH = 0.4  # weight of a passage's path
_FACTORS = {
    Kind.TEST: 0.45,
    Kind.CI: 0.7,
    Kind.DOCS: 0.8,
    Kind.EXAMPLE: 0.7,
    Kind.DATA: 0.8,
    Kind.GENERATED: 0.2,
    Kind.VENDORED: 0.3,
}
_FACT, _TITLE, _PULL_TEXT = 1.5, 0.7, 0.8
_IMPORT, _COMMENT, _GONE = 0.5, 0.9, 0.7  # of passages; what is gone answers few questions of what is now
_DEFINITION = 1.25  # factor of a line that defines a name in the question
_ASKED_FACT = 2.0  # what a fact of a kind that is asked for is worth, in terms that one document has
_REASON = 1.5  # factor of an author's sentence where the reason is asked for
_OF_OTHERS = 0.25  # share of that for a fact of another name than the question's
_ABSENT = 0.3  # weight of a word that nothing in the commit has, and that the author may only have put differently
_EARLIER = 0.3  # weight of what was said before, relative to a question that names something itself
_WEAK = 0.25  # share of the best score below which a hit is noise
_PER_KIND = 2  # facts of a kind, and the author's sentences, that are found at most
_MAX_LINES = 20_000  # of a commit
_MESSAGE = 20_000  # characters
_IMPORTING = re.compile(r"^\s*(?:import|from)\s|^\s*#include|^\s*\w+,?$")
_NO_SENTENCES = re.compile(r"^[\w-]+-by:.*$|^<!--.*?-->|^\s*[-*] \[[ xX]\].*$", re.IGNORECASE | re.MULTILINE)
_SIGNS = {"-": frozenset({"remov"}), "+": frozenset({"add"})}  # what a changed line is found by, too

_OF_THE_PAST = frozenset({QuestionKind.REMOVAL, QuestionKind.BEFORE, QuestionKind.REPLACEMENT})

_words = lru_cache(maxsize=65536)(words_of)  # of lines, which many questions ask for


class CommitDocument(NamedTuple):
    """What can be found of a commit: its words, those that stand around it with their weights, and a factor of its score.

    A text is a sentence of the commit's author.
    """

    item: Fact | Passage | str
    own: frozenset[str]
    around: tuple[tuple[frozenset[str], float], ...] = ()
    factor: float = 1.0

    def occurrences(self, word: str) -> float:
        """Return how often a word occurs, once if it is the document's own, and in fractions around it."""
        return (word in self.own) + sum(weight for words, weight in self.around if word in words)

    def has_any(self, words: Collection[str]) -> bool:
        """Return whether one of the words occurs in the document or around it."""
        return not self.own.isdisjoint(words) or any(not each.isdisjoint(words) for each, _ in self.around)


class Hit(NamedTuple):
    """A document that was found, with its score and the share of the question's terms that it has."""

    document: CommitDocument
    score: float
    share: float


class EvidenceFound(NamedTuple):
    """The hits, the best first; the terms that nothing in the commit mentions, and the others; whether a text of it is missing."""

    hits: Sequence[Hit]
    absent: Sequence[QuestionTerm]
    present: Sequence[QuestionTerm]
    share: float
    complete: bool


def search(entry: Entry, asked: ParsedQuestion, limit: int) -> EvidenceFound:
    """Return the best matching documents of a commit, at most two facts of a kind and two of the author's sentences."""
    documents = _documents_of(entry)
    held = _vocabulary(documents, entry.commit)
    absent = [term for term in asked.terms if held.isdisjoint(term.words)]
    present = [term for term in asked.terms if not held.isdisjoint(term.words)]
    ranked = _ranked(documents, asked, held, len(asked.terms) or len(asked.earlier))
    hits = _chosen((hit for hit in ranked if hit.score >= _WEAK * ranked[0].score), limit)
    share = max((hit.share for hit in hits[:3]), default=0.0)
    files = (file for file in entry.commit.files if kind(file.path) is not Kind.GENERATED)
    complete = all(file.patch is not None or not file.size for file in files)
    return EvidenceFound(hits, absent, present, share, complete)


def line_scores(entry: Entry, asked: ParsedQuestion) -> dict[tuple[str, int], float]:
    """Return the scores of a commit's lines by path and number, with those of the facts that they prove."""
    scores: dict[tuple[str, int], float] = {}
    documents = _documents_of(entry)
    for hit in _ranked(documents, asked, _vocabulary(documents, entry.commit), len(asked.all_terms)):
        found, keys = hit.document.item, list[tuple[str, int]]()
        if isinstance(found, Passage):
            keys = [(found.file.path, line.number) for line in found.changed]
        elif isinstance(found, Fact) and found.path and found.line:
            keys = [(found.path, found.line)]
        for key in keys:
            scores.setdefault(key, hit.score / len(keys))
    return scores


def _documents_of(entry: Entry) -> list[CommitDocument]:
    """Return what can be found of a commit; an analysis is not, since what a model wrote proves nothing."""
    return [*map(_fact_document, entry.facts), *_author_documents(entry.commit), *_passage_documents(entry.commit)]


def _vocabulary(documents: Iterable[CommitDocument], commit: Commit) -> frozenset[str]:
    """Return all words of a commit: of its documents, its paths, and the headings of its hunks."""
    found = set[str]().union(*(document.own for document in documents))
    for file in commit.files:
        found |= _words(f"{file.path} {file.previous_path or ''}")
        for hunk in headed_hunks(file.patch):
            found |= _words(hunk.heading)
    return frozenset(found)


def _fact_document(fact: Fact) -> CommitDocument:
    change = FACT_SENTENCES[fact.kind].named("", 1, catalogue("en"))
    text = f"{change} {fact.kind.value} {fact.name} {fact.old or ''} {fact.new or ''}"
    return CommitDocument(fact, _words(text), ((_words(fact.path or ""), _PATH),), _FACT)


def _author_documents(commit: Commit) -> Iterator[CommitDocument]:
    """Yield the author's sentences: of the message, then of the pull request."""
    found = [(commit.subject, _TITLE), *((each, 1.0) for each in sentences_of(commit.body))]
    if commit.pull:
        found += [(each, _PULL_TEXT) for each in (commit.pull.title, *sentences_of(commit.pull.body))]
    seen: list[str] = []
    for sentence, factor in found:
        if sentence == without_instructions(sentence) and not any(sentence in each for each in seen):
            seen.append(sentence)
            yield CommitDocument(sentence, _words(sentence), factor=factor)


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a message, without its trailers and check boxes."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*#\d])", _NO_SENTENCES.sub("", text)[:_MESSAGE]):
        for sentence in map(str.strip, sentences(plain_text(paragraph))):
            if len(_words(sentence)) > 1:
                yield sentence


def _passage_documents(commit: Commit) -> Iterator[CommitDocument]:
    count = 0
    for file in commit.files:
        factor, path = _FACTORS.get(kind(file.path), 1.0), _words(file.path)
        for passage in passages(file):
            count += len(passage.places)
            if count > _MAX_LINES:
                return
            sign = passage.line.sign
            own = _words(passage.text) | _SIGNS[sign]
            around = ((path, _PATH), *((_words(each), _INSIDE) for each in passage.context))
            text = passage.line.text
            said = _IMPORT if _IMPORTING.match(text) else _COMMENT if COMMENT.match(text) else 1.0
            yield CommitDocument(passage, own, around, factor * said)


def _ranked(documents: Sequence[CommitDocument], asked: ParsedQuestion, held: frozenset[str], own: int) -> list[Hit]:
    """Return the documents that have one of the first `own` terms, or are a fact of a kind that is asked for, best first."""
    terms = asked.all_terms
    weights = [_weight(term, documents, held) for term in terms]
    weights[own:] = _scaled(
        weights[own:], sum(weights[:own]) * (_EARLIER if any(term.telling for term in terms[:own]) else 1.0)
    )
    whole = sum(weights[:own]) or 1.0
    mean = sum(len(each.own) for each in documents) / max(1, len(documents)) or 1.0
    wanted = frozenset(word for term in terms[:own] for word in term.words)
    named = frozenset(word for term in asked.subjects for word in term.words) & held
    defined = [spelled_in_code(each) for each in asked.symbols]
    facts = [each.item for each in documents if isinstance(each.item, Fact)]
    exact = [each for each in facts if spelled_in_code(each.name) in defined and each.kind is FactKind.DEPRECATED]
    hits = []
    for document in documents:
        score = share = 0.0
        if document.has_any(wanted):
            length = len(document.own) / mean
            gains = [weight * _gain(term, document, length) for term, weight in zip(terms, weights, strict=True)]
            score = sum(gains) * document.factor
            share = sum(weight for weight, gain in zip(weights[:own], gains, strict=False) if gain) / whole
        if isinstance(document.item, Passage):
            score *= _passage_factor(document.item, asked, defined)
        elif isinstance(document.item, str) and QuestionKind.REASON in asked.kinds:
            score *= _REASON
        is_exact = document.item in exact
        if is_exact or (isinstance(document.item, Fact) and document.item.kind in asked.facts.kinds):
            is_named = is_exact or not (named or exact) or (not exact and document.has_any(named))
            score += _ASKED_FACT * idf(1, len(documents)) * (1.0 if is_named else _OF_OTHERS)
        if score > 0:
            hits.append(Hit(document, score, share))
    return sorted(hits, key=lambda hit: -hit.score)


def _passage_factor(passage: Passage, asked: ParsedQuestion, names: Sequence[str]) -> float:
    """Return what a passage is worth that defines one of the names, or that is gone where nobody asks for that."""
    if passage.line.sign == "-" and asked.kinds.isdisjoint(_OF_THE_PAST) and replaced(passage) is None:
        return _GONE
    return _DEFINITION if any(is_definition(key, passage.line.text) for key in names) else 1.0


def _scaled(weights: Sequence[float], most: float) -> list[float]:
    """Return the weights of earlier terms, which may be many, so that together they weigh `most`, unless that is nothing."""
    return [weight * min(1.0, most / sum(weights)) if most else weight for weight in weights]


def _weight(term: QuestionTerm, documents: Sequence[CommitDocument], held: frozenset[str]) -> float:
    """Return what a term is worth, the more the fewer documents have it."""
    if held.isdisjoint(term.words) and not term.telling:
        return term.weight * idf(0, len(documents)) * _ABSENT
    return term.weight * idf(sum(not each.own.isdisjoint(term.words) for each in documents), len(documents))


def _gain(term: QuestionTerm, document: CommitDocument, length: float) -> float:
    counts = ((weight, document.occurrences(word)) for word, weight in term.words.items())
    return max((weight * saturated(count, length, _K1, _B) for weight, count in counts if count), default=0.0)


def _chosen(ranked: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the best hits, without more than two facts of a kind, and no line that says the same as another."""
    kinds: Counter[FactKind | str] = Counter()
    seen: set[str] = set()
    chosen: list[Hit] = []
    for hit in ranked:
        found = hit.document.item
        group = found.kind if isinstance(found, Fact) else "sentence" if isinstance(found, str) else ""
        text = found.line.sign + found.text if isinstance(found, Passage) else ""
        if (group and kinds[group] >= _PER_KIND) or (text and text in seen):
            continue
        kinds[group] += 1
        seen.add(text)
        chosen.append(hit)
    return chosen[:limit]
