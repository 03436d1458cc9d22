"""A Python module as its source text declares it: classes, functions, attributes and imports, each with its line."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

_WORD = re.compile(r"\w+")
_DELETION = re.compile(r"^del ([^#\n]*)", re.MULTILINE)
_CLASS_DELETION = re.compile(r"^[ \t]{1,4}del ([^#\n]*)", re.MULTILINE)  # in the body, but in none of its methods
_INSTANCE_ATTRIBUTE = re.compile(r"^[ \t]+self\.(?P<name>\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)

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
    """A function or method; `line` is that of its `def`, `start` and `end` enclose it with its decorators."""

    name: str
    line: int
    start: int
    end: int
    parameters: tuple[Parameter, ...]
    decorators: tuple[str, ...]
    returns: str = ""


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
    """A name bound by an import, and the dotted path of what it stands for."""

    name: str
    line: int
    target: str


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


@dataclass(frozen=True)
class Module:
    """A module with what its top level binds; `stars` are the modules whose names it imports all."""

    path: str
    text: str
    members: Mapping[str, Member]
    stars: tuple[str, ...]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @property
    def dotted(self) -> str:
        """The module's path as it is imported from the repository's root."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def source(self, member: Class | Function) -> str:
        """Return the text of a definition, with its decorators."""
        return "\n".join(self.lines[member.start - 1 : member.end])

    def assigns(self, name: str) -> bool:
        """Return whether a line seems to bind a name in a way that `members` leaves out, such as `a, b = ...`."""
        word = re.escape(name)
        bound = rf"^[^#\n]*\b{word}\b[\w\s,)\]]*(?::[^=\n]+)?=(?!=)|\b(?:as|for|global) {word}\b"
        return name in self.text and bool(re.search(bound, self.text, re.MULTILINE))

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
        """Return the names that a class uses on `self` or `cls`, or writes as strings, as for `setattr`."""
        if owner.start not in self._mentioned:
            found = _MENTIONED.findall(self.source(owner))
            self._mentioned[owner.start] = frozenset(each for names in found for each in names if each)
        return self._mentioned[owner.start]

    @cached_property
    def _mentioned(self) -> dict[int, frozenset[str]]:
        """The names that `members_mentioned` found, by the line where the class starts."""
        return {}

    def instance_attributes(self, owner: Class) -> Sequence[Attribute]:
        """Return the attributes that the methods of a class set on `self`, each at its first place."""
        if owner.start not in self._on_self:
            found: dict[str, Attribute] = {}
            text = self.source(owner)
            for match in _INSTANCE_ATTRIBUTE.finditer(text):
                name = match["name"]
                if name not in found:
                    found[name] = Attribute(name, owner.start + text.count("\n", 0, match.start("name")))
            self._on_self[owner.start] = tuple(found.values())
        return self._on_self[owner.start]

    @cached_property
    def _on_self(self) -> dict[int, tuple[Attribute, ...]]:
        """The attributes that `instance_attributes` found, by the line where the class starts."""
        return {}
