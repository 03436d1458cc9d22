"""Search in what can be found of a commit: BM25 over words of code, with what a line stands among.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); words of neighbouring lines, paths
and headings count as fractions of an occurrence, as its section 3.6 does with fields.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.models import Commit, Entry, Fact, FactKind, Language
from analysis.paths import Kind, kind
from analysis.questions.documents import Document, Line, Sentence, documents_of, vocabulary
from analysis.questions.query import Query, Term

_SATURATION, _LENGTH = 1.2, 0.35  # BM25's k1 and b
_COVERED = 0.4  # share of the score that depends on how many of the terms are there
_KIND = 2.0  # what a fact of a kind that is asked for is worth, in terms that few documents have
_FACTS_A_KIND = 2
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
    own = len(query.terms)
    absent = [term for term in terms[:own] if not held & term.words.keys()]
    present = [term for term in terms[:own] if held & term.words.keys()]
    weighed = [
        each if each in present or each.telling else each._replace(weight=each.weight * _ELSEWHERE) for each in terms
    ]
    ranked = _ranked(documents, weighed, query.kinds, asked=own)
    hits = _chosen((hit for hit in ranked if hit.score >= _WEAK * ranked[0].score), limit)
    share = max((hit.share for hit in hits[:3]), default=0.0)
    return Found(hits, absent, present, share, _is_complete(entry.commit))


def line_scores(entry: Entry, query: Query) -> Mapping[tuple[str, int, str], float]:
    """Return the scores of a commit's lines by path, number and sign, with those of the facts that they prove."""
    scores: dict[tuple[str, int, str], float] = {}
    documents = documents_of(entry, "en")
    held = vocabulary(documents, entry.commit)
    for hit in _ranked(documents, [_with_like(term, held) for term in query.all_terms], query.kinds):
        found = hit.document.item
        if isinstance(found, Line):
            scores[found.file.path, found.line.number, found.line.sign] = hit.score
        elif isinstance(found, Fact) and found.path and found.line:
            for sign in "+-":
                key = (found.path, found.line, sign)
                scores[key] = max(hit.score, scores.get(key, 0.0))
    return scores


def _ranked(
    documents: Sequence[Document], terms: Sequence[Term], kinds: frozenset[FactKind], asked: int = 0
) -> list[Hit]:
    """Return the documents that match, the best first; with `asked`, one of the first so many terms must be among theirs."""
    weights = [term.weight * _rarity(term, documents) for term in terms]
    whole = sum(weights) or 1.0
    mean = sum(len(each.own) for each in documents) / max(1, len(documents)) or 1.0
    rare = _idf(1, len(documents))
    hits = []
    for document in documents:
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * min(2.5, len(document.own) / mean))
        score = covered = 0.0
        for term, weight in zip(terms, weights, strict=True):
            gain, held = _gain(term, document.words, norm)
            score += weight * gain
            covered += weight * held
        share = covered / whole
        score *= (1 - _COVERED + _COVERED * share) * document.factor
        if all(document.own.isdisjoint(term.words) for term in terms):
            score *= _BESIDE
        if asked and all(document.words.keys().isdisjoint(term.words) for term in terms[:asked]):
            score = 0.0
        if isinstance(document.item, Fact) and document.item.kind in kinds:
            score += _KIND * rare
        if score > 0:
            hits.append(Hit(document, score, share))
    return sorted(hits, key=lambda hit: -hit.score)


def _gain(term: Term, words: Mapping[str, float], norm: float) -> tuple[float, float]:
    """Return what a term adds to a document's score, in its own weight, and how far the document has it, from 0 to 1."""
    best = held = 0.0
    for word, weight in term.words.items():
        if count := words.get(word, 0.0):
            best = max(best, weight * count * (_SATURATION + 1) / (count + norm))
            held = max(held, min(1.0, weight * count))
    return best, held


def _rarity(term: Term, documents: Sequence[Document]) -> float:
    count = sum(1 for each in documents if not each.own.isdisjoint(term.words))
    return _idf(count, len(documents))


def _idf(count: int, among: int) -> float:
    return math.log(1 + (among - count + 0.5) / (count + 0.5))


def _with_like(term: Term, held: frozenset[str]) -> Term:
    """Return the term with words that begin alike if the commit has none of its own: "overwritten" finds "overwrite"."""
    if held & term.words.keys():
        return term
    like: dict[str, float] = {}
    for word, weight in term.words.items():
        if weight < 1.0 or not word.isascii() or len(word) < _MIN_PART:
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
