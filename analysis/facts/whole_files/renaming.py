"""Recognise a definition under a new name: by its body, or by its place and a name that resembles the old one."""

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher

from analysis.facts.whole_files.module import Class, Function, Member, Module
from analysis.facts.whole_files.repository import Found

_MIN_SIMILARITY = 0.7  # of the lines of two bodies: above it, one is the other under a new name
_MIN_NAMES = 0.6  # similarity of two names in the same place
_MIN_WORDS = 0.5  # similarity of the words of their bodies, of which each line may mention what else is renamed
_WORD = re.compile(r"\w+")


def successor(old: Found[Class] | Module, member: Function | Class, new: Found[Class] | Module) -> str | None:
    """Return the only new definition of the same kind that seems to be a removed one.

    Its body is nearly the same; or it stands in the same place, and its name and its words are alike.
    """
    before, old_module = (old.members, old) if isinstance(old, Module) else (old.member.members, old.module)
    after, new_module = (new.members, new) if isinstance(new, Module) else (new.member.members, new.module)
    added = {name: each for name, each in after.items() if name not in before and _is_same_kind(member, each)}
    body = _body(old_module, member)
    alike = [name for name, each in added.items() if _similarity(body, _body(new_module, each)) >= _MIN_SIMILARITY]
    if not alike:
        words, place = _words(old_module, member), _preceding(before, member.name, after)
        alike = [
            name
            for name, each in added.items()
            if _are_names_alike(member.name, name)
            and _preceding(after, name, before) == place
            and _is_closest(member, name, before, after)
            and _share(words, _words(new_module, each)) >= _MIN_WORDS
        ]
    return alike[0] if len(alike) == 1 else None


def _is_same_kind(member: Function | Class, other: Member) -> bool:
    same = isinstance(other, Function) if isinstance(member, Function) else isinstance(other, Class)
    return same and other.name.startswith("_") == member.name.startswith("_")


def _body(module: Module, member: Member) -> frozenset[str]:
    assert isinstance(member, Function | Class)
    return frozenset(line.strip() for line in module.lines[member.line : member.end] if line.strip())


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)
