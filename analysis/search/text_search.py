"""Full-text search of commits: what people type, as terms, and the ranking of the candidates that the database finds.

A search finds the commits that hold any of its words; those with `+` before them, and phrases in quotation marks, must be
there. Ranked by BM25 with a weight a field, the newest first among equals.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.search.words import IndexedCommit, idf, score, spaced, split_words, without_accents
from analysis.wordlists import wordlist

# Weights of a hit, by field: title, message, paths, code, summary.
WEIGHTS = (10.0, 2.0, 4.0, 3.0, 1.0)
COMMON = 5_000  # commits: more of a term are not counted
_K1, _B = 1.2, 0.75

_TERM = re.compile(r'(?:(?<=\s)|^)(\+?)(?:["“”]([^"“”]*)["“”]|(\S+))')
_BEGINNING = 3  # characters of a word that finds those that begin with it


class Term(NamedTuple):
    """Words in a row, in their indexed form; with `prefix`, the last of them may go on."""

    phrase: str
    prefix: bool

    @property
    def words(self) -> list[str]:
        return split_words(without_accents(self.phrase))


class TextQuery(NamedTuple):
    """A search: the terms that must be there, and those that need not be, which still count for the rank."""

    required: tuple[Term, ...]
    optional: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.required, *self.optional)


def parse_text_query(text: str) -> TextQuery:
    """Return what a search means; without any term if it has no words."""
    required: dict[Term, None] = {}
    optional: dict[str, Term] = {}
    for plus, quoted, word in _TERM.findall(text):
        phrase = spaced((quoted or word).replace('"', " ").replace("\0", " ")).strip()
        if re.search(r"[^\W_]", phrase):
            term = Term(phrase, prefix=not quoted and _finds_beginnings(phrase))
            if plus or quoted:
                required[term] = None
            else:
                optional[phrase.lower()] = term
    telling = [term for phrase, term in optional.items() if phrase not in wordlist("stopwords")]
    return TextQuery(tuple(required), tuple(telling or ([] if required else optional.values())))


def rank_candidates(
    query: TextQuery, candidates: Iterable[IndexedCommit], held: Mapping[Term, int], among: int
) -> list[IndexedCommit]:
    """Return the candidates that a search means, best first. `held` is how many of `among` commits hold each term."""
    listed = list(candidates)
    lengths = [sum(map(len, each.texts)) or 1 for each in listed]
    mean = sum(lengths) / max(1, len(listed))
    patterns = {term: (term.words[0], _pattern(term)) for term in query.terms}
    weights = {term: idf(held[term], among) for term in query.terms}
    scored = []
    for document, length in zip(listed, lengths, strict=True):
        plain = [without_accents(text) for text in document.texts]
        found = {term: _frequency(first, pattern, plain) for term, (first, pattern) in patterns.items()}
        if any(found.values()) and all(found[term] for term in query.required):
            scored.append((score(found, weights, length / mean, _K1, _B), document.committed_at, document))
    return [document for *_, document in sorted(scored, key=lambda each: each[:2], reverse=True)]


def _pattern(term: Term) -> re.Pattern[str]:
    """Return the pattern of a term in lower case: its words, with anything but letters and digits between them."""
    row = r"[\W_]+".join(map(re.escape, term.words))
    return re.compile(rf"(?<![^\W_]){row}" + ("" if term.prefix else r"(?![^\W_])"))


def _frequency(first: str, pattern: re.Pattern[str], texts: Sequence[str]) -> float:
    """Return how often texts have a pattern; its `first` word is looked for before, since that is much quicker."""
    return sum(
        weight * len(pattern.findall(text)) for text, weight in zip(texts, WEIGHTS, strict=True) if first in text
    )


def _finds_beginnings(phrase: str) -> bool:
    """Return whether longer words match too: not for a pull request number or a short word, which must match exactly."""
    return not (re.fullmatch(r"#\d+", phrase) or (phrase.isascii() and len(phrase) < _BEGINNING))
