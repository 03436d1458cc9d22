"""A commit's patches, parsed into lines and excerpted within a token budget."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from analysis.models import Commit, FileChange, Frozen
from analysis.paths import Kind, kind

# cl100k uses about one token for three characters of a diff; the margin covers scripts that take more.
_CHARACTERS_A_TOKEN = 3
_MARGIN = 1.15
# Longer hunks are split, so that a new file need not be left out as a whole.
_HUNK_LINES = 60
_LISTED_ONLY = (Kind.GENERATED, Kind.VENDORED)
_PREFERENCE = {each: index for index, each in enumerate(Kind)}
_HUNK_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_NO_NEWLINE = "\\"  # begins git's remark that a file ends without one


class DiffLine(NamedTuple):
    """A line of a patch. `sign` is "+", "-" or " "; `old` and `new` are its line numbers, from 1, or None."""

    sign: str
    text: str
    old: int | None
    new: int | None

    @property
    def number(self) -> int:
        """The line's number in the file that contains it: the old one for a removed line."""
        return (self.old if self.sign == "-" else self.new) or 0

    def number_on(self, side: str) -> int:
        """The line's number in the old ("-") or the new ("+") file."""
        return (self.old if side == "-" else self.new) or 0


class Hunk(NamedTuple):
    """The lines of a hunk, and the heading that git shows for it: the enclosing definition above it, if any."""

    heading: str
    lines: tuple[DiffLine, ...]


class Chunk(NamedTuple):
    """A part of a file's diff that is shown or quoted together."""

    file: FileChange
    lines: tuple[DiffLine, ...]


class Excerpt(Frozen):
    """The part of a commit that fits a budget: all paths with counts, then whole hunks; `left_out` lists cut paths."""

    text: str
    left_out: tuple[str, ...]
    tokens: int


def tokens(text: str) -> int:
    """Estimate the tokens in `text` from above, without a tokenizer."""
    return int(len(text) / _CHARACTERS_A_TOKEN * _MARGIN) + 1


@lru_cache(maxsize=256)
def headed_hunks(patch: str | None) -> tuple[Hunk, ...]:
    """Parse a file's patch into hunks; empty for a missing or malformed patch."""
    try:
        return tuple(_hunks(iter(patch.split("\n")))) if patch else ()
    except ValueError:
        return ()


def hunks(patch: str | None) -> tuple[tuple[DiffLine, ...], ...]:
    """Return the lines of each hunk of a file's patch."""
    return tuple(hunk.lines for hunk in headed_hunks(patch))


def changed_lines(file: FileChange, signs: str = "+-") -> Iterator[DiffLine]:
    """Return the added and removed lines of a file, in order; with `signs`, only one kind."""
    return (line for hunk in hunks(file.patch) for line in hunk if line.sign in signs)


def side_lines(file: FileChange, side: str) -> Iterator[tuple[int, DiffLine]]:
    """Return (index of the hunk, line) for each line of a file's old ("-") or new ("+") side, context included."""
    return ((index, line) for index, hunk in enumerate(hunks(file.patch)) for line in hunk if line.sign in (" ", side))


def excerpt(commit: Commit, budget: int) -> Excerpt:
    """Excerpt the commit's diff to `budget` tokens, sources first, cut between hunks.

    The list of paths is never cut: if it alone exceeds the budget, no hunks follow.
    """
    blocks = [_listing(commit)]
    spent = tokens(blocks[0])
    left_out = []
    for file in sorted(commit.files, key=lambda each: (_PREFERENCE[kind(each.path)], -each.size)):
        if file.patch is None or kind(file.path) in _LISTED_ONLY:
            if file.size:
                left_out.append(file.path)
            continue
        pieces = list(_hunk_texts(file.patch))
        included = []
        remaining = budget - spent - tokens(_heading(file.path, len(pieces), len(pieces)))
        for piece in pieces:
            cost = tokens(piece)
            if cost <= remaining:
                included.append(piece)
                remaining -= cost
        if included:
            blocks.append("\n".join([_heading(file.path, len(pieces) - len(included), len(pieces)), *included]))
            spent = budget - remaining
        if len(included) < len(pieces) or not pieces:
            left_out.append(file.path)
    return Excerpt(text="\n".join(blocks), left_out=tuple(left_out), tokens=spent)


def _heading(path: str, left_out: int, total: int) -> str:
    return f"\n--- {path}" + (f" ({left_out} of {total} hunks left out)" if left_out else "")


def _listing(commit: Commit) -> str:
    rows = []
    for file in commit.files:
        moved = f" (was {file.previous_path})" if file.previous_path else ""
        rows.append(f"{file.status} {file.path}{moved} +{file.additions} -{file.deletions}")
    return "\n".join(rows)


def _hunk_texts(patch: str) -> Iterator[str]:
    """Yield a file's hunks as text, long ones split with headers of their own."""
    for hunk in hunks(patch):
        for start in range(0, len(hunk), _HUNK_LINES):
            lines = hunk[start : start + _HUNK_LINES]
            old = [line.old for line in lines if line.old is not None]
            new = [line.new for line in lines if line.new is not None]
            header = f"@@ -{old[0] if old else 0},{len(old)} +{new[0] if new else 0},{len(new)} @@"
            yield "\n".join([header, *(line.sign + line.text for line in lines)])


def _hunks(lines: Iterator[str]) -> Iterator[Hunk]:
    """Yield the hunks of a patch; raises ValueError if it is malformed, as with other text above a hunk."""
    is_patch = True
    for line in lines:
        if header := _HUNK_HEADER.match(line):
            if not is_patch:
                raise ValueError("text between hunks")
            yield _hunk(header, lines)
        elif line and not line.startswith(_NO_NEWLINE):
            is_patch = False


def _hunk(header: re.Match[str], lines: Iterator[str]) -> Hunk:
    """Read the lines that a hunk's header announces; raises ValueError if there are others."""
    old, new = int(header[1]), int(header[3])
    old_end, new_end = old + int(header[2] or 1), new + int(header[4] or 1)
    found = []
    for line in lines:
        sign, text = (line[0], line[1:]) if line.strip("\r") else (" ", line)
        if sign == " ":
            found.append(DiffLine(sign, text, old, new))
            old, new = old + 1, new + 1
        elif sign == "+":
            found.append(DiffLine(sign, text, None, new))
            new += 1
        elif sign == "-":
            found.append(DiffLine(sign, text, old, None))
            old += 1
        elif sign != _NO_NEWLINE:
            raise ValueError(f"not a line of a hunk: {line[:80]!r}")
        if old >= old_end and new >= new_end:
            break
    if (old, new) != (old_end, new_end):
        raise ValueError(f"a hunk ends at lines {old} and {new}, not at {old_end} and {new_end}")
    return Hunk(header[5].strip(), tuple(found))
