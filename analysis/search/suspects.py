"""The ranking of commits by how likely they caused a failure: BM25 over the fields of a commit, whole names, and age."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from analysis.search.bm25 import idf, saturated
from analysis.search.clues import Clues
from analysis.search.words import split_words

_SPLIT = str.maketrans("_-", "  ")  # what joins the words of names in code; quicker than a pattern
_FIELDS = {"title": 3.0, "message": 0.5, "paths": 1.0, "code": 0.4}
_K1, _B = 1.5, 0.4
_HALF_LIFE = timedelta(days=45)  # of a commit's score
_COVERED = 0.3  # share of the score that depends on how many of the words are there
_PATH = 1.0  # weight of a file of the traceback
_RARE = 0.1  # share of the commits that a telling word may be in


class Document(NamedTuple):
    """A commit to be ranked, with its words in their indexed form (`analysis.search.commit_words`)."""

    id: int
    committed_at: datetime
    title: str
    message: str
    paths: str
    code: str


class RankedSuspect(NamedTuple):
    """A commit's id and score, and the names, words and paths that it shares with the clues, the most telling first."""

    id: int
    score: float
    shared: tuple[str, ...]


class _Matches(NamedTuple):
    """What a document shares with the clues: the weighted frequency of words, and whole names; its weighted length."""

    words: Mapping[str, float]
    names: frozenset[str]
    length: float


def rank_suspects(clues: Clues, documents: Iterable[Document], until: datetime) -> list[RankedSuspect]:
    """Return the commits that hold something telling of the clues, the likeliest first.

    A shared word is telling if few commits have it, or if it is a name of code or a file. Without one nothing is said.
    """
    listed = list(documents)
    if not clues or not listed:
        return []
    matches = [_matches(clues, each) for each in listed]
    weights = _weights(clues, matches)
    mean = sum(each.length for each in matches) / len(matches)
    whole = sum(clues.words.values()) or 1.0
    ranked = []
    for document, match in zip(listed, matches, strict=True):
        shared = {**{word: weights[word] for word in match.words}, **{name: weights[name] for name in match.names}}
        if not _telling(clues, match, weights, len(listed)):
            continue
        score = sum(
            weights[word] * saturated(count, match.length / mean, _K1, _B) for word, count in match.words.items()
        )
        score += sum(weights[name] for name in match.names if name not in match.words)
        score *= 1 - _COVERED + _COVERED * sum(clues.words[word] for word in match.words) / whole
        score *= 0.5 ** (max(timedelta(), until - document.committed_at) / _HALF_LIFE)
        order = tuple(sorted(shared, key=lambda each: (-shared[each], -len(each))))
        ranked.append((score, document.committed_at, RankedSuspect(document.id, score, order)))
    return [each for *_, each in sorted(ranked, key=lambda each: each[:2], reverse=True)]


def _matches(clues: Clues, document: Document) -> _Matches:
    counts: defaultdict[str, float] = defaultdict(float)
    length = 0.0
    for field, weight in _FIELDS.items():
        text = getattr(document, field)
        words = text.translate(_SPLIT).lower().split() if field == "code" else split_words(text)
        length += weight * len(words)
        for word in words:
            if word in clues.words:
                counts[word] += weight
    named = frozenset(document.code.lower().split()) & clues.names.keys()
    return _Matches(counts, named | (frozenset(document.paths.split()) & frozenset(clues.paths)), length)


def _weights(clues: Clues, matches: Iterable[_Matches]) -> dict[str, float]:
    """Return the weight of each clue: BM25's inverse document frequency, times the clue's own weight."""
    listed = list(matches)
    found = Counter(each for match in listed for each in {*match.words, *match.names})
    own = {**clues.words, **clues.names, **dict.fromkeys(clues.paths, _PATH)}
    return {each: own[each] * idf(count, len(listed)) for each, count in found.items()}


def _telling(clues: Clues, match: _Matches, weights: Mapping[str, float], among: int) -> bool:
    if match.names:
        return True
    rare = idf(max(1, round(_RARE * among)), among)
    return any(weights[word] >= rare * clues.words[word] for word in match.words)
