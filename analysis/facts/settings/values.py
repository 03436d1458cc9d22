"""Values of Python expressions that a program need not run to know: literals, arithmetic, and the constants of the same file."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import NamedTuple

from analysis.facts.syntax import Binding, Source, bindings, dotted

MAX_TEXT = 80  # characters of a value that is shown
_MAX_DEPTH = 6  # names that lead to other names, expressions within expressions
_MAX_ITEMS = 12  # of a list, a set or a dictionary
_MAX_NUMBER = 1 << 128
_ARITHMETIC: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_SIGNS: Mapping[type, Callable[[float], float]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_ENUM = ("Enum", "Flag")
_EMPTY: Mapping[str, ast.expr] = {"list": ast.List([]), "dict": ast.Dict([], []), "tuple": ast.Tuple([])}
_FIELDS = ("field", "Field", "attrib", "ib")


class Value(NamedTuple):
    """The value of an expression, and the line it is written on. Two values of one `meaning` are the same."""

    text: str
    meaning: object
    line: int


class Scope(NamedTuple):
    """Where an expression stands: a file, and the names bound around it, innermost first."""

    source: Source
    locals: tuple[Mapping[str, Binding], ...] = ()

    def binding(self, name: str) -> Binding:
        """Return what a name is bound to; None if that cannot be told."""
        for names in (*self.locals, self.source.bindings):
            if name in names:
                return names[name]
        return None


class Symbol(NamedTuple):
    """The meaning of a member of an enumeration, or of a constant that another file defines, as it is written."""

    name: str


def value_of(node: ast.expr, scope: Scope, depth: int = 0) -> Value | None:  # noqa: PLR0911 (a return for each kind of expression)
    """Return the value of an expression, following the names in it; None if it cannot be told."""
    if depth > _MAX_DEPTH:
        return None
    match node:
        case ast.Constant(value=constant) if constant is not ...:
            return _constant(node, constant, scope.source)
        case ast.UnaryOp() | ast.BinOp():
            operands = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
            known = [each.meaning for each in (value_of(each, scope, depth + 1) for each in operands) if each]
            result = _computed(node.op, known) if len(known) == len(operands) else None
            return None if result is None else literal(result, node.lineno)
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return _collection(node, scope, depth)
        case ast.Name(id=name):
            bound = scope.binding(name)
            return value_of(bound, scope, depth + 1) if isinstance(bound, ast.expr) else None
        case ast.Attribute():
            return _attribute(node, scope, depth)
    return None


def _collection(node: ast.Tuple | ast.List | ast.Set | ast.Dict, scope: Scope, depth: int) -> Value | None:
    items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else list(node.elts)
    values = [value_of(each, scope, depth + 1) for each in items[:_MAX_ITEMS] if each]
    known = [each for each in values if each]
    text = ast.unparse(node) if len(known) == len(items) else ""
    if len(known) < len(items) or len(text) > MAX_TEXT:
        return None
    return Value(text, (type(node).__name__, tuple(each.meaning for each in known)), node.lineno)


def _attribute(node: ast.Attribute, scope: Scope, depth: int) -> Value | None:
    """Return the value of a class's constant in the same file; what is written in capitals elsewhere is a symbol."""
    name = (dotted(node) or "").removesuffix(".value")
    owner, _, member = name.rpartition(".")
    bound = scope.binding(owner)
    if isinstance(bound, ast.ClassDef) and not is_enumeration(bound):
        inner = bindings(bound.body)
        value = inner.get(member)
        within = Scope(scope.source, (inner, *scope.locals))
        return value_of(default_of(value), within, depth + 1) if isinstance(value, ast.expr) else None
    return Value(name, Symbol(name), node.lineno) if member.isupper() else None


def _computed(operation: ast.AST, operands: list[object]) -> object:
    """Apply an arithmetic operator to numbers, or `+` to two strings; None if it does not fit or grows too large."""
    if isinstance(operation, ast.Not):
        return not operands[0]
    if isinstance(operation, ast.Add) and all(isinstance(each, str) for each in operands):
        return "".join(map(str, operands))
    numbers = [each for each in operands if isinstance(each, int | float) and abs(each) < _MAX_NUMBER]
    if len(numbers) < len(operands):
        return None
    try:
        sign = len(numbers) == 1
        return _SIGNS[type(operation)](numbers[0]) if sign else _ARITHMETIC[type(operation)](numbers[0], numbers[1])
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


def convert(name: str, value: object) -> object:
    """Return `int(value)`, `float(value)`, `str(value)` or `bool(value)`; None if that raises."""
    types: Mapping[str, Callable[..., object]] = {"int": int, "float": float, "str": str, "bool": bool}
    try:
        return types[name](value) if isinstance(value, int | float | str | None) else None
    except (TypeError, ValueError, OverflowError):
        return None


def literal(value: object, line: int) -> Value | None:
    """Return a computed value, shown as a literal."""
    plain = isinstance(value, str) and value.isprintable() and not set(value) & set("\"'\\")
    text = f'"{value}"' if plain else repr(value)
    return Value(text, value, line) if len(text) <= MAX_TEXT else None


def default_of(node: ast.expr) -> ast.expr:
    """Return the default within `field(default=...)` of a class's field, or the expression itself."""
    if isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in _FIELDS:
        given = {each.arg: each.value for each in node.keywords}
        factory = given.get("default_factory") or given.get("factory")
        if isinstance(factory, ast.Lambda):
            return factory.body
        if isinstance(factory, ast.Name) and factory.id in _EMPTY:
            return ast.copy_location(_EMPTY[factory.id], node)
        positional = node.args[0] if node.args and (dotted(node.func) or "").endswith("Field") else node
        return given.get("default", positional)
    return node


def is_enumeration(owner: ast.ClassDef) -> bool:
    return any((dotted(base) or "").endswith(_ENUM) for base in owner.bases)


def _constant(node: ast.Constant, constant: object, source: Source) -> Value | None:
    if isinstance(constant, int | float) and not isinstance(constant, bool) and node.lineno == node.end_lineno:
        return Value(source.text_of(node), constant, node.lineno)
    return literal(constant, node.lineno)
