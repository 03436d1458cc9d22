"""The comparison of a class before and after a commit: removed members and bases, newly required methods and fields."""

from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.narrowing import narrowed
from analysis.facts.whole_files.constructors import (
    constructor_facts,
    is_constructed,
    is_only_passed,
    is_required,
    post_init_facts,
)
from analysis.facts.whole_files.interfaces import is_configuration, is_setting
from analysis.facts.whole_files.module import Attribute, Class, Function, Import, Member
from analysis.facts.whole_files.renaming import successor
from analysis.facts.whole_files.repository import Found, Revision
from analysis.facts.whole_files.signatures import SPECIAL_METHODS, proven, signature_facts
from analysis.models import Fact, FactKind

_COMPARED = (*SPECIAL_METHODS, "__post_init__")  # of the special methods
_PLAIN_DECORATORS = frozenset(
    {"abstractmethod", "classmethod", "staticmethod", "override", "final", "cache", "lru_cache"}
)


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
        yield from constructor_facts(self.name, self.old, self.new)
        yield from self._removed_bases()

    def _member_facts(self) -> Iterator[Fact]:
        deleted = self.old.module.deleted_names(self.old.member)
        for own, member in self.old.member.members.items():
            if (own.startswith("__") and own not in _COMPARED) or own in deleted:
                continue
            kept = self.new.member.members.get(own)
            if kept is not None:
                yield from self._kept_member(member, kept, f"{self.name}.{own}")
            elif own not in _COMPARED and not self._is_provided(member, own):
                yield from self._removed_member(member, f"{self.name}.{own}")

    def _is_provided(self, member: Member, own: str) -> bool:
        """Return whether the class may still have a member; a field that people write only if a known base declares it."""
        if isinstance(member, Attribute) and member.field and is_setting(self.old):
            return any(above and own in above.member.members for above in self.after.bases(self.new))
        return self.after.provides(self.new, own)

    def _kept_member(self, member: Member, kept: Member, name: str) -> Iterator[Fact]:
        match member, kept:
            case Class(), Class():
                old_class, new_class = Found(self.old.module, member), Found(self.new.module, kept)
                yield from ClassComparison(self.before, self.after, old_class, new_class, name).facts()
            case Function(), Function():
                old, new = Found(self.old.module, member), Found(self.new.module, kept)
                special = member.name == "__post_init__"
                yield from post_init_facts(name, old, new) if special else signature_facts(name, old, new, method=True)
            case Attribute(field=True), Attribute(field=True) if is_setting(self.old):
                if narrowed(member.annotation, kept.annotation) and "Literal" not in member.annotation:
                    yield proven(FactKind.RETYPED, name, self.new, kept.line, kept.annotation, old=member.annotation)
            case (Function() as method, Attribute(computed=True)) | (Attribute(computed=True), Function() as method):
                # Another decorator may make a property of a method, too.
                if all(each.partition("(")[0].rpartition(".")[2] in _PLAIN_DECORATORS for each in method.decorators):
                    yield proven(FactKind.MEMBER_KIND, name, self.old, member.line)

    def _removed_member(self, member: Member, name: str) -> Iterator[Fact]:
        if isinstance(member, Function):
            other = successor(self.old, member, self.new)
            kind = FactKind.RENAMED_METHOD if other else FactKind.REMOVED_METHOD
            yield proven(kind, name, self.old, member.line, f"{self.name}.{other}" if other else None)
        elif isinstance(member, Attribute) and is_constructed(self.old.member) and is_only_passed(member):
            return  # no attribute: the constructor's parameter
        elif isinstance(member, Attribute) and member.field and is_setting(self.old):
            if not member.name.startswith("_"):
                yield self._removed_setting(member, name)
        elif not isinstance(member, Import) and not member.name.startswith("_"):
            yield proven(FactKind.REMOVED_ATTRIBUTE, name, self.old, member.line)

    def _removed_setting(self, member: Attribute, name: str) -> Fact:
        """Return what happened to a field that people write."""
        is_key = is_configuration(self.old.member)
        if other := successor(self.old, member, self.new):
            kind = FactKind.RENAMED_KEY if is_key else FactKind.RENAMED_FIELD
            return proven(kind, name, self.old, member.line, f"{self.name}.{other}")
        return proven(FactKind.REMOVED_KEY if is_key else FactKind.REMOVED_FIELD, name, self.old, member.line)

    def _removed_instance_attributes(self) -> Iterator[Fact]:
        before, after = (side.module.members_mentioned(side.member) for side in (self.old, self.new))
        for each in () if before <= after else self.old.module.instance_attributes(self.old.member):
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
        if not is_constructed(self.old.member) or not is_constructed(self.new.member):
            return
        for own, member in self.new.member.members.items():
            if not isinstance(member, Attribute) or not is_required(member):
                continue
            before = self.old.member.members.get(own)
            was_optional = isinstance(before, Attribute) and before.field and not is_required(before)
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
