"""Breaking changes between two signatures of one function: calls and overrides that no longer fit, and narrowed types."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from analysis.facts.python.module import Function, Member, Parameter, ParameterKind
from analysis.facts.python.revision import Found
from analysis.facts.syntax import parse_expression
from analysis.models import Fact, FactKind, Proof

# Functions that nobody calls by their parameters: kernels, fixtures, validators, commands.
_NOT_CALLED = re.compile(
    r"\b(?:jit|kernel|fixture|field_validator|model_validator|validator|custom_op|register_fake|impl_abstract|command)\b"
)
_PLAIN = frozenset(
    ["None", "bool", "int", "float", "str", "bytes", "list", "dict", "tuple", "set", "frozenset", "Tensor", "ndarray"]
)
_SINGLE = frozenset(
    ["bool", "int", "float", "str", "bytes", "dict", "Tensor", "ndarray", "Callable"]
)  # nobody unpacks one
_WIDER = {"bool": "int", "int": "float"}
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+")
_OLD_NAMES = re.compile(r"\b(?:List|Dict|Tuple|Set|FrozenSet)\b")

_PLAIN_DECORATORS = ("abstractmethod", "classmethod", "staticmethod", "cache", "lru_cache", "contextmanager")
SPECIAL_METHODS = ("__init__", "__call__", "__new__")


class ParameterChange(NamedTuple):
    """What happened to one parameter; `new` is its new name, what stands before it if it was moved, or how it is passed now: `*, x`."""

    kind: FactKind
    name: str
    new: str | None = None

    @property
    def on_old_side(self) -> bool:
        return self.kind in (FactKind.REMOVED_PARAMETER, FactKind.RENAMED_PARAMETER)


def proven(
    kind: FactKind, name: str, place: Found[Member], line: int, new: str | None = None, *, old: str | None = None
) -> Fact:
    """Return a fact at a line of the module of `place`, proved by what is known of it: whole files, or the patch."""
    proof = Proof.PATCH if place.module.partial else Proof.FILES
    return Fact(kind=kind, name=name, path=place.module.path, line=line, old=old, new=new, proof=proof)


def signature_facts(name: str, old: Found[Function], new: Found[Function], *, method: bool) -> Iterator[Fact]:
    """Yield what no longer fits a function's signature; for a method also the parameters that overrides lack."""
    if old.module.source(old.member) == new.module.source(new.member):
        return
    for each in parameter_changes(old.member, new.member, method=method):
        side = old if each.on_old_side else new
        line = side.module.line_of(each.name, side.member)
        now = each.new
        if now and each.kind is not FactKind.RENAMED_PARAMETER:
            now = f"{name}({now}, {each.name})" if each.kind is FactKind.MOVED_PARAMETER else f"{name}({now})"
        yield proven(each.kind, f"{name}({each.name})", side, line, now)
    yield from _narrowed_types(name, old, new, method=method)
    yield from _returned_facts(name, old, new)
    if method and new.member.name not in SPECIAL_METHODS:
        for added in added_parameters(old.member, new.member):
            line = new.module.line_of(added, new.member)
            yield proven(FactKind.ADDED_PARAMETER, f"{name}({added})", new, line)


def _narrowed_types(name: str, old: Found[Function], new: Found[Function], *, method: bool) -> Iterator[Fact]:
    """Yield the parameters of a public function that accept less."""
    if new.member.name.startswith("_") and new.member.name not in SPECIAL_METHODS:
        return
    if any(map(_NOT_CALLED.search, new.member.decorators)):
        return
    before = called_parameters(old.member, method=method)
    for each in called_parameters(new.member, method=method).values():
        was = before[each.name].annotation if each.name in before else ""
        if narrowed(was, each.annotation):
            line = new.module.line_of(each.name, new.member)
            yield proven(FactKind.RETYPED, f"{name}({each.name})", new, line, each.annotation, old=was)


def _returned_facts(name: str, old: Found[Function], new: Found[Function]) -> Iterator[Fact]:
    """Yield how many values a function returns if that changes, or the type of its result if that may be more."""
    if any(map(_NOT_CALLED.search, new.member.decorators)):
        return
    counts = [returned_values(each) for each in (old, new)]
    was, now = old.member.returns, new.member.returns
    is_private = new.member.name.startswith("_") and new.member.name not in SPECIAL_METHODS
    # It says now what the statements said before.
    was_wrong = counts[0] == counts[1] and (counts[0] or 1) > 1 and len(alternatives(now)) == 1
    # The type alone may have been wrong before: then the same statements return.
    returned = [_returns(each) for each in (old, new)]
    is_corrected = returned[0] == returned[1]
    if None not in counts and counts[0] != counts[1] and not (1 in counts and is_corrected):
        yield proven(FactKind.RETURNED_VALUES, name, new, new.member.line, str(counts[1]), old=str(counts[0]))
    elif not is_private and not was_wrong and not (returned[0] and is_corrected) and narrowed(now, was):
        yield proven(FactKind.RETYPED, f"{name}(return)", new, new.member.line, now, old=was)


def returned_values(function: Found[Function]) -> int | None:
    """Return how many values a function returns: in each of its statements, or as its type says; None if that is unknown."""
    node = None if function.module.partial else function.module.definition(function.member)
    lengths = _returned_lengths(node) if node else set()
    if len(lengths) == 1 and (length := next(iter(lengths))):
        return length
    described = described_length(function.member.returns)
    return None if described == 1 and not lengths <= {None} else described


def _returns(function: Found[Function]) -> list[str]:
    """Return the statements with which a function returns, as they are written; none if only a patch shows it."""
    node = None if function.module.partial else function.module.definition(function.member)
    return [ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Return)] if node else []


def returned_length(function: ast.stmt) -> int | None:
    """Return how many values each of a function's statements returns; None if they differ, or for one."""
    lengths = _returned_lengths(function)
    return lengths.pop() if len(lengths) == 1 else None


def described_length(annotation: str) -> int | None:
    """Return how many values an annotation describes: the parts of a tuple, or one; None if that is unknown."""
    kinds = alternatives(annotation)
    if len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    return 1 if kind.partition("[")[0] in _SINGLE else _arity(kind) or None


def _returned_lengths(function: ast.stmt) -> set[int | None]:
    """Return the lengths of the tuples that a function returns, None for anything else; none if it yields its results."""
    lengths: set[int | None] = set()
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        match waiting.pop():
            case ast.Yield() | ast.YieldFrom():
                return set()
            case ast.Return(value=ast.Tuple(elts=[_, _, *_] as elements)):
                lengths.add(None if any(isinstance(each, ast.Starred) for each in elements) else len(elements))
            case ast.Return():
                lengths.add(None)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                pass
            case node:
                waiting += ast.iter_child_nodes(node)
    return lengths


def parameter_changes(before: Function, after: Function, *, method: bool) -> Iterator[ParameterChange]:
    """Yield the changes that break calls; a function that takes any arguments is not broken by those it absorbs."""
    if any(map(_NOT_CALLED.search, (*before.decorators, *after.decorators))):
        return
    old, new = called_parameters(before, method=method), called_parameters(after, method=method)
    if list(old.values()) == list(new.values()):
        return
    renamed = _renamed(old, new)
    yield from _removed(old, new, renamed)
    yield from _required(old, new, renamed)
    moved = _repositioned(old, new, renamed)
    yield from (each for each in moved if each.kind is FactKind.PARAMETER_KIND or not each.new or is_plain(after))


def is_plain(function: Function) -> bool:
    """Return whether no decorator calls a function, or stands for it, in its own way."""
    return all(each.partition("(")[0].rpartition(".")[2] in _PLAIN_DECORATORS for each in function.decorators)


def called_parameters(function: Function, *, method: bool) -> dict[str, Parameter]:
    """Return the parameters that a caller passes, without `self` or `cls`."""
    bound = method and not any(each.endswith("staticmethod") for each in function.decorators)
    return {each.name: each for each in function.parameters[int(bound) :]}


def added_parameters(before: Function, after: Function) -> Iterator[str]:
    """Yield the optional parameters that a method gained, which an override without them does not accept."""
    old, new = called_parameters(before, method=True), called_parameters(after, method=True)
    if not _accepts_any(old) and not any(map(_NOT_CALLED.search, after.decorators)):
        renamed = _renamed(old, new).values()
        for name, each in new.items():
            if name not in old and name not in renamed and not each.variadic and not each.required:
                yield name


def _accepts_any(parameters: dict[str, Parameter]) -> bool:
    return any(each.variadic for each in parameters.values())


def _renamed(old: dict[str, Parameter], new: dict[str, Parameter]) -> dict[str, str]:
    """Map old names to new ones: a removed and an added parameter of the same position and type.

    One that is not passed by position is renamed only if as many are added as removed.
    """
    removed = [(place, each) for place, each in enumerate(old.values()) if each.name not in new]
    added = [(place, each) for place, each in enumerate(new.values()) if each.name not in old]
    pairs = zip(removed, added, strict=True) if len(removed) == len(added) else product(removed, added)
    balanced = len(removed) == len(added)
    return {
        was.name: now.name
        for (old_place, was), (new_place, now) in pairs
        if (was.kind, was.annotation) == (now.kind, now.annotation)
        and (old_place == new_place if was.positional else balanced)
    }


def _removed(
    old: dict[str, Parameter], new: dict[str, Parameter], renamed: dict[str, str]
) -> Iterator[ParameterChange]:
    for name, each in old.items():
        if name in new or name.startswith("_") or each.variadic:
            continue
        if name in renamed:
            if each.kind is not ParameterKind.POSITIONAL_ONLY:
                yield ParameterChange(FactKind.RENAMED_PARAMETER, name, renamed[name])
        elif not _accepts_any(new):
            yield ParameterChange(FactKind.REMOVED_PARAMETER, name)


def _required(
    old: dict[str, Parameter], new: dict[str, Parameter], renamed: dict[str, str]
) -> Iterator[ParameterChange]:
    for name, each in new.items():
        before = old.get(name)
        was_optional = not before.required if before else not _accepts_any(old)
        if each.required and not each.variadic and was_optional and name not in renamed.values():
            yield ParameterChange(FactKind.REQUIRED_PARAMETER, name)


def _repositioned(
    old: dict[str, Parameter], new: dict[str, Parameter], renamed: dict[str, str]
) -> Iterator[ParameterChange]:
    """Yield parameters that must be passed the other way, and the first that a call by position no longer meets.

    Optional ones that only change places are hardly passed by position.
    """
    kinds = {each.kind for each in new.values()}
    for name, each in old.items():
        now = new.get(name, each).kind
        by_name = each.positional and now is ParameterKind.KEYWORD_ONLY and ParameterKind.VAR_POSITIONAL not in kinds
        by_position = now is ParameterKind.POSITIONAL_ONLY and ParameterKind.VAR_KEYWORD not in kinds
        if now is not each.kind and not each.variadic and (by_name or by_position):
            yield ParameterChange(FactKind.PARAMETER_KIND, name, f"*, {name}" if by_name else f"{name}, /")
    was = [renamed.get(name, name) for name, each in old.items() if each.positional]
    now_positional = [name for name, each in new.items() if each.positional]
    # What was removed, and what is required in between, are facts of their own.
    was = [name for name in was if name in now_positional]
    order = [name for name in now_positional if name in was or (not new[name].required and len(was) == len(old))]
    moved, other = next((pair for pair in zip(was, order, strict=False) if pair[0] != pair[1]), ("", ""))
    if moved and new[moved].required:
        yield ParameterChange(FactKind.MOVED_PARAMETER, moved)
    elif moved and other not in old and other not in renamed.values():
        yield ParameterChange(FactKind.MOVED_PARAMETER, moved, other)


def narrowed(was: str, now: str) -> bool:
    """Return whether a type certainly accepts less than before; only built-in types are compared."""
    if was == now:
        return False
    before, after = alternatives(was), alternatives(now)
    if not before or not after:
        return False
    if before - after == {"None"}:
        return True
    plain = {_outer_type(each) for each in after} <= _PLAIN
    return plain and any(_outer_type(each) in _PLAIN and not _is_accepted(each, after) for each in before - {"None"})


def _is_accepted(one: str, by: frozenset[str]) -> bool:
    return any(
        _outer_type(each) in (_outer_type(one), _WIDER.get(_outer_type(one))) and _arity(each) in (_arity(one), 0)
        for each in by
    )


def _outer_type(one: str) -> str:
    return one.partition("[")[0]


def _arity(one: str) -> int:
    """Return the number of a tuple's elements, where its type declares several; 0 for any other type."""
    match parse_expression(one) if one.startswith("tuple[") else None:
        case ast.Subscript(slice=ast.Tuple(elts=[*_, last] as elements)) if ast.unparse(last) != "...":
            return len(elements)
    return 0


@lru_cache(maxsize=1024)
def alternatives(annotation: str) -> frozenset[str]:
    """Return the members of a union, without quotes and module prefixes; empty if it cannot be parsed."""
    text = _MODULE.sub("", annotation.replace('"', "").replace("'", ""))
    text = _OLD_NAMES.sub(lambda match: match[0].lower(), text)
    union = parse_expression(text)
    return frozenset(_union_members(union)) if union else frozenset()


def _union_members(node: ast.expr) -> list[str]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_union_members(left), *_union_members(right)]
        case ast.Subscript(value=ast.Name(id="Optional" | "Union" as name), slice=inside):
            members = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            found = [member for each in members for member in _union_members(each)]
            return [*found, "None"] if name == "Optional" else found
    return [ast.unparse(node)]
