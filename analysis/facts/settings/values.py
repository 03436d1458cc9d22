"""Values of Python expressions that a program need not run to know: literals, arithmetic, constants and enum members."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import NamedTuple

from analysis.facts.syntax import Binding, Imported, Source, bindings, dotted
from analysis.facts.whole_files.repository import Revision

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


class Value(NamedTuple):
    """The value of an expression. Two values of one `meaning` are the same; `path` and `line` are where it is written."""

    text: str
    meaning: object
    path: str
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
    """The meaning of a member of an enumeration, or of a constant of a package that is not in the tree."""

    name: str


class Evaluator:
    """Evaluates expressions of one side of a commit; what it cannot evaluate is None."""

    def __init__(self, tree: Revision) -> None:
        self._tree = tree

    def value(self, node: ast.expr, scope: Scope, depth: int = 0) -> Value | None:  # noqa: PLR0911 (a return for each kind of expression)
        """Return the value of an expression, following the names in it."""
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.Constant(value=constant) if constant is not ...:
                return _constant(node, constant, scope.source)
            case ast.UnaryOp() | ast.BinOp():
                return self._arithmetic(node, scope, depth)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
                return self._collection(node, scope, depth)
            case ast.Name(id=name):
                return self._bound_value(name, scope, depth)
            case ast.Attribute():
                return self._attribute(node, scope, depth)
            case ast.Call(func=ast.Name(id="int" | "float" | "str" | "bool" as name), args=[only], keywords=[]):
                return self._converted(name, only, node, scope, depth)
        return None

    def class_of(self, name: str, scope: Scope, depth: int = 0) -> tuple[ast.ClassDef, Source] | None:
        """Return the class that a dotted name leads to, and its file."""
        found = self._resolve(name, scope, depth)
        return (found[0], found[1].source) if found and isinstance(found[0], ast.ClassDef) else None

    def _arithmetic(self, node: ast.UnaryOp | ast.BinOp, scope: Scope, depth: int) -> Value | None:
        operands = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        values = [self.value(each, scope, depth + 1) for each in operands]
        numbers = [each.meaning for each in values if each]
        if len(numbers) < len(operands):
            return None
        result = compute(node.op, numbers)
        return None if result is None else literal(result, scope.source, node.lineno)

    def _collection(self, node: ast.Tuple | ast.List | ast.Set | ast.Dict, scope: Scope, depth: int) -> Value | None:
        items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else list(node.elts)
        values = [self.value(each, scope, depth + 1) for each in items[:_MAX_ITEMS] if each]
        known = [each for each in values if each]
        text = ast.unparse(node) if len(known) == len(items) else ""
        if len(known) < len(items) or len(text) > MAX_TEXT:
            return None
        meaning = (type(node).__name__, tuple(each.meaning for each in known))
        return Value(text, meaning, scope.source.path, node.lineno)

    def _converted(self, name: str, argument: ast.expr, node: ast.Call, scope: Scope, depth: int) -> Value | None:
        value = self.value(argument, scope, depth + 1)
        if value is None:
            return None
        result = convert(name, value.meaning)
        return None if result is None else literal(result, scope.source, node.lineno)

    def _bound_value(self, name: str, scope: Scope, depth: int) -> Value | None:
        found = self._resolve(name, scope, depth + 1)
        return self.value(found[0], found[1], depth + 1) if found and isinstance(found[0], ast.expr) else None

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Value | None:
        """Return the value of `Class.CONSTANT`, `module.CONSTANT` or `Enumeration.MEMBER`."""
        name = dotted(node)
        if name is None:
            return None
        name = name.removesuffix(".value")
        owner, _, member = name.rpartition(".")
        found = self._resolve(owner, scope, depth + 1) if owner else None
        if found is None:
            return self._symbol(name, node, scope)
        binding, where = found
        if isinstance(binding, ast.ClassDef):
            return self._member(
                binding, member, where, Value(name, Symbol(name), scope.source.path, node.lineno), depth
            )
        found = self._resolve(name, scope, depth + 1)
        return self.value(found[0], found[1], depth + 1) if found and isinstance(found[0], ast.expr) else None

    def _member(self, owner: ast.ClassDef, member: str, scope: Scope, as_symbol: Value, depth: int) -> Value | None:
        """Return the value of a class's constant; a member of an enumeration is shown by its name."""
        node = bindings(owner.body).get(member)
        value = self.value(default_of(node), scope, depth + 1) if isinstance(node, ast.expr) else None
        if not is_enumeration(owner):
            return value
        if not isinstance(node, ast.expr):
            return None
        return as_symbol._replace(meaning=value.meaning) if value and isinstance(value.meaning, str) else as_symbol

    def _symbol(self, name: str, node: ast.Attribute, scope: Scope) -> Value | None:
        """Return a constant of a package that is not in the tree, such as `logging.INFO`, as its name."""
        root, _, rest = name.partition(".")
        binding = scope.binding(root)
        if not isinstance(binding, Imported) or self._tree.imported(scope.source, binding) or name.count(".") > 2:  # noqa: PLR2004 (package.Class.MEMBER)
            return None
        full = ".".join(filter(None, [binding.module, binding.name, rest]))
        return Value(name, Symbol(full), scope.source.path, node.lineno)

    def _resolve(self, name: str, scope: Scope, depth: int) -> tuple[ast.expr | ast.ClassDef | Source, Scope] | None:
        """Return what a dotted name is bound to, through imports of modules in the tree: a value, a class or a module."""
        if depth > _MAX_DEPTH:
            return None
        first, _, rest = name.partition(".")
        binding = scope.binding(first)
        if isinstance(binding, Imported):
            return self._resolve_import(binding, rest, scope, depth)
        if binding is None or (rest and not isinstance(binding, ast.ClassDef)):
            return None
        if not rest or not isinstance(binding, ast.ClassDef):
            return binding, scope
        inner = Scope(scope.source, (bindings(binding.body), *scope.locals))
        return self._resolve(rest, inner, depth + 1) if rest.partition(".")[0] in inner.locals[0] else None

    def _resolve_import(
        self, binding: Imported, rest: str, scope: Scope, depth: int
    ) -> tuple[ast.expr | ast.ClassDef | Source, Scope] | None:
        name, module = binding.name, self._tree.imported(scope.source, binding)
        if name and (module is None or name not in module.bindings):  # perhaps a module of the package
            of_package = Imported(".".join(filter(None, [binding.module, name])), binding.level)
            name, module = None, self._tree.imported(scope.source, of_package)
        if module is None:
            return None
        wanted = ".".join(filter(None, [name, rest]))
        return self._resolve(wanted, Scope(module), depth + 1) if wanted else (module, Scope(module))


def compute(operation: ast.AST, operands: list[object]) -> object:
    """Apply an arithmetic operator to numbers, or `+` to two strings; None if it does not fit or grows too large."""
    if isinstance(operation, ast.Not):
        return not operands[0]
    if isinstance(operation, ast.Add) and all(isinstance(each, str) for each in operands):
        return "".join(map(str, operands))
    numbers = [each for each in operands if isinstance(each, int | float) and abs(each) < _MAX_NUMBER]
    if len(numbers) < len(operands):
        return None
    try:
        return _apply(operation, numbers)
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


def _apply(operation: ast.AST, numbers: list[int | float]) -> object:
    if len(numbers) == 1:
        return _SIGNS[type(operation)](numbers[0])
    if isinstance(operation, ast.Pow | ast.LShift):
        return _power(operation, numbers)
    return _ARITHMETIC[type(operation)](numbers[0], numbers[1])


def _power(operation: ast.Pow | ast.LShift, operands: list[int | float]) -> object:
    base, exponent = operands
    if not isinstance(base, int) or not isinstance(exponent, int) or not 0 <= exponent <= 64:  # noqa: PLR2004 (bits)
        return None
    return base**exponent if isinstance(operation, ast.Pow) else base << exponent


def convert(name: str, value: object) -> object:
    """Return `int(value)`, `float(value)`, `str(value)` or `bool(value)`; None if that raises."""
    types: Mapping[str, Callable[..., object]] = {"int": int, "float": float, "str": str, "bool": bool}
    try:
        return types[name](value) if isinstance(value, int | float | str | None) else None
    except (TypeError, ValueError, OverflowError):
        return None


def literal(value: object, source: Source, line: int) -> Value | None:
    """Return a computed value, shown as a literal."""
    text = (
        f'"{value}"'
        if isinstance(value, str) and value.isprintable() and not set(value) & set("\"'\\")
        else repr(value)
    )
    return Value(text, value, source.path, line) if len(text) <= MAX_TEXT else None


def default_of(node: ast.expr) -> ast.expr:
    """Return the default within `field(default=...)` of a class's field, or the expression itself."""
    if isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in (
        "field",
        "Field",
        "attrib",
        "ib",
    ):
        given = {each.arg: each.value for each in node.keywords}
        factory = given.get("default_factory") or given.get("factory")
        if isinstance(factory, ast.Lambda):
            return factory.body
        if isinstance(factory, ast.Name) and factory.id in _EMPTY:
            return ast.copy_location(_EMPTY[factory.id], node)
        positional = node.args[0] if node.args and (dotted(node.func) or "").endswith("Field") else node
        return given.get("default", positional)
    return node


_EMPTY: Mapping[str, ast.expr] = {"list": ast.List([]), "dict": ast.Dict([], []), "tuple": ast.Tuple([])}


def is_enumeration(owner: ast.ClassDef) -> bool:
    return any((dotted(base) or "").endswith(_ENUM) for base in owner.bases)


def _constant(node: ast.Constant, constant: object, source: Source) -> Value | None:
    if isinstance(constant, int | float) and not isinstance(constant, bool) and node.lineno == node.end_lineno:
        return Value(source.text_of(node), constant, source.path, node.lineno)
    return literal(constant, source, node.lineno)
