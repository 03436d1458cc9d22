"""Removed and renamed environment variables and command-line flags."""

import re
from collections.abc import Iterator

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change, loses
from analysis.facts.python import SIDES, Side, statements
from analysis.facts.removals import Named, removals
from analysis.models import Fact, FactKind, FileChange

_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
_DEFINED = re.compile(
    rf"""(?x)
      ^\s*["'](?P<key>{_NAME})["']\s*:                              # a registry of variables
    | ^\s*(?P<typed>{_NAME})\s*:\s*[\w."'\[\]| ,]+=                 # typed, in a file named for it
    | (?:os\.)?(?:environ(?:\.get)?|getenv)\s*[\[(]\s*["'](?P<read>{_NAME})["']
    | (?:std::)?getenv\(\s*"(?P<c>{_NAME})"
    | (?:os\.Getenv|env::var|process\.env\.)\(?"?(?P<other>{_NAME})
    """
)
_REGISTERED = re.compile(rf"""^\s*["'](?P<key>{_NAME})["']\s*:\s*(?:lambda\b|env\w*\()""")
ENV_FILE = re.compile(r"(^|/)(envs?|environment|env_vars?|settings)\.(py|ts|rs|go)$")

_PARSER = re.compile(r"(?:add_argument|click\.option|@option|typer\.Option|\bOption|\bFlag)\s*\(")
FLAG_NAME = re.compile(r"""["'](--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)["']""")


def variables(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield environment variables whose definition is removed; a removed read does not prove that others are gone."""
    registered = any(hint in (file.patch or "") for hint in ("lambda", "env"))
    if loses(file) and (registered or ENV_FILE.search(file.path.lower())):
        before, after = (list(_variables(file, side)) for side in SIDES)
        yield from removals(change, file, before, after, FactKind.REMOVED_ENV, FactKind.RENAMED_ENV)


def flags(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield flags that a command's parser no longer defines."""
    if loses(file) and FLAG_NAME.search(file.patch or ""):
        before, after = (list(_flags(file, side)) for side in SIDES)
        yield from removals(change, file, before, after, FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG)


def _variables(file: FileChange, side: Side) -> Iterator[Named]:
    pattern = _DEFINED if ENV_FILE.search(file.path.lower()) else _REGISTERED
    for place, line in _side(file, side):
        if match := pattern.search(line.text):
            yield Named(next(name for name in match.groups() if name), line.sign, line.number, place)


def _flags(file: FileChange, side: Side) -> Iterator[Named]:
    if file.path.endswith(".py"):
        for each in statements(file.patch, side):
            for name in FLAG_NAME.findall(each.text) if _PARSER.search(each.text) else ():
                line = each.line_of(name)
                yield Named(name, line.sign, line.number, each.hunk)
                if "BooleanOptionalAction" in each.text:
                    yield Named(f"--no-{name.removeprefix('--')}", line.sign, line.number, each.hunk)
        return
    for place, line in _side(file, side):
        for name in FLAG_NAME.findall(line.text) if _PARSER.search(line.text) else ():
            yield Named(name, line.sign, line.number, place)


def _side(file: FileChange, side: Side) -> Iterator[tuple[int, DiffLine]]:
    return ((place, line) for place, hunk in enumerate(hunks(file.patch)) for line in hunk if line.sign in (" ", side))
