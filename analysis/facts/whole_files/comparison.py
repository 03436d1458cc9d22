"""What a file's module no longer offers after a commit: names, members, bases and signatures, each with its line."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analysis.facts.change import Change, old_path
from analysis.facts.modules import new_location
from analysis.facts.whole_files.module import Attribute, Class, Function, Import, Member, Module
from analysis.facts.whole_files.repository import Found, Revision
from analysis.facts.whole_files.signatures import added_parameters, parameter_changes
from analysis.facts.whole_files.uses import Uses
from analysis.models import Fact, FactKind, FileChange, Proof

_CONSTANT = re.compile(r"[A-Z]\w{2,}$")
_TYPE_PARAMETER = re.compile(r"\b(?:TypeVar|ParamSpec|getLogger|init_logger)\b")
_MIN_SIMILARITY = 0.7  # of the lines of two bodies: above it, one is the other under a new name
_SPECIAL = ("__init__", "__call__", "__new__")
_CONSTRUCTED = re.compile(r"\b(?:dataclass|dataclasses\.dataclass|pydantic\.dataclasses\.dataclass|config)\b")
_ENUM = re.compile(r"(?:Enum|Flag)$")


class FileComparison(NamedTuple):
    """A changed file, with the revisions before and after that its definitions are looked up in."""

    change: Change
    file: FileChange
    before: Revision
    after: Revision
    uses: Uses

    @property
    def readable(self) -> bool:
        """Whether both sides can be read and parsed; a removed file has only one."""
        removed = self.file.status == "removed"
        return bool(self.before.module(old_path(self.file)) and (removed or self.after.module(self.file.path)))

    def facts(self) -> Iterator[Fact]:
        """Yield what the file's module no longer offers or newly requires, if it is readable."""
        old = self.before.module(old_path(self.file))
        new = self.after.module(self.file.path) if self.file.status != "removed" else self._successor()
        if old is None:
            return
        for name, member in old.members.items():
            private = name.startswith("_") and not self.uses.imported_elsewhere(name, self.file)
            if not private and not name.startswith(("__", "test")):
                yield from self._name_facts(old, new, name, member)

    def _successor(self) -> Module | None:
        """Return the package that replaced a removed module, or the module that replaced a package."""
        path = old_path(self.file)
        other = (
            f"{path.removesuffix('/__init__.py')}.py" if path.endswith("/__init__.py") else f"{path[:-3]}/__init__.py"
        )
        return self.after.module(other)

    def _name_facts(self, old: Module, new: Module | None, name: str, member: Member) -> Iterator[Fact]:
        kept = new.members.get(name) if new else None
        if kept and new and not isinstance(member, Import):
            found: Found | None = Found(new, kept)
            if isinstance(kept, Import):
                found = self.after.resolve(kept.target, new.path)
            if found:
                yield from self._member_facts(old, member, found, name)
        elif not (new and self.after.binds(new, name)) and self._is_exported(old, name, member):
            yield self._removed_name(old, new, name, member)

    def _is_exported(self, old: Module, name: str, member: Member) -> bool:
        match member:
            case Import():
                if not old.path.endswith("/__init__.py"):
                    return False
                folder = self.file.path.removesuffix("__init__.py")
                is_ours = self.before.resolve(member.target, old.path)
                return bool(is_ours) and not (
                    self.after.module(f"{folder}{name}.py") or self.after.module(f"{folder}{name}/__init__.py")
                )
            case Attribute():
                return bool(_CONSTANT.match(name.removeprefix("_"))) and not _TYPE_PARAMETER.search(member.value)
        return True

    def _removed_name(self, old: Module, new: Module | None, name: str, member: Member) -> Fact:
        line = member.line
        if isinstance(member, Import):
            line = next(
                (number for number, text in enumerate(old.lines[line - 1 :], line) if re.search(rf"\b{name}\b", text)),
                line,
            )
        fact = self._fact(FactKind.REMOVED_NAME, name, old.path, line)
        if place := new_location(self.change, self.file, name):
            return fact.model_copy(update={"kind": FactKind.MOVED_NAME, "old": fact.place, "new": place})
        if (
            new
            and isinstance(member, Function | Class)
            and (other := renamed_to(old, old.members, member, new, new.members))
        ):
            return fact.model_copy(update={"kind": FactKind.RENAMED_NAME, "new": other})
        return fact

    def _member_facts(self, old: Module, member: Member, found: Found, name: str) -> Iterator[Fact]:
        module, kept = found
        if isinstance(member, Function) and isinstance(kept, Function):
            yield from self._signature_facts(old, member, found, name, method=False)
        elif (
            isinstance(member, Class) and isinstance(kept, Class) and old.source(member) != module.source(kept)
        ):  # most classes of a file are untouched
            yield from self._class_facts(old, member, found, name)

    def _signature_facts(self, old: Module, was: Function, found: Found, name: str, *, method: bool) -> Iterator[Fact]:
        module, now = found
        if not isinstance(now, Function):
            return
        for each in parameter_changes(was, now, method=method):
            path, line = (
                (old.path, old.line_of(each.name, was))
                if each.on_old_side
                else (module.path, module.line_of(each.name, now))
            )
            yield self._fact(each.kind, f"{name}({each.name})", path, line, each.new)
        if method:
            for added in added_parameters(was, now, method=True):
                if (
                    was.name not in _SPECIAL
                    and not next(each for each in now.parameters if each.name == added).required
                ):
                    yield self._fact(
                        FactKind.ADDED_PARAMETER, f"{name}({added})", module.path, module.line_of(added, now)
                    )

    def _class_facts(self, old: Module, was: Class, found: Found, name: str) -> Iterator[Fact]:
        module, now = found
        if not isinstance(now, Class):
            return
        for own, member in was.members.items():
            if own.startswith("__") and own not in _SPECIAL:
                continue
            kept = now.members.get(own)
            if isinstance(member, Class) and isinstance(kept, Class):
                yield from self._class_facts(old, member, Found(module, kept), f"{name}.{own}")
            elif isinstance(member, Function) and isinstance(kept, Function):
                yield from self._signature_facts(old, member, Found(module, kept), f"{name}.{own}", method=True)
            elif kept is None and own not in _SPECIAL and not self.after.provides(found, own):
                yield from self._removed_member(old, was, member, found, f"{name}.{own}")
        for each in old.instance_attributes(was):
            if (
                each.name not in was.members
                and not each.name.startswith("_")
                and not self.after.provides(found, each.name)
            ):
                yield self._fact(FactKind.REMOVED_ATTRIBUTE, f"{name}.{each.name}", old.path, each.line)
        yield from self._required_members(old, was, found, name)
        yield from self._removed_bases(old, was, found, name)

    def _removed_member(self, old: Module, was: Class, member: Member, found: Found, name: str) -> Iterator[Fact]:
        module, now = found
        if not isinstance(now, Class):
            return
        if isinstance(member, Function):
            other = renamed_to(old, was.members, member, module, now.members)
            kind = FactKind.RENAMED_METHOD if other else FactKind.REMOVED_METHOD
            yield self._fact(kind, name, old.path, member.line, f"{name.rpartition('.')[0]}.{other}" if other else None)
        elif isinstance(member, Attribute | Class) and not member.name.startswith("_"):
            yield self._fact(FactKind.REMOVED_ATTRIBUTE, name, old.path, member.line)

    def _required_members(self, old: Module, was: Class, found: Found, name: str) -> Iterator[Fact]:
        """Yield abstract methods that subclasses must now define, and fields that constructors must now be given."""
        module, now = found
        if not isinstance(now, Class):
            return
        for own, member in now.members.items():
            if isinstance(member, Function) and _is_abstract(member):
                before = was.members.get(own)
                if not (isinstance(before, Function) and _is_abstract(before)) and not self._was_abstract(
                    old, was, own
                ):
                    yield self._fact(FactKind.REQUIRED_METHOD, f"{name}.{own}", module.path, member.line)
        if is_constructed(was) and is_constructed(now):
            for own, member in now.members.items():
                if (
                    isinstance(member, Attribute)
                    and member.field
                    and member.required
                    and not own.startswith("_")
                    and "ClassVar" not in member.annotation
                ):
                    before = was.members.get(own)
                    if (before is None and not self._inherits(self.before, Found(old, was), own)) or (
                        isinstance(before, Attribute) and before.field and not before.required
                    ):
                        yield self._fact(
                            FactKind.REQUIRED_PARAMETER, f"{name}.__init__({own})", module.path, member.line
                        )

    def _was_abstract(self, old: Module, was: Class, own: str) -> bool:
        """Return whether a class may have inherited an abstract method of this name."""
        for base in was.bases:
            above = self.before.base(base.target, old)
            if above and (own in above.member.members or self._was_abstract(above.module, above.member, own)):  # type: ignore[union-attr,arg-type]
                return True
        return False

    def _inherits(self, revision: Revision, owner: Found, own: str) -> bool:
        module, found = owner
        return isinstance(found, Class) and any(
            (above := revision.base(base.target, module)) and revision.provides(above, own) for base in found.bases
        )

    def _removed_bases(self, old: Module, was: Class, found: Found, name: str) -> Iterator[Fact]:
        now = found.member
        if not isinstance(now, Class):
            return
        after = {each.name for each in now.bases}
        for base in was.bases:
            if base.name in after:
                continue
            above = self.before.base(base.target, old)
            if above is None:
                continue
            if not self._derives(found, base.name) and self.after.resolve(
                f"{_dotted(above.module.path)}.{base.name}", above.module.path
            ):
                yield self._fact(FactKind.REMOVED_BASE, f"{name}({base.name})", old.path, old.line_of(base.name, was))

    def _derives(self, found: Found, name: str, hops: int = 8) -> bool:
        """Return whether a class may derive from one of this name; only False is certain."""
        module, now = found
        if not isinstance(now, Class) or not hops:
            return True
        for base in now.bases:
            if base.name == name:
                return True
            above = self.after.base(base.target, module)
            if above and self._derives(above, name, hops - 1):
                return True
        return False

    def _fact(self, kind: FactKind, name: str, path: str, line: int, new: str | None = None) -> Fact:
        return Fact(kind=kind, name=name, path=path, line=line, new=new, proof=Proof.FILES)


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_abstract(member: Function) -> bool:
    return any("abstractmethod" in each for each in member.decorators)


def is_constructed(member: Class) -> bool:
    """Return whether a class's fields are its constructor's parameters."""
    return "__init__" not in member.members and (
        any(map(_CONSTRUCTED.search, member.decorators))
        or any(each.name in ("NamedTuple", "BaseModel") for each in member.bases)
    )


def renamed_to(
    old: Module,
    before: Mapping[str, Member],
    member: Function | Class,
    new: Module,
    after: Mapping[str, Member],
) -> str | None:
    """Return the only new definition of the same kind whose body is nearly the removed one's."""
    body = _body(old, member)
    alike = [
        name
        for name, each in after.items()
        if name not in before
        and type(each) is type(member)
        and isinstance(each, Function | Class)
        and name.startswith("_") == member.name.startswith("_")
        and _similarity(body, _body(new, each)) >= _MIN_SIMILARITY
    ]
    return alike[0] if len(alike) == 1 else None


def _body(module: Module, member: Function | Class) -> frozenset[str]:
    return frozenset(line.strip() for line in module.lines[member.line : member.end] if line.strip())


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)
