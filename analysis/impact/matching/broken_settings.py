"""Impacts on what downstream files mention: variables, flags, routes, versions, and pull requests that code waits for."""

from collections.abc import Iterator, Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from analysis.impact.matching.upstream import Upstream
from analysis.impact.surface.mentions import FLAG, PULL, REQUIREMENT, ROUTE, VARIABLE
from analysis.impact.surface.model import SurfaceIndex, Use, UseKind
from analysis.impact.surface.targets import written
from analysis.models import Commit, Fact, FactKind
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_WHAT = {
    FactKind.REMOVED_ENV: VARIABLE,
    FactKind.RENAMED_ENV: VARIABLE,
    FactKind.REMOVED_FLAG: FLAG,
    FactKind.RENAMED_FLAG: FLAG,
    FactKind.REMOVED_ROUTE: ROUTE,
    FactKind.RENAMED_ROUTE: ROUTE,
}
_READS = {UseKind.READ: ImpactKind.ATTRIBUTE, UseKind.IMPORT: ImpactKind.IMPORT}
_LATER_THAN_ANY, _JUST_AFTER = "99999", ".0.0.0.1"
_VERSIONS = (FactKind.MINIMUM_RAISED, FactKind.DEPENDENCY_MOVED)
SETTINGS = frozenset({*_WHAT, *_VERSIONS})


def setting_impacts(facts: Sequence[Fact], index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    """Yield what a commit's facts about settings mean for a surface."""
    for fact in facts:
        if what := _WHAT.get(fact.kind):
            yield from _renamed_or_removed(fact, what, index, before)
        elif fact.kind in _VERSIONS:
            yield from _contradicted(fact, index)


def merged_pull(commit: Commit, index: SurfaceIndex) -> Iterator[Impact]:
    """Yield where downstream code names the pull request of a commit, for want of which it does something by itself."""
    for use in index.mentioning(PULL, str(commit.pr)):
        place = UpstreamPlace(path=commit.files[0].path if commit.files else "", after=commit.title)
        yield _impact(use, ImpactKind.MENTION, Cause.MERGED, f"#{commit.pr}", place, certain=False)


def _renamed_or_removed(fact: Fact, what: str, index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    name = fact.name.split()[-1] if what == ROUTE else fact.name
    cause = Cause.RENAMED if fact.new else Cause.REMOVED
    place = UpstreamPlace(path=fact.path or "", line=fact.line, before=_line(fact, before), after=fact.new)
    for use in index.mentioning(what, name):  # a flag or a route may be of another program
        yield _impact(use, ImpactKind.MENTION, cause, fact.name, place, certain=what == VARIABLE, new=fact.new)
    for use in index.passing(name) if what == VARIABLE else ():
        module = before.module(use.target[:-1]) if use.kind in _READS and use.target[-1] == name else None
        if module and module.path == fact.path:  # which may provide it on demand
            yield _impact(use, _READS[use.kind], cause, written(use.target), place, certain=True, new=fact.new)


def _line(fact: Fact, before: Upstream) -> str | None:
    """Return the line of a removed name."""
    lines = (before.revision.text(fact.path or "") or "").split("\n")
    return lines[fact.line - 1].strip() if fact.line and fact.line <= len(lines) else fact.old


def _contradicted(fact: Fact, index: SurfaceIndex) -> Iterator[Impact]:
    if fact.new is None or "+" in fact.new:  # a local version is a build for one platform
        return
    for use in index.mentioning(REQUIREMENT, canonicalize_name(fact.name)):
        # What was excluded before is not broken by this commit.
        if _contradicts(use.target[2], fact.new) and not _contradicts(use.target[2], fact.old or ""):
            place = UpstreamPlace(path=fact.path or "", line=fact.line, before=fact.old, after=fact.new)
            yield _impact(use, ImpactKind.VERSION, Cause.VERSION, fact.name, place, certain=True, new=fact.new)


def _contradicts(pinned: str, required: str) -> bool:
    """Return whether a downstream requirement and one of upstream exclude each other."""
    try:
        own, theirs = SpecifierSet(pinned), SpecifierSet(required)
    except InvalidSpecifier:
        return False
    both = own & theirs
    # Of versions between two that are named, one stands for all.
    named = [each.version.removesuffix(".*") for each in both]
    candidates = ["0", _LATER_THAN_ANY, *named, *(f"{each}{_JUST_AFTER}" for each in named)]
    return not any(both.contains(version, prereleases=True) for version in candidates)


def _impact(
    use: Use,
    kind: ImpactKind,
    cause: Cause,
    name: str,
    upstream: UpstreamPlace,
    *,
    certain: bool,
    new: str | None = None,
) -> Impact:
    return Impact(
        kind=kind,
        certainty=Certainty.PROVEN if certain else Certainty.LIKELY,
        cause=cause,
        name=name,
        new=new,
        upstream=upstream,
        downstream=DownstreamPlace(path=use.path, line=use.line, code=use.code),
    )
