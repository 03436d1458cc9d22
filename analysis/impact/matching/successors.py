"""Successors of definitions that a commit removes: their new names, or the modules that they moved to."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.facts.change import is_module, old_path
from analysis.facts.whole_files.module import Class, Function, Import
from analysis.facts.whole_files.renaming import successor
from analysis.facts.whole_files.repository import Found
from analysis.impact.matching.upstream import Place, Upstream
from analysis.models import Commit, Fact, FactKind
from analysis.models.impacts import Cause

_RENAMED = (FactKind.RENAMED_NAME, FactKind.RENAMED_METHOD, FactKind.RENAMED_KEY, FactKind.RENAMED_FIELD)


class Successor(NamedTuple):
    """The dotted name of what takes the place, and whether it moved or was renamed."""

    cause: Cause
    name: str


class Successors:
    """Looks for successors in what a commit's facts say, and in the other files that it changes."""

    def __init__(self, commit: Commit, facts: Sequence[Fact], before: Upstream, after: Upstream) -> None:
        self._commit = commit
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
        found = [] if place.owner else self._defining(place.member.name, place.module.path)
        return Successor(Cause.MOVED, found[0]) if len(found) == 1 else None

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
        """Return where git says that a module is by now; not of an empty one, which resembles any other."""
        was = self._before.revision.module(path)
        for file in self._commit.files if was and (was.members or was.stars) else ():
            if (
                file.status == "renamed"
                and old_path(file) == path
                and (module := self._after.revision.module(file.path))
            ):
                return Successor(Cause.MOVED, ".".join(self._after.dotted(module)))
        return None

    def _defining(self, name: str, path: str) -> list[str]:
        """Return where other files of the commit define a name that they did not have, as dotted names."""
        found = []
        for file in self._commit.files:
            if file.path == path or file.status == "removed" or not is_module(file):
                continue
            module = self._after.revision.module(file.path) if name in (file.patch or name) else None
            was = self._before.revision.module(old_path(file)) if module else None
            own = module is not None and not isinstance(module.members.get(name), Import | None)
            if module and own and not (was and name in was.members):
                found.append(".".join((*self._after.dotted(module), name)))
        return found
