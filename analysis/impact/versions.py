"""The uses of a surface at several upstream versions: which fit there, and what breaks where they do not.

A version breaks a use only if another one is right for it: what none has may come from elsewhere, or from the running program.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from analysis.facts.python.module import Function
from analysis.facts.python.revision import Revision
from analysis.impact.matching import MAX_CHARACTERS, impacts, worst_first
from analysis.impact.matching.broken_uses import Matching, inherited_abstract_methods
from analysis.impact.matching.callers import Callers
from analysis.impact.matching.changes import Successors
from analysis.impact.matching.signatures import call_misfits, called_with, is_callable_as, own_parameters
from analysis.impact.matching.upstream import Presence, Upstream
from analysis.impact.reversal import reversed_commit
from analysis.impact.surface.model import Surface, SurfaceIndex, Use, UseKind
from analysis.impact.surface.targets import written
from analysis.models import Commit, FileChange, Tree, Trees
from analysis.models.compatibility import UnseenName, Version, VersionBreak
from analysis.models.impacts import Cause, Certainty, Impact, ImpactKind
from analysis.paths import Kind, kind

_NOT_JUDGED = (Kind.TEST, Kind.EXAMPLE, Kind.DOCS, Kind.CI)  # what may be left behind, and breaks no user
_GONE = (Cause.REMOVED, Cause.MOVED, Cause.RENAMED)
_INERT = (ImpactKind.OVERRIDE, ImpactKind.REPLACEMENT)  # which nothing calls where upstream does not have the name


class UpstreamVersion(NamedTuple):
    """The files of an upstream version, and the folders that hold its packages, by their names."""

    tree: Tree
    roots: Mapping[str, str]


class Fit(NamedTuple):
    """What each version breaks, the names that none has, and the number of uses that cannot be followed to a definition."""

    breaks: tuple[tuple[VersionBreak, ...], ...]
    unseen: tuple[UnseenName, ...]
    unknown: int


def judged_surface(surface: Surface) -> Surface:
    """Return the part of a surface that is compared with versions: its code, but for tests, examples and documentation.

    What a file imports under guards alone is guarded wherever the file uses it.
    """
    uses = [each for each in surface.uses if _is_judged(each.path)]
    imports = [each for each in uses if each.kind is UseKind.IMPORT]
    whole = {(each.path, each.target) for each in imports if not each.guarded}
    guarded = {(each.path, each.target) for each in imports if each.guarded} - whole
    marked = (
        each.model_copy(update={"guarded": True})
        if any((each.path, each.target[:length]) in guarded for length in range(1, len(each.target) + 1))
        else each
        for each in uses
    )
    return surface.model_copy(update={"uses": tuple(marked)})


def _is_judged(path: str) -> bool:
    return kind(path) not in _NOT_JUDGED


class VersionComparison:
    """One surface, and several upstream versions, the oldest first, that are referred to by their places in the order."""

    def __init__(self, versions: Sequence[UpstreamVersion], surface: Surface) -> None:
        self._surface = surface
        self._index = SurfaceIndex(surface)
        self._upstreams = [
            Upstream(Revision(each.tree, MAX_CHARACTERS), each.roots, surface.subclasses) for each in versions
        ]
        self._matching = cache(self._new_matching)
        self._callers = cache(self._new_callers)

    def fit(self) -> Fit:
        """Compare the uses with the versions; only modules that they touch are read. Guarded uses are passed over."""
        broken: list[list[VersionBreak]] = [list(self._required(version)) for version in self._versions]
        unseen: dict[str, UnseenName] = {}
        unknown = 0
        for use in self._surface.uses:
            right = [] if use.guarded else [each for each in self._versions if self._fits(use, self._upstreams[each])]
            for version in self._versions if right else ():
                if version not in right:
                    nearest = min(right, key=lambda each: abs(each - version))
                    broken[version] += self._breaks(nearest, version, self._of_use(use, nearest, version))
            if not (right or use.guarded or use.kind is UseKind.OVERRIDE):
                if all(each.find(use.target).presence is Presence.MISSING for each in self._upstreams):
                    unseen.setdefault(name := written(use.target), UnseenName(name=name, path=use.path, line=use.line))
                else:
                    unknown += 1
        return Fit(tuple(_once(each, self._index) for each in broken), tuple(unseen.values()), unknown)

    @property
    def _versions(self) -> range:
        return range(len(self._upstreams))

    def _new_matching(self, before: int, after: int) -> Matching:
        sides = self._upstreams[before], self._upstreams[after]
        return Matching(*sides, Successors((), (), *sides), None, self._index)

    def _new_callers(self, path: str, version: int) -> Callers:
        return Callers([FileChange(path=path)], self._upstreams[version].revision, self._index)

    def _of_use(self, use: Use, before: int, after: int) -> Sequence[Impact]:
        """Return what no longer fits of a use; of an override only if it has other callers than what its class replaces as well."""
        matching, upstream = self._matching(before, after), self._upstreams[after]
        with suppress(RecursionError):
            if use.kind is UseKind.OVERRIDE and (places := upstream.find(use.target).places):
                matching = replace(matching, callers=self._callers(places[-1].module.path, after))
            return matching.of_use(use)
        return ()

    def _fits(self, use: Use, upstream: Upstream) -> bool:
        """Return whether a version has what a use names, so that the call or the override fits."""
        try:
            found = upstream.find(use.target)
        except RecursionError:  # of code that is nested too deep to be followed
            return False
        if found.presence is not Presence.PRESENT:
            return False
        if use.arguments is not None:
            parameters = called_with(upstream, found)
            return parameters is None or not any(call_misfits(use.arguments, parameters))
        if use.parameters is not None and isinstance(found.last.member, Function):
            parameters = own_parameters(found.last)
            return parameters is None or is_callable_as(use.parameters, parameters)
        return True

    def _required(self, version: int) -> Iterator[VersionBreak]:
        """Yield the methods that classes lack at a version, and need not have at another one."""
        for each in filter(lambda each: _is_judged(each.path), self._surface.subclasses.values()):
            names = inherited_abstract_methods(self._upstreams[version], each) - each.members
            for other in self._versions if names else ():
                yield from self._breaks(other, version, self._matching(other, version).required(each, names))

    def _breaks(self, right: int, version: int, found: Iterable[Impact]) -> Iterator[VersionBreak]:
        yield from filter(_counts, (_break(each, early=right > version) for each in found))


def commit_breaks(
    commit: Commit, trees: Trees, wanted: Sequence[VersionBreak], surface: Surface, roots: Mapping[str, str]
) -> tuple[VersionBreak, ...]:
    """Return what a single commit does of the breaks that a version has: it brings those, or ends those that are early.

    They are all of one kind, and early ones are told as what the commit's reverse breaks.
    """
    early = wanted[0].early
    if early:
        commit, trees = reversed_commit(commit), Trees(trees.after, trees.before)
    words = {word for each in wanted for word in (each.impact.name.rpartition(".")[2], *each.impact.subjects)}
    named = re.compile(rf"^[-+].*\b(?:{'|'.join(map(re.escape, sorted(words)))})\b", re.MULTILINE)
    if not any(each.status != "modified" or each.patch is None or named.search(each.patch) for each in commit.files):
        return ()
    lines = {each.line for each in wanted}
    found = (_break(each, early=early) for each in impacts(commit, trees, SurfaceIndex(surface, lines), roots, ()))
    return tuple(each for each in found if each.line in lines and _counts(each))


def widest_range(versions: Sequence[Version]) -> tuple[int, int]:
    """Return the first and the last of the versions beside the best one, the newest with the fewest lines, that break no other line."""
    best = min(range(len(versions)), key=lambda each: (len(versions[each].lines), -each))
    first = last = best
    while first and versions[first - 1].lines <= versions[best].lines:
        first -= 1
    while last + 1 < len(versions) and versions[last + 1].lines <= versions[best].lines:
        last += 1
    return first, last


def _break(impact: Impact, *, early: bool) -> VersionBreak:
    """Return a break; what to write instead is known of those that upstream brings."""
    return VersionBreak(impact=impact.model_copy(update={"advice": None}) if early else impact, early=early)


def _counts(found: VersionBreak) -> bool:
    """Return whether something fails: what upstream does not call, or no longer, does not."""
    inert = found.impact.kind in _INERT and found.impact.cause in _GONE
    return found.impact.certainty is Certainty.PROVEN and not inert


def _once(found: Sequence[VersionBreak], index: SurfaceIndex) -> tuple[VersionBreak, ...]:
    """Return each break once, as `worst_first` does."""
    early = {(each.line, each.impact.name): each.early for each in reversed(found)}
    kept = (VersionBreak(impact=each) for each in worst_first((each.impact for each in found), index))
    return tuple(each.model_copy(update={"early": early[each.line, each.impact.name]}) for each in kept)
