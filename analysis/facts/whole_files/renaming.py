"""Recognise a definition under a new name by its body."""

from analysis.facts.whole_files.module import Class, Function, Module
from analysis.facts.whole_files.repository import Found

_MIN_SIMILARITY = 0.7  # of the lines of two bodies: above it, one is the other under a new name


def successor(old: Found[Class] | Module, member: Function | Class, new: Found[Class] | Module) -> str | None:
    """Return the only new definition of the same kind whose body is nearly that of a removed one."""
    before, old_module = (old.members, old) if isinstance(old, Module) else (old.member.members, old.module)
    after, new_module = (new.members, new) if isinstance(new, Module) else (new.member.members, new.module)
    body = _body(old_module, member)
    alike = [
        name
        for name, each in after.items()
        if name not in before
        and isinstance(each, Function | Class)
        and isinstance(each, Function) == isinstance(member, Function)
        and name.startswith("_") == member.name.startswith("_")
        and _similarity(body, _body(new_module, each)) >= _MIN_SIMILARITY
    ]
    return alike[0] if len(alike) == 1 else None


def _body(module: Module, member: Function | Class) -> frozenset[str]:
    return frozenset(line.strip() for line in module.lines[member.line : member.end] if line.strip())


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)
