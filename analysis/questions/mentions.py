"""Mentions of a question's terms in a commit, wherever they stand: what a denial must know."""

import re
from collections.abc import Iterable, Mapping

from analysis.models import Commit
from analysis.questions.query import Term
from analysis.search.commit_words import CommitWords

_JOINTS = re.compile(r"[-_]+")
_WHOLE = 1.0  # weight of a word that is the term in the other language


class Mentions:
    """Finds the mentions of some terms. Hyphens and underscores in names are alike, as in flags and their keys."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._patterns: Mapping[str, re.Pattern[str]] = {each.text: _pattern(each) for each in terms}

    def in_words(self, words: CommitWords) -> frozenset[str]:
        """Return the texts of the terms that the indexed words of a commit have."""
        return self._in(words)

    def in_commit(self, commit: Commit) -> frozenset[str]:
        """Return the texts of the terms that the messages, paths (of moved files both) or patches of a commit have."""
        files = (text for file in commit.files for text in (file.path, file.previous_path, file.patch) if text)
        return self._in((*commit.texts, *files))

    def _in(self, texts: Iterable[str]) -> frozenset[str]:
        read = tuple(texts)
        return frozenset(name for name, pattern in self._patterns.items() if any(map(pattern.search, read)))


def _pattern(term: Term) -> re.Pattern[str]:
    """Return the expression for a term; for a Chinese one also for the English words that stand for it."""
    if not term.text.isascii():
        words = [word for word, weight in term.words.items() if weight == _WHOLE and word.isascii()]
        return re.compile(
            "|".join([re.escape(term.text), *(rf"(?<!\w){re.escape(word)}" for word in words)]), re.IGNORECASE
        )
    parts = map(re.escape, _JOINTS.split(term.text.lstrip("-")))
    dashes = r"(?<![\w-])--" if term.is_plain_flag else r"(?<!\w)"
    return re.compile(dashes + "[-_]".join(parts) + r"(?!\w)", re.IGNORECASE)
