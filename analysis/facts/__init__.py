"""Extraction of facts from a commit's diff, each with its file and line; no heuristics that guess.

A name that operators or clients write (a flag, a variable, a key) counts as removed only when the commit deletes its
definition and no added line defines or mentions it again. A name that Python imports counts as removed from its module,
and as moved when the commit defines it in another. Where a commit's files can be read whole, Python names, members and
signatures are compared before and after instead (`python`). Tests, documentation and examples are not evidence for
public interfaces. A rule that cannot decide reports nothing.
"""

from collections.abc import Callable, Iterator, Sequence

from analysis.facts.change import Change
from analysis.facts.dependencies import dependencies, minimum_versions
from analysis.facts.deprecations import deprecations
from analysis.facts.dropped_support import dropped_support
from analysis.facts.flags_variables_routes import environment_variables, flags, metrics, new_routes_and_metrics, routes
from analysis.facts.layout import formatting_only
from analysis.facts.links import reverts
from analysis.facts.python.classes import BASE_CLASS, BASE_FILE
from analysis.facts.python.comparison import compared, moved_modules
from analysis.facts.removed_tests import removed_tests
from analysis.facts.sensitive_code import concurrency_and_memory, security_calls, security_terms
from analysis.facts.settings.accepted_values import changed_values
from analysis.facts.settings.comparison import changed_defaults, new_settings, own_name
from analysis.facts.settings.conditional_defaults import conditional_defaults
from analysis.facts.syntax import collecting_no_garbage
from analysis.models import Commit, Fact, FactKind, FileChange, Trees
from analysis.paths import Kind, kind

__all__ = ["VERSION", "facts"]

_Rule = Callable[[Change, FileChange], Iterator[Fact]]

# Incremented whenever a rule changes, so that stored facts are recomputed from the stored patches.
VERSION = 27


@collecting_no_garbage()
def facts(commit: Commit, trees: Trees | None = None, *, only_breaking: bool = False) -> tuple[Fact, ...]:
    """Return all facts found in the commit's message and patches: a revert first, then in the order of `FactKind`.

    With `trees`, Python files are compared whole, else as far as the patches show them. `only_breaking` takes half of the time.
    """
    change = Change(commit, trees)
    found = compared(change)
    if not only_breaking:
        found += [*reverts(change), *security_terms(change), *formatting_only(change)]
    # File by file, so that each patch is parsed only once, however large the commit is.
    rules = _BREAKING_RULES if only_breaking else _RULES
    found += [fact for file in commit.files for rule in _applied(rules, file) for fact in rule(change, file)]
    if not found:
        return ()
    unique: dict[tuple[FactKind, str], Fact] = {}
    found.sort(key=_is_second)
    for fact in found:
        unique.setdefault((fact.kind, _deduplication_key(fact)), fact)
    # A class under a new name also disappears from the lists of supported names; a removed key or field is an attribute, too.
    names = {fact.name for fact in found if fact.kind in _NAME_KINDS}
    fields = {fact.name for fact in found if fact.kind in _FIELD_KINDS}
    # What a package no longer re-exports may be what its module renames.
    renamed = {fact.name for fact in found if fact.kind is FactKind.RENAMED_NAME}
    on = {own_name(fact.name) for fact in found if fact.kind is FactKind.SETTING_ON}
    # What has another default may have another type for it.
    defaults = {fact.name for fact in found if fact.kind is FactKind.DEFAULT_CHANGED}
    repeated = {
        FactKind.RETYPED: defaults,
        FactKind.SUPPORT_DROPPED: names,
        FactKind.REMOVED_ATTRIBUTE: fields,
        FactKind.REMOVED_NAME: renamed,
        FactKind.NEW_SETTING: {fact.name for fact in found if own_name(fact.name) in on},
    }
    facts = [each for each in unique.values() if each.name not in repeated.get(each.kind, ())]
    return tuple(sorted(facts, key=lambda fact: (fact.kind is not FactKind.REVERT, _ORDER[fact.kind])))


def _applied(rules: Sequence[_Rule], file: FileChange) -> Sequence[_Rule]:
    """Return the rules that may find something in a file: without a patch, those about paths, if its own changed."""
    if file.patch:
        return rules
    return _PATH_RULES if file.status in ("renamed", "removed") else ()


def _is_second(fact: Fact) -> tuple[bool, ...]:
    """Return the sort key of facts of one key, the first of which is told: of an interface's methods, and of a field its flag."""
    if fact.kind is FactKind.NEW_SETTING:
        return (not fact.name.startswith("-"),)
    found = BASE_FILE.search(fact.path or ""), BASE_CLASS.match(fact.name)
    return fact.kind in _METHOD_KINDS and not any(found), fact.kind in _METHOD_KINDS and not found[0]


def _deduplication_key(fact: Fact) -> str:
    """Return the key for duplicates: an interface's methods change together in many classes, unlike `__init__`.

    A new flag sets a field of the same name, often of several classes.
    """
    if fact.kind is FactKind.NEW_SETTING:
        return own_name(fact.name)
    return fact.name.rpartition(".")[2] if fact.kind in _METHOD_KINDS and ".__init__(" not in fact.name else fact.name


def _deleted_files(_change: Change, file: FileChange) -> Iterator[Fact]:
    if file.status == "removed" and kind(file.path) is Kind.SOURCE:
        yield Fact(kind=FactKind.FILE_DELETED, name=file.path, path=file.path)


_ORDER = {each: index for index, each in enumerate(FactKind)}
_NAME_KINDS = (FactKind.RENAMED_NAME, FactKind.MOVED_NAME)
_FIELD_KINDS = (FactKind.REMOVED_KEY, FactKind.RENAMED_KEY, FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD)
_METHOD_KINDS = (
    FactKind.REMOVED_PARAMETER,
    FactKind.RENAMED_PARAMETER,
    FactKind.REQUIRED_PARAMETER,
    FactKind.RETURNED_VALUES,
    FactKind.RETYPED,
)
_BREAKING_RULES: tuple[_Rule, ...] = (
    environment_variables,
    flags,
    routes,
    metrics,
    dropped_support,
    minimum_versions,
    moved_modules,
    changed_values,
)
_RULES: tuple[_Rule, ...] = (
    *_BREAKING_RULES,
    changed_defaults,
    new_settings,
    new_routes_and_metrics,
    conditional_defaults,
    deprecations,
    dependencies,
    _deleted_files,
    removed_tests,
    concurrency_and_memory,
    security_calls,
)
_PATH_RULES = (dropped_support, moved_modules, _deleted_files)  # rules that need no patch
