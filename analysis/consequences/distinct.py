"""The facts of a commit without those that others of it imply, and what takes the place of what goes."""

import re
from collections.abc import Iterator, Sequence

from analysis.consequences.audience import is_setting
from analysis.diff import hunks
from analysis.models import Commit, Entry, Fact, FactKind
from analysis.writing.replacements import replacement

_OF_VALUES = frozenset({FactKind.VALUES_ADDED, FactKind.VALUES_DROPPED})
_SET = frozenset({FactKind.NEW_SETTING, FactKind.SETTING_ON, FactKind.CONDITIONAL_DEFAULT})
_NEW_METHODS = frozenset({FactKind.NEW_METHOD, FactKind.REQUIRED_METHOD})
_LOST_MEMBERS = frozenset({FactKind.REMOVED_METHOD, FactKind.REMOVED_ATTRIBUTE})
_LOST = _LOST_MEMBERS | {FactKind.REMOVED_NAME}
_FEW_USES, _MANY_USES = 2, 3  # lines that have another name instead, from which on it takes the place; of attributes
_DEFINES = re.compile(r"(?:async )?(?:def|class) ")


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
    return successor or replacement(entry.commit, fact) or new_name(entry.commit, fact)


def new_name(commit: Commit, fact: Fact) -> str:
    """Return the one name that lines have instead of what goes, and are otherwise as they were; "" if they have several, or few."""
    name, is_attribute = fact.name.rpartition(".")[2], fact.kind is FactKind.REMOVED_ATTRIBUTE
    lines = list(_renamed_lines(commit, name)) if fact.kind in _LOST else []
    uses = list(dict.fromkeys(new for new, line in lines if not _DEFINES.match(line)))
    if len(uses) != 1 or uses[0].lstrip("_")[:1].isupper() != name.lstrip("_")[:1].isupper():  # a class is no variable
        return ""
    fewest = _MANY_USES if is_attribute else 1 if name in uses[0] else _FEW_USES
    return uses[0] if sum(new == uses[0] for new, _ in lines) >= fewest else ""


def renamed_to(commit: Commit, fact: Fact) -> str:
    """Return the new name of what is defined as it was, but for that; "" if another thing takes its place."""
    name, new = fact.name.rpartition(".")[2], new_name(commit, fact)
    definition = re.compile(rf"^-\s*{_DEFINES.pattern}{re.escape(name)}\b", re.MULTILINE)
    if not any(definition.search(file.patch or "") for file in commit.files):
        return new
    return new if any(each == new and _DEFINES.match(line) for each, line in _renamed_lines(commit, name)) else ""


def _renamed_lines(commit: Commit, name: str) -> Iterator[tuple[str, str]]:
    """Yield (new name, line) for each line of a commit that replaces one that differs from it by a name alone."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for hunk in (each for file in commit.files if name in (file.patch or "") for each in hunks(file.patch)):
        old, added = ([line.text.strip() for line in hunk if line.sign == sign] for sign in "-+")
        for parts in (word.split(each) for each in old if re.search(r"\w", word.sub("", each))):
            first, *others = map(re.escape, parts)
            like = re.compile(first + r"(?P<new>[A-Za-z_]\w*)" + "(?P=new)".join(others))
            yield from (
                (match["new"], each) for each in added if (match := like.fullmatch(each)) and match["new"] != name
            )


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
