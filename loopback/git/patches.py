"""Files known by patches alone: each patch tells some lines of the file before it and after it; the others stay unknown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@ ?(.*)")
_NO_NEWLINE = "\\ No newline at end of file"
_CONTEXT = 3  # unchanged lines after a change, unless the file ends
_REST = 20  # lines
_FUNCTION = re.compile(r"[A-Za-z_$]")  # how a line begins that git names in a hunk's header


class Unreproducible(Exception):
    """The recorded commits contradict each other, or their SHAs are not git's."""


class Line:
    """A line of a file; `text` is None while unknown. Versions of a file share the lines that they have in common."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.newline = True

    def learn(self, text: str) -> None:
        if self.text not in (None, text):
            raise Unreproducible(f"a line is both {self.text!r} and {text!r}")
        self.text = text


class _Hunk(NamedTuple):
    start: int  # the index of its first line in the file before
    length: int
    section: str
    lines: list[str]


class _End:
    """The end that all versions of a file share until a patch shows it; `versions` are their lines."""

    def __init__(self, *, known: bool) -> None:
        self.known = known
        self.versions: list[list[Line]] = []


class File:
    """A version of a file."""

    def __init__(self, lines: list[Line], end: _End) -> None:
        self.lines = lines
        self._end = end
        end.versions.append(lines)

    @classmethod
    def unknown(cls) -> "File":
        """Return a file that existed before any recorded commit."""
        return cls([], _End(known=False))

    @classmethod
    def added(cls, patch: str) -> "File":
        return cls([], _End(known=True)).patched(patch)

    def patched(self, patch: str) -> "File":
        """Return the version after a patch, and learn the lines that it tells. Raise `Unreproducible` if it does not fit."""
        after: list[Line] = []
        at = 0
        for hunk in _hunks(patch):
            self._extend(hunk.start + hunk.length)
            after += self.lines[at : hunk.start]
            at = hunk.start
            last = Line()
            for line in hunk.lines:
                if line == _NO_NEWLINE:
                    last.newline = False
                    continue
                if line[:1] == "+":
                    last = Line(line[1:])
                    after.append(last)
                    continue
                if at == len(self.lines):
                    raise Unreproducible("a hunk is longer than its header says")
                last = self.lines[at]
                last.learn(line[1:])
                at += 1
                if line[:1] != "-":
                    after.append(last)
            self._end.known = self._end.known or any(line[:1] != " " for line in hunk.lines[-_CONTEXT:])
        return File(after + self.lines[at:], self._end)

    def name_sections(self, patch: str) -> None:
        """Put the lines that git names in the headers of the patch's hunks into unknown lines above them."""
        for hunk in _hunks(patch):
            for line in reversed(self.lines[: hunk.start] if hunk.section else []):
                if line.text is None:
                    line.text = hunk.section
                    break
                if _FUNCTION.match(line.text):
                    break

    def lengthen(self, path: str) -> None:
        """Add lines at the unknown end, so that git finds the file again under a new name by what it has in common."""
        if self._end.known:
            return
        known = len(self.lines)
        self._extend(known + _REST)
        for number, line in enumerate(self.lines[known:], 1):
            line.learn(f"# line {number} of the rest of {path}")

    def content(self) -> bytes:
        """Return the file's text; unknown lines are empty."""
        return "".join(f"{line.text or ''}\n" if line.newline else line.text or "" for line in self.lines).encode()

    def _extend(self, length: int) -> None:
        """Add unknown lines at the end of all versions."""
        missing = length - len(self.lines)
        if missing <= 0:
            return
        if self._end.known:
            raise Unreproducible("a patch is beyond the end of its file")
        tail = [Line() for _ in range(missing)]
        for version in self._end.versions:
            version.extend(tail)


def _hunks(patch: str) -> Iterator[_Hunk]:
    hunk: _Hunk | None = None
    for line in patch.split("\n"):
        match = _HUNK.match(line)
        if match:
            if hunk:
                yield hunk
            count = int(match[2] or 1)
            hunk = _Hunk(int(match[1]) - (1 if count else 0), count, match[3], [])
        elif hunk:
            hunk.lines.append(line)
    if hunk:
        yield hunk
