"""Facts that a commit proves, each with its file and line, never a guess.

What operators and clients write down counts as removed only when the commit takes its definition away and no added line
defines or mentions it again. What Python imports counts as removed from its module, and as moved where the commit defines
it in another. Tests, documentation and examples prove nothing about what others may depend on. Where a rule cannot tell,
it says nothing.
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

# Raised whenever a rule changes, so that stored facts are found anew from the stored patches.
VERSION = 4


def facts(commit: Commit) -> tuple[Fact, ...]:
    """Every fact that the rules find in the commit's message and patches, a revert first, then in the order of the kinds."""
    change = Change(commit)
    found = [*reverts(change), *threats(change), *layout(change)]
    # File by file, so that however large a commit is, a patch is parsed once.
    found += [
        fact for file in commit.files for rule in (_RULES if file.patch else _OF_PATHS) for fact in rule(change, file)
    ]
    unique: dict[tuple[FactKind, str], Fact] = {}
    for fact in found:
        unique.setdefault((fact.kind, _told_once(fact)), fact)
    for fact in found:
        if fact.kind in (
            FactKind.REMOVED_NAME,
            FactKind.RENAMED_NAME,
            FactKind.MOVED_NAME,
        ):  # a class that goes is no longer listed either
            unique.pop((FactKind.SUPPORT_DROPPED, fact.name), None)
    in_order = sorted(unique.values(), key=lambda fact: _ORDER[fact.kind])
    return tuple(sorted(in_order, key=lambda fact: fact.kind is not FactKind.REVERT))


def _told_once(fact: Fact) -> str:
    """What a fact is told once for: methods of many classes that implement one interface change together; none makes another."""
    return fact.name.rpartition(".")[2] if fact.kind in _OF_METHODS and ".__init__(" not in fact.name else fact.name


def _deleted(_change: Change, file: FileChange) -> Iterator[Fact]:
    if file.status == "removed" and kind(file.path) is Kind.SOURCE:
        yield Fact(kind=FactKind.FILE_DELETED, name=file.path, path=file.path)


_ORDER = {each: place for place, each in enumerate(FactKind)}
_OF_METHODS = (
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
_OF_PATHS = (dropped, moved, _deleted)  # which need no patch
