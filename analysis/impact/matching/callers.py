"""Upstream's own callers of downstream definitions: the parameters that they pass to overrides and replacements, and the
members that they newly use of the objects that downstream code puts in the place of upstream's.

Only the files that a commit changes are read: no other upstream code can pass a parameter that the commit adds.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.facts.change import is_module, old_path
from analysis.facts.python.module import Class, Module, Parameter
from analysis.facts.python.revision import Revision
from analysis.facts.syntax import parse_module
from analysis.impact.matching.signatures import Misfit
from analysis.impact.matching.upstream import Presence, Upstream
from analysis.impact.surface.model import Subclass, Substitute, SurfaceIndex, Use, UseKind
from analysis.impact.surface.targets import ABOVE, CALL, CONSTRUCTOR, Target, owner_of
from analysis.models import FileChange
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

# `("table", "rows")` of `self.table.rows` -> the method that reads it, and its line
_Reads = Mapping[tuple[str, str], tuple[str, int]]


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

    def __init__(self, files: Sequence[FileChange], after: Revision, uses: SurfaceIndex) -> None:
        """Take the surface whose overrides are called, too."""
        self._files = files
        self._after = after
        self._uses = uses

    def met(self, use: Use, misfits: Iterable[Misfit], parameters: Sequence[Parameter], name: str) -> Iterator[Misfit]:
        """Yield the misfits of an override that callers meet, given the name and parameters that upstream's own has by now.

        Callers in files that the commit leaves alone cannot know a new optional parameter, so that one of the others must
        pass it. If the only callers are methods that the class replaces as well, nobody meets anything. What upstream hands on
        to one of another name is called in many ways: who passes a new parameter by its name calls it.
        """
        is_handed_on = name != use.target[-1]
        callers = [each for calls in self._by_name.values() for each in calls] if is_handed_on else list(self._of(use))
        by_place = [] if is_handed_on else parameters
        positions = {each.name: index for index, each in enumerate(by_place) if each.positional}
        reached = [each for each in callers if not self._is_replaced(each.method, use)]
        for each in misfits:
            passed = any(caller.passes(each.parameter, positions.get(each.parameter)) for caller in reached)
            if passed or (each.cause is not Cause.PARAMETER_ADDED and (reached or not callers)):
                yield each

    def lost(self, name: str, met: frozenset[str] = frozenset()) -> bool:
        """Return whether the commit takes away a line that calls a method, other than in methods that go with it uncalled."""
        if any(file.patch is None for file in self._files if is_module(file)):
            return True
        methods = {method for method, line in self._removed_lines if re.search(rf"\b{re.escape(name)}\b", line)}
        met |= {name}
        return any(not method or self.lost(method, met) for method in methods - met)

    @cached_property
    def _removed_lines(self) -> list[tuple[str, str]]:
        return [each for file in self._files if is_module(file) for each in _removed_lines(file.patch or "")]

    def _of(self, use: Use) -> Iterator[Caller]:
        """Yield the calls that may be of this definition: those of a constructor call its class, or a variable that holds it."""
        if use.kind is not UseKind.OVERRIDE or use.target[-1] != CONSTRUCTOR:
            yield from self._by_name.get(use.target[-1], ())
            return
        owner = owner_of(use.target)
        subclass = self._uses.surface.subclasses.get(owner)
        classes = {each[-1] for each in (subclass.bases if subclass else (owner,))}
        for name, calls in self._by_name.items():
            if name in classes or "cls" in name.lower() or "class" in name.lower():
                yield from calls

    def _is_replaced(self, method: str, use: Use) -> bool:
        """Return whether the class that has this override replaces a method, without calling the one that it replaces."""
        owner = owner_of(use.target) if CALL in use.target else None
        subclass = self._uses.surface.subclasses.get(owner) if owner else None
        if owner is None or subclass is None or method not in subclass.members:
            return False
        above = (*owner, ABOVE, CALL, method)
        return not any(each.target == above for each in self._uses.passing(method))

    @cached_property
    def _by_name(self) -> Mapping[str, list[Caller]]:
        found: dict[str, list[Caller]] = defaultdict(list)
        for file in self._files:
            text = self._after.text(file.path) if file.status != "removed" and is_module(file) else None
            if tree := parse_module(text or ""):
                partials = dict(_partials(tree)) if "partial(" in (text or "") else {}
                for name, caller in _calls(tree, ""):
                    found[partials.get(name, name)].append(caller)
        return found


def _removed_lines(patch: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that a patch removes, those of definitions apart, each with the method that goes with it, or ""."""
    kept = set(re.findall(r"^\+\s*(?:async\s+)?def\s+(\w+)", patch, re.MULTILINE))
    method, indent = "", 0
    for line in patch.split("\n"):
        text = line[1:].lstrip()
        depth = len(line) - len(text)
        if not line.startswith("-"):
            method = ""
        elif defined := re.match(r"(?:async\s+)?def\s+(\w+)", text):
            method, indent = ("" if defined[1] in kept else defined[1]), depth
        elif text and not text.startswith(")"):  # which ends a signature
            method = method if depth > indent else ""
            yield method, text


def _partials(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of variables that hold `partial(self.method, ...)`, each with the method's."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[ast.Attribute(attr=method), *_]
                ),
            ):
                yield name, method


def _calls(node: ast.AST, method: str) -> Iterator[tuple[str, Caller]]:
    """Yield the calls below a node, each with the name that it calls."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            match child.func:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield name, Caller(child, method)
                case ast.Attribute(attr=name) | ast.Name(id=name):
                    yield name, Caller(child, "")
        if isinstance(child, ast.ClassDef):
            yield from _calls(child, "")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _calls(child, method or child.name)  # a function within a method is the method's
        else:
            yield from _calls(child, method)


def missing_members(
    files: Sequence[FileChange], before: Upstream, after: Upstream, index: SurfaceIndex
) -> Iterator[Impact]:
    """Yield what inherited methods read since the commit of an attribute in which the downstream class holds one of its own."""
    for file in filter(is_module, files):
        text = after.revision.text(file.path) if "self." in (file.patch or "self.") else None
        if text is None or not any(f"class {name}" in text for name in index.derived):
            continue
        was, now = before.revision.module(old_path(file)), after.revision.module(file.path)
        if was is None or now is None:
            continue
        classes = (name for name, each in now.members.items() if isinstance(each, Class))
        derived = [each for name in classes for each in index.derived.get(name, ())]
        if not derived:
            continue
        old, new = _reads(was.text), _reads(now.text)
        seen = {chain for reads in old.values() for chain in reads}
        for subclass, base in derived:
            found = after.find(base)
            if found.presence is Presence.PRESENT and found.last.module.path == file.path:
                reads = {chain: each for chain, each in new.get(base[-1], {}).items() if chain not in seen}
                yield from _lacking(subclass, base, reads, after, index, now)


def _lacking(
    subclass: Subclass, base: Target, reads: _Reads, after: Upstream, index: SurfaceIndex, module: Module
) -> Iterator[Impact]:
    for (held, name), (method, line) in reads.items():
        own = subclass.substitutes.get(held)
        if own and _inherits(subclass, method, index) and _lacks(own, name, after):
            yield Impact(
                kind=ImpactKind.REQUIRED_METHOD,
                certainty=Certainty.LIKELY,
                cause=Cause.NEWLY_USED,
                name=".".join((*after.dotted(module), base[-1], method)),
                subjects=(f"{held}.{name}",),
                upstream=UpstreamPlace(path=module.path, line=line, after=module.lines[line - 1].strip()),
                downstream=DownstreamPlace(path=own.path, line=own.line, code=own.code),
            )


def _inherits(subclass: Subclass, method: str, index: SurfaceIndex) -> bool:
    """Return whether a class has a method of upstream's, which it does not define or calls from its own."""
    above = (*subclass.target, ABOVE, CALL, method)
    return method not in subclass.members or any(each.target == above for each in index.passing(method))


def _lacks(own: Substitute, name: str, after: Upstream) -> bool:
    if own.members is not None:
        return name not in own.members
    return after.find((*own.target, CALL, name)).presence is Presence.MISSING


def _reads(text: str) -> Mapping[str, _Reads]:
    """Return what the methods of each class of a module read of what `self` holds, by the name of the class."""
    found: dict[str, dict[tuple[str, str], tuple[str, int]]] = defaultdict(dict)
    tree = parse_module(text)
    for owner in tree.body if tree else ():
        for method in owner.body if isinstance(owner, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(owner, ast.ClassDef):
                for node in ast.walk(method):
                    match node:
                        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=held), attr=name):
                            found[owner.name].setdefault((held, name), (method.name, node.lineno))
    return found
