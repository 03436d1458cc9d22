"""The constructors that dataclasses, named tuples and models get from their fields, before and after a commit."""

import re
from collections.abc import Iterator

from analysis.facts.whole_files.module import Attribute, Class, Function, Parameter, ParameterKind
from analysis.facts.whole_files.repository import Found
from analysis.facts.whole_files.signatures import parameter_changes, proven
from analysis.models import Fact, FactKind

_CONSTRUCTED = re.compile(r"\b(?:dataclass|config)\b")
_RECORDS = ("NamedTuple", "BaseModel")
_NAMED_ONLY = re.compile(r"\bkw_only=True\b")
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
            left_out = isinstance(kept, Attribute) and kept.field and not is_passed(kept)
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
