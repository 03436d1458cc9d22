"""Comparison of a class before and after a commit: members, bases and constructors, newly required methods and fields."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.python.module import PROTOCOL, Attribute, Class, Function, Import, Member, Parameter, ParameterKind
from analysis.facts.python.parsing import MAX_VALUE
from analysis.facts.python.renaming import successor
from analysis.facts.python.revision import Found, Revision
from analysis.facts.python.signatures import (
    SPECIAL_METHODS,
    alternatives,
    is_plain,
    narrowed,
    parameter_changes,
    proven,
    signature_facts,
)
from analysis.models import Fact, FactKind

# A member of a class that others derive from, as its name says.
BASE_CLASS = re.compile(r"(?:Base|Abstract)[A-Z]\w*\.|\w+(?:Base|Interface|Mixin|Protocol)\.")
BASE_FILE = re.compile(r"(^|/|_)(base|abstract|abc|interfaces?|registry)(_\w+)?\.\w+$")
_CONFIG_CLASS = re.compile(r"(?:Config|Configuration|Settings|Args|Arguments|Options|Params)$")
_CONFIG_DECORATOR = re.compile(r"(?:\w+\.)?config\b")
_API_CLASS = re.compile(r"(?:Request|Response|Choice|Delta|Payload)$|(?:Request|Response)(?=[A-Z])")
_MODEL = re.compile(r"(?:\w*BaseModel|Schema|Struct)$")
_API_PATH = re.compile(
    r"(^|/)(api|apis|entrypoints|openai|server|serving|routers?|routes|schemas?|protocol)(/|\.py$|_)"
)


def is_configuration(owner: Class) -> bool:
    """Return whether a class's fields are configuration."""
    return bool(_CONFIG_CLASS.search(owner.name) or any(map(_CONFIG_DECORATOR.match, owner.decorators)))


def is_api(owner: Found[Class]) -> bool:
    """Return whether a class describes requests or responses, as its module and its name or bases say."""
    if not _API_PATH.search(owner.module.path) or _HELPER.search(owner.member.name):
        return False
    models = any(_MODEL.match(each.name) for each in owner.member.bases)
    return bool(_API_CLASS.search(owner.member.name)) or (models and not is_configuration(owner.member))


def is_setting(owner: Found[Class]) -> bool:
    """Return whether people write the fields of a class."""
    return is_configuration(owner.member) or is_api(owner)


_CONSTRUCTED = re.compile(r"\b(?:dataclass|config)\b")
_RECORDS = ("NamedTuple", "BaseModel")
_NAMED_ONLY = re.compile(r"\bkw_only=True\b")
_SENT = re.compile(r"Request(?:Mixin)?$")  # a class whose fields clients send
_HELPER = re.compile(r"(?<!Request)(?:Mixin|Context)$")  # what a server handles requests with
_SERIALISED = re.compile(
    r"^(?:\w+\.)*(?:field|Field)\(.*?\b(?:(?:serialization_|validation_)?alias|name)='(?P<name>[^']+)'"
)
_BY_NAME = re.compile(r"\b(?:populate|validate)_by_name\b")  # what says that an alias is not the only name
_NOT_PASSED = re.compile(r"^(?:\w+\.)*(?:field|Field)\(.*\binit=False\b")
_DESCRIBED = re.compile(r"^(?:\w+\.)*(?:field|Field)\((?P<arguments>.*)\)$")
_DEFAULT = re.compile(r"\b(?:default=(?!\.\.\.)|(?:default_)?factory=)")
_NAMED = re.compile(r"\w+=|\.\.\.|$")
_POSITIONAL = (FactKind.MOVED_PARAMETER, FactKind.PARAMETER_KIND)


def is_constructed(member: Class) -> bool:
    """Return whether a class's fields are its constructor's parameters."""
    decorated = any(map(_CONSTRUCTED.search, member.decorators))
    return "__init__" not in member.members and (decorated or any(each.name in _RECORDS for each in member.bases))


def is_required(each: Attribute) -> bool:
    """Return whether a constructor must be given a field."""
    return is_passed(each) and not _has_default(each) and not each.name.startswith("_")


def is_passed(each: Attribute) -> bool:
    """Return whether a constructor takes a field, as far as the field tells."""
    return each.field and "ClassVar" not in each.annotation and not _NOT_PASSED.match(each.value)


def is_only_passed(each: Attribute) -> bool:
    """Return whether a field is a parameter that `__post_init__` gets, and no attribute."""
    return each.field and "InitVar" in each.annotation


def constructor_facts(name: str, old: Found[Class], new: Found[Class]) -> Iterator[Fact]:
    """Yield fields that stay and that the constructor no longer takes, or takes at another place."""
    if not is_constructed(old.member) or not is_constructed(new.member):
        return
    for own, member in old.member.members.items():
        kept = new.member.members.get(own)
        if isinstance(member, Attribute) and is_passed(member) and not own.startswith("_"):
            left_out = isinstance(kept, Attribute) and (kept.field or kept.computed) and not is_passed(kept)
            if left_out or (kept is None and is_only_passed(member)):
                yield proven(FactKind.REMOVED_PARAMETER, f"{name}.__init__({own})", old, member.line)
    if [each.name for each in old.member.bases] != [each.name for each in new.member.bases]:
        return
    for each in parameter_changes(_constructor(old.member), _constructor(new.member), method=False):
        now = new.member.members.get(each.name)
        if each.kind in _POSITIONAL and isinstance(now, Attribute) and is_required(now):
            yield proven(each.kind, f"{name}.__init__({each.name})", new, now.line)


def post_init_facts(name: str, old: Found[Function], new: Found[Function]) -> Iterator[Fact]:
    """Yield the parameters that `__post_init__` gets or gets no more, which overrides of it must follow."""
    for each in parameter_changes(old.member, new.member, method=True):
        side, kind = (old, each.kind) if each.on_old_side else (new, FactKind.ADDED_PARAMETER)
        if each.kind in (FactKind.REMOVED_PARAMETER, FactKind.RENAMED_PARAMETER, FactKind.REQUIRED_PARAMETER):
            yield proven(kind, f"{name}({each.name})", side, side.module.line_of(each.name, side.member), each.new)


def _constructor(owner: Class) -> Function:
    return Function("__init__", owner.line, owner.start, owner.end, tuple(_parameters(owner)), ())


def _parameters(owner: Class) -> Iterator[Parameter]:
    named_only = any(map(_NAMED_ONLY.search, owner.decorators)) or any(each.name == "BaseModel" for each in owner.bases)
    for each in owner.members.values():
        if not isinstance(each, Attribute):
            continue
        if each.annotation.endswith("KW_ONLY"):
            named_only = True
        elif is_passed(each):
            only = named_only or _NAMED_ONLY.search(each.value)
            kind = ParameterKind.KEYWORD_ONLY if only else ParameterKind.POSITIONAL_OR_KEYWORD
            yield Parameter(each.name, kind, not _has_default(each), each.annotation)


def _has_default(each: Attribute) -> bool:
    """Return whether a field has a value: not if the call that describes it names none, or is `Field(...)`."""
    described = _DESCRIBED.match(each.value)
    if each.required or described is None:
        return not each.required
    arguments = described["arguments"]
    return bool(_DEFAULT.search(arguments)) or "**" in arguments or not _NAMED.match(arguments)


_COMPARED = (*SPECIAL_METHODS, "__post_init__")  # of the special methods


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
        yield from self._new_methods()
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
            case Attribute(field=True), Attribute(field=True):
                if is_only_passed(kept) and not is_only_passed(member) and not member.name.startswith("_"):
                    yield proven(FactKind.REMOVED_ATTRIBUTE, name, self.new, kept.line)
                elif is_setting(self.old):
                    yield from self._kept_setting(member, kept, name)
            case (Function() as method, Attribute() as read) | (Attribute() as read, Function() as method):
                # Another decorator may make a property of a method, too.
                if is_plain(method) and (read.computed or read.field):
                    how = "property" if read.computed else "attribute"
                    was, now = ("method", how) if isinstance(member, Function) else (how, "method")
                    yield proven(FactKind.MEMBER_KIND, name, self.old, member.line, now, old=was)

    def _kept_setting(self, member: Attribute, kept: Attribute, name: str) -> Iterator[Fact]:
        """Yield that a field accepts less, or is written by another name; what only a type checker wants is no change."""
        without_none = alternatives(member.annotation) - alternatives(kept.annotation) == {"None"}
        is_same = without_none and member.value == kept.value
        if narrowed(member.annotation, kept.annotation) and "Literal" not in member.annotation and not is_same:
            yield proven(FactKind.RETYPED, name, self.new, kept.line, kept.annotation, old=member.annotation)
        if max(len(member.value), len(kept.value)) >= MAX_VALUE:
            return
        modules = [self.new.module, *(above.module for above in self.after.bases(self.new) if above)]
        was, now = (_SERIALISED.match(each.value) for each in (member, kept))
        written, other = was["name"] if was else member.name, now["name"] if now else kept.name
        if written != other and not any(_BY_NAME.search(module.text) for module in modules):
            kind = FactKind.RENAMED_KEY if is_configuration(self.old.member) else FactKind.RENAMED_FIELD
            yield proven(kind, f"{self.name}.{written}", self.old, member.line, f"{self.name}.{other}")

    def _removed_member(self, member: Member, name: str) -> Iterator[Fact]:
        if isinstance(member, Function):
            other = successor(self.old, member, self.new)
            kind = FactKind.RENAMED_METHOD if other else FactKind.REMOVED_METHOD
            yield proven(kind, name, self.old, member.line, f"{self.name}.{other}" if other else None)
        elif isinstance(member, Attribute) and is_constructed(self.old.member) and is_only_passed(member):
            return  # no attribute: the constructor's parameter
        elif isinstance(member, Attribute) and is_passed(member) and is_setting(self.old):
            if not member.name.startswith("_"):
                yield self._removed_setting(member, name)
        elif not isinstance(member, Import) and not member.name.startswith("_"):
            kind = FactKind.REMOVED_NAME if isinstance(member, Class) else FactKind.REMOVED_ATTRIBUTE
            yield proven(kind, name, self.old, member.line)

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

    def _new_methods(self) -> Iterator[Fact]:
        """Yield abstract methods that the class did not have, which its subclasses must now define, and others that they may."""
        bases = {each.name for each in self.new.member.bases}
        is_base = (
            BASE_CLASS.match(f"{self.name}.") or BASE_FILE.search(self.new.module.path) or bases & {"ABC", PROTOCOL}
        )
        for own, member in self.new.member.members.items():
            if not isinstance(member, Function):
                continue
            before, abstract = self.old.member.members.get(own), member.abstract
            was_own = isinstance(before, Function) and (before.abstract or not abstract)
            if (
                not was_own
                and not self._inherited_before(own)
                and (abstract or (is_base and before is None and own[0] != "_"))
            ):
                kind = FactKind.REQUIRED_METHOD if abstract else FactKind.NEW_METHOD
                yield proven(kind, f"{self.name}.{own}", self.new, member.line)

    def _new_required_fields(self) -> Iterator[Fact]:
        """Yield fields that the constructor of a dataclass, named tuple or model must now be given, or a request have."""
        sent = is_api(self.old) and _SENT.search(self.old.member.name) is not None
        if not sent and not (is_constructed(self.old.member) and is_constructed(self.new.member)):
            return
        for own, member in self.new.member.members.items():
            if not isinstance(member, Attribute) or not is_required(member):
                continue
            before = self.old.member.members.get(own)
            was_optional = isinstance(before, Attribute) and before.field and not is_required(before)
            if was_optional or (before is None and not self._inherited_before(own)):
                kind = FactKind.REQUIRED_FIELD if sent else FactKind.REQUIRED_PARAMETER
                name = f"{self.name}.{own}" if sent else f"{self.name}.__init__({own})"
                yield proven(kind, name, self.new, member.line)

    def _inherited_before(self, own: str) -> bool:
        return any(above is None or own in above.member.members for above in self.before.bases(self.old))

    def _removed_bases(self) -> Iterator[Fact]:
        """Yield bases that still exist, in the repository or as `Protocol`, and from which the class no longer derives."""
        names = {base.name for base in self.new.member.bases}
        left = [base for base in self.old.member.bases if base.name not in names]
        if any(base.name == PROTOCOL for base in left):
            yield proven(FactKind.REMOVED_BASE, f"{self.name}({PROTOCOL})", self.new, self.new.member.line)
        above = list(self.after.bases(self.new)) if left else []
        names = {each.member.name for each in above if each}
        for base in left:
            found = self.before.base(base.target, self.old.module)
            if base.name in names or None in above or found is None:
                continue
            if self.after.resolve(f"{found.module.dotted}.{base.name}", found.module.path):
                line = self.old.module.line_of(base.name, self.old.member)
                yield proven(FactKind.REMOVED_BASE, f"{self.name}({base.name})", self.old, line)
