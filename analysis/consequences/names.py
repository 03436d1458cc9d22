"""Names as a sentence tells them: as code, a few of several, files as the modules that are imported."""

import re
from collections.abc import Callable, Iterator, Sequence

from analysis.locale import Catalogue
from analysis.locale.punctuation import join_items
from analysis.text import shorten
from analysis.writing.by_rules import code

LENGTH = 90  # characters of a sentence, without the marks of code
NAMED = 8  # names that are told at most where they fit, and how many more there are


def fits(text: str) -> bool:
    """Return whether a sentence is short enough, its marks of code aside."""
    return len(text.replace("`", "")) <= LENGTH


def together(names: Sequence[str], say: Catalogue, tell: Callable[[str], str] = code) -> str:
    """Return a few names, each as `tell` writes it: as code."""
    *firsts, other = map(tell, dict.fromkeys(names))
    return say("{name} and {other}", name=join_items(firsts, say), other=other) if firsts else other


def few(names: Sequence[str], say: Catalogue, tell: Callable[[str], str] = code) -> Iterator[str]:
    """Yield all names, then fewer and fewer of them with how many more there are."""
    if 0 < len(names) <= NAMED:
        yield together(names, say, tell)
    for shown in range(min(len(names) - 1, NAMED), 0, -1):
        told = join_items(map(tell, names[:shown]), say)
        yield say("{names} and {count} more", names=told, count=len(names) - shown)


def last_part(name: str) -> str:
    """Return the last part of a dotted name, or of the module that a Python file is."""
    return dotted(name).rpartition(".")[2]


def module(place: str | None) -> str:
    """Return a Python file as the module that is imported, in a code span."""
    return code(shorten(dotted(place), LENGTH))


def dotted(place: str | None) -> str:
    """Return a Python file, with a line or without, as the module that is imported; another file as its path."""
    path = re.sub(r":\d+$", "", place or "")
    if not path.endswith(".py"):
        return path
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
