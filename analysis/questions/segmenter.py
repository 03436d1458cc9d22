"""Splitting of a reply into segments that can be checked: sentences and list items; blocks of code are passed over."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from analysis.grounding.corpus import SPAN
from analysis.grounding.plain_text import sentences


class Segment(NamedTuple):
    """A complete segment of a reply as written, without the list marker.

    Sentences of one line have the same `line`.
    """

    text: str
    kind: Literal["sentence", "item"]
    new_paragraph: bool
    line: int


_THOUGHTS = ("<think>", "</think>")
_BLANK = re.compile(r"[ \t]*\n")
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARKER = re.compile(r"[ \t]*(?:[-*+•·▪]|\d{1,2}[.)、])[ \t]+(?=\S)")
_BRACKETED = re.compile(r"[ \t]*[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*[.。]?[ \t]*")
# A path begins with a lower-case letter, so `sentences` does not split before a citation after the full stop.
_CITED_AFTER = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)[.!?][ \t]+(?:[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*)+(?=[^\s.。,，\[【])"
)
_CITED_END = re.compile(r"[\]】][ \t]*[。！？]")


def segments(reply: str) -> Iterator[Segment]:
    """Yield the segments of a reply, without what the model thought aloud before it."""
    text = _FENCED.sub("", _without_thoughts(reply.replace("\r\n", "\n").replace("\r", "\n")))
    begins_paragraph, line = False, 0
    while text.strip():
        if blank := _BLANK.match(text):
            text, begins_paragraph = text[blank.end() :], line > 0
            continue
        line += 1
        row, _, text = text.partition("\n")
        yield from _of_line(row, begins_paragraph, line)
        begins_paragraph = False


def _without_thoughts(reply: str) -> str:
    """Strip the model's thoughts; of thoughts without an end nothing is left."""
    opening, closing = _THOUGHTS
    start = reply.lstrip()
    return start.partition(closing)[2] if start.startswith(opening) else reply


def _of_line(row: str, begins_paragraph: bool, line: int) -> Iterator[Segment]:  # noqa: FBT001 (as of the segment)
    marker = _MARKER.match(row)
    kind: Literal["sentence", "item"] = "item" if marker else "sentence"
    row = row[marker.end() if marker else 0 :]
    while row:
        text = _first_sentence(row)
        row = row[len(text) :]
        if text.strip():
            yield Segment(text.strip(), kind, begins_paragraph, line)
            kind, begins_paragraph = "sentence", False


def _first_sentence(line: str) -> str:
    """Return a line's first sentence with the citations after it."""
    text = ""
    for piece in sentences(line):
        text += piece
        if _is_closed(text) and not text.rstrip().endswith("；"):  # of which one half says little without the other
            break
    masked = SPAN.sub(lambda match: "`" + "_" * (len(match[0]) - 2) + "`", text)
    if early := _CITED_AFTER.search(masked):
        text = line[: early.end()]
    for end in _CITED_END.finditer(text):
        if _is_closed(line[: end.end()]):
            return line[: end.end()]
    while behind := _BRACKETED.match(line, len(text)):
        text = line[: behind.end()]
    return text


def _is_closed(text: str) -> bool:
    """Return whether no span or bracket is open, which may contain what only looks like the end of a sentence."""
    return text.count("`") % 2 == 0 and text.count("[") <= text.count("]") and text.count("【") <= text.count("】")
