"""A question about commits, and the statements that answer it."""

from typing import Literal, NamedTuple

from analysis.models.commits import Repository
from analysis.models.frozen import Frozen
from analysis.models.reports import Entry


class Turn(Frozen):
    """Something that was said before in the thread."""

    who: Literal["person", "bot"]
    text: str


class Citation(Frozen):
    """Where a statement was seen: `label` is `path:line`, a path or a short SHA."""

    label: str
    url: str


class Statement(Frozen):
    """A sentence, an item of a list (its marker taken off), or a few lines of code: plain text with `code` spans.

    `code` stands as it is, without fences. A sentence with `new_paragraph` opens one; others follow on the same line.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    kind: Literal["sentence", "item", "code"] = "sentence"
    new_paragraph: bool = False


class Question(NamedTuple):
    """A question and what it is about: one commit (with its patches), or a day's commits; `thread` oldest first.

    `also` are further commits of a day whose best for this question are the `entries` (with their patches); None where
    nothing was chosen from a day.
    """

    text: str
    repository: Repository
    entries: tuple[Entry, ...]
    thread: tuple[Turn, ...] = ()
    also: tuple[Entry, ...] | None = None
