"""Calls in the files that a commit changes: no other upstream code can pass a parameter that the commit adds."""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.facts.change import is_module
from analysis.facts.syntax import parse_module
from analysis.facts.whole_files.repository import Revision
from analysis.models import Commit

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Caller(NamedTuple):
    """A call, and the method that makes it on its own object; "" for any other call."""

    call: ast.Call
    method: str

    def passes(self, parameter: str, position: int | None) -> bool:
        """Return whether the call passes a parameter by its name, or at a position from 0."""
        by_place = position is not None and len(self.call.args) > position
        return by_place or any(each.arg == parameter for each in self.call.keywords)


class Callers:
    """The calls of a commit's changed modules as they are after it, parsed once they are asked for."""

    def __init__(self, commit: Commit, after: Revision) -> None:
        self._commit = commit
        self._after = after

    def of(self, name: str) -> Sequence[Caller]:
        """Return the calls of whatever has this name."""
        return self._by_name.get(name, ())

    def no_longer_use(self, name: str) -> bool:
        """Return whether the commit takes away a line that has this name, other than its definitions."""
        used = re.compile(rf"^-(?!\s*(?:async\s+)?def\s).*\b{re.escape(name)}\b", re.MULTILINE)
        sources = (file for file in self._commit.files if is_module(file))
        return any(file.patch is None or used.search(file.patch) for file in sources)

    def of_constructors(self, classes: Collection[str]) -> Iterator[Caller]:
        """Yield the calls of these classes, and of variables that hold a class."""
        for name, calls in self._by_name.items():
            if name in classes or "cls" in name.lower() or "class" in name.lower():
                yield from calls

    @cached_property
    def _by_name(self) -> Mapping[str, list[Caller]]:
        found: dict[str, list[Caller]] = defaultdict(list)
        for file in self._commit.files:
            text = self._after.text(file.path) if file.status != "removed" and is_module(file) else None
            if tree := parse_module(text or ""):
                for name, caller in _calls(tree, ""):
                    found[name].append(caller)
        return found


def _calls(node: ast.AST, method: str) -> Iterator[tuple[str, Caller]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            match child.func:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield name, Caller(child, method)
                case ast.Attribute(attr=name) | ast.Name(id=name):
                    yield name, Caller(child, "")
        if isinstance(child, ast.ClassDef):
            yield from _calls(child, "")
        else:  # a function within a method is the method's
            yield from _calls(child, child.name if isinstance(child, _FUNCTIONS) and not method else method)
