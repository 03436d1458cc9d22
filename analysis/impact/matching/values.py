"""Values of a changed type: what functions return and attributes hold, where their users may not expect it."""

import ast
import builtins
import collections.abc
import enum
import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.syntax import parse_expression
from analysis.facts.whole_files.module import Attribute, Class, Function, Module
from analysis.facts.whole_files.repository import Found
from analysis.impact.matching.signatures import is_callable_as, is_record, own_parameters
from analysis.impact.matching.upstream import Place, Presence, Upstream
from analysis.impact.surface.model import Use, UseKind
from analysis.models.impacts import Cause
from analysis.paths import Kind, kind

_STUBS = ("", "pass", "...")  # bodies that leave to subclasses what is returned
_ALIKE = 0.9  # share of the lines that two bodies have in common if neither was rewritten
_RETURNED = (UseKind.CALL, UseKind.OVERRIDE, UseKind.REPLACEMENT)
# The kinds of values that an annotation allows, each with the classes above it; empty if it allows anything.
Kinds = Mapping[str, frozenset[str]]

_ANYTHING = ("Any", "object")  # which say nothing about a value
_NONE = "None"
_TUPLE_OF = "tuple of "
_ALIASES = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type"}
_INITIAL = "InitVar"  # a field that a dataclass passes to `__post_init__` and does not keep
_WRAPPERS = ("Annotated", "ClassVar", "Final", "Required", "NotRequired", "SkipValidation", _INITIAL)
_MODULES = (builtins, collections.abc, enum)  # of Python's own classes
_MAX_HOPS = 8  # names of types followed to what they stand for


class ValueChange(NamedTuple):
    """What became of a value, and whether its user certainly fails."""

    cause: Cause
    certain: bool = False


class Values(NamedTuple):
    """Upstream before and after a commit, asked what values became."""

    before: Upstream
    after: Upstream

    def change(self, use: Use, was: Place, now: Place) -> ValueChange | None:
        """Return what became of the value that a use relies on, or of the function that it replaces; None if nothing did."""
        match was.member, now.member:
            case Function() as old, Function() as new if use.kind in _RETURNED:
                change = self._returned(use, (was, old), (now, new)) if _behaves_otherwise(was, now) else None
                rewritten = use.kind is UseKind.REPLACEMENT and _differ(_body(was.module, old), _body(now.module, new))
                return change or (ValueChange(Cause.REWRITTEN) if rewritten else None)
            case Attribute() as old, Attribute() as new if use.kind is UseKind.READ:
                cause = self._held(use, (was, old), (now, new)) if old.annotation != new.annotation else None
                return ValueChange(cause) if cause else None
        return None

    def _returned(self, use: Use, was: tuple[Place, Function], now: tuple[Place, Function]) -> ValueChange | None:
        before, after = was[1].returns, now[1].returns
        kinds = self._kinds(was[0], before, now[0], after)
        if use.kind is not UseKind.CALL:
            own = AnnotationReader(now[0].module, self.after).kinds(use.returns)
            expected = _may_return(own, *kinds) or not _is_meant_for(use, was[0])
            return None if expected else ValueChange(Cause.RETURNS)
        if not _returns_as_before(*kinds):
            lengths = _tuple_length(before), _tuple_length(after)
            return ValueChange(Cause.RETURNS, use.unpacked is not None and lengths[0] == use.unpacked != lengths[1])
        return ValueChange(Cause.NONE_ALLOWED) if _meets_none(use, before, after) else None

    def _held(self, use: Use, was: tuple[Place, Attribute], now: tuple[Place, Attribute]) -> Cause | None:
        before, after = was[1].annotation, now[1].annotation
        if _is_kept(before) and not _is_kept(after):
            return Cause.NOT_KEPT
        if not _returns_as_before(*self._kinds(was[0], before, now[0], after)):
            return Cause.TYPE
        owner = now[0].owner
        # Elsewhere an annotation may just say what always was so.
        return Cause.NONE_ALLOWED if owner and is_record(owner) and _meets_none(use, before, after) else None

    def _kinds(self, was: Place, before: str, now: Place, after: str) -> tuple[Kinds, Kinds]:
        """Return what annotations on both sides of the commit allow."""
        sides = AnnotationReader(was.module, self.before), AnnotationReader(now.module, self.after)
        return sides[0].kinds(before), sides[1].kinds(after)


def _meets_none(use: Use, before: str, after: str) -> bool:
    """Return whether a use may meet None by the new annotation alone; a test makes the values that it reads."""
    return kind(use.path) is not Kind.TEST and bool(before) and not _mentions_none(before) and _mentions_none(after)


def _body(module: Module, function: Function) -> str:
    """Return the statements of a function, however they are formatted and whatever their comments and docstring say."""
    node = module.definition(function)
    statements = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    if statements and isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    return "\n".join(map(ast.unparse, statements))


def _differ(before: str, after: str) -> bool:
    """Return whether two bodies differ in more than a few of their lines, as after a renaming."""
    lines = before.split("\n"), after.split("\n")
    return before != after and SequenceMatcher(None, *lines, autojunk=False).ratio() < _ALIKE


def _behaves_otherwise(was: Place, now: Place) -> bool:
    """Return whether a function has another annotation and another body, or leaves its body to subclasses."""
    old, new = was.member, now.member
    if not isinstance(old, Function) or not isinstance(new, Function) or old.returns == new.returns:
        return False
    statements = _body(now.module, new)
    is_stub = statements in _STUBS or statements.startswith("raise NotImplementedError")
    return is_stub or statements != _body(was.module, old)


def _is_meant_for(use: Use, place: Place) -> bool:
    """Return whether upstream could call an override or a replacement before the commit."""
    upstream = own_parameters(place)
    return use.parameters is None or upstream is None or is_callable_as(use.parameters, upstream)


def _returns_as_before(before: Kinds, after: Kinds) -> bool:
    """Return whether callers may go on with what a function returns, or readers with what an attribute holds.

    That it may be None, or no longer, is no other kind.
    """
    relied_on = {*before} != {_NONE}
    return not before or not after or not relied_on or _fits(_without_none(after) or after, before)


def _may_return(own: Kinds, before: Kinds, after: Kinds) -> bool:
    """Return whether an override that returns its `own` kinds, by default those from before, is what callers expect."""
    if not before or not after or {*after} in ({*before}, {_NONE}):
        return True
    # What callers could not expect before either is the override's own affair.
    returned = {name: above for name, above in (own or before).items() if _fits({name: above}, before)}
    return _fits(_without_none(returned) or returned, after)


def _fits(values: Kinds, expected: Kinds) -> bool:
    """Return whether each of these kinds of values is an expected one or a kind of it, as lists are sequences."""
    return all(
        any(_is_kind_of(each, other) for each in (name, *above) for other in expected) for name, above in values.items()
    )


def _is_kept(annotation: str) -> bool:
    """Return whether instances have a field that is annotated like this."""
    node = parse_expression(annotation)
    return _name(node.value if isinstance(node, ast.Subscript) else node) != _INITIAL


def _mentions_none(annotation: str) -> bool:
    return re.search(r"\b(?:None|Optional|Any|object)\b", annotation) is not None


def _tuple_length(annotation: str) -> int | None:
    """Return how many parts a described tuple has; None for anything else."""
    match parse_expression(annotation):
        case ast.Subscript(value=generic, slice=ast.Tuple(elts=parts)) if _name(generic) == "tuple":
            return None if any(isinstance(each, ast.Constant) and each.value is ... for each in parts) else len(parts)
    return None


class AnnotationReader(NamedTuple):
    """Reads the annotations of an upstream module."""

    module: Module
    upstream: Upstream

    def kinds(self, annotation: str) -> Kinds:
        """Return the kinds of values that an annotation allows, those of an alias for what it stands for."""
        return self.described(parse_expression(annotation))

    def described(self, node: ast.expr | None, hops: int = _MAX_HOPS) -> Kinds:
        """Return the kinds of values that an annotation's syntax tree allows, following at most `hops` aliases."""
        match node:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._united([left, right], hops)
            case ast.Subscript(value=generic, slice=inner):
                return self._generic(_name(generic), inner.elts if isinstance(inner, ast.Tuple) else [inner], hops)
            case ast.Name() | ast.Attribute() if _name(node) not in _ANYTHING:
                return self._named(node, hops)
            case ast.Constant(value=str() as text):
                return self.described(parse_expression(text), hops)
            case ast.Constant(value=None):
                return {_NONE: frozenset()}
        return {}

    def _generic(self, name: str, arguments: list[ast.expr], hops: int) -> Kinds:
        match name:
            case "Union":
                return self._united(arguments, hops)
            case "Optional":
                return self._united([*arguments, ast.Constant(None)], hops)
            case "Literal":
                values = (each.value for each in arguments if isinstance(each, ast.Constant))
                return {type(each).__name__: frozenset() for each in values}
            case "tuple" if len(arguments) > 1:
                return {f"{_TUPLE_OF}{len(arguments)}": frozenset()}
        return self.described(arguments[0], hops) if name in _WRAPPERS else {name: frozenset()}

    def _named(self, node: ast.expr, hops: int) -> Kinds:
        found = self.upstream.find((*self.upstream.dotted(self.module), *ast.unparse(node).split(".")))
        place = found.last if found.presence is Presence.PRESENT else None
        match place.member if place else None:
            case Attribute(value=value) if place and value and hops:
                return AnnotationReader(place.module, self.upstream).described(parse_expression(value), hops - 1)
            case Class() as owner if place:
                lineage = self.upstream.lineage(Found(place.module, owner))
                classes = [each.member for each in lineage if each]
                bases = (base.name for each in classes for base in each.bases)
                return {owner.name: frozenset({*(each.name for each in classes), *bases})}
        return {_name(node): frozenset()}

    def _united(self, parts: Iterable[ast.expr], hops: int) -> Kinds:
        described = [self.described(each, hops) for each in parts]
        return {name: above for each in described for name, above in each.items()} if all(described) else {}


def _without_none(kinds: Kinds) -> Kinds:
    return {name: above for name, above in kinds.items() if name != _NONE}


def _name(node: ast.expr | None) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _ALIASES.get(name, name)


def _is_kind_of(name: str, other: str) -> bool:
    """Return whether a class of Python's own, or one of this name, is a kind of another."""
    if name == other:
        return True
    own, expected = _standard(name), None if other.startswith(_TUPLE_OF) else _standard(other)
    return own is not None and expected is not None and issubclass(own, expected)


def _standard(name: str) -> type | None:
    """Return the class of Python's own that a kind names."""
    own = "tuple" if name.startswith(_TUPLE_OF) else name
    found = next(filter(None, (getattr(module, own, None) for module in _MODULES)), None)
    return found if isinstance(found, type) else None
