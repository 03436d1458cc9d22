"""The relevance of changed lines to a module's interface: a cheap test before both versions of the module are parsed."""

import re
from collections.abc import Sequence

from analysis.diff import DiffLine, changed_lines
from analysis.models import FileChange

_REMOVED = re.compile(
    r"\s*(?:(?:async\s+def|def|class)\s|@|self\.\w+\s*(?::[^=]+)?=)|(?: {0,4}|\t)[A-Za-z_]\w*\s*(?:[:=,]|$)"
)
_ADDED = re.compile(r"\s*@|(?: {0,4}|\t)(?:[A-Za-z_]\w*\s*:|(?:async\s+def|def|class)\s)")
_IMPORTED = re.compile(r"\s*(?:from|import)\s|\s+\w+,?\s*$")
_PARAMETER = re.compile(r"\s+(?:\*{0,2}[A-Za-z_]\w*\s*(?:[:=,)]|$)|\*,|/,)")
_HEAD = re.compile(r"\s*(?:async\s+def|def)\s")
_HEAD_LINES = 80  # of the longest signatures


def may_change_interface(file: FileChange, before: str, after: str) -> bool:
    """Return whether a changed line may define something, import something in a package, or lie in a signature."""
    if file.patch is None:
        return True
    package = file.path.endswith("__init__.py")
    sides = {"-": before.split("\n"), "+": after.split("\n")}
    return any(_is_relevant(line, sides[line.sign], package=package) for line in changed_lines(file))


def _is_relevant(line: DiffLine, lines: Sequence[str], *, package: bool) -> bool:
    pattern = _REMOVED if line.sign == "-" else _ADDED
    if pattern.match(line.text) or (package and line.sign == "-" and _IMPORTED.match(line.text)):
        return True
    return bool(_HEAD.match(line.text) or (_PARAMETER.match(line.text) and _is_in_head(line.number, lines)))


def _is_in_head(number: int, lines: Sequence[str]) -> bool:
    """Return whether a line continues the head of a function that begins above it."""
    for above in range(number - 2, max(number - 2 - _HEAD_LINES, -1), -1):
        text = lines[above].partition("#")[0].rstrip() if above < len(lines) else ""
        if text.endswith(":"):
            return False
        if _HEAD.match(text):
            return True
    return False
