"""The surface of a downstream repository: everything of an upstream one that its code uses, each with its place."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from pydantic import Field, field_serializer, field_validator

from analysis.facts.python.module import Parameter, module_path
from analysis.impact.surface.targets import CONSTRUCTOR, Target
from analysis.models.frozen import Frozen
from analysis.paths import Kind, kind

DownstreamLine = tuple[str, int]  # a downstream path, and the number of a line


class UseKind(StrEnum):
    """How code uses a name of upstream. The values are part of the store."""

    IMPORT = "import"
    CALL = "call"
    READ = "read"
    OVERRIDE = "override"
    REPLACEMENT = "replacement"


class Arguments(Frozen):
    """What a call passes; `any_positional` and `any_keywords` are true for `*arguments` and `**arguments`.

    `names` are those of the variables and attributes that it passes by position.
    """

    positional: int
    keywords: tuple[str, ...]
    any_positional: bool = False
    any_keywords: bool = False
    names: tuple[str, ...] = ()


class Use(Frozen):
    """One use of an upstream name, at a line (from 1) of a downstream file.

    `guarded` is true where the code expects that the name may be missing, `latest` if not in the latest version. A call has
    `arguments`, and in `values` the number of names that its result is assigned to. An override or a replacement of a function
    has the `parameters` that it accepts, those of a method without `self`, in `values` how many it returns if they are several,
    in `returns` its annotation, and in `body` its statements.
    """

    kind: UseKind
    target: Target
    path: str
    line: int
    code: str
    guarded: bool = False
    latest: bool = False
    arguments: Arguments | None = None
    parameters: tuple[Parameter, ...] | None = None
    values: int | None = None
    returns: str = ""
    body: str = ""


class Substitute(Frozen):
    """A downstream class whose objects a subclass of upstream's holds in an attribute.

    `members` are those of a class without upstream bases; None for one with them, which is among the subclasses.
    """

    target: Target
    members: frozenset[str] | None
    path: str
    line: int
    code: str


class Subclass(Frozen):
    """A downstream class with upstream bases, its own and those of its downstream bases, in the order of look-up.

    `members` are defined by it and its downstream bases; `abstract` is true if it is not meant to be instantiated.
    `substitutes` are what its attributes hold.
    """

    target: Target
    bases: tuple[Target, ...]
    members: frozenset[str]
    path: str
    line: int
    code: str
    abstract: bool = False
    substitutes: Mapping[str, Substitute] = Field(default_factory=dict)


class Surface(Frozen):
    """What a downstream tree uses of the upstream `packages` (names that are imported, such as `vllm`).

    `unparsed` are the Python files that are no valid Python for us; `files` counts all that were read.
    `members` are the names that downstream classes define.
    """

    packages: frozenset[str]
    uses: tuple[Use, ...]
    subclasses: Mapping[Target, Subclass]
    files: int
    members: frozenset[str] = frozenset()
    unparsed: tuple[str, ...] = ()

    @field_serializer("subclasses")
    def _listed(self, subclasses: Mapping[Target, Subclass]) -> list[Subclass]:
        return list(subclasses.values())  # JSON has no tuples as keys

    @field_validator("subclasses", mode="before")
    @classmethod
    def _by_target(cls, value: object) -> object:
        subclasses = [Subclass.model_validate(each) for each in value] if isinstance(value, list) else None
        return value if subclasses is None else {each.target: each for each in subclasses}


class SurfaceIndex:
    """A surface whose unguarded uses are found by name; if `lines` are given, those at others are of no interest."""

    def __init__(self, surface: Surface, lines: Collection[DownstreamLine] | None = None) -> None:
        self.surface = surface
        self._lines = lines
        self._uses: dict[str, list[Use]] = defaultdict(list)
        # A class is constructed under the names of all that inherit its constructor.
        self._constructions: list[Use] = []
        for use in surface.uses:
            if use.latest or not use.guarded:
                for name in set(use.target):
                    self._uses[name].append(use)
                if use.kind is UseKind.CALL and use.target[-1][:1].isupper():
                    self._constructions.append(use)

    def is_of_interest(self, place: Use | Subclass | Substitute) -> bool:
        return self._lines is None or (place.path, place.line) in self._lines

    @cached_property
    def few(self) -> Sequence[Use] | None:
        """The uses of Python names at the lines that are of interest; None if all are."""
        every = {id(use): use for uses in self._uses.values() for use in uses if self.is_of_interest(use)}
        return None if self._lines is None else list(every.values())

    @cached_property
    def modules(self) -> frozenset[Target]:
        """What may be a module that the code imports from: the targets of its uses, and what is one or two names above them."""
        return frozenset(
            use.target[: len(use.target) - above]
            for use in self.surface.uses
            for above in range(min(3, len(use.target)))
        )

    @cached_property
    def _main_package(self) -> str:
        """The folder at the root of the tree that has most of the uses in source code."""
        roots = Counter(_root(use.path) for use in self.surface.uses if kind(use.path) is Kind.SOURCE)
        return max(roots, key=lambda root: roots[root], default="")

    def rank(self, path: str) -> int:
        """Return the rank of a file in lists: the main package, its private folders for single devices, others, tests and examples."""
        if kind(path) is not Kind.SOURCE:
            return 3
        return 2 if _root(path) != self._main_package else int("/_" in path.rpartition("/")[0])

    @cached_property
    def derived(self) -> Mapping[str, Sequence[tuple[Subclass, Target]]]:
        """The subclasses that stand in for something of upstream's, with their base, by the names of upstream's classes."""
        found: dict[str, list[tuple[Subclass, Target]]] = defaultdict(list)
        for each in self.surface.subclasses.values():
            for base in each.bases if any(map(self.is_of_interest, each.substitutes.values())) else ():
                found[base[-1]].append((each, base))
        return found

    def nominated(self, names: Iterable[str]) -> list[Use]:
        """Return the uses of Python names that pass one of these, in the order of the files."""
        names = frozenset(names)
        found = {id(use): use for name in names for use in self._uses.get(name, ())}
        if CONSTRUCTOR in names:
            found.update((id(use), use) for use in self._constructions)
        return sorted(filter(self.is_of_interest, found.values()), key=lambda use: (use.path, use.line, use.target))

    def passing(self, name: str) -> Sequence[Use]:
        """Return the uses of Python names that pass this one."""
        return self._uses.get(name, ())

    def uses_of(self, name: str, path: str) -> Sequence[Use]:
        """Return the uses of Python names that pass this one, in the module at an upstream path."""
        module = tuple(module_path(path).split("/"))
        return [each for each in self.passing(name) if each.target[: len(module)] == module]


def _root(path: str) -> str:
    """Return the folder of a path at the root of the tree, or below the folder that packages are installed from."""
    return module_path(path).partition("/")[0]
