"""Changes that a commit makes for its users: the names whose definitions are gone or differ, and what takes their place."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.facts.change import is_module, old_path
from analysis.facts.python.comparison import modules_of
from analysis.facts.python.module import Attribute, Class, Function, Import, Member, Module
from analysis.facts.python.renaming import serves_as, successor
from analysis.facts.python.revision import Found, Revision
from analysis.impact.matching.upstream import CALLED, Place, Presence, Upstream, handed_on
from analysis.impact.surface.targets import CONSTRUCTOR
from analysis.models import Fact, FactKind, FileChange
from analysis.models.impacts import Cause

_RENAMED = (FactKind.RENAMED_NAME, FactKind.RENAMED_METHOD, FactKind.RENAMED_KEY, FactKind.RENAMED_FIELD)
_AGREEING_FILES = 3  # that write the same instead of a name
_MAJORITY = 3  # as many of them as of those that write something else


class ChangedNames(NamedTuple):
    """The last names of definitions that are gone or whose interface changed, and of modules that are gone.

    `abstract` are those of methods that became abstract, `rewritten` those of functions that do something else.
    """

    all: frozenset[str]
    abstract: frozenset[str]
    rewritten: frozenset[str] = frozenset()


def changed_names(files: Sequence[FileChange], before: Revision, after: Revision) -> ChangedNames:
    """Return the names that files of a commit change for those who use them; tests and documentation define none."""
    found: set[str] = set()
    abstract: set[str] = set()
    rewritten: set[str] = set()
    for file in files:
        if file.status != "added" and (file.size or file.status == "renamed") and is_module(file):
            found |= set(_of_file(file, before, after))
            rewritten |= set(_rewritten_functions(file, before, after))
            if "abstractmethod" in (file.patch or "abstractmethod"):
                abstract |= _abstract_methods(after.module(file.path)) - _abstract_methods(
                    before.module(old_path(file))
                )
    return ChangedNames(frozenset(found), frozenset(abstract), frozenset(rewritten))


def _rewritten_functions(file: FileChange, before: Revision, after: Revision) -> Iterator[str]:
    old, new = modules_of(file, before, after) or (None, None)
    if old is None or new is None:
        return
    was, now = (
        {(owner, each.name): module.source(each) for owner, each in _functions(module)} for module in (old, new)
    )
    yield from (key[1] for key in was.keys() & now.keys() if was[key] != now[key])


def _functions(module: Module | None) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module, and of its classes with their names."""
    members = module.members if module else {}
    owners = [("", members), *((each.name, each.members) for each in members.values() if isinstance(each, Class))]
    for owner, own in owners:
        yield from ((owner, each) for each in own.values() if isinstance(each, Function))


def _abstract_methods(module: Module | None) -> set[str]:
    return {each.name for _, each in _functions(module) if each.abstract}


def _of_file(file: FileChange, before: Revision, after: Revision) -> Iterator[str]:
    if file.status in ("removed", "renamed"):
        yield _module_name(old_path(file))
    if modules := modules_of(file, before, after):
        yield from _of_module(*modules, before, after)
        old, new = modules
        if new and "__getattr__" in old.members and "__getattr__" not in new.members:  # which served names on demand
            yield _module_name(old_path(file))


def _of_module(old: Module, new: Module | None, before: Revision, after: Revision) -> Iterator[str]:
    for name, member in old.members.items():
        kept = new.members.get(name) if new else None
        if kept is None:
            yield name
        if isinstance(member, Class) and not isinstance(kept, Class):
            yield from member.members
        elif isinstance(member, Class) and isinstance(kept, Class):
            if new and old.source(member) != new.source(kept):
                yield from _of_class(name, old, member, new, kept)
                yield from _of_lineage(before, Found(old, member), after, Found(new, kept))
        elif kept is not None and _interface(member) != _interface(kept):
            yield name


def _of_class(name: str, old: Module, was: Class, new: Module, now: Class) -> Iterator[str]:
    constructs = (CONSTRUCTOR in was.members) != (CONSTRUCTOR in now.members)
    if constructs or was.bases != now.bases or _fields(was) != _fields(now):
        yield name
        yield CONSTRUCTOR
    for own, member in was.members.items():
        kept = now.members.get(own)
        if kept is None or _interface(member) != _interface(kept):
            yield own
    kept_attributes = {each.name for each in new.instance_attributes(now)}
    yield from (each.name for each in old.instance_attributes(was) if each.name not in kept_attributes)


def _of_lineage(before: Revision, was: Found[Class], after: Revision, now: Found[Class]) -> Iterator[str]:
    """Yield what a class no longer inherits, and what is called in place of its members whose interface changed."""
    kept = now.member.members
    changed = {
        name for name, each in was.member.members.items() if name in kept and _interface(each) != _interface(kept[name])
    }
    rebased = was.member.bases != now.member.bases
    old = _inherited(before, was) if changed or rebased else {}
    if rebased:
        yield from old.keys() - _inherited(after, now).keys()
    if not changed.isdisjoint(CALLED):
        yield was.member.name
    yield from (name for name, each in old.items() if handed_on(each) in changed)


def _inherited(revision: Revision, owner: Found[Class]) -> dict[str, Place]:
    """Return the members of a class and of those above it, as far as they are known."""
    classes = [owner, *filter(None, revision.bases(owner))]
    return {
        name: Place(found.module, each, found.member)
        for found in classes[::-1]
        for name, each in found.member.members.items()
    }


def _interface(member: Member) -> object:
    """Return what users of a definition depend on, to be compared."""
    match member:
        case Function():
            return (member.parameters, member.returns, member.decorators, member.awaited)
        case Attribute():
            return (member.annotation, member.computed, member.required)
        case Class():
            return (member.bases, {name: _interface(each) for name, each in member.members.items()})
    return member.target


def _fields(owner: Class) -> list[tuple[str, bool, str]]:
    return [
        (each.name, each.required, each.value)
        for each in owner.members.values()
        if isinstance(each, Attribute) and each.field
    ]


def _module_name(path: str) -> str:
    return path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]


class Successor(NamedTuple):
    """The dotted name of what takes the place, and whether it moved or was renamed."""

    cause: Cause
    name: str


class Successors:
    """Looks for successors in what a commit's facts say, and in the other files that it changes."""

    def __init__(
        self, files: Sequence[FileChange], facts: Sequence[Fact], before: Upstream, after: Upstream, title: str = ""
    ) -> None:
        self._files = files
        self._title = title
        self._written: dict[str, list[str | None]] = {}
        self._before = before
        self._after = after
        self._renamed = {(fact.path, fact.name): fact.new for fact in facts if fact.kind in _RENAMED and fact.new}
        self._parameters = {
            fact.name: fact.new for fact in facts if fact.kind is FactKind.RENAMED_PARAMETER and fact.new
        }

    def of(self, place: Place) -> Successor | None:
        """Return the only successor of a definition, or of a module."""
        module = self._after.dotted(place.module)
        if place.member is None:
            return self._of_module(place.module.path)
        own = f"{place.owner.name}.{place.member.name}" if place.owner else place.member.name
        if new := self._renamed.get((place.module.path, own)):
            return Successor(Cause.RENAMED, ".".join((*module, new)))
        if new := self._alike(place):
            return Successor(Cause.RENAMED, ".".join((*module, *([place.owner.name] if place.owner else []), new)))
        if written := self._replaced_by(place, place.member):
            return written
        found = [] if place.owner else self._defining(place.member.name, place.module.path)
        return Successor(Cause.MOVED, found[0]) if len(found) == 1 else None

    def _replaced_by(self, place: Place, member: Member) -> Successor | None:
        """Return what several files of the commit, or one and its title, write instead of a name, if the tree has it."""
        name, owner = member.name, [place.owner.name] if place.owner else []
        if name not in self._written:
            votes = _reimported(name, self._files), _rewritten(name, self._files)
            self._written[name] = [self._chosen(name, each) for each in votes]
        elsewhere, new = self._written[name]
        if elsewhere and not owner and self._finds(f"{elsewhere}.{name}"):
            return Successor(Cause.MOVED, f"{elsewhere}.{name}")
        renamed = ".".join((*self._after.dotted(place.module), *owner, new)) if new else ""
        now = self._finds(renamed) if renamed else None
        return Successor(Cause.RENAMED, renamed) if now and _can_stand_for(now, place.module, member) else None

    def _finds(self, name: str) -> Place | None:
        found = self._after.find(tuple(name.split(".")))
        return found.last if found.presence is Presence.PRESENT else None

    def _chosen(self, name: str, votes: Iterator[str]) -> str | None:
        """Return what most files write instead of a name: three of them, or one if the title has both names."""
        counted = Counter(votes).most_common(2)
        if not counted or (len(counted) > 1 and counted[0][1] < _MAJORITY * counted[1][1]):
            return None
        new, files = counted[0]
        words = set(re.findall(r"\w+", self._title))
        return new if files >= _AGREEING_FILES or {name, new.rpartition(".")[2]} <= words else None

    def parameter(self, place: Place, name: str) -> str | None:
        """Return the new name of a parameter."""
        own = place.member.name if place.member else ""
        return self._parameters.get(f"{place.owner.name}.{own}({name})" if place.owner else f"{own}({name})")

    def _alike(self, place: Place) -> str | None:
        """Return the only new definition, beside the one that is gone, that has its body; facts leave out private names."""
        module = self._after.revision.module(place.module.path)
        if module is None or not isinstance(place.member, Class | Function):
            return None
        if place.owner is None:
            return successor(place.module, place.member, module)
        owner = module.members.get(place.owner.name)
        return (
            successor(Found(place.module, place.owner), place.member, Found(module, owner))
            if isinstance(owner, Class)
            else None
        )

    def _of_module(self, path: str) -> Successor | None:
        """Return where git says that a module is by now, if half of what it had is there: tiny files resemble any other."""
        was = self._before.revision.module(path)
        if was is None or not (was.members or was.stars):
            return None
        for file in self._files:
            if (
                file.status == "renamed"
                and old_path(file) == path
                and (module := self._after.revision.module(file.path))
                and 2 * len(was.members.keys() & module.members.keys()) >= len(was.members)
            ):
                return Successor(Cause.MOVED, ".".join(self._after.dotted(module)))
        return None

    def _defining(self, name: str, path: str) -> list[str]:
        """Return where other files of the commit define a name that they did not have, as dotted names."""
        found = []
        for file in self._files:
            if file.path == path or file.status == "removed" or not is_module(file):
                continue
            came = old_path(file) == path  # all that it has
            module = self._after.revision.module(file.path) if came or name in (file.patch or name) else None
            was = self._before.revision.module(old_path(file)) if module and not came else None
            own = module is not None and not isinstance(module.members.get(name), Import | None)
            if module and own and not (was and name in was.members):
                found.append(".".join((*self._after.dotted(module), name)))
        return found


def _can_stand_for(now: Place, module: Module, was: Member) -> bool:
    """Return whether those who used a definition can use another one as it is: of the same type, or with the same arguments."""
    if isinstance(was, Attribute) and isinstance(now.member, Attribute):
        return was.annotation == now.member.annotation
    if not isinstance(was, Class | Function) or type(now.member) is not type(was):
        return False
    return serves_as(Found(now.module, now.member), Found(module, was), ())


def _changed_blocks(files: Sequence[FileChange]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield of each Python file the lines that the commit takes away, and those that it adds."""
    for file in files:
        if file.path.endswith(".py") and file.patch:
            lines = file.patch.split("\n")
            yield [each[1:] for each in lines if each[:1] == "-"], [each[1:] for each in lines if each[:1] == "+"]


def _rewritten(name: str, files: Sequence[FileChange]) -> Iterator[str]:
    """Yield, once a file, what stands for a name in an added line that is otherwise the same as a removed one."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for removed, added in _changed_blocks(files):
        patterns = [
            re.compile(r"(?P<new>[a-zA-Z_]\w*)".join([re.escape(first), *map(re.escape, rest[:1])]))
            for first, *rest in (word.split(line, maxsplit=1) for line in removed if word.search(line))
        ]
        found = {each["new"] for line in added for pattern in patterns if (each := pattern.fullmatch(line))} - {name}
        yield from found if len(found) == 1 else ()


def _reimported(name: str, files: Sequence[FileChange]) -> Iterator[str]:
    """Yield, once a file, the only module from which added lines import a name that removed ones import."""
    imported = re.compile(rf"\s*from (\w[\w.]*) import (?:.*\W)?{re.escape(name)}\b")
    for removed, added in _changed_blocks(files):
        old, new = ({each[1] for each in map(imported.match, lines) if each} for lines in (removed, added))
        yield from new - old if old and len(new - old) == 1 else ()
