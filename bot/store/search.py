"""Full-text search of commits: what people type, as terms; FTS5 or tsvector finds them, by the kind of database.

A search finds the commits that hold any of its words; those with `+` before them, and phrases in quotation marks, must be
there. Ranked by bm25 with a weight a column, the newest first among equals.
"""

import re
from typing import NamedTuple

from analysis.search.words import spaced
from analysis.wordlists import wordlist

# Weights of a hit, by column: title, message, paths, code, summary.
WEIGHTS = (10.0, 2.0, 4.0, 3.0, 1.0)
COMMON = 5_000  # commits: ranking more of them takes long

_TERM = re.compile(r'(?:(?<=\s)|^)(\+?)(?:["“”]([^"“”]*)["“”]|(\S+))')
_BEGINNING = 3  # characters of a word that finds those that begin with it


class Term(NamedTuple):
    """Words in a row, in their indexed form; with `prefix`, the last of them may go on."""

    phrase: str
    prefix: bool


class Query(NamedTuple):
    """A search: the terms that must be there, and those that need not be, which still count for the rank."""

    required: tuple[Term, ...]
    optional: tuple[Term, ...]


def parse_query(text: str) -> Query:
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
    return Query(tuple(required), tuple(telling or ([] if required else optional.values())))


def _finds_beginnings(phrase: str) -> bool:
    """Return whether longer words match too: not for a pull request number or a short word, which must match exactly."""
    return not (re.fullmatch(r"#\d+", phrase) or (phrase.isascii() and len(phrase) < _BEGINNING))
