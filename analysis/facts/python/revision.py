"""One revision's Python files, parsed once, and what their imports and base classes stand for."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from analysis.facts.fragments import fragment
from analysis.facts.python.module import ANY, Attribute, Class, Function, Import, Member, Module
from analysis.facts.python.parsing import declarations, parse
from analysis.facts.syntax import Source, parse_module
from analysis.models import Tree

_MAX_CHARACTERS = 4_000_000  # read of one revision for one commit
_MAX_HOPS = 8  # imports followed from module to module, or classes up to their bases

# Bases that provide nothing in place of a removed member, but for the names below.
_BARE = re.compile(
    r"(?:.*\.)?(?:object|str|int|ABC|Protocol|Generic|NamedTuple|TypedDict|\w*BaseModel|Schema|Struct|Module|\w*Enum|Flag|IntFlag"
    r"|Exception|\w*Error)$"
)
# What such bases do provide: removing a class's own version of these leaves the inherited one.
_OF_BARE_BASES = frozenset(
    [
        *("forward", "extra_repr", "to", "train", "eval", "apply", "state_dict", "load_state_dict", "named_parameters"),
        *("model_config", "model_dump", "model_validate", "dict", "json", "copy", "name", "value", "args"),
    ]
)
_TABLE = re.compile(r"\bname in (\w+)")
# A `__getattr__` that does nothing else with its name than to compare it with others, and to tell it in an error.
_COMPARES_ALONE = re.compile(
    r"def __getattr__\(name\b[^)]*\)[^:]*:(?:(?!\bname\b).|\bname(?= (?:==|in \{|in \(|in \[))|(?<=AttributeError\()name\b|(?<=\{)name\b)*",
    re.DOTALL,
)

M_co = TypeVar("M_co", bound=Member, covariant=True)


class Found(NamedTuple, Generic[M_co]):
    """A definition and the module that holds it."""

    module: Module
    member: M_co


class Revision:
    """The Python files of one revision; one that cannot be read or parsed is None.

    At most `characters` are read of it. Of a file in `patches` only that shows what is known of one `side`.
    """

    def __init__(
        self,
        tree: Tree | None,
        characters: int = _MAX_CHARACTERS,
        patches: Mapping[str, str] = MappingProxyType({}),
        side: str = "+",
    ) -> None:
        self._tree = tree
        self._patches = patches
        self._side = side
        self._texts: dict[str, str | None] = {}
        self._sources: dict[str, Source | None] = {}
        self._modules: dict[str, Module | None] = {}
        self._left = characters

    @property
    def is_exhausted(self) -> bool:
        """Whether so much was read that what is asked for now stays unread."""
        return self._left <= 0

    def text(self, path: str) -> str | None:
        """Return a file's text; None if it cannot be read, or once enough of the revision was read."""
        if path not in self._texts:
            self._texts[path] = self._tree.read(path) if self._tree and self._left > 0 else None
            self._left -= len(self._texts[path] or "")
        return self._texts[path]

    def source(self, path: str) -> Source | None:
        """Return the syntax tree of the file at a path."""
        if patch := self._patches.get(path):
            return fragment(path, patch, self._side)
        if path not in self._sources:
            text = self.text(path)
            tree = None if text is None else parse_module(text)
            self._sources[path] = Source(path, text, tree) if text is not None and tree else None
        return self._sources[path]

    def module(self, path: str) -> Module | None:
        """Return what the file at a path declares."""
        if path not in self._modules:
            text = self.text(path)
            source = self.source(path) if path in self._patches else None
            self._modules[path] = declarations(source) if source else parse(path, text) if text is not None else None
        return self._modules[path]

    def resolve(self, target: str, importer: str, hops: int = _MAX_HOPS) -> Found[Member] | None:
        """Return the definition that a dotted path stands for in a file; None if it is not in the repository."""
        parts = target.split(".")
        for length in range(len(parts) - 1, 0, -1):
            if (module := self._imported(parts[:length], importer)) is not None:
                return self._member(module, parts[length:], hops)
        return None

    def _imported(self, parts: list[str], importer: str) -> Module | None:
        """Return the module of this dotted path, below the folder that holds the importer's own package."""
        folders = importer.split("/")[:-1]
        if parts[0] not in folders:
            return None
        path = "/".join([*folders[: folders.index(parts[0])], *parts])
        return self.module(f"{path}.py") or self.module(f"{path}/__init__.py")

    def _member(self, module: Module, names: list[str], hops: int) -> Found[Member] | None:
        found: Member | None = module.members.get(names[0])
        if found is None:
            stars = (self.resolve(f"{star}.{names[0]}", module.path, hops - 1) for star in module.stars if hops)
            return next(filter(None, stars), None)
        if isinstance(found, Import):
            return self.resolve(".".join([found.target, *names[1:]]), module.path, hops - 1) if hops else None
        for name in names[1:]:
            found = found.members.get(name) if isinstance(found, Class) else None
        return Found(module, found) if found else None

    def binds(self, module: Module, name: str) -> bool:
        """Return whether a module may bind a name: only False is certain."""
        member = module.members.get(name)
        runs = member is not None and not (isinstance(member, Import) and member.typing_only)
        if runs or re.search(rf"\bglobal [^#\n]*\b{re.escape(name)}\b", module.text):
            return True
        if module.partial and re.search(rf"^[ \t]+{re.escape(name)} *=", module.text, re.MULTILINE):
            return True  # in a block that begins above what is shown
        if module.is_dynamic or _serves_on_demand(module, name):
            return True
        return any(self._star_may_bind(star, module.path, name) for star in module.stars)

    def _star_may_bind(self, star: str, importer: str, name: str) -> bool:
        source = self._imported(star.split("."), importer)
        return source is None or source.path == importer or bool(source.stars) or self.binds(source, name)

    def base(self, target: str, module: Module) -> Found[Class] | None:
        """Return the class that a base stands for, if the repository defines it."""
        own = module.members.get(target.removeprefix(f"{module.dotted}."))
        if isinstance(own, Class):
            return Found(module, own)
        found = self.resolve(target, module.path)
        return Found(found.module, found.member) if found and isinstance(found.member, Class) else None

    def bases(self, owner: Found[Class], hops: int = _MAX_HOPS) -> Iterator[Found[Class] | None]:
        """Yield the classes above a class, as far as they are known; None for each that may provide anything."""
        for base in owner.member.bases:
            above = self.base(base.target, owner.module)
            if above is None or not hops:
                if not _BARE.match(base.target.partition("[")[0]):
                    yield None
            elif above.member is not owner.member:
                yield above
                yield from self.bases(above, hops - 1)

    def provides(self, owner: Found[Class], name: str) -> bool:
        """Return whether a class may have a member, of its own or inherited: only False is certain."""
        if name in _OF_BARE_BASES and owner.member.bases:
            return True  # of a library's class
        classes = [owner, *self.bases(owner)]
        return any(each is None or _may_have(each, name) for each in classes)


def _may_have(owner: Found[Class], name: str) -> bool:
    module, found = owner
    if name in found.members or "__getattr__" in found.members or f"{found.name}.{name} = " in module.text:
        return True
    return not module.members_mentioned(found).isdisjoint((name, ANY))


def _serves_on_demand(module: Module, name: str) -> bool:
    """Return whether a module's `__getattr__` may provide a name that the module does not mention.

    It does not if it ends with an AttributeError and only compares names, or looks them up in tables of the module.
    """
    function = module.members.get("__getattr__")
    if function is None:
        return False
    if not isinstance(function, Function) or re.search(rf"\b{re.escape(name)}\b", module.text):
        return True
    source = module.source(function)
    tables = [module.members.get(each) for each in _TABLE.findall(source)]
    are_own = bool(tables) and all(isinstance(each, Attribute) for each in tables)
    return "raise AttributeError" not in source or not (are_own or _COMPARES_ALONE.fullmatch(source))
