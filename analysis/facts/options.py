"""Removed and renamed environment variables and command-line flags."""

import re
from collections.abc import Iterator

from analysis.diff import side_lines
from analysis.facts.change import Change, is_public, removes_lines
from analysis.facts.python import Side, statements
from analysis.facts.removals import Occurrence, removed_between_sides
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

PARSER = re.compile(r"(?:add_argument|click\.option|@option|typer\.Option|\bOption|\bFlag)\s*\(")
_HANDED_ON = re.compile(r"^\+.*\w\(\s*(?:\w+\s*=\s*)?(?:\w+\.)*(?:arg\w*_|sub_?)?parser\s*[,)]", re.MULTILINE)
FLAG_NAME = re.compile(r"""["'](--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)["']""")


def environment_variables(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield environment variables whose definition is removed; a removed read does not prove that others are gone."""
    registered = any(hint in (file.patch or "") for hint in ("lambda", "env"))
    if removes_lines(file) and (registered or ENV_FILE.search(file.path.lower())):
        kept = _defined_after(change, file)
        found = removed_between_sides(change, file, FactKind.REMOVED_ENV, _variable_occurrences)
        yield from (fact for fact in found if fact.name not in kept)


def _defined_after(change: Change, file: FileChange) -> frozenset[str]:
    """Return the variables that the whole file still defines after the commit; none if it cannot be read."""
    pattern = _defining(file)
    matches = (pattern.search(line) for line in (change.read_after(file.path) or "").split("\n"))
    return frozenset(next(name for name in match.groups() if name) for match in matches if match)


def _defining(file: FileChange) -> re.Pattern[str]:
    return _DEFINED if ENV_FILE.search(file.path.lower()) else _REGISTERED


def flags(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield flags that a command's parser no longer defines, except in the project's own scripts.

    What the file newly hands its parser to may define them where no diff shows it, from the fields of a class for example.
    """
    shown = removes_lines(file) and is_public(file) and FLAG_NAME.search(file.patch or "")
    if shown and not _HANDED_ON.search(file.patch or ""):
        found = removed_between_sides(change, file, FactKind.REMOVED_FLAG, _flag_occurrences)
        yield from (fact for fact in found if not _becomes_field(change, fact.name))


def _becomes_field(change: Change, flag: str) -> bool:
    """Return whether the commit adds a field of a flag's name, from which a parser may be made."""
    name = re.escape(flag.removeprefix("--").replace("-", "_"))
    return re.search(rf"^\s+{name}\s*:\s*\S", change.added, re.MULTILINE) is not None


def _variable_occurrences(file: FileChange, side: Side) -> Iterator[Occurrence]:
    pattern = _defining(file)
    for hunk, line in side_lines(file, side):
        if match := pattern.search(line.text):
            yield Occurrence(next(name for name in match.groups() if name), line, hunk)


def _flag_occurrences(file: FileChange, side: Side) -> Iterator[Occurrence]:
    if file.path.endswith(".py"):
        for each in statements(file.patch, side):
            for name in FLAG_NAME.findall(each.text) if PARSER.search(each.text) else ():
                yield Occurrence(name, each.line_of(name), each.hunk)
                if "BooleanOptionalAction" in each.text:
                    yield Occurrence(f"--no-{name.removeprefix('--')}", each.line_of(name), each.hunk)
        return
    for hunk, line in side_lines(file, side):
        for name in FLAG_NAME.findall(line.text) if PARSER.search(line.text) else ():
            yield Occurrence(name, line, hunk)
