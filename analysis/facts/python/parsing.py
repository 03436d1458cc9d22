"""A module's declarations from its source text, by Python's own parser: nothing is imported or executed."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from analysis.facts.python.module import (
    Attribute,
    Base,
    Class,
    Function,
    Import,
    Member,
    Module,
    Parameter,
    ParameterKind,
)
from analysis.facts.syntax import Source, assigned_names, dotted, is_for_type_checkers, parse_module, written

MAX_VALUE = 200  # characters of a variable's value
_PROPERTIES = ("property", "cached_property")
_ACCESSORS = ("setter", "deleter")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


# The file after one commit is the file before the next, and the commits of a day are compared with the same modules.
@lru_cache(maxsize=256)
def parse(path: str, text: str) -> Module | None:
    """Return the module at `path` with the given source; None if it is no valid Python, too large or too deep."""
    tree = parse_module(text)
    return declarations(Source(path, text, tree)) if tree else None


def declarations(source: Source) -> Module | None:
    """Return what a parsed file declares; None if an expression is nested more deeply than Python's stack."""
    members: dict[str, Member] = {}
    stars: list[str] = []
    module = Module(source.path, source.text, members, ())
    reader = _Declarations(module.dotted, source.path.endswith("__init__.py"), stars)
    try:
        reader.read(source.module.body, (_Scope("", members),))
    except RecursionError:
        return None
    return replace(module, stars=tuple(stars), partial=source.partial)


class _Scope(NamedTuple):
    """A module or a class that is being read: its name within the module, and what it binds so far."""

    name: str
    members: dict[str, Member]


class _Declarations(NamedTuple):
    """Reader of what the blocks of one module bind; `stars` collects the modules whose names it imports all."""

    module: str
    is_package: bool
    stars: list[str]

    def read(self, body: Sequence[ast.stmt], scopes: tuple[_Scope, ...]) -> None:
        """Add to the innermost of the scopes, the first, what a block binds."""
        self._read_block(body, scopes, is_alternative=False)
        members = scopes[0].members
        for each in assigned_names(*body):  # such as `a, b = ...`
            members.setdefault(each.id, Attribute(each.id, each.lineno, required=True))

    def _read_block(self, body: Sequence[ast.stmt], scopes: tuple[_Scope, ...], *, is_alternative: bool) -> None:
        members = scopes[0].members
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    self._read_imports(node, scopes[0])
                case ast.ClassDef():
                    members[node.name] = self._class(node, scopes)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    _read_function(node, members)
                    if node.name == "__init__" and scopes[0].name:
                        _read_assignments(node, members)
                case ast.Assign() | ast.AnnAssign():
                    _assign(node, members, "", is_alternative=is_alternative, in_class=bool(scopes[0].name))
                case ast.If(test=test) if is_for_type_checkers(test):
                    self._read_for_type_checkers(node, scopes)
                case _:
                    for block, alternative in _blocks(node):
                        self._read_block(block, scopes, is_alternative=alternative)

    def _read_for_type_checkers(self, node: ast.If, scopes: tuple[_Scope, ...]) -> None:
        """Add what a block for type checkers binds, and its alternative, which may bind the same names for a run."""
        members, typed = scopes[0].members, _Scope(scopes[0].name, {})
        self._read_block(node.body, (typed, *scopes), is_alternative=True)
        bound = {*members, *(each.id for each in assigned_names(*node.orelse))}
        for name, each in typed.members.items():
            members[name] = replace(each, typing_only=name not in bound) if isinstance(each, Import) else each
        self._read_block(node.orelse, scopes, is_alternative=True)

    def _class(self, node: ast.ClassDef, scopes: tuple[_Scope, ...]) -> Class:
        members: dict[str, Member] = {}
        name = f"{scopes[0].name}.{node.name}".lstrip(".")
        bases = tuple(Base(written(each), self._target(each, scopes)) for each in node.bases)
        self.read(node.body, (_Scope(name, members), *scopes))
        keywords = tuple(each.arg for each in node.keywords if each.arg)
        return Class(
            node.name,
            node.lineno,
            _start(node),
            node.end_lineno or 0,
            bases,
            _decorators(node),
            keywords,
            members,
        )

    def _target(self, base: ast.expr, scopes: tuple[_Scope, ...]) -> str:
        """Return the dotted path of a base class, as far as the imports and classes above it tell."""
        while isinstance(base, ast.Subscript):
            base = base.value
        first, point, rest = written(base).partition(".")
        for scope in scopes:
            if (found := scope.members.get(first)) is not None:
                own = ".".join(filter(None, [self.module, scope.name, first]))
                return (found.target if isinstance(found, Import) else own) + point + rest
        return first + point + rest

    def _read_imports(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                target = alias.name if alias.asname else alias.name.partition(".")[0]
            else:
                target = f"{self._package(node)}{alias.name}"
            name = alias.asname or target.rpartition(".")[2]
            if name == "*":
                self.stars.append(target.removesuffix(".*"))
            elif target != ".".join(filter(None, [self.module, scope.name, name])):
                scope.members[name] = Import(name, node.lineno, target)

    def _package(self, node: ast.ImportFrom) -> str:
        """Return the dotted path that names are imported from, with a final point."""
        parts = self.module.split(".")
        above = parts[: len(parts) - node.level + self.is_package] if node.level else []
        return "".join(f"{part}." for part in [*above, *filter(None, [node.module])])


def _blocks(node: ast.AST) -> Iterator[tuple[Sequence[ast.stmt], bool]]:
    """Yield the blocks of a statement that opens no scope, and whether each is an alternative to another one."""
    for block in ("body", "orelse", "finalbody"):
        yield getattr(node, block, []), isinstance(node, ast.If | ast.ExceptHandler)
    for each in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield from _blocks(each)


def _read_assignments(node: ast.AST, members: dict[str, Member]) -> None:
    """Add the attributes that a constructor sets on `self`."""
    for block, alternative in _blocks(node):
        for each in block:
            if isinstance(each, ast.Assign | ast.AnnAssign):
                _assign(each, members, "self", is_alternative=alternative, in_class=True)
            elif not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                _read_assignments(each, members)


def _assign(
    node: ast.Assign | ast.AnnAssign, members: dict[str, Member], owner: str, *, is_alternative: bool, in_class: bool
) -> None:
    """Add the variables that an assignment binds, or the attributes of `owner` that it sets; the first alternative counts."""
    annotation = _annotation(node.annotation) if isinstance(node, ast.AnnAssign) else ""
    value = "" if node.value is None else written(node.value)[:MAX_VALUE]
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        path, _, name = (dotted(target) or "").rpartition(".")
        if not name or path != owner or (is_alternative and name in members):
            continue
        before = members.get(name)
        kept = annotation or (before.annotation if isinstance(before, Attribute) else "")
        members[name] = Attribute(name, node.lineno, in_class and bool(kept), node.value is None, value, kept)


def _read_function(node: _Function, members: dict[str, Member]) -> None:
    """Add a function, or the attribute that it computes; what is there for type checkers or sets a property adds nothing."""
    decorators = _decorators(node)
    kinds = {each.partition("(")[0].rpartition(".")[2] for each in decorators}
    returns = _annotation(node.returns)
    if kinds.intersection(_PROPERTIES):
        members[node.name] = Attribute(node.name, node.lineno, required=True, annotation=returns, computed=True)
    elif "overload" not in kinds and not kinds.intersection(_ACCESSORS):
        members[node.name] = Function(
            node.name,
            node.lineno,
            _start(node),
            node.end_lineno or 0,
            tuple(parameters(node.args)),
            decorators,
            returns,
            isinstance(node, ast.AsyncFunctionDef),
        )


def parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters of a function in the order of its signature."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, each in enumerate(positional):
        only = index < len(arguments.posonlyargs)
        kind = ParameterKind.POSITIONAL_ONLY if only else ParameterKind.POSITIONAL_OR_KEYWORD
        yield _parameter(each, kind, required=index < required)
    if arguments.vararg:
        yield _parameter(arguments.vararg, ParameterKind.VAR_POSITIONAL, required=False)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, ParameterKind.KEYWORD_ONLY, required=default is None)
    if arguments.kwarg:
        yield _parameter(arguments.kwarg, ParameterKind.VAR_KEYWORD, required=False)


def _parameter(each: ast.arg, kind: ParameterKind, *, required: bool) -> Parameter:
    return Parameter(each.arg, kind, required, _annotation(each.annotation))


def _annotation(node: ast.expr | None) -> str:
    """Return a type as written, without the quotes around names that are defined below it."""
    text = written(node) if node else ""
    return text if "Literal" in text or "Annotated" in text else text.replace("'", "").replace('"', "")


def _decorators(node: _Function | ast.ClassDef) -> tuple[str, ...]:
    return tuple(map(written, node.decorator_list))


def _start(node: _Function | ast.ClassDef) -> int:
    """Return the line of a definition's first decorator, or of its head."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])
