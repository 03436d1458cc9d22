"""BM25, by which all searches rank.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); of a text with fields, the frequency
of a word is the weighted sum of those in its fields (section 3.6).
"""

import math


def idf(held: float, among: float) -> float:
    """Return the inverse document frequency of a word that `held` of `among` documents hold; positive."""
    return math.log(1 + max(0.0, among - held + 0.5) / (held + 0.5))


def saturated(frequency: float, length: float, k1: float, b: float) -> float:
    """Return what a word's frequency in a document counts, at most k1 + 1; `length` is that of the document by the mean's."""
    return frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length))
