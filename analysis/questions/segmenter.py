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
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_MARKER = re.compile(r"[ \t]*(?:[-*+•·▪]|\d{1,2}[.)、])[ \t]+(?=\S)")
_BRACKETED = re.compile(r"[ \t]*[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*[.。]?[ \t]*")
# A path begins with a lower-case letter, so `sentences` does not split before a citation after the full stop.
_CITED_AFTER = re.compile(r"[.!?][ \t]+(?:[\[【][^\[\]【】\n]*[\]】](?!\()[ \t]*)+(?=[^\s.。,，\[【])")
_CITED_END = re.compile(r"[\]】][ \t]*[。！？]")


class Segmenter:
    """Splitter of a stream: takes chunks and yields segments, those of each line as soon as it is complete."""

    def __init__(self) -> None:
        self._rest = ""
        self._fence = ""  # of the code block that is open
        self._code: list[str] = []
        self._may_think = True
        self._line = 0
        self._after_blank = False

    def feed(self, chunk: str) -> Iterator[Segment]:
        """Yield the segments of the lines that a chunk completes."""
        self._rest += chunk.replace("\r\n", "\n").replace("\r", "\n")
        if self._is_thinking():
            return
        *lines, self._rest = self._rest.split("\n")
        for line in lines:
            yield from self._segments(line)

    def end(self) -> Iterator[Segment]:
        """Yield the remaining segments at the end of the stream."""
        if not self._is_thinking():
            yield from self._segments(self._rest)
            if self._fence:
                yield from self._code_block()

    def _is_thinking(self) -> bool:
        """Return whether a reply has only begun with the model's thoughts, which are stripped once they are complete."""
        opening, closing = _THOUGHTS
        start = self._rest.lstrip()
        if not self._may_think or not start.startswith(opening):
            return False
        _, closed, self._rest = start.partition(closing) if closing in start else ("", "", self._rest)
        self._may_think = not closed
        return self._may_think

    def _segments(self, line: str) -> Iterator[Segment]:
        if self._fence:
            if line.strip() == self._fence:
                yield from self._code_block()
            else:
                self._code.append(line)
        elif not line.strip():
            self._after_blank = self._line > 0
        elif fence := _FENCE.match(line):
            self._fence = fence[1]
            self._may_think = False
        else:
            yield from self._text_segments(line)

    def _code_block(self) -> Iterator[Segment]:
        text = "\n".join(self._code).strip("\n")
        self._fence, self._code = "", []
        if text:
            yield self._segment(text, "code")

    def _text_segments(self, line: str) -> Iterator[Segment]:
        marker = _MARKER.match(line)
        rest = line[marker.end() :] if marker else line
        self._line += 1
        self._may_think = False
        for place, text in enumerate(filter(str.strip, _sentences_of_line(rest))):
            yield self._segment(text.strip(), "item" if marker and not place else "sentence")

    def _segment(self, text: str, kind: Literal["sentence", "item", "code"]) -> Segment:
        segment = Segment(text, kind, self._after_blank, self._line)
        self._after_blank = False
        return segment


def _sentences_of_line(line: str) -> Iterator[str]:
    """Yield the sentences of a line, each with the citations after it."""
    while line:
        text = _first_sentence(line)
        yield text
        line = line[len(text) :]


def _first_sentence(line: str) -> str:
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
    return text


def _is_closed(text: str) -> bool:
    """Return whether no span or bracket is open, which may contain what only looks like the end of a sentence."""
    return text.count("`") % 2 == 0 and text.count("[") <= text.count("]") and text.count("【") <= text.count("】")
