"""Splitting of a streamed reply into segments that can be checked: sentences, list items and code blocks."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from analysis.grounding.corpus import SPAN
from analysis.grounding.plain_text import sentences


class Segment(NamedTuple):
    """A complete segment of a reply as written, without the list marker or the code fences.

    Sentences of one line have the same `line`.
    """

    text: str
    kind: Literal["sentence", "item", "code"]
    new_paragraph: bool
    line: int


_THOUGHTS = ("<think>", "</think>")
_BLANK = re.compile(r"[ \t]*\n")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)[^\n]*(\n|\Z)")
_MARKER = re.compile(r"[ \t]*(?:[-*+•·▪]|\d{1,2}[.)、])[ \t]+(?=\S)")
_INCOMPLETE = re.compile(r"[ \t]*(?:[`~]{1,2}|[-*+•·▪]|\d{1,2}[.)、]?)?[ \t]*")
_BRACKETED = re.compile(r"[ \t]*[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*[.。]?[ \t]*")
# A path begins with a lower-case letter, so `sentences` does not split before a citation after the full stop.
_CITED_AFTER = re.compile(r"[.!?][ \t]+(?:[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*)+(?=[^\s.。,，\[【])")
# Nothing belongs to a Chinese sentence after it: it is complete before more is there.
_CITED_END = re.compile(r"[\]】][ \t]*[。！？]")


class Segmenter:
    """Splitter of a stream: takes chunks and yields segments, each as soon as it is complete."""

    def __init__(self) -> None:
        self._rest = ""
        self._in_line: Literal["sentence", "item", ""] = ""
        self._has_begun = self._begins_paragraph = False
        self._line = 0

    def feed(self, chunk: str) -> Iterator[Segment]:
        """Yield the segments that a chunk completes."""
        self._rest += chunk.replace("\r\n", "\n").replace("\r", "\n")
        yield from self._segments(final=False)

    def end(self) -> Iterator[Segment]:
        """Yield the remaining segments at the end of the stream."""
        yield from self._segments(final=True)

    def _segments(self, *, final: bool) -> Iterator[Segment]:
        while True:
            before = (self._rest, self._in_line)
            if segment := self._next(final=final):
                self._has_begun, self._begins_paragraph = True, False
                yield segment
            elif (self._rest, self._in_line) == before:
                return

    def _next(self, *, final: bool) -> Segment | None:
        """Return the next segment, or None if it is incomplete; blank lines are skipped."""
        if not self._has_begun and not self._without_thoughts(final=final):
            return None
        if self._in_line:
            return self._text_segment(final=final)
        if blank := _BLANK.match(self._rest):
            self._rest = self._rest[blank.end() :]
            self._begins_paragraph = self._has_begun
            return None
        if not final and _INCOMPLETE.fullmatch(self._rest):
            return None
        if fence := _FENCE.match(self._rest):
            return self._code_block(fence, final=final)
        marker = _MARKER.match(self._rest)
        self._rest = self._rest[marker.end() if marker else 0 :]
        if self._rest.strip():
            self._in_line = "item" if marker else "sentence"
            self._line += 1
        return None

    def _without_thoughts(self, *, final: bool) -> bool:
        """Strip the model's thoughts; return whether the reply proper has begun."""
        opening, closing = _THOUGHTS
        start = self._rest.lstrip()
        if not start.startswith(opening):
            return final or not opening.startswith(start[: len(opening)]) or not start
        _, closed, after = start.partition(closing)
        self._rest = after if closed else "" if final else self._rest
        return bool(closed)

    def _code_block(self, fence: re.Match[str], *, final: bool) -> Segment | None:
        closing = re.compile(rf"^[ \t]*{re.escape(fence[1])}[ \t]*(?:\n{'|$' if final else ''})", re.MULTILINE)
        closed = closing.search(self._rest, fence.end())
        if not fence[2] or not (closed or final):
            if final:
                self._rest = ""
            return None
        text = self._rest[fence.end() : closed.start() if closed else len(self._rest)]
        self._rest = self._rest[closed.end() :] if closed else ""
        self._line += 1
        return Segment(text.strip("\n"), "code", self._begins_paragraph, self._line)

    def _text_segment(self, *, final: bool) -> Segment | None:
        line, newline, _ = self._rest.partition("\n")
        text = _first_sentence(line, complete=bool(newline) or final)
        if text is None:
            return None
        whole = text == line
        kind = self._in_line or "sentence"
        self._rest = self._rest[len(text) + (len(newline) if whole else 0) :]
        if whole and (newline or final):
            self._in_line = ""
        elif kind == "item":
            self._in_line = "sentence"
        return Segment(text.strip(), kind, self._begins_paragraph, self._line) if text.strip() else None


def _first_sentence(line: str, *, complete: bool) -> str | None:
    """Return a line's first sentence with the citations after it; None while more of it may come."""
    text = ""
    for piece in sentences(line):
        text += piece
        if _is_closed(text):
            break
    masked = SPAN.sub(lambda match: "`" + "_" * (len(match[0]) - 2) + "`", text)
    if early := _CITED_AFTER.search(masked):
        text = line[: early.end()]
    for end in _CITED_END.finditer(text):
        if _is_closed(line[: end.end()]):
            return line[: end.end()]
    while behind := _BRACKETED.match(line, len(text)):
        text = line[: behind.end()]
    rest = line[len(text) :]
    return text if complete or (rest.strip() and not rest.lstrip().startswith(("[", "【"))) else None


def _is_closed(text: str) -> bool:
    """Return whether no span or bracket is open, which may contain what only looks like the end of a sentence."""
    return text.count("`") % 2 == 0 and text.count("[") <= text.count("]") and text.count("【") <= text.count("】")
