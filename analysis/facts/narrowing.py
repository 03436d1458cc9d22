"""Types that accept less than before, as annotations tell."""

import ast
import re
from functools import lru_cache

from analysis.facts.syntax import parse_expression

_PLAIN = frozenset(
    ["None", "bool", "int", "float", "str", "bytes", "list", "dict", "tuple", "set", "frozenset", "Tensor", "ndarray"]
)
_WIDER = {"bool": "int", "int": "float"}
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+")
_OLD_NAMES = re.compile(r"\b(?:List|Dict|Tuple|Set|FrozenSet)\b")


def narrowed(was: str, now: str) -> bool:
    """Return whether a type certainly accepts less than before; only built-in types are compared."""
    before, after = alternatives(was), alternatives(now)
    if not before or not after:
        return False
    if before - after == {"None"}:
        return True
    plain = {_outer_type(each) for each in after} <= _PLAIN
    return plain and any(_outer_type(each) in _PLAIN and not _is_accepted(each, after) for each in before - {"None"})


def _is_accepted(one: str, by: frozenset[str]) -> bool:
    return any(
        _outer_type(each) in (_outer_type(one), _WIDER.get(_outer_type(one))) and _arity(each) == _arity(one)
        for each in by
    )


def _outer_type(one: str) -> str:
    return one.partition("[")[0]


def _arity(one: str) -> int:
    """Return the number of a tuple's declared elements; 0 for any other type."""
    match parse_expression(one) if one.startswith("tuple[") else None:
        case ast.Subscript(slice=ast.Tuple(elts=elements)):
            return len(elements)
        case ast.Subscript():
            return 1
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
