"""The facts of a commit without those that others of it imply, and what takes the place of what goes."""

import re
from collections.abc import Sequence

from analysis.consequences.audience import is_setting
from analysis.consequences.names import dotted
from analysis.models import Entry, Fact, FactKind
from analysis.paths import Kind, kind
from analysis.writing.replacements import replacement

_OF_VALUES = frozenset({FactKind.VALUES_ADDED, FactKind.VALUES_DROPPED})
_SET = frozenset({FactKind.NEW_SETTING, FactKind.SETTING_ON, FactKind.CONDITIONAL_DEFAULT})
_NEW_METHODS = frozenset({FactKind.NEW_METHOD, FactKind.REQUIRED_METHOD})
_LOST_MEMBERS = frozenset({FactKind.REMOVED_METHOD, FactKind.REMOVED_ATTRIBUTE})


def distinct(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that no other implies, so that one change is told once."""
    return [each for each in facts if not any(_implies(other, each) for other in facts)]


def replaced_by(entry: Entry, fact: Fact) -> str:
    """Return what takes the place of what a commit removes or deprecates; "" if nothing is known to."""
    if fact.kind is FactKind.DEPRECATED:
        return fact.new or ""
    member = fact.name.rpartition(".")[2]
    methods = [each.name for each in entry.facts if each.kind in _NEW_METHODS and fact.kind in _LOST_MEMBERS]
    successor = next((each for each in methods if each.rpartition(".")[2] in (member, f"get_{member}")), "")
    return (
        successor or replacement(entry.commit, fact) or (fact.kind in _LOST_MEMBERS and _in_module(entry, member)) or ""
    )


def _in_module(entry: Entry, member: str) -> str:
    """Return the name in full that a commit gives a module instead of a class; "" if it gives several that, or none."""
    given = re.compile(
        rf"^\+(?:(?:async )?def {re.escape(member)}\(|{re.escape(member)}\s*(?::[^=\n]+)?= )", re.MULTILINE
    )
    sources = (each for each in entry.commit.files if kind(each.path) is Kind.SOURCE and given.search(each.patch or ""))
    places = [f"{dotted(each.path)}.{member}" for each in sources]
    return places[0] if len(places) == 1 else ""


def _implies(one: Fact, other: Fact) -> bool:
    match one.kind, other.kind:
        case (FactKind.REMOVED_FLAG, FactKind.REMOVED_KEY) | (FactKind.CONDITIONAL_DEFAULT, FactKind.NEW_SETTING):
            return _own_name(one.name) == _own_name(other.name)
        case (FactKind.DEPRECATED, setting) if setting in _SET:  # it is new by name alone
            return _own_name(one.new or "") == _own_name(other.name)
        case (FactKind.REMOVED_PARAMETER, FactKind.REMOVED_ATTRIBUTE):  # which kept what a constructor took
            owner, _, name = other.name.rpartition(".")
            return one.name == f"{owner}.__init__({name})"
    if one.kind is not other.kind:
        return False
    is_type = one.kind in _OF_VALUES and one.new == other.new and is_setting(one.name) and not is_setting(other.name)
    # What stands in for an operator while code is traced changes as it does.
    return is_type or other.name == re.sub(r"(?=\(|$)", "_fake", one.name, count=1)


def _own_name(name: str) -> str:
    """Return the last part of a setting's name as a flag and a field have it in common."""
    return re.sub(r"\W|_", "", name.rpartition(".")[2]).lower()
