"""Removed and renamed flags, environment variables, routes and metrics: names that people write in commands, files and queries."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial

from analysis.diff import side_lines
from analysis.facts.change import Change, Side, is_public, removes_lines
from analysis.facts.removals import Occurrence, located, removals
from analysis.facts.syntax import Source, constant_strings
from analysis.models import Fact, FactKind, FileChange

_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
_DEFINED = re.compile(
    rf"""(?x)
      ^\s*["'](?P<key>{_NAME})["']\s*:                              # a registry of variables
    | ^\s*(?P<typed>{_NAME})\s*:\s*[\w."'\[\]| ,]+=                 # typed, in a file named for it
    | (?:os\.)?(?:environ(?:\.get)?|getenv)\s*[\[(]\s*["'](?P<read>{_NAME})["']
    """
)
_REGISTERED = re.compile(rf"""^\s*["'](?P<key>{_NAME})["']\s*:\s*(?:lambda\b|env\w*\()""")
_ENV_FILE = re.compile(r"(^|/)(envs?|environment|env_vars?|settings)\.py$")


_HANDED_ON = re.compile(r"^\+.*\w\(\s*(?:\w+\s*=\s*)?(?:\w+\.)*(?:arg\w*_|sub_?)?parser\s*[,)]", re.MULTILINE)
FLAG_CALL = re.compile(r"(?:.*\.)?(?:add_argument|add_option|option|Option|Flag)$")
_FLAG = re.compile(r"--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*")
FLAG_NAME = re.compile(r"""["'](--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)["']""")
_ROUTE_CALL = re.compile(
    r"@.*\.(?:get|post|put|patch|delete|head|options|route|api_route|websocket)$|(?:.*\.)?(?:Route|WebSocketRoute|Mount)$"
    r"|.*\.(?:add_api_route|add_api_websocket_route|add_route|add_url_rule|add_websocket_route|add_get|add_post|add_put|add_delete)$"
)
_GONE_ROUTE = re.compile(r"^-.*[\"']/", re.MULTILINE)
_ADDED_ROUTE = re.compile(r"^\+.*[\"']/\w", re.MULTILINE)
_METRIC_CALL = re.compile(r"(?:.*[._])?(?:counter|gauge|histogram|summary)(?:_cls|_vec)?$", re.IGNORECASE)
_METRIC = re.compile(r"[a-z][a-z0-9]*[:_][a-z0-9_:]*[a-z0-9]")
_ADDED_METRIC = re.compile(rf"^\+.*[\"']{_METRIC.pattern}[\"']", re.MULTILINE)
_GONE_METRIC = re.compile(rf"^-.*[\"']{_METRIC.pattern}[\"']", re.MULTILINE)
_SERVED_ANYWAY = ("/docs", "/redoc", "/openapi.json")  # by FastAPI
_PREFIX = re.compile(r"^[+-].*\bprefix\s*=", re.MULTILINE)


def environment_variables(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield environment variables whose definition is removed; a removed read does not prove that others are gone."""
    if removes_lines(file):
        kept = _defined_after(change, file)
        found = removals(change, file, FactKind.REMOVED_ENV, _variable_occurrences)
        yield from (fact for fact in found if fact.name not in kept)


def _defined_after(change: Change, file: FileChange) -> frozenset[str]:
    """Return the variables that the whole file still defines after the commit; none if it cannot be read."""
    pattern = _defining(file)
    matches = (pattern.search(line) for line in (change.read_after(file.path) or "").split("\n"))
    return frozenset(next(name for name in match.groups() if name) for match in matches if match)


def _defining(file: FileChange) -> re.Pattern[str]:
    return _DEFINED if _ENV_FILE.search(file.path.lower()) else _REGISTERED


def flags(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield flags that a command's parser no longer defines, except in the project's own scripts.

    What the file newly hands its parser to may define them where no diff shows it, from the fields of a class for example.
    """
    shown = removes_lines(file) and is_public(file) and FLAG_NAME.search(file.patch or "")
    if shown and not _HANDED_ON.search(file.patch or ""):
        found = removals(change, file, FactKind.REMOVED_FLAG, partial(_occurrences, _flags, change))
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


def _occurrences(
    names: Callable[[Source], Iterator[tuple[str, int]]], change: Change, file: FileChange, side: Side
) -> Iterator[Occurrence]:
    """Yield the occurrences of what `names` finds, with its lines, on one side of a Python file."""
    if source := change.source(file, side):
        yield from located(file, side, names(source))


def _flags(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the flags that a Python file defines, each with its line."""
    for call in source.calls(FLAG_CALL):
        for text, line in constant_strings(*call.args):
            if _FLAG.fullmatch(text):
                yield text, line
                if "BooleanOptionalAction" in ast.unparse(call):
                    yield f"--no-{text.removeprefix('--')}", line


def routes(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield routes that a server no longer serves."""
    # When a prefix is added or removed, the same route is written differently.
    if _GONE_ROUTE.search(file.patch or "") and not _PREFIX.search(file.patch or ""):
        yield from removals(change, file, FactKind.REMOVED_ROUTE, partial(_occurrences, _served, change))


def new_routes_and_metrics(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield what a server newly serves or a program newly exports, and no removed line of the commit mentions."""
    patch = file.patch or ""
    added = []
    if _ADDED_ROUTE.search(patch) and not _PREFIX.search(patch):
        added.append(_served)
    if _ADDED_METRIC.search(patch):
        added.append(_exported)
    for names in added if is_public(file) else ():
        before = {*_SERVED_ANYWAY, *(each.name for each in _occurrences(names, change, file, "-"))}
        for each in _occurrences(names, change, file, "+"):
            if each.line.sign == "+" and each.name not in before and each.name not in change.removed_lines:
                yield Fact(kind=FactKind.NEW_SETTING, name=each.name, path=file.path, line=each.line.number)


def _served(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the routes that a Python file serves, each with its line."""
    for call in source.calls(_ROUTE_CALL):
        named = (each.value for each in call.keywords if each.arg == "path")
        for path, line in constant_strings(*call.args[:1], *named):
            if path.startswith("/"):
                yield path, line


def metrics(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield metrics that a program no longer exports under their name."""
    if is_public(file) and _GONE_METRIC.search(file.patch or ""):
        yield from removals(change, file, FactKind.REMOVED_METRIC, partial(_occurrences, _exported, change))


def _exported(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the metrics that a Python file defines, each with its line; with a name alone it may be any counter."""
    for call in source.calls(_METRIC_CALL):
        named = (each.value for each in call.keywords if each.arg == "name")
        if len(call.args) + len(call.keywords) > 1:
            yield from (each for each in constant_strings(*call.args[:1], *named) if _METRIC.fullmatch(each[0]))
