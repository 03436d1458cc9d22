"""Search in a commit's documents: BM25 over the words of code, with a line's neighbours as context.

Words of neighbouring lines, paths and headings count as fractions of an occurrence, as those of fields do.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.models import Commit, Entry, Fact, FactKind, Language
from analysis.paths import Kind, kind
from analysis.questions.documents import Document, Line, Sentence, documents_of, vocabulary
from analysis.questions.query import Query, Term, is_name
from analysis.search.bm25 import idf, saturated

_K1, _B = 1.2, 0.35
_COVERED = 0.4  # share of the score that depends on how many of the terms are there
_KIND = 2.0  # what a fact of a kind that is asked for is worth, in terms that few documents have
_FACTS_A_KIND = 2
_EARLIER = 0.3  # weight of what was said before, relative to a question that names something itself
_AS_WRITTEN = 1.4  # factor of a line that has a name as the question writes it
_LONGEST = 2.5  # times the mean length, from which a document is no longer set back
_WEAK = 0.25  # share of the best score below which a hit is noise
_BESIDE = 0.4  # factor of a document that has a question's words only around it
_ELSEWHERE = 0.3  # weight of a word that nothing in the commit has, and that the author may only have put differently
_LIKE = 0.5  # weight of a word that only begins like the one asked for
_MIN_LIKE, _MIN_PART = 5, 3  # letters with which both begin, letters of a word that begins another


class Hit(NamedTuple):
    """A document that was found, with its score and the share of the question's terms that it has."""

    document: Document
    score: float
    share: float


class Found(NamedTuple):
    """The hits, the best first; the terms that nothing in the commit mentions; whether a text of it is missing."""

    hits: Sequence[Hit]
    absent: Sequence[Term]
    present: Sequence[Term]
    share: float
    complete: bool


def search(entry: Entry, query: Query, language: Language, limit: int) -> Found:
    """Return the best matching documents of a commit, at most two facts of a kind and two of the author's sentences."""
    documents = documents_of(entry, language)
    held = vocabulary(documents, entry.commit)
    terms = [_with_like(term, held) for term in query.all_terms]
    asked = terms[: len(query.terms)]
    absent = [term for term in asked if held.isdisjoint(term.words)]
    present = [term for term in asked if not held.isdisjoint(term.words)]
    ranked = _ranked(documents, [_discounted(term, held) for term in terms], query.kinds, len(asked) or len(terms))
    hits = _chosen((hit for hit in ranked if hit.score >= _WEAK * ranked[0].score), limit)
    share = max((hit.share for hit in hits[:3]), default=0.0)
    return Found(hits, absent, present, share, _is_complete(entry.commit))


def _discounted(term: Term, held: frozenset[str]) -> Term:
    """Return a term that nothing in the commit has, unless it is a telling one, with less weight."""
    if term.telling or not held.isdisjoint(term.words):
        return term
    return term._replace(weight=term.weight * _ELSEWHERE)


def line_scores(entry: Entry, query: Query) -> Mapping[tuple[str, int, str], float]:
    """Return the scores of a commit's lines by path, number and sign, with those of the facts that they prove."""
    scores: dict[tuple[str, int, str], float] = {}
    documents = documents_of(entry, "en")
    held = vocabulary(documents, entry.commit)
    terms = [_with_like(term, held) for term in query.all_terms]
    for hit in _ranked(documents, terms, query.kinds, len(terms)):
        found = hit.document.item
        if isinstance(found, Line):
            scores[found.file.path, found.line.number, found.line.sign] = hit.score
        elif isinstance(found, Fact) and found.path and found.line:
            for sign in "+-":
                key = (found.path, found.line, sign)
                scores[key] = max(hit.score, scores.get(key, 0.0))
    return scores


def _ranked(documents: Sequence[Document], terms: Sequence[Term], kinds: frozenset[FactKind], asked: int) -> list[Hit]:
    """Return the documents that have one of the first `asked` terms, or are a fact of a kind, the best first."""
    weights = _weights(terms, documents, asked)
    whole = sum(weights[:asked]) or 1.0
    mean = sum(len(each.own) for each in documents) / max(1, len(documents)) or 1.0
    rare = idf(1, len(documents))
    wanted = frozenset(word for term in terms[:asked] for word in term.words)
    hits = []
    for document in documents:
        of_kind = isinstance(document.item, Fact) and document.item.kind in kinds
        if not of_kind and not document.has_any(wanted):
            continue
        length = min(_LONGEST, len(document.own) / mean)
        gains = [_gain(term, document, length) for term in terms]
        share = sum(weight * gain.held for weight, gain in zip(weights[:asked], gains, strict=False)) / whole
        score = 0.0
        if share:
            score = sum(weight * gain.score for weight, gain in zip(weights, gains, strict=True))
            score *= (1 - _COVERED + _COVERED * share) * document.factor * _factor(document, terms)
        if of_kind:
            score += _KIND * rare
        if score > 0:
            hits.append(Hit(document, score, share))
    return sorted(hits, key=lambda hit: -hit.score)


def _factor(document: Document, terms: Sequence[Term]) -> float:
    """Return a factor that prefers names as they were written, and sets back what only stands beside the words."""
    if all(document.own.isdisjoint(term.words) for term in terms):
        return _BESIDE
    item = document.item
    text = item.line.text if isinstance(item, Line) else item.name if isinstance(item, Fact) else ""
    named = (term.text for term in terms if term.text in text and is_name(term.text))
    return _AS_WRITTEN if any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in named) else 1.0


def _weights(terms: Sequence[Term], documents: Sequence[Document], asked: int) -> list[float]:
    """Return the weights of the terms; those of earlier turns, which may be many, together weigh less than the question's."""
    weights = [term.weight * _rarity(term, documents) for term in terms]
    own, earlier = sum(weights[:asked]), sum(weights[asked:])
    share = _EARLIER if any(term.telling for term in terms[:asked]) else 1.0
    scale = min(1.0, share * own / earlier) if own and earlier else 1.0
    return [*weights[:asked], *(weight * scale for weight in weights[asked:])]


class _Gain(NamedTuple):
    """What a term adds to a document's score, in the term's weight, and how far the document has it, from 0 to 1."""

    score: float
    held: float


def _gain(term: Term, document: Document, length: float) -> _Gain:
    best = held = 0.0
    for word, weight in term.words.items():
        if count := document.occurrences(word):
            best = max(best, weight * saturated(count, length, _K1, _B))
            held = max(held, min(1.0, weight * count))
    return _Gain(best, held)


def _rarity(term: Term, documents: Sequence[Document]) -> float:
    count = sum(1 for each in documents if not each.own.isdisjoint(term.words))
    return idf(count, len(documents))


def _with_like(term: Term, held: frozenset[str]) -> Term:
    """Return the term with words that begin alike if the commit has none of its own: "overwritten" finds "overwrite"."""
    if held & term.words.keys():
        return term
    like: dict[str, float] = {}
    for word, weight in term.words.items():
        if weight < 1.0 or not (word.isascii() and word.isalpha()) or len(word) < _MIN_PART:
            continue
        begin = word[: max(_MIN_LIKE, round(0.7 * len(word)))]
        like |= {each: _LIKE for each in held if each.startswith(word) or (len(word) >= _MIN_LIKE and word in each)}
        like |= {
            each: _LIKE
            for each in held
            if len(begin) >= _MIN_LIKE and each.startswith(begin) and len(each) < 2 * len(word)
        }
    return term._replace(words={**term.words, **like}) if like else term


def _chosen(ranked: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the best hits, without more than two facts of a kind, and no line that says the same as another."""
    kinds: Counter[str] = Counter()
    seen: set[str] = set()
    chosen: list[Hit] = []
    for hit in ranked:
        found = hit.document.item
        group = found.kind.value if isinstance(found, Fact) else "sentence" if isinstance(found, Sentence) else ""
        text = found.line.sign + found.line.text.strip() if isinstance(found, Line) else ""
        if (group and kinds[group] >= _FACTS_A_KIND) or (text and text in seen):
            continue
        kinds[group] += 1
        seen.add(text)
        chosen.append(hit)
        if len(chosen) >= limit:
            break
    return chosen


def _is_complete(commit: Commit) -> bool:
    """Return whether the diff shows every changed line of what people write."""
    return all(
        file.patch is not None or not file.size for file in commit.files if kind(file.path) is not Kind.GENERATED
    )
