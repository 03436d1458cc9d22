"""The names whose definitions a commit removes or changes for their users."""

from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.change import is_module, old_path
from analysis.facts.whole_files.comparison import modules_of
from analysis.facts.whole_files.module import Attribute, Class, Function, Member, Module
from analysis.facts.whole_files.repository import Revision
from analysis.impact.surface.targets import CONSTRUCTOR
from analysis.models import Commit, FileChange


class ChangedNames(NamedTuple):
    """The last names of definitions that are gone or whose interface changed, and of modules that are gone.

    `abstract` are those of methods that became abstract.
    """

    all: frozenset[str]
    abstract: frozenset[str]


def changed_names(commit: Commit, before: Revision, after: Revision) -> ChangedNames:
    """Return the names that a commit changes for those who use them; tests and documentation define none."""
    found: set[str] = set()
    abstract: set[str] = set()
    for file in commit.files:
        if file.status != "added" and file.size and is_module(file):
            found |= set(_of_file(file, before, after))
            if "abstractmethod" in (file.patch or "abstractmethod"):
                abstract |= set(_abstract_methods(after.module(file.path))) - set(
                    _abstract_methods(before.module(old_path(file)))
                )
    return ChangedNames(frozenset(found), frozenset(abstract))


def _abstract_methods(module: Module | None) -> Iterator[str]:
    for owner in module.members.values() if module else ():
        if isinstance(owner, Class):
            for name, member in owner.members.items():
                if isinstance(member, Function) and is_abstract(member):
                    yield name


def _of_file(file: FileChange, before: Revision, after: Revision) -> Iterator[str]:
    if file.status in ("removed", "renamed"):
        yield _module_name(old_path(file))
    if modules := modules_of(file, before, after):
        yield from _of_module(*modules)
        if _no_longer_serves(*modules):
            yield _module_name(old_path(file))


def _of_module(old: Module, new: Module | None) -> Iterator[str]:
    for name, member in old.members.items():
        kept = new.members.get(name) if new else None
        if kept is None:
            yield name
        if isinstance(member, Class) and not isinstance(kept, Class):
            yield from member.members
        elif isinstance(member, Class) and isinstance(kept, Class):
            if new and old.source(member) != new.source(kept):
                yield from _of_class(name, old, member, new, kept)
        elif kept is not None and _interface(member) != _interface(kept):
            yield name


def _no_longer_serves(old: Module, new: Module | None) -> bool:
    """Return whether a module lost the function that provided names on demand, as for deprecated ones."""
    return new is not None and "__getattr__" in old.members and "__getattr__" not in new.members


def _of_class(name: str, old: Module, was: Class, new: Module, now: Class) -> Iterator[str]:
    if was.bases != now.bases or _fields(was) != _fields(now):
        yield name
        yield CONSTRUCTOR
    for own, member in was.members.items():
        kept = now.members.get(own)
        if kept is None or _interface(member) != _interface(kept):
            yield own
    kept_attributes = {each.name for each in new.instance_attributes(now)}
    yield from (each.name for each in old.instance_attributes(was) if each.name not in kept_attributes)


def is_abstract(member: Function) -> bool:
    return any("abstractmethod" in each for each in member.decorators)


def _interface(member: Member) -> object:
    """Return what users of a definition depend on, to be compared."""
    match member:
        case Function():
            return (member.parameters, member.returns, member.decorators)
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
