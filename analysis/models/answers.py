"""Questions about commits, and the statements that answer them."""

from typing import Literal, NamedTuple

from analysis.models.commits import Repository
from analysis.models.frozen import Frozen
from analysis.models.reports import Entry


class Turn(Frozen):
    """An earlier message of the thread."""

    who: Literal["person", "bot"]
    text: str


class Citation(Frozen):
    """A link to the evidence of a statement: `label` is `path:line`, a path or a short SHA.

    `place` says in words where that stands, if not in the diff: in the message, or elsewhere in the repository.
    """

    label: str
    url: str
    place: str = ""


class Statement(Frozen):
    """A sentence, a list item (without its marker) or a few lines of code: plain text with `code` spans.

    Text of kind "code" is verbatim, without fences. A sentence with `new_paragraph` begins a paragraph; others continue
    the line.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    kind: Literal["sentence", "item", "code"] = "sentence"
    new_paragraph: bool = False


class Question(NamedTuple):
    """A question and its subject: one commit (with its patches), or a day's commits; `thread` is oldest first.

    `further_commits` are the other matching commits of a day when `entries` (with their patches) are the best ones;
    None if nothing was selected from a day.
    """

    text: str
    repository: Repository
    entries: tuple[Entry, ...]
    thread: tuple[Turn, ...] = ()
    further_commits: tuple[Entry, ...] | None = None
