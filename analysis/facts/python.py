"""Python as a patch shows it: the statements on one side of a hunk, each with its enclosing class or function.

A hunk may begin anywhere: within brackets, a docstring or a method whose head it does not show. A closing bracket
without an opening one reveals this, and the lines up to it are left out; a statement whose owner cannot be determined
has the scope UNKNOWN, and the rules report nothing.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from analysis.diff import DiffLine, Hunk, headed_hunks
from analysis.facts.strings import open_quote

Side = Literal["-", "+"]
SIDES: tuple[Side, Side] = ("-", "+")
DefinitionKind = Literal["class", "function", "method", "field", "member", "constant"]

# Every alternative begins with one of few characters, which the regex engine finds fast.
_TOKEN = re.compile(
    r"""(?P<triple>\"{3}|'{3})|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?P<comment>\#.*)|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)
_BRACKET = re.compile(r"[()\[\]{}]")
_QUOTE = re.compile(r"[\"'#]")
_CLASS = re.compile(r"class\s+(?P<name>\w+)\s*(?:\((?P<bases>.*?)\)\s*:|:|(?P<cut>\())")
_DEF = re.compile(r"(?:async\s+)?def\s+(?P<name>\w+)")
_FIELD = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*:(?!=)\s*\S")
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
_ENUM = re.compile(r"\b\w*(?:Enum|Flag)\b")
_HEADS = ("class", "def", "async", "if")  # what begins a line that the patterns of scopes match
_FOR_TYPES = re.compile(r"if\s+(?:\w+\.)?TYPE_CHECKING\s*:")


class Scope(NamedTuple):
    """The enclosing scope of a statement.

    `types` is a block for type checkers only; `bases` is None if the head is incomplete.
    """

    what: Literal["module", "class", "def", "types", "unknown"]
    name: str = ""
    indent: int = -1
    bases: str | None = None
    decorators: tuple[str, ...] = ()


MODULE = Scope("module")
UNKNOWN = Scope("unknown")


class CodeStatement(NamedTuple):
    """A statement or decorator on one line without comments, and its lines; `whole` unless the hunk ends within it."""

    text: str
    indent: int
    lines: tuple[DiffLine, ...]
    owner: Scope
    hunk: int
    decorators: tuple[str, ...]
    whole: bool

    def line_of(self, text: str) -> DiffLine:
        """Return the first line that contains `text`, else the statement's first line."""
        return next((line for line in self.lines if text in line.text), self.lines[0])


class Definition(NamedTuple):
    """A name that a statement defines, qualified by its class; `public` if no part of it begins with an underscore."""

    what: DefinitionKind
    name: str
    statement: CodeStatement

    @property
    def public(self) -> bool:
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def line(self) -> DiffLine:
        return self.statement.line_of(self.last)


@lru_cache(maxsize=64)
def statements(patch: str | None, side: Side) -> tuple[CodeStatement, ...]:
    """Return the statements of a file's old ("-") or new ("+") side, as far as its patch shows them."""
    return tuple(
        each for index, hunk in enumerate(headed_hunks(patch)) for each in _Reader(hunk, side, index).statements()
    )


@lru_cache(maxsize=64)
def definitions(patch: str | None, side: Side) -> tuple[Definition, ...]:
    """Return what one side defines in the module or in a class; local variables are left out."""
    return tuple(found for each in statements(patch, side) if (found := _definition(each)))


def bases_of(each: Definition) -> str | None:
    """Return the bases of a class as written; None if its head is incomplete."""
    match = _CLASS.match(each.statement.text)
    return match["bases"] or "" if match and not match["cut"] else None


@lru_cache(maxsize=64)
def removed_classes(patch: str | None) -> frozenset[str]:
    """Return the classes whose heads are removed and not added again."""
    after, before = ({each.name for each in definitions(patch, side) if each.what == "class"} for side in ("+", "-"))
    return frozenset(before - after)


def _definition(each: CodeStatement) -> Definition | None:
    owner = each.owner
    headed = _CLASS.match(each.text) or _DEF.match(each.text)  # its parameters may continue below the hunk
    if owner.what not in ("module", "class") or (each.text.endswith(",") and not headed):
        return None
    in_class = owner.what == "class"
    if match := _CLASS.match(each.text):
        what: DefinitionKind = "class"
    elif match := _DEF.match(each.text):
        what = "method" if in_class else "function"
    elif in_class and (match := _FIELD.match(each.text)):
        what = "field"
    elif match := _ASSIGNED.match(each.text):
        what = "member" if in_class else "constant"
        if in_class and not _ENUM.search(owner.bases or ""):
            return None
    return Definition(what, f"{owner.name}.{match['name']}" if in_class else match["name"], each) if match else None


class _Reader:
    """Reader of the statements on one side of one hunk."""

    def __init__(self, hunk: Hunk, side: Side, index: int) -> None:
        self._lines = [line for line in hunk.lines if line.sign in (" ", side)]
        self._index = index
        self._scopes = [scope] if (scope := _scope_begun_by(hunk.heading, 0)) else []
        self._quote = open_quote(self._lines)
        self._step = 2 if any(indent_of(line.text) % 4 == 2 for line in self._lines) else 4  # noqa: PLR2004
        self._depth = 0
        self._found: list[CodeStatement] = []

    def statements(self) -> list[CodeStatement]:
        decorators: list[str] = []
        for lines, code, whole in self._logical_lines():
            indent = indent_of(lines[0].text)
            while self._scopes and self._scopes[-1].indent >= indent:
                self._scopes.pop()
            statement = CodeStatement(
                code, indent, tuple(lines), self._owner_at(indent), self._index, tuple(decorators), whole
            )
            self._found.append(statement)
            if scope := _scope_begun_by(code, indent, statement.owner, statement.decorators):
                self._scopes.append(scope)
            decorators = [*decorators, code] if code.startswith("@") else []
        return self._found

    def _owner_at(self, indent: int) -> Scope:
        if not indent:
            return MODULE
        if self._scopes and indent - self._scopes[-1].indent == self._step:
            return self._scopes[-1]
        return UNKNOWN

    def _logical_lines(self) -> Iterator[tuple[list[DiffLine], str, bool]]:
        """Yield (lines, code, whether it is complete) for each logical line."""
        lines: list[DiffLine] = []
        code: list[str] = []
        for line in self._lines:
            began_quoted = bool(self._quote) and not lines
            text = line.text.rstrip() if self._count_brackets(line.text) else self._without_comment(line.text)
            if self._depth < 0:
                # Everything so far was inside brackets opened above the hunk: none of it is a statement.
                self._depth = 0
                self._found.clear()
                self._enter_unknown_scope(line)
                lines, code = [], []
                continue
            if began_quoted or (not lines and not text.strip() and not self._quote):
                continue
            lines.append(line)
            code.append(text.strip())
            if not self._depth and not self._quote and not text.endswith("\\"):
                yield lines, " ".join(code), True
                lines, code = [], []
        if lines:
            yield lines, " ".join(code), False

    def _enter_unknown_scope(self, line: DiffLine) -> None:
        """Enter an unknown scope if the line ends a head that began above the hunk."""
        if line.text.rstrip().endswith(":") and indent_of(line.text):
            self._scopes.append(Scope("unknown", indent=indent_of(line.text)))

    def _count_brackets(self, text: str) -> bool:
        """Count the brackets of a line without quotes and comments; return False if the line needs `_without_comment`."""
        if self._quote or _QUOTE.search(text):
            return False
        brackets = _BRACKET.findall(text)
        if not brackets:
            return True
        opened = sum(map(brackets.count, "([{"))
        closed = len(brackets) - opened
        if closed > self._depth + opened or (closed > self._depth and text.lstrip()[:1] in (")", "]", "}")):
            return False
        self._depth += opened - closed
        return True

    def _without_comment(self, text: str) -> str:
        """Return the line without its comment; record which brackets and quotes it leaves open."""
        at = 0
        if self._quote:
            end = text.find(self._quote)
            if end < 0:
                return text
            at, self._quote = end + 3, ""
        while match := _TOKEN.search(text, at):
            if match["comment"]:
                return text[: match.start()].rstrip()
            at = match.end()
            if match["open"]:
                self._depth += 1
            elif match["close"]:
                self._depth -= 1
                if self._depth < 0:
                    return text
            elif match["triple"]:
                end = text.find(match["triple"], at)
                if end < 0:
                    self._quote = match["triple"]
                    return text
                at = end + 3
        return text.rstrip()


def _scope_begun_by(text: str, indent: int, owner: Scope = MODULE, decorators: tuple[str, ...] = ()) -> Scope | None:
    """Return the scope whose head a statement or a hunk heading is: a class, a function or a type-checking block."""
    if not text.startswith(_HEADS):
        return None
    prefix = f"{owner.name}." if owner.name else ""
    if match := _CLASS.match(text):
        bases = None if match["cut"] else match["bases"] or ""
        what: Literal["class", "unknown"] = "class" if owner.what in ("module", "class") else "unknown"
        return Scope(what, prefix + match["name"], indent, bases, decorators)
    if match := _DEF.match(text):
        return Scope("def", prefix + match["name"], indent)
    return Scope("types", indent=indent) if _FOR_TYPES.match(text) else None


def indent_of(text: str) -> int:
    return len(text) - len(text.lstrip())
