"""A Python module as its source text declares it: classes, functions, attributes and imports, each with its line."""

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from analysis.facts.syntax import assigned_attributes, constant_strings, parse_module

ANY = "*"  # stands for all names
PROTOCOL = "Protocol"  # the base of a class that others implement without deriving from it
_SOURCE_ROOT = re.compile(r"^(?:src|lib|python)/")  # what packages are installed from
_WORD = re.compile(r"\w+")
_DELETION = re.compile(r"^del ([^#\n]*)", re.MULTILINE)
_CLASS_DELETION = re.compile(r"^[ \t]{1,4}del ([^#\n]*)", re.MULTILINE)  # in the body, but in none of its methods
# What sets attributes of an object whose names are only known at run time.
_SETS_ANY = re.compile(r"""\bsetattr\((?:self|cls), *(?!["'])|\b(?:self|cls)\.__dict__\b|\bvars\((?:self|cls)\)""")
_DYNAMIC = re.compile(
    r"\bglobals\(\)(?!\.(?:keys|get|items|values)\b)|\bsys\.modules\[__name__\]|^exec\(|^vars\(\)", re.MULTILINE
)
_MENTIONED = re.compile(r"""\b(?:self|cls)\.(\w+)|["'](\w+)["']""")


class ParameterKind(StrEnum):
    """How a call may pass a parameter; the last two accept any number of arguments."""

    POSITIONAL_ONLY = "positional-only"
    POSITIONAL_OR_KEYWORD = "positional or keyword"
    KEYWORD_ONLY = "keyword-only"
    VAR_POSITIONAL = "variadic positional"
    VAR_KEYWORD = "variadic keyword"


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: ParameterKind
    required: bool
    annotation: str

    @property
    def positional(self) -> bool:
        return self.kind in (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)

    @property
    def variadic(self) -> bool:
        return self.kind in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True)
class Function:
    """A function or method; `line` is that of its `def`, `start` and `end` enclose it with its decorators; `awaited` if it is `async`."""

    name: str
    line: int
    start: int
    end: int
    parameters: tuple[Parameter, ...]
    decorators: tuple[str, ...]
    returns: str = ""
    awaited: bool = False

    @property
    def abstract(self) -> bool:
        return any("abstractmethod" in each for each in self.decorators)


@dataclass(frozen=True)
class Attribute:
    """A variable of a module or class, a field, an enum member, an attribute set on `self`, or a property.

    `field` is true for what a class body declares with a type; `required` if it has no value.
    """

    name: str
    line: int
    field: bool = False
    required: bool = False
    value: str = ""
    annotation: str = ""
    computed: bool = False


@dataclass(frozen=True)
class Import:
    """A name bound by an import, and the dotted path of what it stands for; `typing_only` if no run binds it."""

    name: str
    line: int
    target: str
    typing_only: bool = False


@dataclass(frozen=True)
class Base:
    """A base class as written, and its dotted path as far as the module's imports tell."""

    text: str
    target: str

    @property
    def name(self) -> str:
        return self.target.rpartition(".")[2]


@dataclass(frozen=True)
class Class:
    """A class; `line` is that of its head, `start` and `end` enclose it with its decorators."""

    name: str
    line: int
    start: int
    end: int
    bases: tuple[Base, ...]
    decorators: tuple[str, ...]
    keywords: tuple[str, ...]
    members: Mapping[str, "Member"]


Member = Class | Function | Attribute | Import


@dataclass(frozen=True, eq=False)
class Module:
    """A module with what its top level binds; `stars` are the modules whose names it imports all.

    Of a `partial` one only what a patch shows is known. It equals itself alone.
    """

    path: str
    text: str
    members: Mapping[str, Member]
    stars: tuple[str, ...]
    partial: bool = False

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the module binds names that only a run tells."""
        return bool(_DYNAMIC.search(self.text))

    @property
    def dotted(self) -> str:
        """The module's path as it is imported from the repository's root."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def source(self, member: Class | Function) -> str:
        """Return the text of a definition, with its decorators."""
        return "\n".join(self.lines[member.start - 1 : member.end])

    def definition(self, member: Class | Function) -> ast.stmt | None:
        """Return the statement that defines a class or function; its lines are counted from that of the definition."""
        return _statement(self.source(member))

    def uses_beside(self, name: str) -> bool:
        """Return whether the module mentions a definition of its top level outside that definition and comments."""
        member = self.members.get(name)
        if member is None:
            return False
        first, last = (member.start, member.end) if isinstance(member, Class | Function) else (member.line, member.line)
        word = re.compile(rf"\b{re.escape(name)}\b")
        others = (*self.lines[: first - 1], *self.lines[last:])
        return any(name in line and word.search(line.partition("#")[0]) for line in others)

    def reads(self, name: str, *, in_body: bool) -> bool:
        """Return whether the module takes the value of an attribute from an object, or in the body of its class."""
        before = r"\b" if in_body else r"\."
        return bool(re.search(rf"{before}{re.escape(name)}\b(?!\s*(?::[^=\n]+)?=(?!=))", self.text))

    def deleted_names(self, owner: Class | None = None) -> frozenset[str]:
        """Return the names that the body of the module, or of a class, deletes again; not those of a nested class."""
        text = self.source(owner) if owner else self.text
        targets = (_CLASS_DELETION if owner else _DELETION).findall(text) if "del " in text else ()
        return frozenset(name for each in targets for name in _WORD.findall(each))

    def line_of(self, name: str, member: Class | Function | Import) -> int:
        """Return the first line from the definition's head on that contains the name as a word, else its own line."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        end = len(self.lines) if isinstance(member, Import) else member.end
        lines = enumerate(self.lines[member.line - 1 : end], start=member.line)
        return next((number for number, line in lines if name in line and word.search(line)), member.line)

    def members_mentioned(self, owner: Class) -> frozenset[str]:
        """Return the names that a class uses on `self` or `cls`, or writes as strings, and `ANY` if it sets what only a run tells."""
        return _mentioned(self.source(owner))

    def instance_attributes(self, owner: Class) -> Sequence[Attribute]:
        """Return the attributes that a class sets on `self` or names in `__slots__`, each at its first place."""
        return _set_on_self(self.source(owner), owner.start)


# Most of the code that a commit's names lead to is the same before and after it, and for the commits of a day. Each version of
# it that is kept takes memory, a syntax tree a hundred times as much as its text.
_kept = lru_cache(maxsize=128)


@lru_cache(maxsize=16)
def _statement(source: str) -> ast.stmt | None:
    tree = parse_module(textwrap.dedent(source) if source[:1].isspace() else source)
    return tree.body[0] if tree and tree.body else None


@_kept
def _mentioned(source: str) -> frozenset[str]:
    names = frozenset(each for found in _MENTIONED.findall(source) for each in found if each)
    return names | {ANY} if _SETS_ANY.search(source) else names


@_kept
def _set_on_self(source: str, start: int) -> tuple[Attribute, ...]:
    node = _statement(source)
    body = node.body if isinstance(node, ast.ClassDef) else []
    slots = [each for each in body if isinstance(each, ast.Assign) and "__slots__" in map(ast.unparse, each.targets)]
    lines = dict(constant_strings(*slots))
    for each in assigned_attributes(ast.walk(node), "self") if node else ():
        lines[each.attr] = min(each.lineno, lines.get(each.attr, each.lineno))
    return tuple(Attribute(name, start - 1 + line) for name, line in sorted(lines.items(), key=lambda item: item[1]))


def module_path(path: str) -> str:
    """Return what a module is imported as: its path without suffix and source folder, the same for a file and a package."""
    return _SOURCE_ROOT.sub("", path.removesuffix(".py").removesuffix("/__init__"))
