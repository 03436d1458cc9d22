"""New uses upstream of objects that downstream code puts in the place of its own, and which those lack.

A method of upstream's that a downstream class inherits meets the attributes that this class sets.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from analysis.facts.change import is_module, old_path
from analysis.facts.python.module import Class, Function, Module
from analysis.facts.syntax import parse_module
from analysis.impact.matching.upstream import Answer, Presence, Upstream
from analysis.impact.surface.model import Subclass, Substitute, SurfaceIndex
from analysis.impact.surface.targets import ABOVE, CALL, CONSTRUCTOR, Target
from analysis.models import FileChange
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_Reads = Mapping[
    Target, tuple[str, int]
]  # `("table", "rows")` of `self.table.rows` -> the method that reads it, and its line


def missing_members(
    files: Sequence[FileChange], before: Upstream, after: Upstream, index: SurfaceIndex
) -> Iterator[Impact]:
    """Yield what inherited methods read since the commit, and what the downstream class or its attribute does not have."""
    for file in files:
        was, now = before.revision.module(old_path(file)), after.revision.module(file.path)
        if was is None or now is None or not is_module(file) or "self." not in (file.patch or "self."):
            continue
        classes = (name for name, each in now.members.items() if isinstance(each, Class))
        derived = [each for name in classes for each in index.derived(name)]
        if not derived:
            continue
        old, new = _reads(was.text), _reads(now.text)
        seen = {chain for reads in old.values() for chain in reads}
        for subclass, base in derived:
            found = after.find(base)
            if found.presence is Presence.PRESENT and found.last.module.path == file.path:
                reads = {chain: each for chain, each in new.get(base[-1], {}).items() if chain not in seen}
                yield from _lacking(subclass, base, reads, (before, after), index, now)


def _lacking(
    subclass: Subclass,
    base: Target,
    reads: _Reads,
    sides: tuple[Upstream, Upstream],
    index: SurfaceIndex,
    module: Module,
) -> Iterator[Impact]:
    before, after = sides
    for chain, (method, line) in reads.items():
        if not _inherits(subclass, method, index):
            continue
        own = subclass.substitutes.get(chain[0])
        if len(chain) > 1 and own and _lacks(own, chain[1], after):
            place = own.path, own.line, own.code
        elif len(chain) == 1 and _is_set_by_constructor(subclass, base, chain[0], before, after):
            place = subclass.path, subclass.line, subclass.code
        else:
            continue
        yield Impact(
            kind=ImpactKind.REQUIRED_METHOD,
            certainty=Certainty.LIKELY,
            cause=Cause.NEWLY_USED,
            name=".".join((*after.dotted(module), base[-1], method)),
            subjects=(".".join(chain),),
            upstream=UpstreamPlace(path=module.path, line=line, after=module.lines[line - 1].strip()),
            downstream=DownstreamPlace(path=place[0], line=place[1], code=place[2]),
        )


def _inherits(subclass: Subclass, method: str, index: SurfaceIndex) -> bool:
    """Return whether a class has a method of upstream's, which it does not define or calls from its own."""
    above = (*subclass.target, ABOVE, CALL, method)
    return method not in subclass.members or any(each.target == above for each in index.passing(method))


def _lacks(own: Substitute, name: str, after: Upstream) -> bool:
    if own.members is not None:
        return name not in own.members
    return after.find((*own.target, CALL, name)).presence is Presence.MISSING


def _is_set_by_constructor(subclass: Subclass, base: Target, name: str, before: Upstream, after: Upstream) -> bool:
    """Return whether only the constructor of the base, which the subclass does not call, has begun to set an attribute."""
    if subclass.constructs is None or base[-1] in subclass.constructs or name in subclass.members:
        return False
    if before.find((*base, CALL, name)).presence is not Presence.MISSING:
        return False
    found: Answer = after.find((*base, CALL, name))
    owner, member = found.last.owner, found.last.member
    constructor = owner.members.get(CONSTRUCTOR) if owner else None
    return (
        found.presence is Presence.PRESENT
        and isinstance(constructor, Function)
        and member is not None
        and constructor.start <= member.line <= constructor.end
    )


def _reads(text: str) -> Mapping[str, _Reads]:
    """Return what the methods of each class of a module read of `self`, by the name of the class."""
    found: dict[str, dict[Target, tuple[str, int]]] = defaultdict(dict)
    tree = parse_module(text)
    for owner in tree.body if tree else ():
        for method in owner.body if isinstance(owner, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(owner, ast.ClassDef):
                for node in ast.walk(method):
                    match node:
                        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()):
                            found[owner.name].setdefault((name,), (method.name, node.lineno))
                        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=held), attr=name):
                            found[owner.name].setdefault((held, name), (method.name, node.lineno))
    return found
