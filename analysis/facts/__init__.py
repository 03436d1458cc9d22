"""Extraction of facts from a commit's diff, each with its file and line; no heuristics that guess.

A name that operators or clients write (a flag, a variable, a key) counts as removed only when the commit deletes its
definition and no added line defines or mentions it again. A name that Python imports counts as removed from its module,
and as moved when the commit defines it in another. Tests, documentation and examples are not evidence for public
interfaces. A rule that cannot decide reports nothing.
"""

from collections.abc import Callable, Iterator

from analysis.facts.change import Change
from analysis.facts.concurrency import running
from analysis.facts.defaults import defaults
from analysis.facts.dropped_support import dropped
from analysis.facts.formatting import layout
from analysis.facts.interfaces import entries, fields, keys, retyped, routes
from analysis.facts.options import flags, variables
from analysis.facts.parameters import parameters
from analysis.facts.public_names import demanded, moved, names, unexported
from analysis.facts.removed_tests import tests
from analysis.facts.reverts import reverts
from analysis.facts.security import guards, threats
from analysis.facts.versions import dependencies, minimums
from analysis.models import Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind

__all__ = ["VERSION", "facts"]

# Incremented whenever a rule changes, so that stored facts are recomputed from the stored patches.
VERSION = 4


def facts(commit: Commit) -> tuple[Fact, ...]:
    """Return all facts found in the commit's message and patches: a revert first, then in the order of `FactKind`."""
    change = Change(commit)
    found = [*reverts(change), *threats(change), *layout(change)]
    # File by file, so that each patch is parsed only once, however large the commit is.
    found += [
        fact for file in commit.files for rule in (_RULES if file.patch else _PATH_RULES) for fact in rule(change, file)
    ]
    unique: dict[tuple[FactKind, str], Fact] = {}
    for fact in found:
        unique.setdefault((fact.kind, _deduplication_key(fact)), fact)
    for fact in found:
        if fact.kind in (
            FactKind.REMOVED_NAME,
            FactKind.RENAMED_NAME,
            FactKind.MOVED_NAME,
        ):  # a removed class also disappears from the lists of supported names
            unique.pop((FactKind.SUPPORT_DROPPED, fact.name), None)
    in_order = sorted(unique.values(), key=lambda fact: _ORDER[fact.kind])
    return tuple(sorted(in_order, key=lambda fact: fact.kind is not FactKind.REVERT))


def _deduplication_key(fact: Fact) -> str:
    """Return the key for duplicates: an interface's methods change together in many classes, unlike `__init__`."""
    return fact.name.rpartition(".")[2] if fact.kind in _METHOD_KINDS and ".__init__(" not in fact.name else fact.name


def _deleted(_change: Change, file: FileChange) -> Iterator[Fact]:
    if file.status == "removed" and kind(file.path) is Kind.SOURCE:
        yield Fact(kind=FactKind.FILE_DELETED, name=file.path, path=file.path)


_ORDER = {each: place for place, each in enumerate(FactKind)}
_METHOD_KINDS = (
    FactKind.REMOVED_PARAMETER,
    FactKind.RENAMED_PARAMETER,
    FactKind.REQUIRED_PARAMETER,
    FactKind.RETYPED,
)
_RULES: tuple[Callable[[Change, FileChange], Iterator[Fact]], ...] = (
    variables,
    flags,
    keys,
    entries,
    routes,
    fields,
    dropped,
    minimums,
    names,
    unexported,
    moved,
    parameters,
    demanded,
    retyped,
    defaults,
    dependencies,
    _deleted,
    tests,
    running,
    guards,
)
_PATH_RULES = (dropped, moved, _deleted)  # rules that need no patch
