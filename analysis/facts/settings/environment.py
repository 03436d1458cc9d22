"""Environment variables that a Python file reads, each with the value it takes if the variable is not set."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.settings.values import Scope, Value, convert, literal, value_of
from analysis.facts.syntax import Source, dotted

_READ_HINT = re.compile(r"env\w*\(|environ\b")  # cheap: without a match nothing is read
_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_HELPER = re.compile(r"(?!(?:un)?set|put|is_|has_)\w*env\w*")
_METHODS = frozenset({"lower", "upper", "strip", "casefold"})
_CONVERSIONS = frozenset({"int", "float", "str", "bool"})


class EnvironmentRead(NamedTuple):
    """A read of a variable: the default as written, if there is one, and the value in effect without the variable."""

    name: str
    written: Value | None
    in_effect: Value | None
    line: int


def environment_reads(source: Source) -> Iterator[EnvironmentRead]:
    """Yield the reads of variables whose names the file states."""
    parents = {child: node for node, child in source.nodes_with(_READ_HINT)}
    unset = _Unset(Scope(source))
    for node in parents:
        if isinstance(node, ast.expr) and (name := _variable(node)):
            written, in_effect = unset.values(node, parents)
            yield EnvironmentRead(name, written, in_effect, node.lineno)


def _variable(node: ast.AST) -> str:
    """Return the variable that an expression reads or looks for; "" if it does neither."""
    match node:
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if _is_read(func) and _NAME.fullmatch(name):
            return name
        case ast.IfExp(test=ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()], comparators=[where])):
            return name if (dotted(where) or "").endswith("environ") else ""
    return ""


def _is_read(func: ast.expr) -> bool:
    name = dotted(func) or ""
    return name.endswith("environ.get") or _HELPER.fullmatch(name.rpartition(".")[2]) is not None


def _default(call: ast.AST) -> ast.expr | None:
    """Return a call's second argument, or the one called `default`."""
    if not isinstance(call, ast.Call):
        return None
    named = next((each.value for each in call.keywords if each.arg == "default"), None)
    return call.args[1] if len(call.args) > 1 else named


class _Unset:
    """Evaluates expressions as if no variable were set."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def values(self, read: ast.expr, parents: dict[ast.AST, ast.AST]) -> tuple[Value | None, Value | None]:
        """Return (default as written, value in effect): of the widest expression around the read that can be evaluated.

        What follows an `or` is the default if the one before it is empty.
        """
        default = None if isinstance(read, ast.IfExp) else _default(read)
        written = value_of(default, self._scope) if default else None
        found = written or (self.value(default or read) if default or isinstance(read, ast.IfExp) else None)
        node = read
        while isinstance(parent := parents.get(node), ast.expr) and _surrounds(parent, node):
            node = parent
            wider = self.value(node)
            if isinstance(node, ast.BoolOp) and wider and (found is None or wider.meaning != found.meaning):
                written = wider
            found = wider or found
        return written, found

    def value(self, node: ast.expr) -> Value | None:
        """Return the scalar value of an expression."""
        result = self._result(node)
        is_scalar = result is not None and isinstance(result[0], str | int | float | None)
        return literal(result[0], node.lineno) if result and is_scalar else None

    def _result(self, node: ast.expr) -> tuple[object] | None:
        """Return the result of an expression, in a tuple of its own so that None can be one."""
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Compare(left=left, ops=[operation], comparators=[right]):
                return self._comparison(left, operation, right)
            case ast.BoolOp(op=operation, values=values):
                return self._either(operation, values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                result = self._result(operand)
                return (not result[0],) if result else None
            case ast.IfExp(test=test, body=body, orelse=orelse):
                result = self._result(test)
                return self._result(body if result[0] else orelse) if result else None
        value = value_of(node, self._scope)
        return (value.meaning,) if value else None

    def _call(self, call: ast.Call) -> tuple[object] | None:
        func = call.func
        if _variable(call):
            default = _default(call)
            return self._result(default) if default else (None,)
        if isinstance(func, ast.Attribute) and func.attr in _METHODS and not call.args:
            result = self._result(func.value)
            return (getattr(result[0], func.attr)(),) if result and isinstance(result[0], str) else None
        if isinstance(func, ast.Name) and func.id in _CONVERSIONS and len(call.args) == 1:
            result = self._result(call.args[0])
            converted = convert(func.id, result[0]) if result else None
            return (converted,) if converted is not None else None
        return None

    def _comparison(self, left: ast.expr, operation: ast.cmpop, right: ast.expr) -> tuple[object] | None:
        if isinstance(operation, ast.In | ast.NotIn):
            return self._containment(left, right, negated=isinstance(operation, ast.NotIn))
        one, other = self._result(left), self._result(right)
        if one is None or other is None:
            return None
        match operation:
            case ast.Eq() | ast.Is():
                return (one == other,)
            case ast.NotEq() | ast.IsNot():
                return (one != other,)
        return None

    def _containment(self, left: ast.expr, right: ast.expr, *, negated: bool) -> tuple[object] | None:
        """Return the result of `value in ("1", "true")`, or of `"NAME" in os.environ`: no variable is set."""
        if (dotted(right) or "").endswith("environ"):
            return (negated,)
        result = self._result(left)
        if result is None or not isinstance(right, ast.Tuple | ast.List | ast.Set):
            return None
        items = [self._result(each) for each in right.elts]
        return ((result in items) is not negated,) if all(items) else None

    def _either(self, operation: ast.boolop, values: list[ast.expr]) -> tuple[object] | None:
        result: tuple[object] | None = None
        for each in values:
            result = self._result(each)
            if result is None or bool(result[0]) is isinstance(operation, ast.Or):
                return result
        return result


def _surrounds(parent: ast.expr, node: ast.AST) -> bool:
    """Return whether a wider expression only converts, compares or replaces the value within it."""
    match parent:
        case ast.Call(func=func):
            conversion = isinstance(func, ast.Name) and func.id in _CONVERSIONS
            return func is node or conversion
        case ast.Attribute(attr=attr):
            return attr in _METHODS
        case ast.BoolOp(op=ast.Or(), values=values):
            return values[0] is node
        case ast.IfExp(body=body, orelse=orelse):
            return node in (body, orelse)
        case ast.Compare() | ast.UnaryOp():
            return True
    return False
