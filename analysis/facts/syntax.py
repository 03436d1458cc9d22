"""Python source, parsed: its statements, and the names that they bind.

Nothing is imported or executed. What is too large, too deeply nested or no valid Python is None.
"""

import ast
import gc
import re
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from threading import Lock

MAX_CHARACTERS = 1_000_000  # of a file; CPython needs about a second and 200 MB to parse as much
# What `ast.parse` raises for hostile text; SystemError where a thread of a library parses beside, for CPython 3.11 counts
# the depth of both in one number.
_NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)
_ANNOTATION = re.compile(r"^([ \w.]+): .*? =(?!=)", re.MULTILINE)  # of a variable, in a line as Python writes it
_PARSER = Lock()  # the filters of warnings are one for all threads


@contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Look for no garbage meanwhile: among the million objects of a syntax tree there is none, and to look takes a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def parsing() -> Iterator[None]:
    """Ignore the warnings about other people's code while it is parsed, in one thread at a time.

    Two threads that parse at once miscount each other's depth in CPython 3.11.
    """
    with _PARSER, warnings.catch_warnings(), collecting_no_garbage():
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=4)  # what declares a module and what sets its defaults are read from the same text
def parse_module(text: str) -> ast.Module | None:
    """Return the syntax tree of a module's source; None if it is no valid Python, too large or too deep."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with parsing():
            return ast.parse(text)
    except _NOT_PARSED:
        return None


def parse_lines(lines: Sequence[str]) -> ast.Module:
    """Return the syntax tree of some lines, while `parsing`; raises `SyntaxError` if they are no valid Python, or too deep."""
    try:
        return ast.parse("\n".join(lines))
    except (ValueError, RecursionError, MemoryError, SystemError) as exc:
        raise SyntaxError("these lines cannot be parsed") from exc


def parse_expression(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None if it is none, or empty."""
    try:
        with parsing():
            return ast.parse(text, mode="eval").body if text else None
    except _NOT_PARSED:
        return None


Binding = ast.expr | ast.ClassDef | None  # None: bound several times, or to nothing that can be followed


class Source:
    """A parsed file, or the `partial` one that a patch shows; it `has_gaps` where its lines could not be parsed.

    `bindings` maps each name of the module to its only value or its class.
    """

    def __init__(self, path: str, text: str, module: ast.Module, *, partial: bool = False) -> None:
        self.path = path
        self.text = text
        self.module = module
        self.partial = partial
        self.has_gaps = False

    @cached_property
    def bindings(self) -> dict[str, Binding]:
        return bindings(self.module.body)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def has(self, node: ast.AST, pattern: re.Pattern[str]) -> bool:
        """Return whether a line of a statement, or of its decorators, matches a pattern; other nodes may always do."""
        if not isinstance(node, ast.stmt):
            return True
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return any(map(pattern.search, self.lines[first - 1 : node.end_lineno]))

    def nodes_with(self, pattern: re.Pattern[str]) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield the nodes below the module, each after its parent, level by level, without statements of which no line matches."""
        waiting: deque[ast.AST] = deque([self.module])
        while waiting:
            node = waiting.popleft()
            for child in ast.iter_child_nodes(node):
                if self.has(child, pattern):
                    waiting.append(child)
                    yield node, child

    def calls(self, pattern: re.Pattern[str]) -> Iterator[ast.Call]:
        """Yield the calls of what a pattern matches, a dotted name; one of a decorator begins with `@`."""
        decorators: set[ast.expr] = set()
        for node in ast.walk(self.module):
            decorators.update(getattr(node, "decorator_list", ()))
            name = dotted(node.func) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and name and pattern.match(f"@{name}" if node in decorators else name):
                yield node

    def text_of(self, node: ast.expr) -> str:
        """Return a one-line expression as written."""
        line = self.lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset].decode()


def bindings(body: Sequence[ast.stmt]) -> dict[str, Binding]:
    """Map each name that statements bind, in the branches of their conditions too, to its only binding."""
    found: dict[str, Binding] = {}
    for name, binding in _bound(body):
        found[name] = None if name in found else binding
    return found


def constant_strings(*nodes: ast.AST) -> list[tuple[str, int]]:
    """Return the strings that are written within some nodes, each with its line, in the order of the text."""
    found = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Constant))
    texts = [each for each in found if isinstance(each.value, str)]
    return [(str(each.value), each.lineno) for each in sorted(texts, key=lambda each: (each.lineno, each.col_offset))]


def assigned_names(*nodes: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that code assigns in any way, such as `a, b = ...` and `with ... as a`, but in no scope within."""
    waiting = deque(nodes)
    while waiting:
        match waiting.popleft():
            case ast.Name(ctx=ast.Store()) as name:
                yield name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda() | ast.comprehension():
                pass
            case other:
                waiting += ast.iter_child_nodes(other)


def assigned_attributes(nodes: Iterable[ast.AST], owner: str) -> Iterator[ast.Attribute]:
    """Yield the attributes of a variable that nodes assign in any way, such as `self.a, self.b = ...` and by `setattr`."""
    for each in nodes:
        match each:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()) if name == owner:
                yield each
            case ast.Call(
                func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"),
                args=[ast.Name(id=name) as value, ast.Constant(value=str(attribute)), _],
            ) if name == owner:
                yield ast.copy_location(ast.Attribute(value, attribute, ast.Store()), each)


def body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the statements of a function without types, formatting, comments and docstring."""
    statements = function.body
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    return _ANNOTATION.sub(r"\1 =", "\n".join(map(ast.unparse, statements)))


def is_for_type_checkers(condition: ast.expr) -> bool:
    """Return whether a condition holds only for type checkers."""
    return (dotted(condition) or "").rpartition(".")[2] == "TYPE_CHECKING"


def dotted(node: ast.expr) -> str | None:
    """Return a name with its attributes, `a.b.c`; None for any other expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def written(node: ast.expr) -> str:
    """Return an expression as Python writes it, as `ast.unparse` does, but a name at once."""
    return dotted(node) or ast.unparse(node)


def _bound(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Binding]]:
    for each in body:
        match each:
            case ast.Assign(targets=targets, value=value):
                single = value if len(targets) == 1 and isinstance(targets[0], ast.Name) else None
                yield from ((each.id, single) for each in assigned_names(*targets))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ClassDef(name=name):
                yield name, each
            case ast.Import() | ast.ImportFrom():
                yield from ((name.asname or name.name.partition(".")[0], None) for name in each.names)
            case ast.If(test=test) if is_for_type_checkers(test):
                yield from _bound(each.orelse)
            case _:
                yield from _bound_within(each)


def _bound_within(statement: ast.stmt) -> Iterator[tuple[str, Binding]]:
    """Yield what another statement binds: by itself, without a value, and in its blocks."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, None
        case ast.AugAssign(target=target) | ast.For(target=target):
            yield from ((each.id, None) for each in assigned_names(target))
        case ast.With(items=items):
            yield from ((each.id, None) for each in assigned_names(*items))
    for block in ("body", "orelse", "finalbody"):
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _bound(getattr(statement, block, []))
    for handler in getattr(statement, "handlers", []):
        yield from _bound(handler.body)
