"""Whether a commit mentions what a question asks for, wherever it does: what a denial must know."""

import re
from collections.abc import Collection

from analysis.models import Commit
from analysis.questions.query import Term
from analysis.search.commit_words import CommitWords

_JOINTS = re.compile(r"[-_]+")
_WHOLE = 1.0  # weight of a word that is the term in the other language


class Mentions:
    """Finds the mentions of any of some terms. Hyphens and underscores in names are alike, as in flags and their keys."""

    def __init__(self, terms: Collection[Term]) -> None:
        spellings = "|".join(spelling for term in terms for spelling in _spellings(term))
        self._pattern = re.compile(spellings or r"(?!)", re.IGNORECASE)

    def in_words(self, words: CommitWords) -> bool:
        """Return whether the indexed words of a commit have one."""
        return any(map(self._pattern.search, words))

    def in_commit(self, commit: Commit) -> bool:
        """Return whether the texts, paths or patches of a commit have one."""
        patches = (file.patch or "" for file in commit.files)
        return any(self._pattern.search(text) for text in (*commit.texts, *commit.paths, *patches))


def _spellings(term: Term) -> list[str]:
    """Return the expressions that match a term; of a Chinese one also the English words that stand for it."""
    if not term.text.isascii():
        words = [word for word, weight in term.words.items() if weight == _WHOLE and word.isascii()]
        return [re.escape(term.text), *(rf"(?<!\w){re.escape(word)}" for word in words)]
    parts = map(re.escape, _JOINTS.split(term.text.lstrip("-")))
    dashes = r"(?<![\w-])--" if term.is_plain_flag else r"(?<!\w)"
    return [dashes + "[-_]".join(parts) + r"(?!\w)"]
