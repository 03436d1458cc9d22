"""Joined text: string literals and lines without the breaks between them, over which a token may be written.

In a patch the removed and the added lines are joined apart, each with the lines that stay, as the file has or had them.
"""

import heapq
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from analysis.sources.secret_values import is_unmistakable

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d", re.MULTILINE)
_NEW_LINE = r"\r?\n[-+]?[ \t]*"  # a diff may also be quoted in a message
_SPACE = rf"[ \t]*(?:\\?{_NEW_LINE}|(?:\#|//)[^\n]{{0,200}}{_NEW_LINE})?"
# Between two pieces: the end of one literal and the beginning of the next, or a line that goes on after a backslash.
_BREAK = re.compile(
    rf"""(?<=[\w+/=.-])(?: ["'`]{_SPACE}(?:[+.&]{_SPACE})?[bfru]{{0,2}}["'`] | \\{_NEW_LINE} )(?=[\w+/=.-])""",
    re.IGNORECASE | re.VERBOSE,
)
# A line that ends with a part of a token and one that begins with the rest, which is no name.
_LINE_END = re.compile(rf"(?<![\w-])([\w-]{{2,}}){_NEW_LINE}(?:(?:\#|//|\*|>)[ \t]*)?(?=([\w-]+)(?:[\s\"'`,;.)=]|$))")
_NAME = re.compile(r"[-_]*(?:[A-Z]?[a-z]*|[A-Z]+)(?:[-_]+(?:[A-Z]?[a-z]*|[A-Z]+))*")
_SHORTEST_TOKEN = 20  # characters
_APART = "\n;\n"  # stands between lines that do not belong together: no pattern of a secret goes over it


class Piece(NamedTuple):
    """A part of a text: where it begins in the joined one and in the original."""

    joined: int
    original: int


class Joined(NamedTuple):
    """The lines that have such breaks, without these; `pieces` are in the order of the text."""

    text: str
    pieces: Sequence[Piece]

    def places(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the original text has a part of this one: the start and end of each piece."""
        first = bisect_right(self.pieces, start, key=lambda piece: piece.joined) - 1
        for number in range(first, len(self.pieces)):
            piece = self.pieces[number]
            if piece.joined >= end:
                return
            following = self.pieces[number + 1].joined if number + 1 < len(self.pieces) else end
            shift = piece.original - piece.joined
            yield max(start, piece.joined) + shift, min(end, following) + shift


class _Side(NamedTuple):
    """Lines of a text, and where each begins in it."""

    lines: Sequence[str]
    starts: Sequence[int]


def joined_lines(text: str) -> Iterator[Joined]:
    """Yield the lines of a text that go on elsewhere, joined; those of a patch once for the old and once for the new file."""
    for side in _sides(text):
        content = "\n".join(side.lines)
        if breaks := list(_runs_of_breaks(content)):
            yield _joined(content, breaks, side.starts)


def _sides(text: str) -> Iterator[_Side]:
    """Yield the lines of a text, or those of a patch's old and new side without their signs."""
    lines = text.split("\n")
    starts = _starts(lines)
    if not _HUNK.match(text):
        yield _Side(lines, starts)
        return
    for signs in (" -", " +"):
        shown = [number for number, line in enumerate(lines) if line[:1] and line[0] in signs]
        yield _Side([lines[number][1:] for number in shown], [starts[number] + 1 for number in shown])


def _starts(lines: Sequence[str]) -> list[int]:
    """Return where each line begins in a text."""
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))


def _runs_of_breaks(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield the breaks of a text, those together that no other line break parts."""
    run: list[tuple[int, int]] = []
    for start, end in _breaks(text):
        if run and "\n" in text[run[-1][1] : start]:
            yield run
            run = []
        run.append((start, end))
    if run:
        yield run


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each break, in order."""
    in_code = (match.span() for match in _BREAK.finditer(text))
    at_lines = ((match.end(1), match.end()) for match in _LINE_END.finditer(text) if _is_one_token(match[1], match[2]))
    return heapq.merge(in_code, at_lines)


def _is_one_token(first: str, rest: str) -> bool:
    """Return whether two words on two lines may be the parts of one token."""
    return len(first + rest) >= _SHORTEST_TOKEN and not _NAME.fullmatch(rest) and is_unmistakable(first + rest)


def _joined(text: str, runs: Iterable[Sequence[tuple[int, int]]], originals: Sequence[int]) -> Joined:
    """Join the lines of a text around each run of breaks; `originals` tells where its lines begin in the original."""
    starts = _starts(text.split("\n"))
    found: list[str] = []
    pieces: list[Piece] = []
    size = 0
    for run in runs:
        line_end = text.find("\n", run[-1][1])
        edges = [text.rfind("\n", 0, run[0][0]) + 1, *chain(*run), len(text) if line_end < 0 else line_end]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            line = bisect_right(starts, start) - 1
            pieces.append(Piece(size, originals[line] + start - starts[line]))
            found.append(text[start:end])
            size += end - start
        found.append(_APART)
        size += len(_APART)
    return Joined("".join(found), pieces)
