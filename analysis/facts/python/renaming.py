"""Recognise a definition under a new name: by its body, or by its place and a name that resembles the old one."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from typing import TypeGuard

from analysis.facts.python.module import PROTOCOL, Attribute, Class, Function, Import, Member, Module
from analysis.facts.python.revision import Found
from analysis.facts.python.signatures import parameter_changes, returned_values
from analysis.models import FactKind

_MIN_SIMILARITY = 0.7  # of the lines of two bodies: above it, one is the other under a new name
_MIN_NAMES = 0.75  # similarity of two names in the same place
_MIN_WORDS = 0.5  # similarity of the words of their bodies, of which each line may mention what else is renamed
_FEW_WORDS = 2  # of a variable's value, which say too little about it
_WORD = re.compile(r"\w+")
_Renamed = Function | Class | Attribute


def successor(old: Found[Class] | Module, member: _Renamed, new: Found[Class] | Module) -> str | None:
    """Return the only new definition of the same kind that seems to be a removed one.

    The body of a class or function is nearly the same; or a definition stands in the same place, and its name and its
    words are alike. It has to serve those who used the old one under its new name.
    """
    before, old_module = (old.members, old) if isinstance(old, Module) else (old.member.members, old.module)
    after, new_module = (new.members, new) if isinstance(new, Module) else (new.member.members, new.module)
    added = {
        name: each
        for name, each in after.items()
        if name not in before
        and _is_same_kind(each, member)
        and serves_as(Found(new_module, each), Found(old_module, member), set(before) - set(after))
    }
    alike = [name for name, each in added.items() if _have_one_body(old_module, member, new_module, each)]
    if not alike:
        gone = [name for name, each in before.items() if name not in after and _is_same_kind(each, member)]
        place = _preceding(before, member, after)
        alike = [
            name
            for name, each in added.items()
            if _preceding(after, each, before) == place
            and max(gone, key=lambda other: _ratio(other, name)) == member.name
            and _ratio(member.name, name) >= _MIN_NAMES
            and _share(_words(old_module, member), _words(new_module, each)) >= _MIN_WORDS
        ]
    return alike[0] if len(alike) == 1 else None


def _is_same_kind(other: Member, member: _Renamed) -> TypeGuard[_Renamed]:
    return type(other) is type(member) and other.name.startswith("_") == member.name.startswith("_")


def serves_as(new: Found[_Renamed], old: Found[_Renamed], gone: Collection[str]) -> bool:
    """Return whether a definition can take the place of the old one.

    A class still has the old bases, unless they are gone, or a protocol, which is told itself. A function fits the calls
    of the old one, and returns as many values.
    """
    (old_module, before), (new_module, after) = old, new
    if isinstance(before, Class) and isinstance(after, Class):
        return {each.name for each in before.bases} - {*gone, PROTOCOL} <= {each.name for each in after.bases}
    if isinstance(before, Function) and isinstance(after, Function):
        was, now = returned_values(Found(old_module, before)), returned_values(Found(new_module, after))
        return (was or 1) == (now or 1) and _fits_calls(after, before)
    return True


def _fits_calls(new: Function, old: Function) -> bool:
    """Return whether a function needs no more than the old one, and takes what every call of that passes."""
    needed = [each for each in new.parameters if each.required and not each.variadic]
    passed = [each.name for each in old.parameters if each.required]
    return len(needed) <= len(old.parameters) and not any(
        each.kind is FactKind.REQUIRED_PARAMETER or (each.kind is FactKind.REMOVED_PARAMETER and each.name in passed)
        for each in parameter_changes(old, new, method=False)
    )


def _have_one_body(old_module: Module, member: _Renamed, new_module: Module, other: _Renamed) -> bool:
    if isinstance(member, Attribute) or isinstance(other, Attribute):
        return False
    one, two = (
        frozenset(line.strip() for line in module.lines[each.line : each.end] if line.strip())
        for module, each in ((old_module, member), (new_module, other))
    )
    return len(one & two) / max(len(one | two), 1) >= _MIN_SIMILARITY


def _preceding(members: Mapping[str, Member], member: _Renamed, others: Mapping[str, Member]) -> str:
    """Return the last definition above a member that the other version has, too; "" if there is none."""
    above = [(each.line, name) for name, each in members.items() if not isinstance(each, Import) and name in others]
    return max((each for each in above if each[0] < member.line), default=(0, ""))[1]


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _words(module: Module, member: _Renamed) -> Counter[str]:
    """Return the words of a definition without its name; none of a variable without a type whose value has few."""
    if isinstance(member, Attribute):
        found = _WORD.findall(f"{member.annotation} {member.value}")
        return Counter(found if member.field or len(found) > _FEW_WORDS else [])
    return Counter(word for word in _WORD.findall(module.source(member)) if word != member.name)


def _share(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max((one | other).total(), 1)
