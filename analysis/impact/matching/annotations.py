"""Comparison of type annotations: the kinds of values before and after a commit, and the length of tuples."""

import ast
import re

from analysis.facts.syntax import parse_expression

_NOTHING = ("Any", "object")  # which say nothing about a value
_ALIASES = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type"}


def is_another_kind(before: str, after: str) -> bool:
    """Return whether an annotation describes values of another kind; what they hold, or whether they may be None, is none."""
    old, new = _kinds(parse_expression(before)), _kinds(parse_expression(after))
    if "None" in (before, after):  # a function that returned nothing, or returns nothing by now
        other = after if before == "None" else before
        return bool(old or new) and re.search(r"\b(?:None|Optional)\b", other) is None
    return bool(old and new) and old != new


def allows(annotation: str, other: str) -> bool:
    """Return whether an annotation still allows all kinds of values that another one describes."""
    kinds = _kinds(parse_expression(other))
    return bool(kinds) and kinds <= _kinds(parse_expression(annotation))


def tuple_length(annotation: str) -> int | None:
    """Return how many parts a described tuple has; None for anything else."""
    match parse_expression(annotation):
        case ast.Subscript(value=generic, slice=ast.Tuple(elts=parts)) if _name(generic) == "tuple":
            return None if any(isinstance(each, ast.Constant) and each.value is ... for each in parts) else len(parts)
    return None


def _kinds(node: ast.expr | None) -> frozenset[str]:  # noqa: PLR0911 (a return a kind of annotation)
    """Return the kinds of values that an annotation allows, None aside; nothing if it allows any."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _united([left, right])
        case ast.Subscript(value=generic, slice=inner) if _name(generic) in ("Optional", "Union"):
            return _united(inner.elts if isinstance(inner, ast.Tuple) else [inner])
        case ast.Subscript(value=generic, slice=ast.Tuple(elts=parts)) if _name(generic) == "tuple":
            return frozenset({f"tuple of {len(parts)}"})
        case ast.Subscript(value=generic):
            return frozenset({_name(generic)})
        case ast.Name() | ast.Attribute() if _name(node) not in _NOTHING:
            return frozenset({_name(node)})
        case ast.Constant(value=str() as text):
            return _kinds(parse_expression(text))
    return frozenset()


def _united(parts: list[ast.expr]) -> frozenset[str]:
    described = [_kinds(each) for each in parts if not (isinstance(each, ast.Constant) and each.value is None)]
    return frozenset().union(*described) if all(described) else frozenset()


def _name(node: ast.expr) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _ALIASES.get(name, name)
