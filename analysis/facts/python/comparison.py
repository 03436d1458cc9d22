"""Comparison of a commit's modules before and after it: removed and moved names, changed definitions, moved modules."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.diff import changed_lines
from analysis.facts.change import SIDES, Change, is_module, is_public, is_shared, old_path
from analysis.facts.python.classes import ClassComparison
from analysis.facts.python.module import Attribute, Class, Function, Import, Member, Module, module_path
from analysis.facts.python.renaming import successor
from analysis.facts.python.revision import Found, Revision
from analysis.facts.python.signatures import proven, signature_facts
from analysis.facts.python.uses import Uses, is_internal, with_overrides, without_lone_additions
from analysis.models import Fact, FactKind, FileChange

_CODE = re.compile(r"^[ \t]*([^\s#].*)", re.MULTILINE)
_FIELDS = (FactKind.REMOVED_KEY, FactKind.REMOVED_FIELD)
_MAX_FACTS = 300  # of one commit: a whole subsystem that goes
_CONSTANT = re.compile(r"_?[A-Z]\w{2,}$")
_PLACEHOLDERS = ("None", "Any", "object")  # for what is not installed, or is there for type checkers only
_REGISTERING = re.compile(r"\bregister_(?:fake|kernel|abstract|autograd|vmap)\b|\bimpl_abstract\b")  # of an operator
_REGISTRATION = re.compile(r"register\w*\((?:[^()]|\([^()]*\))*\)")
_TYPE_PARAMETER = re.compile(r"\b(?:TypeVar|ParamSpec|\w*[Ll]ogger)\b")


class FileComparison(NamedTuple):
    """A changed file, its module before, and its module after: None if the commit removed it."""

    change: Change
    file: FileChange
    before: Revision
    after: Revision
    old: Module
    new: Module | None

    def facts(self, uses: Uses) -> Iterator[Fact]:
        """Yield what the file's module no longer offers or newly requires; nothing if another file is imported in its place."""
        if self.new is None and self._is_replaced_by_file():
            return
        deleted = self.old.deleted_names()
        for name, member in self.old.members.items():
            private = name.startswith("_") and not uses.imported_elsewhere(name, self.file)
            if private or name.startswith(("__", "test")) or name in deleted:
                continue
            if self.new and not isinstance(member, Import) and name in self.new.members:
                yield from self._definition_facts(member, self.new, name)
            elif self.new and self.after.binds(self.new, name):
                continue
            elif self._is_exported(name, member) and not self._is_only_registered(member, uses):
                yield from self._removed_facts(name, member)

    def _removed_facts(self, name: str, member: Member) -> Iterator[Fact]:
        """Yield what became of a name that is gone, and what changed in its definition if that is elsewhere by now."""
        fact = self._removed_name(name, member)
        yield fact
        if fact.kind is FactKind.RENAMED_NAME and self.new and fact.new:
            yield from self._definition_facts(member, self.new, fact.new)
        elif fact.kind is FactKind.MOVED_NAME and (module := self.after.module((fact.new or "").rpartition(":")[0])):
            yield from self._definition_facts(member, module, name)

    def _definition_facts(self, member: Member, new: Module, name: str) -> Iterator[Fact]:
        """Yield what changed in a definition, also if its module imports it from elsewhere by now."""
        kept = new.members[name]
        found = self.after.resolve(kept.target, new.path) if isinstance(kept, Import) else Found(new, kept)
        match member, found:
            case Function(), Found(module, Function() as now):
                yield from signature_facts(name, Found(self.old, member), Found(module, now), method=False)
            case Class(), Found(module, Class() as now) if self.old.source(member) != module.source(
                now
            ) and not self._is_replaced(member, module, now):
                old_class, new_class = Found(self.old, member), Found(module, now)
                yield from ClassComparison(self.before, self.after, old_class, new_class, name).facts()

    def _is_replaced_by_file(self) -> bool:
        imported_as = module_path(old_path(self.file))
        left = (each for each in self.change.commit.files if each is not self.file and each.status != "removed")
        return any(module_path(each.path) == imported_as for each in left)

    def _is_replaced(self, member: Class, module: Module, now: Class) -> bool:
        """Return whether another class took the name: one of a new file, with less than half of the members."""
        if module.path == self.file.path or self.before.text(module.path) is not None:
            return False
        return 2 * len(member.members.keys() & now.members.keys()) < len(member.members)

    def _is_exported(self, name: str, member: Member) -> bool:
        """Return whether others may import a name: a definition, a constant, or what a package re-exports."""
        match member:
            case Import():
                return self._is_re_exported(name, member)
            case Attribute():
                placeholder = member.value in _PLACEHOLDERS or _TYPE_PARAMETER.search(member.value)
                return bool(_CONSTANT.match(name)) and not placeholder
        return True

    def _is_only_registered(self, member: Member, uses: Uses) -> bool:
        """Return whether its module has a function only to register it, such as an operator's fake implementation.

        One that is registered under its own name can be called by that.
        """
        used = (uses.imported_elsewhere, uses.used_beyond_folder)
        if not isinstance(member, Function) or any(is_used(member.name, self.file) for is_used in used):
            return False
        if any(map(_REGISTERING.search, member.decorators)):
            return True
        word = re.compile(rf"\b{re.escape(member.name)}\b")
        beside = "\n".join([*self.old.lines[: member.start - 1], *self.old.lines[member.end :]])
        named = f'"{member.name}"' in beside
        return bool(word.search(beside)) and not named and not word.search(_REGISTRATION.sub("", beside))

    def _is_re_exported(self, name: str, member: Import) -> bool:
        """Return whether a package offers what it imports: from its own modules, or by listing it in `__all__`."""
        if member.typing_only or not self.old.path.endswith("/__init__.py"):
            return False
        folder = self.file.path.removesuffix("__init__.py")
        own = member.target.startswith(f"{self.old.dotted}.") or f'"{name}"' in self.old.text
        now_module = any(self.after.text(f"{folder}{name}{end}") is not None for end in (".py", "/__init__.py"))
        return own and not now_module and self.before.resolve(member.target, self.old.path) is not None

    def _removed_name(self, name: str, member: Member) -> Fact:
        line = self.old.line_of(name, member) if isinstance(member, Import) else member.line
        fact = proven(FactKind.REMOVED_NAME, name, Found(self.old, member), line)
        if (moved := _if_moved(self.change, self.file, fact)).new:
            return moved
        if self.new and not isinstance(member, Import) and (other := successor(self.old, member, self.new)):
            return fact.model_copy(update={"kind": FactKind.RENAMED_NAME, "new": other})
        return fact


def compared(change: Change) -> list[Fact]:
    """Return what the commit's public Python files no longer offer or newly require; at most so many facts."""
    uses = Uses(change)
    found: list[tuple[FileChange, Fact]] = []
    for file in change.commit.files:
        is_compared = file.status != "added" and file.size and (is_module(file) or is_shared(file))
        sides = change.sides(file) if is_compared else None
        if sides and (modules := modules_of(file, *sides)):
            for fact in FileComparison(change, file, *sides, *modules).facts(uses):
                each = _if_moved(change, file, fact)
                internal = each.breaking and each.kind not in _FIELDS and is_internal(each, file, modules[0], uses)
                internal = internal or (
                    not is_module(file) and not uses.used_beyond_folder(_last(each).partition("(")[0], file)
                )
                if not internal and (not modules[0].partial or _is_shown(change, file, each)):
                    found.append((file, each))
    return with_overrides(without_lone_additions(found, uses))[:_MAX_FACTS]


def _if_moved(change: Change, file: FileChange, fact: Fact) -> Fact:
    """Return a fact about a name that the commit defines elsewhere as a move, and of a field that it adds as an attribute's."""
    if fact.kind in _FIELDS and change.adds(_last(fact)):
        return fact.model_copy(update={"kind": FactKind.REMOVED_ATTRIBUTE})
    if fact.kind is FactKind.REMOVED_NAME and (place := new_location(change, file, _last(fact))):
        return fact.model_copy(update={"kind": FactKind.MOVED_NAME, "old": fact.place, "new": place})
    return fact


def _last(fact: Fact) -> str:
    return fact.name.rpartition(".")[2]


def _is_shown(change: Change, file: FileChange, fact: Fact) -> bool:
    """Return whether a patch shows a definition that goes, and no line that brings it back, or one that comes."""
    removed, added = ({line.number for line in changed_lines(file, side)} for side in SIDES)
    if fact.kind is FactKind.REQUIRED_METHOD:
        moved = re.search(rf"^-\s+(?:async )?def {_last(fact)}\b", file.patch or "", re.MULTILINE)
        return fact.line in added and not moved
    if "(" in fact.name:
        return True  # both signatures are shown
    is_package = file.path.endswith("__init__.py")
    folder = file.path.removesuffix("__init__.py")
    if fact.kind is FactKind.MOVED_NAME and is_package and (fact.new or "").startswith(folder):
        return False  # a package may take all names of its modules without a line that says so
    may_remain = "." in fact.name and fact.new is None and change.adds(_last(fact))
    return fact.line in removed and not may_remain and not change.removes_only_duplicates


def modules_of(file: FileChange, before: Revision, after: Revision) -> tuple[Module, Module | None] | None:
    """Return a file's module before and after; None if a side that exists cannot be parsed.

    A module that is removed or moved is followed by the package of its name, and a removed package by the module.
    """
    path = old_path(file)
    old = before.module(path)
    if old is None:
        return None
    package = _package(path)
    if file.status != "removed" and not (file.path != path and after.text(package)):
        new = after.module(file.path)
        return (old, new) if new else None
    other = f"{path.removesuffix('/__init__.py')}.py" if path.endswith("/__init__.py") else package
    new = after.module(other)
    return None if new is None and after.text(other) is not None else (old, new)


def _package(path: str) -> str:
    """Return the file of the package that would be imported by a module's name."""
    return f"{path.removesuffix('.py')}/__init__.py"


def moved_modules(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the fact that a Python module's import path changed."""
    old = old_path(file)
    is_named = old.endswith(".py") and not old.endswith("/__init__.py")  # for empty files the renaming is a guess
    if file.status != "renamed" or not is_named or module_path(file.path) == module_path(old) or not is_public(file):
        return
    if change.read_after(_package(old)):  # is imported by the old path
        return
    texts = change.read_before(old), change.read_after(file.path)
    before, after = (frozenset(_CODE.findall(each or "")) for each in texts)
    if None not in texts and 2 * len(before & after) < max(len(before), 1):
        return  # of a short file git may have compared the comments
    if not any(each.path == old and each.status != "removed" for each in change.commit.files):
        yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def new_location(change: Change, file: FileChange, name: str) -> str | None:
    """Return the place ("path:line") of the only other module in which the commit defines `name`, else None.

    That is the file's own if it moved into a package of its module's name, which may not offer all of its names.
    """
    places = []
    if file.path.startswith(f"{old_path(file).removesuffix('.py')}/") and (sides := change.sides(file)):
        moved = sides.after.module(file.path)
        own = moved.members.get(name) if moved else None
        places = [f"{file.path}:{own.line}"] if own and not isinstance(own, Import) else []
    for other in change.modules_by_added_name.get(name, ()):
        sides = change.sides(other) if other is not file else None
        module = sides.after.module(other.path) if sides else None
        member = module.members.get(name) if module else None
        defined = member.line if member and not isinstance(member, Import) else None
        places += [f"{other.path}:{line.new}" for line in changed_lines(other, "+") if line.new == defined]
    return places[0] if len(places) == 1 else None
