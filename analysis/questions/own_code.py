"""What commits change of the names that downstream code uses, or defines itself as they do, though nothing is proven to break."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.diff import headed_hunks
from analysis.facts.python.module import module_path
from analysis.impact.surface.model import Subclass, SurfaceIndex, Use, UseKind
from analysis.models import Commit, Entry, Fact, FactKind, FileChange

_KINDS = (UseKind.OVERRIDE, UseKind.REPLACEMENT, UseKind.CALL, UseKind.READ, UseKind.IMPORT)  # as they are told
_DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*[:=]")
_METHOD = re.compile(r"(?P<owner>\w+)\.(?P<name>[a-z]\w*)\((?P<parameter>\w+)\)")
_LAST_WORD = re.compile(r"[A-Z]?[a-z0-9]+$")
_GROWN = (FactKind.REQUIRED_PARAMETER, FactKind.ADDED_PARAMETER)


class Grown(NamedTuple):
    """A method of upstream's that takes a new parameter, and a downstream class that defines a method of its name."""

    fact: Fact
    name: str
    parameter: str
    own: Subclass


def grown_methods(entry: Entry, index: SurfaceIndex) -> Iterator[Grown]:
    """Yield the methods that take a new parameter and that a downstream class of the same role defines: `NPUWorker` for `Worker`."""
    for fact in entry.facts:
        match = _METHOD.fullmatch(fact.name) if fact.kind in _GROWN else None
        for own in index.surface.subclasses.values() if match else ():
            if match and match["name"] in own.members and _role(own.target[-1]) == _role(match["owner"]):
                yield Grown(fact, match["name"], match["parameter"], own)


def _role(name: str) -> str:
    match = _LAST_WORD.search(name)
    return match[0] if match else name


def uses_changed(commit: Commit, index: SurfaceIndex) -> list[Use]:
    """Return the uses of what the changed lines of a commit (with patches) stand in; overrides first, imports last."""
    touched = {_module(file.path, index): _touched(file) for file in commit.files if file.path.endswith(".py")}
    found = [
        use
        for use in index.surface.uses
        for module, names in touched.items()
        if use.kind in _KINDS and module and use.target[: len(module)] == module
        if set(_named(use.target[len(module) :])) & names
    ]
    return sorted(found, key=lambda use: (index.rank(use.path), _KINDS.index(use.kind), use.path, use.line))


def _named(target: Sequence[str]) -> Sequence[str]:
    """Return the name at a module's top that a target begins with, or of a class the member."""
    names = [each for each in target if each.isidentifier()]
    return names[1:2] or names[:1]


def _module(path: str, index: SurfaceIndex) -> tuple[str, ...]:
    parts = module_path(path).split("/")
    start = next((place for place, part in enumerate(parts) if part in index.surface.packages), len(parts))
    return tuple(parts[start:])


def _touched(file: FileChange) -> frozenset[str]:
    """Return the names of the definitions that the changed lines of a file stand in, or are."""
    found: set[str] = set()
    for hunk in headed_hunks(file.patch):
        inside = _defined(hunk.heading)
        for line in hunk.lines:
            inside = _defined(line.text) or inside
            if line.sign != " " and inside:
                found.add(inside)
    return frozenset(found)


def _defined(line: str) -> str:
    match = _DEFINED.match(line)
    return (match[1] or match[2]) if match else ""
