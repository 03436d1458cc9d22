"""The facts of a commit without those that others of it imply: one change is told once."""

import re
from collections.abc import Callable, Sequence

from analysis.consequences.audience import is_setting
from analysis.models import Fact, FactKind

_OF_VALUES = frozenset({FactKind.VALUES_ADDED, FactKind.VALUES_DROPPED})
_FLAGS = {FactKind.REMOVED_KEY: FactKind.REMOVED_FLAG, FactKind.RENAMED_KEY: FactKind.RENAMED_FLAG}
_SET = frozenset({FactKind.NEW_SETTING, FactKind.SETTING_ON, FactKind.CONDITIONAL_DEFAULT})
_NEW_METHODS = frozenset({FactKind.NEW_METHOD, FactKind.REQUIRED_METHOD})
_LOST_MEMBERS = frozenset({FactKind.REMOVED_METHOD, FactKind.REMOVED_ATTRIBUTE})


def distinct(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that no other implies."""
    return [each for each in facts if not any(implies(other, each) for implies in _IMPLIED for other in facts)]


def successor(fact: Fact, facts: Sequence[Fact]) -> str:
    """Return the new method of a class that others derive from which takes the place of a member that goes; "" if none does."""
    member = fact.name.rpartition(".")[2]
    names = [each.name for each in facts if each.kind in _NEW_METHODS] if fact.kind in _LOST_MEMBERS else []
    return next((each for each in names if each.rpartition(".")[2] in (member, f"get_{member}")), "")


def _is_told_as_flag(flag: Fact, key: Fact) -> bool:
    return flag.kind is _FLAGS.get(key.kind) and own_name(flag.name) == own_name(key.name)


def _is_told_as_setting(setting: Fact, alias: Fact) -> bool:
    """Return whether a type has the same values as the setting that it is the type of."""
    alike = alias.kind in _OF_VALUES and setting.kind is alias.kind and setting.new == alias.new
    return alike and is_setting(setting.name) and not is_setting(alias.name)


def _is_new_name(old: Fact, new: Fact) -> bool:
    """Return whether a setting is new by name alone: that of one that is renamed or deprecated."""
    return new.kind in _SET and old.new is not None and old.kind not in _SET and own_name(old.new) == own_name(new.name)


def _is_set_anyway(conditional: Fact, new: Fact) -> bool:
    is_conditional = conditional.kind is FactKind.CONDITIONAL_DEFAULT and new.kind is FactKind.NEW_SETTING
    return is_conditional and own_name(conditional.name) == own_name(new.name)


def _is_kept_parameter(parameter: Fact, attribute: Fact) -> bool:
    """Return whether an attribute kept what its class's constructor no longer takes."""
    owner, _, name = attribute.name.rpartition(".")
    is_lost = parameter.kind is FactKind.REMOVED_PARAMETER and attribute.kind is FactKind.REMOVED_ATTRIBUTE
    return is_lost and parameter.name == f"{owner}.__init__({name})"


def _is_stand_in(operator: Fact, fake: Fact) -> bool:
    """Return whether a function stands in for an operator that changes likewise, while code is traced."""
    return operator.kind is fake.kind and fake.name == re.sub(r"(?=\(|$)", "_fake", operator.name, count=1)


def own_name(name: str) -> str:
    """Return the last part of a setting's name as a flag and a field have it in common."""
    return re.sub(r"\W|_", "", name.rpartition(".")[2]).lower()


_IMPLIED: tuple[Callable[[Fact, Fact], bool], ...] = (
    _is_told_as_flag,
    _is_told_as_setting,
    _is_new_name,
    _is_set_anyway,
    _is_kept_parameter,
    _is_stand_in,
)
