"""A commit's patches, parsed into lines and excerpted within a token budget."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from analysis.models import Commit, FileChange, Frozen
from analysis.paths import Kind, kind

# cl100k uses about one token for three characters of a diff; the margin covers scripts that take more.
_CHARACTERS_A_TOKEN = 3
_MARGIN = 1.15
# Longer hunks are split, so that a new file need not be left out as a whole.
_HUNK_LINES = 60
_HUNKS_A_ROUND = 4  # hunks of a file before the first ones of others
_REMOVED_LINES = 20  # in a row, from which on only those are shown that define something, raise or say why
_DEFINES = re.compile(
    r"\s*(?:async def|def|class|@)\b|[A-Za-z_]\w*\s*(?::[^=]+)?=(?!=)|\s*(?:parser|group)\b.*add_argument|\s*raise\b|.*\b(?:log(?:ger)?|warnings?)\.\w+\(|\s*[\"']--"
)
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


class NumberedHunk(NamedTuple):
    """A hunk of a file, its heading, and the number of its first line, under which a model sees and cites it."""

    file: FileChange
    heading: str
    first: int
    lines: tuple[DiffLine, ...]


class Chunk(NamedTuple):
    """A part of a file's diff that is shown or quoted together, and the heading of its hunk."""

    file: FileChange
    heading: str
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


def numbered_hunks(commit: Commit) -> Iterator[NumberedHunk]:
    """Yield the hunks of a commit; their lines are numbered from 1 on, over all its files."""
    number = 1
    for file in commit.files:
        for hunk in headed_hunks(file.patch):
            yield NumberedHunk(file, hunk.heading, number, hunk.lines)
            number += len(hunk.lines)


def excerpt(commit: Commit, budget: int) -> Excerpt:
    """Excerpt the commit's diff to `budget` tokens, with numbered lines: sources first, each file's first hunks before other files' later ones.

    The list of paths is never cut: if it alone exceeds the budget, no hunks follow.
    """
    listing = _listing(commit)
    pieces: dict[str, list[str]] = {file.path: [] for file in sorted(commit.files, key=_preference)}
    for hunk in numbered_hunks(commit):
        if kind(hunk.file.path) not in _LISTED_ONLY:
            pieces[hunk.file.path] += _pieces(hunk)
    paths = list(pieces)
    places = [(path, place) for path in paths for place in range(len(pieces[path]))]
    spent, included = tokens(listing), dict[str, list[int]]()
    for path, place in sorted(places, key=lambda each: each[1] // _HUNKS_A_ROUND):
        heading = "" if path in included else _heading(path, len(pieces[path]), len(pieces[path]))
        if (cost := tokens(pieces[path][place]) + (tokens(heading) if heading else 0)) <= budget - spent:
            included.setdefault(path, []).append(place)
            spent += cost
    blocks = [listing]
    for path in filter(included.__contains__, paths):
        shown, total = included[path], len(pieces[path])
        blocks.append("\n".join([_heading(path, total - len(shown), total), *(pieces[path][place] for place in shown)]))
    left = (file for file in commit.files if file.size and not _is_whole(file.path, pieces, included))
    left_out = tuple(file.path for file in sorted(left, key=_preference))
    return Excerpt(text="\n".join(blocks), left_out=left_out, tokens=spent)


def _preference(file: FileChange) -> tuple[int, int]:
    return _PREFERENCE[kind(file.path)], -file.size


def _is_whole(path: str, pieces: Mapping[str, Sequence[str]], included: Mapping[str, Sequence[int]]) -> bool:
    return bool(pieces[path]) and len(included.get(path, ())) == len(pieces[path])


def _heading(path: str, left_out: int, total: int) -> str:
    return f"\n--- {path}" + (f" ({left_out} of {total} hunks left out)" if left_out else "")


def _listing(commit: Commit) -> str:
    rows = []
    for file in commit.files:
        moved = f" (was {file.previous_path})" if file.previous_path else ""
        rows.append(f"{file.status} {file.path}{moved} +{file.additions} -{file.deletions}")
    return "\n".join(rows)


def _pieces(hunk: NumberedHunk) -> Iterator[str]:
    """Yield a hunk as text, a long one in pieces with headers of their own; each line has its number, sign and text."""
    for start in range(0, len(hunk.lines), _HUNK_LINES):
        lines = hunk.lines[start : start + _HUNK_LINES]
        old = next((line.old for line in lines if line.old is not None), 0)
        new = next((line.new for line in lines if line.new is not None), 0)
        rows = _folded([(hunk.first + start + place, line) for place, line in enumerate(lines)])
        yield "\n".join([f"@@ -{old} +{new} @@ {hunk.heading}".rstrip(), *rows])


def _folded(lines: Sequence[tuple[int, DiffLine]]) -> Iterator[str]:
    """Yield numbered lines as text; of many removed in a row only those that tell what was there, and how many the others are."""
    for removed, group in groupby(lines, key=lambda each: each[1].sign == "-"):
        run, folded = list(group), 0
        is_long = removed and len(run) > _REMOVED_LINES
        for number, line in run:
            if is_long and not _DEFINES.match(line.text):
                folded += 1
                continue
            if folded:
                yield f"- ... {folded} removed lines"
                folded = 0
            yield f"{number} {line.sign}{line.text}"
        if folded:
            yield f"- ... {folded} removed lines"


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
