"""Changed defaults proved by whole files: the settings of a Python file before and after a commit, compared by value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from analysis.diff import changed_lines
from analysis.facts.change import SIDES, Change, is_module, is_product, old_path, removes_lines
from analysis.facts.settings.definitions import Setting, SettingsReader
from analysis.facts.settings.environment import EnvironmentRead, environment_reads
from analysis.facts.settings.values import Evaluator, Symbol, Value
from analysis.facts.syntax import Source
from analysis.facts.whole_files.repository import Revision
from analysis.models import Commit, Fact, FactKind, FileChange, Proof

_EQUIVALENT = (
    {"", "0", "false", "no", "off"},
    {"1", "true", "yes", "on"},
)  # a variable's values that programs treat alike
_Named = TypeVar("_Named", Setting, EnvironmentRead)
_Side = tuple[Source, Evaluator]
_Facts = Callable[["_Comparison", _Side, _Side], Iterator[Fact]]
_Settings = Mapping[str, Sequence[Setting]]
_Values = Mapping[str, Sequence[str]]
_Reads = Mapping[str, Sequence[EnvironmentRead]]
_EMPTY = ({"None", "{}"}, {"None", "[]"}, {"None", "()"})  # defaults that code treats alike
_MAX_FILES = 200  # of a commit; one that changes more reformats or renames, and reading all of them takes a minute
# Cheap checks before files are parsed: a changed line of a call that may define a setting, and a name with a value.
_CALL = re.compile(r"^[-+].*(?:\bdefault\w*\s*=|env\w*\(|environ\b|add_argument\(|[Oo]ption\(|Field\()", re.MULTILINE)
_CONSTANT = re.compile(r"^[-+]\s*(?:[\"']|-?\d|True\b|False\b|None\b)[^:(\n]*$", re.MULTILINE)
# A constant of the module's top level with its value, on either side.
_CONSTANT_DEFINED = {
    sign: re.compile(rf"^[{sign}](_?[A-Z][A-Z0-9_]{{2,}})\s*(?::[^=\n]+)?=\s*(.+)", re.MULTILINE) for sign in SIDES
}
_ADDS_TRUE = re.compile(r"^\+.*(?:\bTrue\b|[\"'](?:1|true)[\"'])", re.MULTILINE | re.IGNORECASE)
_SET = re.compile(r"--|\w*(?:Config|Args|Settings|Options)\.\w+$")  # rather than the parameters of any function
_MAX_CONSTANTS = 5  # of one file, each a search of the tree
_MAX_USERS = 20  # files that are parsed for them
_CALL_BEGUN = re.compile(r"^ .*(?:env\w*\(|environ\b|add_argument\(|[Oo]ption\(|Field\()", re.MULTILINE)
_VALUE = re.compile(r"\b(\w+)(?:\s*:[^=\n]+?)?\s*=\s*((?:[-\d\"'\[({]|[\w.]*[A-Z])[^,\n]*)")


def changed_defaults(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each setting of a Python file whose default differs before and after; a constant that other files use counts there."""
    if not removes_lines(file) or not is_product(file) or len(change.commit.files) > _MAX_FILES:
        return
    if not file.path.endswith(".py") or not _may_change_values(file):
        return
    constants = _changed_constants(file)
    users = _files_with(constants, change, file) if constants else ()
    fed = [fact for each in users for fact in _compared(change, each, _Comparison.facts) if fact.path == file.path]
    named = {fact.line for fact in fed}
    yield from (
        fact
        for fact in _compared(change, file, _Comparison.facts)
        if fact.name not in constants or fact.line not in named
    )
    yield from fed


def new_settings(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each setting that a Python file has gained and that is on where nobody sets it."""
    if not is_product(file) or not is_module(file) or file.status == "added" or not _ADDS_TRUE.search(file.patch or ""):
        return
    yield from (fact for fact in _compared(change, file, _Comparison.new_facts) if fact.proof is Proof.FILES)


def _compared(change: Change, file: FileChange, facts: _Facts) -> list[Fact]:
    """Return what a comparison yields of one file; none if it cannot be read and parsed on both sides."""
    sides = change.sides(file)
    old, new = (sides.before.source(old_path(file)), sides.after.source(file.path)) if sides else (None, None)
    if sides is None or old is None or new is None:
        return []
    comparison = _Comparison(change.commit, file, sides.after, Proof.PATCH if new.partial else Proof.FILES)
    try:
        return list(facts(comparison, (old, Evaluator(sides.before)), (new, Evaluator(sides.after))))
    except RecursionError:  # an expression is nested more deeply than Python's stack
        return []


def _changed_constants(file: FileChange) -> list[str]:
    """Return the constants that a file's patch gives another value."""
    before, after = (dict(_CONSTANT_DEFINED[sign].findall(file.patch or "")) for sign in SIDES)
    return sorted(name for name in before.keys() & after.keys() if before[name] != after[name])


def _files_with(constants: Sequence[str], change: Change, file: FileChange) -> Iterator[FileChange]:
    """Yield the other files that mention one of a file's constants, if they are not compared for their own changes."""
    changed = {each.path: each for each in change.commit.files}
    paths = {path for name in constants[:_MAX_CONSTANTS] for path in change.paths_with(name)}
    for path in sorted(paths - {file.path})[:_MAX_USERS]:
        other = changed.get(path) or FileChange(path=path, status="modified", additions=0, deletions=0, patch=None)
        if is_module(other) and not _may_change_values(other):
            yield other


def _may_change_values(file: FileChange) -> bool:
    """Return whether a patch may change a default: a call that defines a setting, or the value beside a name."""
    patch = file.patch or ""
    if _CALL.search(patch) or (_CONSTANT.search(patch) and _CALL_BEGUN.search(patch)):
        return True
    return _differ(*(_values_beside_names(file, sign) for sign in SIDES))


def _differ(before: _Values, after: _Values) -> bool:
    return any(sorted(before[name]) != sorted(after[name]) for name in before.keys() & after.keys())


def _values_beside_names(file: FileChange, sign: str) -> _Values:
    """Return the values that lines give names."""
    found: dict[str, list[str]] = {}
    for line in changed_lines(file, sign):
        for name, value in _VALUE.findall(line.text):
            found.setdefault(name, []).append(value)
    return found


def variable_meaning(value: object) -> object:
    """Return the value as programs interpret it: "0", "false" and "" mean the same."""
    lowered = str(value).lower()
    return next((index for index, same in enumerate(_EQUIVALENT) if lowered in same), value)


class _Comparison:
    """The settings of one file, before and after; `Side` is a parsed file with the evaluator of its tree."""

    def __init__(self, commit: Commit, file: FileChange, after: Revision, proof: Proof) -> None:
        self._commit = commit
        self._file = file
        self._after = after
        self._proof = proof

    def facts(self, old: _Side, new: _Side) -> Iterator[Fact]:
        yield from self._variables(*(_by_name(environment_reads(*side)) for side in (old, new)))
        if is_module(self._file):
            readers = SettingsReader(*old), SettingsReader(*new)
            settings = self._settings(*(_by_name(reader.settings()) for reader in readers))
            constants = self._settings(*(_by_name(reader.constants()) for reader in readers))
            named = {(fact.path, fact.line) for fact in settings}
            yield from settings
            yield from (fact for fact in constants if (fact.path, fact.line) not in named)

    def new_facts(self, old: _Side, new: _Side) -> Iterator[Fact]:
        """Yield the settings that only the new side has, and that are on; of a field and its flag the flag."""
        known = {_own_name(each.name) for each in environment_reads(*old)}
        known |= {_own_name(each.name) for each in SettingsReader(*old).settings()}
        values = [(each.name, each.in_effect, each.line) for each in environment_reads(*new)]
        values += [
            (each.name, each.value, each.line) for each in SettingsReader(*new).settings() if _SET.match(each.name)
        ]
        found: dict[str, Fact] = {}
        for name, value, line in sorted(values, key=lambda found: not found[0].startswith("-")):
            own = _own_name(name)
            if own not in known and value is not None and value.meaning is True:
                fact = Fact(kind=FactKind.SETTING_ON, name=name, path=self._file.path, line=line, proof=self._proof)
                found.setdefault(own, fact)
        yield from found.values()

    def _settings(self, before: _Settings, after: _Settings) -> list[Fact]:
        """Return the settings with one default on each side, and not the same.

        Of those called alike that one place feeds, such as a field and its flag, only the flag or the first is returned.
        """
        found: dict[tuple[str, int, str], Fact] = {}
        for name in sorted(before.keys() & after.keys(), key=lambda each: not each.startswith("-")):
            was, now = _only_value(before[name]), _only_value(after[name])
            own = _own_name(name)
            if not was or not now or (name.endswith(")") and now.text == "None"):
                continue  # a parameter that its function replaces
            if not _same(was, now) and not self._is_fed_by_namesake(name, own, now):
                path, line = self._place(now, after[name][0].line)
                found.setdefault((path, line, own), self._fact(name, path, line, was.text, now.text))
        return sorted(found.values(), key=lambda fact: (fact.path or "", fact.line or 0, fact.name))

    def _is_fed_by_namesake(self, name: str, own: str, value: Value) -> bool:
        """Return whether a field takes its default from the field of the same name in another changed file."""
        if value.path == self._file.path or name.startswith("-") or not self._changes(value):
            return False
        source = self._after.source(value.path)
        return source is not None and re.match(rf"\s*{own}\b", source.lines[value.line - 1]) is not None

    def _variables(self, before: _Reads, after: _Reads) -> Iterator[Fact]:
        for name in before.keys() & after.keys():
            was, now = _only_read(before[name]), _only_read(after[name])
            if was and now and (texts := _changed_texts(was, now)):
                path, line = self._place(now.written or now.in_effect, now.line)
                yield self._fact(name, path, line, *texts)

    def _fact(self, name: str, path: str, line: int, old: str, new: str) -> Fact:
        return Fact(kind=FactKind.DEFAULT_CHANGED, name=name, path=path, line=line, old=old, new=new, proof=self._proof)

    def _place(self, value: Value | None, line: int) -> tuple[str, int]:
        """Return where a value is written, if the commit writes it; else the line of the setting."""
        return (value.path, value.line) if value and self._changes(value) else (self._file.path, line)

    def _changes(self, value: Value) -> bool:
        """Return whether the commit adds the line on which a value is written."""
        files = (each for each in self._commit.files if each.path == value.path)
        return any(line.new == value.line for file in files for line in changed_lines(file, "+"))


def _by_name(found: Iterable[_Named]) -> dict[str, list[_Named]]:
    groups: dict[str, list[_Named]] = {}
    for each in found:
        groups.setdefault(each.name, []).append(each)
    return groups


def _own_name(name: str) -> str:
    """Return the last part of a setting's name as an identifier: `size` of `--size`, `Pool.size` and `take(size)`."""
    return re.split(r"[.(]", name.rstrip(")"))[-1].lstrip("-").replace("-", "_")


def _only_value(settings: Sequence[Setting]) -> Value | None:
    """Return the default that all settings of a name have; None if they differ or one is unknown."""
    values = [each.value for each in settings if each.value]
    return values[0] if len(values) == len(settings) and all(_same(values[0], each) for each in values) else None


def _same(one: Value, other: Value) -> bool:
    """Return whether two values are equal, or whether it cannot be told: a name may stand for the other's value."""
    if isinstance(one.meaning, Symbol) and isinstance(other.meaning, Symbol):
        owners = [each.meaning.name.rpartition(".") for each in (one, other) if isinstance(each.meaning, Symbol)]
        return owners[0][2] == owners[1][2] or owners[0][0] != owners[1][0]
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
