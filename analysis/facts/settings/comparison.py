"""Changed defaults proved by whole files: the settings of a Python file before and after a commit, compared by value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from analysis.diff import changed_lines
from analysis.facts.change import SIDES, Change, is_module, is_product, removes_lines
from analysis.facts.settings.definitions import Setting, settings
from analysis.facts.settings.environment import EnvironmentRead, environment_reads
from analysis.facts.settings.values import Symbol, Value
from analysis.facts.syntax import Source
from analysis.models import Fact, FactKind, FileChange, Proof
from analysis.text import mentions

_EQUIVALENT = (
    {"", "0", "false", "no", "off"},
    {"1", "true", "yes", "on"},
)  # a variable's values that programs treat alike
_Named = TypeVar("_Named", Setting, EnvironmentRead)
_Facts = Callable[["_Comparison", Source, Source], Iterator[Fact]]
_Settings = Mapping[str, Sequence[Setting]]
_Reads = Mapping[str, Sequence[EnvironmentRead]]
_EMPTY = ({"None", "{}"}, {"None", "[]"}, {"None", "()"})  # defaults that code treats alike
_MAX_FILES = 200  # of a commit; one that changes more reformats or renames, and reading all of them takes a minute
_ADDS = re.compile(r"^\+.*[=\"']", re.MULTILINE)
_VARIABLES = re.compile(r"(^|/)(envs?|environment|env_vars?|settings)\.py$")  # files that list a project's variables
_SET = re.compile(
    r"--|\w*(?:Config|Args|Settings|Options|Params|Request)\.\w+$"
)  # rather than the parameters of any function


def changed_defaults(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each setting of a Python file whose default differs before and after."""
    if removes_lines(file) and is_product(file) and file.path.endswith(".py"):
        yield from _compared(change, file, _Comparison.facts)


def new_settings(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each setting that a Python file has gained, and that no line of the commit takes from elsewhere."""
    if not is_product(file) or not is_module(file) or file.status == "added" or not _ADDS.search(file.patch or ""):
        return
    for fact in _compared(change, file, _Comparison.new_facts):
        is_moved = fact.kind is FactKind.NEW_SETTING and mentions(change.removed_lines, fact.name.rpartition(".")[2])
        if fact.proof is Proof.FILES and not is_moved:
            yield fact


def _compared(change: Change, file: FileChange, facts: _Facts) -> list[Fact]:
    """Return what a comparison yields of one file; none if it cannot be read and parsed on both sides."""
    if len(change.commit.files) > _MAX_FILES:
        return []
    old, new = (change.source(file, side) for side in SIDES)
    if old is None or new is None:
        return []
    try:
        return list(facts(_Comparison(file, Proof.PATCH if new.partial else Proof.FILES), old, new))
    except RecursionError:  # an expression is nested more deeply than Python's stack
        return []


def variable_meaning(value: object) -> object:
    """Return the value as programs interpret it: "0", "false" and "" mean the same."""
    lowered = str(value).lower()
    return next((index for index, same in enumerate(_EQUIVALENT) if lowered in same), value)


class _Comparison(NamedTuple):
    """The settings of one file, before and after."""

    file: FileChange
    proof: Proof

    def facts(self, old: Source, new: Source) -> Iterator[Fact]:
        yield from self._variables(*(_by_name(environment_reads(side)) for side in (old, new)))
        if is_module(self.file):
            yield from self._settings(*(_by_name(settings(side)) for side in (old, new)))

    def new_facts(self, old: Source, new: Source) -> Iterator[Fact]:
        """Yield the settings that only the new side has, told apart by whether they are on; of a field and its flag the flag.

        The fields of a new class are none that people can set yet, and a variable may be known where another file lists it.
        """
        before = list(settings(old))
        names = {each.name for each in before} | {each.name for each in environment_reads(old)}
        known, owners = set(map(own_name, names)), {each.name.rpartition(".")[0] for each in before} - {""}
        on = variable_meaning("1")  # as the default is written: what it is compared with may turn it round
        values = [
            (each.name, each.line, each.value, _is_true(each.value)) for each in settings(new) if _SET.match(each.name)
        ]
        for read in environment_reads(new):
            is_written = read.written is not None and variable_meaning(read.written.meaning) == on
            values.append((read.name, read.line, read.in_effect, is_written and _is_true(read.in_effect)))
        # A field is new where another class has one of its name.
        values = [
            each
            for each in values
            if (each[0] not in names if each[0].rpartition(".")[0] in owners else own_name(each[0]) not in known)
        ]
        found: dict[str, Fact] = {}
        set_on = {own_name(name) for name, *_, is_on in values if is_on}
        for name, line, default, _ in sorted(values, key=lambda value: not value[0].startswith("-")):
            is_on, owner = own_name(name) in set_on, name.rpartition(".")[0]
            is_listed = name.startswith("-") or (owner in owners if owner else _VARIABLES.search(self.file.path))
            if is_on or is_listed:
                kind = FactKind.SETTING_ON if is_on else FactKind.NEW_SETTING
                text = (
                    default.text if default and not is_on and isinstance(default.meaning, str | int | float) else None
                )
                fact = Fact(kind=kind, name=name, path=self.file.path, line=line, new=text, proof=self.proof)
                found.setdefault(own_name(name), fact)
        yield from found.values()

    def _settings(self, before: _Settings, after: _Settings) -> list[Fact]:
        """Return the settings with one default on each side, and not the same.

        Of those called alike that one place feeds, such as a field and its flag, only the flag or the first is returned.
        """
        found: dict[tuple[int, str], Fact] = {}
        for name in sorted(before.keys() & after.keys(), key=lambda each: not each.startswith("-")):
            was, now = _only_value(before[name]), _only_value(after[name])
            if was and now and not _same(was, now):
                line = self._place(now, after[name][0].line)
                found.setdefault((line, own_name(name)), self._fact(name, line, was.text, now.text))
        return sorted(found.values(), key=lambda fact: (fact.line or 0, fact.name))

    def _variables(self, before: _Reads, after: _Reads) -> Iterator[Fact]:
        for name in before.keys() & after.keys():
            was, now = _only_read(before[name]), _only_read(after[name])
            if was and now and (texts := _changed_texts(was, now)):
                yield self._fact(name, self._place(now.written or now.in_effect, now.line), *texts)

    def _fact(self, name: str, line: int, old: str, new: str) -> Fact:
        kind, path = FactKind.DEFAULT_CHANGED, self.file.path
        return Fact(kind=kind, name=name, path=path, line=line, old=old, new=new, proof=self.proof)

    def _place(self, value: Value | None, line: int) -> int:
        """Return the line that a value is written on, if the commit adds it; else that of the setting."""
        added = value and any(each.new == value.line for each in changed_lines(self.file, "+"))
        return value.line if value and added else line


def _is_true(value: Value | None) -> bool:
    return value is not None and value.meaning is True


def _by_name(found: Iterable[_Named]) -> dict[str, list[_Named]]:
    groups: dict[str, list[_Named]] = {}
    for each in found:
        groups.setdefault(each.name, []).append(each)
    return groups


def own_name(name: str) -> str:
    """Return the last part of a setting's name as an identifier: `size` of `--size`, `Pool.size` and `take(size)`."""
    return re.split(r"[.(]", name.rstrip(")"))[-1].lstrip("-").replace("-", "_")


def _only_value(settings: Sequence[Setting]) -> Value | None:
    """Return the default that all settings of a name have; None if they differ or one is unknown."""
    values = [each.value for each in settings if each.value]
    return values[0] if len(values) == len(settings) and all(_same(values[0], each) for each in values) else None


def _same(one: Value, other: Value) -> bool:
    """Return whether two values are equal, or whether it cannot be told: a name may stand for the other's value."""
    if isinstance(one.meaning, Symbol) and isinstance(other.meaning, Symbol):
        owner, _, member = one.meaning.name.rpartition(".")
        other_owner, _, other_member = other.meaning.name.rpartition(".")
        return member == other_member or owner != other_owner
    if {one.text, other.text} in _EMPTY:
        return True
    symbols = [each for each in (one, other) if isinstance(each.meaning, Symbol)]
    others = [each for each in (one, other) if not isinstance(each.meaning, Symbol)]
    if symbols and others[0].meaning is not None:
        return True
    return one.meaning == other.meaning


def _only_read(reads: Sequence[EnvironmentRead]) -> EnvironmentRead | None:
    """Return the first read of a variable; None if others take another value without it."""
    meanings = [variable_meaning(each.in_effect.meaning) if each.in_effect else None for each in reads]
    return reads[0] if None not in meanings and len(set(meanings)) == 1 else None


def _changed_texts(was: EnvironmentRead, now: EnvironmentRead) -> tuple[str, str] | None:
    """Return a variable's (old, new) default: as written if both are, else as in effect; None if it is the same."""
    if was.in_effect is None or now.in_effect is None:
        return None
    if variable_meaning(was.in_effect.meaning) == variable_meaning(now.in_effect.meaning):
        return None
    if was.written is None or now.written is None:
        return was.in_effect.text, now.in_effect.text
    if variable_meaning(was.written.meaning) == variable_meaning(now.written.meaning):
        return None
    return was.written.text, now.written.text
