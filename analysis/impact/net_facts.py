"""The net change of a window of commits, without what one of them changes and another undoes.

A commit's own facts never depend on a window; this decides only what is shown as a change of the whole window.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.facts import facts
from analysis.facts.dependencies import ANY_VERSION
from analysis.facts.syntax import collecting_no_garbage
from analysis.impact.reversal import reversed_commit, undone_commits
from analysis.models import DEPENDENCIES, Commit, Entry, Fact, FactKind, FileChange, Trees

_RENAMED = {
    kind: FactKind[kind.name.replace("RENAMED_", "REMOVED_")] for kind in FactKind if kind.name.startswith("RENAMED_")
}
_MOVED = (FactKind.MOVED_NAME, FactKind.MOVED_MODULE)
# What one file loses another may still have: a module's name or a member of its class, a server's route, a command's flag.
_IN_FILE = (
    FactKind.REMOVED_NAME,
    FactKind.REMOVED_METHOD,
    FactKind.REMOVED_ATTRIBUTE,
    FactKind.REMOVED_BASE,
    FactKind.REMOVED_ROUTE,
    FactKind.REMOVED_FLAG,
    FactKind.REMOVED_METRIC,
)
# The reverse of a move is a move: without places, moves of one parameter cannot be told from each other. So it is with a
# method that becomes a property.
_EITHER_WAY = (FactKind.MOVED_PARAMETER, FactKind.MEMBER_KIND)
_MAX_FILES = 100
_ABSENT = "absent"  # the version of a dependency that there is not
_REMOVED = tuple(kind for kind in FactKind if kind.name.startswith("REMOVED_"))
_VALUES = (FactKind.DEFAULT_CHANGED, FactKind.RETYPED, FactKind.RETURNED_VALUES, FactKind.EXTRA_MOVED, *DEPENDENCIES)


class _Subject(NamedTuple):
    """What a fact is about: a name of a kind, in a file where another file may have one of that name."""

    kind: FactKind
    name: str
    path: str | None = None


class _Event(NamedTuple):
    """A subject at one commit of the window: gone (`fact` says so) or there again (no `fact`)."""

    commit: int
    fact: Fact | None


class _Change(NamedTuple):
    """A value that changes at one commit of the window."""

    commit: int
    fact: Fact


class NameInFile(NamedTuple):
    """A file, and a name that a commit of the window takes from it."""

    path: str
    name: str


Additions = Callable[[Mapping[str, frozenset[NameInFile]]], Mapping[str, Sequence[Fact]]]


@collecting_no_garbage()
def net_facts(entries: Sequence[Entry], additions: Additions) -> dict[str, tuple[Fact, ...]]:
    """Return what a window's commits, oldest first, change in sum: SHA -> facts, of the commits whose own facts differ.

    `additions` maps SHA -> places to SHA -> the facts of the reversed commit, for the few commits that may add the names.
    """
    undone = undone_commits(entries)
    window = [() if entry.commit.sha in undone else entry.facts for entry in entries]
    added = additions(_wanted(entries, window))
    reverse = [() if entry.commit.sha in undone else added.get(entry.commit.sha, ()) for entry in entries]
    found = [list(each) for each in window]
    _net_removals(window, reverse, found)
    _net_values(window, reverse, found)
    return {
        entry.commit.sha: tuple(stands)
        for entry, stands in zip(entries, found, strict=True)
        if tuple(stands) != entry.facts
    }


def added_facts(commit: Commit, places: Collection[NameInFile], trees: Trees | None = None) -> tuple[Fact, ...]:
    """Return what a commit adds in some places, as what its reverse breaks; other files prove nothing about them.

    A commit that mentions names of more than a hundred files reformats, and adds nothing: reversing it takes seconds.
    """
    files = [file for file in commit.files if any(_may_add(file, place) for place in places)]
    if not files or len(files) > _MAX_FILES:
        return ()
    reversed_trees = Trees(trees.after, trees.before) if trees else None
    return facts(reversed_commit(commit.model_copy(update={"files": tuple(files)})), reversed_trees, only_breaking=True)


def _may_add(file: FileChange, place: NameInFile) -> bool:
    if place.path not in (file.path, file.previous_path):
        return False
    added = [line for line in (file.patch or "").split("\n") if line.startswith("+")]
    return place.name in "\n".join([file.path, *added])


def _wanted(entries: Sequence[Entry], window: Sequence[Sequence[Fact]]) -> dict[str, frozenset[NameInFile]]:
    """Return the commits that touch a file from which another of the window takes something, with these places."""
    touching: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        for path in {path for file in entry.commit.files for path in file.paths}:
            touching.setdefault(path, []).append(index)
    wanted: dict[int, set[NameInFile]] = {}
    for index, found in enumerate(window):
        for fact in found:
            if fact.path and (fact.breaking or fact.kind in _VALUES):
                place = NameInFile(fact.path, _last_name(fact.name))
                for other in touching.get(fact.path, ()):
                    if other != index:
                        wanted.setdefault(other, set()).add(place)
    return {entries[index].commit.sha: frozenset(wanted[index]) for index in sorted(wanted)}


def _last_name(name: str) -> str:
    """Return the part of a name that stands on the line that defines it: `size` of `Pool.take(size)` and `a/size.py`."""
    return re.split(r"[./(]", name.rstrip(")").removesuffix(".py"))[-1] or name


def _subject(fact: Fact) -> _Subject:
    kind = FactKind.REMOVED_NAME if fact.kind is FactKind.MOVED_NAME else _RENAMED.get(fact.kind, fact.kind)
    name = f"{fact.name} {fact.old}" if kind is FactKind.VALUES_DROPPED else fact.name
    return _Subject(kind, name, fact.path if kind in _IN_FILE else None)


def _successor(fact: Fact) -> _Subject | None:
    """Return what took the place of a renamed or moved subject."""
    if not fact.new or not (fact.kind in _RENAMED or fact.kind in _MOVED):
        return None
    subject = _subject(fact)
    if fact.kind is FactKind.MOVED_NAME:
        return subject._replace(path=fact.new.rpartition(":")[0])
    name = f"{fact.name.rpartition('(')[0]}({fact.new})" if fact.kind is FactKind.RENAMED_PARAMETER else fact.new
    return subject._replace(name=name)


def _net_removals(
    window: Sequence[Sequence[Fact]], reverse: Sequence[Sequence[Fact]], found: Sequence[list[Fact]]
) -> None:
    """Leave each subject that was there before the window and is gone after it at the last commit that removes it."""
    timeline = _timeline(window, reverse)
    for events in timeline.values():
        is_net = events[0].fact and events[-1].fact
        for event in events[:-1] if is_net else events:
            if event.fact:
                found[event.commit].remove(event.fact)
        at, last = events[-1]
        if is_net and last:
            facts_there = found[at]
            facts_there[facts_there.index(last)] = _with_last_successor(last, timeline)


def _with_last_successor(fact: Fact, timeline: Mapping[_Subject, Sequence[_Event]]) -> Fact:
    """Return a renaming or a move with what has taken the subject's place by the end; a removal if nothing has."""
    end, seen = fact, set[_Subject]()
    while (successor := _successor(end)) and successor not in seen and (last := timeline[successor][-1].fact):
        seen.add(successor)
        end = last
    if end is fact:
        return fact
    if end.new and fact.kind is end.kind:
        return fact.model_copy(update={"new": end.new})
    return end.model_copy(update={"name": fact.name, "path": fact.path, "line": fact.line})


def _timeline(window: Sequence[Sequence[Fact]], reverse: Sequence[Sequence[Fact]]) -> dict[_Subject, list[_Event]]:
    """Return when each removed subject is gone and when it is there again; it is there first what replaces another."""
    timeline: dict[_Subject, list[_Event]] = {}
    for index, (taken, added) in enumerate(zip(window, reverse, strict=True)):
        removed = [fact for fact in taken if fact.breaking and fact.kind not in (*_VALUES, *_EITHER_WAY)]
        there = {_subject(fact) for fact in added if fact.breaking and fact.kind not in _EITHER_WAY} | {
            _successor(fact) for fact in removed
        }
        for subject in there:
            if subject:
                timeline.setdefault(subject, []).append(_Event(index, None))
        for fact in removed:
            timeline.setdefault(_subject(fact), []).append(_Event(index, fact))
    return timeline


def _net_values(
    window: Sequence[Sequence[Fact]], reverse: Sequence[Sequence[Fact]], found: Sequence[list[Fact]]
) -> None:
    """Leave each value that is another after the window at the last commit that changes it, with the first old value."""
    introduced: dict[str, int] = {}
    for index, added in enumerate(reverse):
        for fact in added:
            if fact.kind in _REMOVED:
                introduced.setdefault(fact.name, index)
    for run in _runs(window):
        first, last = run[0], run[-1]
        is_new = introduced.get(first.fact.name, first.commit) < first.commit
        net = None if is_new else _net_value(first.fact, last.fact) if len(run) > 1 else last.fact
        for each in run[:-1] if net else run:
            found[each.commit].remove(each.fact)
        if net:
            found[last.commit][found[last.commit].index(last.fact)] = net


def _runs(window: Sequence[Sequence[Fact]]) -> Iterator[list[_Change]]:
    """Yield the changes of each value that continue each other: the new value of one is the old value of the next."""
    runs: dict[tuple[str, str], list[_Change]] = {}
    for index, taken in enumerate(window):
        for fact in taken:
            if fact.kind in _VALUES:
                key = ("dependency" if fact.kind in DEPENDENCIES else fact.kind.value, fact.name)
                run = runs.get(key)
                if run and _after(run[-1].fact) == _before(fact):
                    run.append(_Change(index, fact))
                else:
                    if run:
                        yield run
                    runs[key] = [_Change(index, fact)]
    yield from runs.values()


def _net_value(first: Fact, last: Fact) -> Fact | None:
    """Return the change from the first old to the last new value; None if they are the same."""
    if _before(first) == _after(last):
        return None
    kind = last.kind
    if kind in DEPENDENCIES and _before(first) == _ABSENT:
        new = None if last.new == ANY_VERSION else last.new
        return last.model_copy(update={"kind": FactKind.DEPENDENCY_ADDED, "old": None, "new": new})
    if kind is FactKind.DEPENDENCY_ADDED:
        kind = FactKind.DEPENDENCY_MOVED
    return last.model_copy(update={"kind": kind, "old": first.old})


def _before(fact: Fact) -> str | None:
    return _ABSENT if fact.kind is FactKind.DEPENDENCY_ADDED else fact.old


def _after(fact: Fact) -> str | None:
    return _ABSENT if fact.kind is FactKind.DEPENDENCY_REMOVED else fact.new
