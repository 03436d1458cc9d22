"""Lists and sequences of sentences, with the punctuation of the language."""

import re
from collections.abc import Iterable
from functools import reduce

from analysis.locale import Catalogue

CHINESE = "[\u4e00-\u9fff]"
_BETWEEN = re.compile(f"(?<={CHINESE}) +(?={CHINESE})")
_BESIDE = re.compile(f"(?<={CHINESE})(?=[`0-9A-Za-z])|(?<=[`0-9A-Za-z])(?={CHINESE})")


def spaced(text: str) -> str:
    """Set Chinese as is usual beside what is not, which composed sentences do not know: a space there, none within it."""
    return _BESIDE.sub(" ", _BETWEEN.sub("", text))


def join_items(items: Iterable[str], say: Catalogue) -> str:
    """Join the items of a list: `a, b, c`."""
    return say.context("between the items of a list", ", ").join(items)


def join_clauses(clauses: Iterable[str], say: Catalogue) -> str:
    """Join the clauses of a sentence: `3 files changed, a merge`."""
    return say.context("between clauses", ", ").join(clauses)


def join_sentences(sentences: Iterable[str], say: Catalogue) -> str:
    """Join sentences to a paragraph; between Chinese ones is no space."""
    texts = list(sentences)
    return reduce(lambda first, second: say("{first} {second}", first=first, second=second), texts) if texts else ""


def as_sentence(text: str, say: Catalogue) -> str:
    """End a text with a full stop, and only one."""
    return text.rstrip(".。") + say(".")
