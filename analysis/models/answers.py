"""Statements that answer questions about commits, and what was said before."""

from typing import Literal

from analysis.models.frozen import Frozen


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
