"""BM25, by which all searches rank.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); of a text with fields, the frequency
of a word is the weighted sum of those in its fields (section 3.6).
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, TypeVar

T = TypeVar("T")


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
