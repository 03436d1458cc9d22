"""Comparison of type annotations: whether what a function returns, or an attribute holds, still is what its users expect."""

import ast
import builtins
import collections.abc
import enum
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from analysis.facts.syntax import parse_expression
from analysis.facts.whole_files.module import Attribute, Class, Module
from analysis.facts.whole_files.repository import Found
from analysis.impact.matching.upstream import Presence, Upstream

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


def returns_as_before(before: Kinds, after: Kinds) -> bool:
    """Return whether callers may go on with what a function returns, or readers with what an attribute holds.

    That it may be None, or no longer, is no other kind.
    """
    relied_on = {*before} != {_NONE}
    return not before or not after or not relied_on or fits(_without_none(after) or after, before)


def may_return(own: Kinds, before: Kinds, after: Kinds) -> bool:
    """Return whether an override that returns its `own` kinds, by default those from before, is what callers expect."""
    if not before or not after or {*after} in ({*before}, {_NONE}):
        return True
    # What callers could not expect before either is the override's own affair.
    returned = {name: above for name, above in (own or before).items() if fits({name: above}, before)}
    return fits(_without_none(returned) or returned, after)


def fits(values: Kinds, expected: Kinds) -> bool:
    """Return whether each of these kinds of values is an expected one or a kind of it, as lists are sequences."""
    return all(
        any(_is_kind_of(each, other) for each in (name, *above) for other in expected) for name, above in values.items()
    )


def is_kept(annotation: str) -> bool:
    """Return whether instances have a field that is annotated like this."""
    node = parse_expression(annotation)
    return _name(node.value if isinstance(node, ast.Subscript) else node) != _INITIAL


def allows_none_now(before: str, after: str) -> bool:
    """Return whether a value, or what a container holds, may be None by its new annotation alone."""
    return bool(before) and not _mentions_none(before) and _mentions_none(after)


def _mentions_none(annotation: str) -> bool:
    return re.search(r"\b(?:None|Optional|Any|object)\b", annotation) is not None


def tuple_length(annotation: str) -> int | None:
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
