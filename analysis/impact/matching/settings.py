"""Impacts of changed settings: what downstream files mention or read of variables, flags, keys, routes, operators and versions."""

import re
from collections.abc import Iterator, Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from analysis.impact.matching.upstream import Presence, Upstream
from analysis.impact.surface.index import SurfaceIndex
from analysis.impact.surface.mentions import FLAG, KEY, OPERATOR, REQUIREMENT, ROUTE, VARIABLE, normalized
from analysis.impact.surface.model import Use, UseKind
from analysis.models import Commit, Fact, FactKind
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_WHAT = {
    FactKind.REMOVED_ENV: VARIABLE,
    FactKind.RENAMED_ENV: VARIABLE,
    FactKind.REMOVED_FLAG: FLAG,
    FactKind.RENAMED_FLAG: FLAG,
    FactKind.REMOVED_ROUTE: ROUTE,
    FactKind.RENAMED_ROUTE: ROUTE,
    FactKind.REMOVED_KEY: KEY,
    FactKind.RENAMED_KEY: KEY,
    FactKind.REMOVED_FIELD: KEY,
    FactKind.RENAMED_FIELD: KEY,
}
_VERSIONS = (FactKind.MINIMUM_RAISED, FactKind.DEPENDENCY_MOVED)
SETTINGS = frozenset({*_WHAT, *_VERSIONS, FactKind.DEFAULT_CHANGED})
_CERTAIN = (VARIABLE,)  # names that nobody else has; a flag, a key or a route may be of another program
_DEFINED_OPERATOR = re.compile(
    r"""op_name\s*=\s*["'](\w+)["']|direct_register_custom_op\(\s*["'](\w+)|\b(?:ops|m)\.def\(\s*"(\w+)"""
)


def setting_impacts(commit: Commit, facts: Sequence[Fact], index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    """Yield what a commit's facts about settings, and the operators that it no longer defines, mean for a surface."""
    for fact in facts:
        if what := _WHAT.get(fact.kind):
            yield from _renamed_or_removed(fact, what, index)
        elif fact.kind in _VERSIONS:
            yield from _contradicted(fact, index)
        elif fact.kind is FactKind.DEFAULT_CHANGED:
            yield from _default(fact, index, before)
    for name, (path, line) in _removed_operators(commit).items():
        for use in index.mentioning(OPERATOR, name):
            namespace = use.target[1].partition(".")[0]
            place = UpstreamPlace(path=path, before=line)
            certain = namespace in index.surface.packages  # or it may be of another library
            yield _impact(use, ImpactKind.MENTION, Cause.REMOVED, name, place, certain=certain)


def _renamed_or_removed(fact: Fact, what: str, index: SurfaceIndex) -> Iterator[Impact]:
    name = fact.name.rpartition(".")[2] if what == KEY else fact.name.split()[-1] if what == ROUTE else fact.name
    cause = Cause.RENAMED if fact.new else Cause.REMOVED
    for use in index.mentioning(what, name):
        advice = (
            re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", fact.new, use.code) if fact.new and what != KEY else None
        )
        yield _impact(
            use,
            ImpactKind.MENTION,
            cause,
            fact.name,
            _place(fact),
            certain=what in _CERTAIN,
            new=fact.new,
            advice=advice,
        )


def _contradicted(fact: Fact, index: SurfaceIndex) -> Iterator[Impact]:
    if fact.new is None or "+" in fact.new:  # a local version is a build for one platform
        return
    for use in index.mentioning(REQUIREMENT, normalized(fact.name)):
        if _contradicts(use.target[2], fact.new):
            yield _impact(use, ImpactKind.VERSION, Cause.VERSION, fact.name, _place(fact), certain=True, new=fact.new)


def _default(fact: Fact, index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    """Yield the places that mention a setting, or read an attribute, whose default is another by now."""
    owner, _, name = fact.name.rpartition(".")
    uses: list[Use] = []
    if not owner:
        uses += index.mentioning(FLAG if name.startswith("--") else VARIABLE, name)
    else:
        for use in index.passing(name):
            found = before.find(use.target) if use.kind is UseKind.READ and use.target[-1] == name else None
            if found and found.presence is Presence.PRESENT and found.last.owner and found.last.owner.name == owner:
                uses.append(use)
    for use in uses:
        yield _impact(
            use, ImpactKind.DEFAULT, Cause.DEFAULT_CHANGED, fact.name, _place(fact), certain=False, new=fact.new
        )


def _removed_operators(commit: Commit) -> dict[str, tuple[str, str]]:
    """Return each custom operator that a commit no longer defines, with the file and the line that did."""
    sides: dict[str, dict[str, tuple[str, str]]] = {"-": {}, "+": {}}
    for file in commit.files:
        for line in (file.patch or "").split("\n"):
            if line[:1] in sides and (match := _DEFINED_OPERATOR.search(line)):
                name = next(filter(None, match.groups()))
                sides[line[0]][name] = (file.previous_path or file.path, line[1:].strip())
    return {name: place for name, place in sides["-"].items() if name not in sides["+"]}


def _contradicts(pinned: str, required: str) -> bool:
    """Return whether a downstream requirement and one of upstream exclude each other."""
    try:
        own, theirs = SpecifierSet(pinned), SpecifierSet(required)
    except InvalidSpecifier:
        return False
    return any(not own.contains(version, prereleases=True) for version in _exact(theirs)) or any(
        not theirs.contains(version, prereleases=True) for version in _exact(own)
    )


def _exact(specifiers: SpecifierSet) -> list[str]:
    return [each.version for each in specifiers if each.operator == "==" and not each.version.endswith("*")]


def _place(fact: Fact) -> UpstreamPlace:
    return UpstreamPlace(path=fact.path or "", line=fact.line, before=fact.old, after=fact.new)


def _impact(
    use: Use,
    kind: ImpactKind,
    cause: Cause,
    name: str,
    upstream: UpstreamPlace,
    *,
    certain: bool,
    new: str | None = None,
    advice: str | None = None,
) -> Impact:
    return Impact(
        kind=kind,
        certainty=Certainty.PROVEN if certain else Certainty.LIKELY,
        cause=cause,
        name=name,
        new=new,
        advice=advice,
        upstream=upstream,
        downstream=DownstreamPlace(path=use.path, line=use.line, code=use.code),
    )
