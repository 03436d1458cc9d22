"""The comparison of a class before and after a commit: members and bases that go, methods and fields that it requires."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.whole_files.module import Attribute, Class, Function, Import, Member
from analysis.facts.whole_files.renaming import successor
from analysis.facts.whole_files.repository import Found, Revision
from analysis.facts.whole_files.signatures import SPECIAL_METHODS, proven, signature_facts
from analysis.models import Fact, FactKind

_CONSTRUCTED = re.compile(r"\b(?:dataclass|config)\b")
_RECORDS = ("NamedTuple", "BaseModel")


class ClassComparison(NamedTuple):
    """A class before and after, under its qualified name, with the revisions that its bases are looked up in."""

    before: Revision
    after: Revision
    old: Found[Class]
    new: Found[Class]
    name: str

    def facts(self) -> Iterator[Fact]:
        """Yield what the class lost and what it requires; nothing that it now inherits."""
        yield from self._member_facts()
        yield from self._removed_instance_attributes()
        yield from self._new_abstract_methods()
        yield from self._new_required_fields()
        yield from self._removed_bases()

    def _member_facts(self) -> Iterator[Fact]:
        deleted = self.old.module.deleted_names(self.old.member)
        for own, member in self.old.member.members.items():
            if (own.startswith("__") and own not in SPECIAL_METHODS) or own in deleted:
                continue
            kept, name = self.new.member.members.get(own), f"{self.name}.{own}"
            if isinstance(member, Class) and isinstance(kept, Class):
                old, new = Found(self.old.module, member), Found(self.new.module, kept)
                yield from ClassComparison(self.before, self.after, old, new, name).facts()
            elif isinstance(member, Function) and isinstance(kept, Function):
                old_method, new_method = Found(self.old.module, member), Found(self.new.module, kept)
                yield from signature_facts(name, old_method, new_method, method=True)
            elif kept is None and own not in SPECIAL_METHODS and not self.after.provides(self.new, own):
                yield from self._removed_member(member, name)

    def _removed_member(self, member: Member, name: str) -> Iterator[Fact]:
        if isinstance(member, Function):
            other = successor(self.old, member, self.new)
            kind = FactKind.RENAMED_METHOD if other else FactKind.REMOVED_METHOD
            yield proven(kind, name, self.old, member.line, f"{self.name}.{other}" if other else None)
        elif not isinstance(member, Import) and not member.name.startswith("_"):
            yield proven(FactKind.REMOVED_ATTRIBUTE, name, self.old, member.line)

    def _removed_instance_attributes(self) -> Iterator[Fact]:
        for each in self.old.module.instance_attributes(self.old.member):
            known = each.name in self.old.member.members or each.name.startswith("_")
            if not known and not self.after.provides(self.new, each.name):
                yield proven(FactKind.REMOVED_ATTRIBUTE, f"{self.name}.{each.name}", self.old, each.line)

    def _new_abstract_methods(self) -> Iterator[Fact]:
        """Yield abstract methods that the class did not have, which its subclasses must now define."""
        for own, member in self.new.member.members.items():
            if isinstance(member, Function) and _is_abstract(member):
                before = self.old.member.members.get(own)
                was_own = isinstance(before, Function) and _is_abstract(before)
                if not was_own and not self._inherited_before(own):
                    yield proven(FactKind.REQUIRED_METHOD, f"{self.name}.{own}", self.new, member.line)

    def _new_required_fields(self) -> Iterator[Fact]:
        """Yield fields of a dataclass, named tuple or model that its constructor must now be given."""
        if not _is_constructed(self.old.member) or not _is_constructed(self.new.member):
            return
        for own, member in self.new.member.members.items():
            if not isinstance(member, Attribute) or not _is_required_field(member):
                continue
            before = self.old.member.members.get(own)
            was_optional = isinstance(before, Attribute) and before.field and not before.required
            if was_optional or (before is None and not self._inherited_before(own)):
                yield proven(FactKind.REQUIRED_PARAMETER, f"{self.name}.__init__({own})", self.new, member.line)

    def _inherited_before(self, own: str) -> bool:
        return any(above is None or own in above.member.members for above in self.before.bases(self.old))

    def _removed_bases(self) -> Iterator[Fact]:
        """Yield bases in the repository that still exist and from which the class no longer derives."""
        names = {base.name for base in self.new.member.bases}
        left = [base for base in self.old.member.bases if base.name not in names]
        above = list(self.after.bases(self.new)) if left else []
        names = {each.member.name for each in above if each}
        for base in left:
            found = self.before.base(base.target, self.old.module)
            if base.name in names or None in above or found is None:
                continue
            if self.after.resolve(f"{found.module.dotted}.{base.name}", found.module.path):
                line = self.old.module.line_of(base.name, self.old.member)
                yield proven(FactKind.REMOVED_BASE, f"{self.name}({base.name})", self.old, line)


def _is_abstract(member: Function) -> bool:
    return any("abstractmethod" in each for each in member.decorators)


def _is_constructed(member: Class) -> bool:
    """Return whether a class's fields are its constructor's parameters."""
    decorated = any(map(_CONSTRUCTED.search, member.decorators))
    return "__init__" not in member.members and (decorated or any(each.name in _RECORDS for each in member.bases))


def _is_required_field(each: Attribute) -> bool:
    return each.field and each.required and not each.name.startswith("_") and "ClassVar" not in each.annotation
