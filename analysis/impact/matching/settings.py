"""Impacts of changed settings: what downstream files mention or read of variables, flags, keys, routes, operators and versions."""

import re
from collections.abc import Iterator, Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from analysis.impact.matching.quotation import quoted
from analysis.impact.matching.signatures import called_with
from analysis.impact.matching.upstream import Place, Presence, Upstream
from analysis.impact.surface.mentions import FLAG, KEY, OPERATOR, REQUIREMENT, ROUTE, VARIABLE
from analysis.impact.surface.model import SurfaceIndex, Use, UseKind
from analysis.impact.surface.targets import written
from analysis.models import Commit, Fact, FactKind
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace
from analysis.paths import Kind, kind

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
_READS = {UseKind.READ: ImpactKind.ATTRIBUTE, UseKind.IMPORT: ImpactKind.IMPORT}
_SWITCH = {"True", "False"}  # a default whose readers go another way
_LATER_THAN_ANY, _JUST_AFTER = "99999", ".0.0.0.1"
_VERSIONS = (FactKind.MINIMUM_RAISED, FactKind.DEPENDENCY_MOVED)
SETTINGS = frozenset({*_WHAT, *_VERSIONS, FactKind.DEFAULT_CHANGED})
_CERTAIN = (VARIABLE,)  # names that nobody else has; a flag, a key or a route may be of another program
_DEFINED_OPERATOR = re.compile(
    r"""op_name\s*=\s*["'](\w+)["']|direct_register_custom_op\(\s*["'](\w+)|\b(?:ops|m)\.def\(\s*"(\w+)"""
)


def setting_impacts(
    commit: Commit, facts: Sequence[Fact], index: SurfaceIndex, before: Upstream, after: Upstream
) -> Iterator[Impact]:
    """Yield what a commit's facts about settings, and the operators that it no longer defines, mean for a surface."""
    for fact in facts:
        if what := _WHAT.get(fact.kind):
            yield from _renamed_or_removed(fact, what, index, before)
        elif fact.kind in _VERSIONS:
            yield from _contradicted(fact, index)
        elif fact.kind is FactKind.DEFAULT_CHANGED:
            yield from _default(fact, index, before, after)
    for name, (path, line) in _removed_operators(commit).items():
        for use in index.mentioning(OPERATOR, name):
            namespace = use.target[1].partition(".")[0]
            place = UpstreamPlace(path=path, before=line)
            certain = namespace in index.surface.packages  # or it may be of another library
            yield _impact(use, ImpactKind.MENTION, Cause.REMOVED, name, place, certain=certain)


def _renamed_or_removed(fact: Fact, what: str, index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    name = fact.name.rpartition(".")[2] if what == KEY else fact.name.split()[-1] if what == ROUTE else fact.name
    cause = Cause.RENAMED if fact.new else Cause.REMOVED
    place = UpstreamPlace(path=fact.path or "", line=fact.line, before=_line(fact, before), after=fact.new)
    for use in index.mentioning(what, name):
        advice = (
            re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", fact.new, use.code) if fact.new and what != KEY else None
        )
        yield _impact(
            use,
            ImpactKind.MENTION,
            cause,
            fact.name,
            place,
            certain=what in _CERTAIN,
            new=fact.new,
            advice=advice,
        )
    for use in index.passing(name) if what == VARIABLE else ():
        if use.kind in _READS and use.target[-1] == name and _is_of_module(use, fact, before):
            yield _impact(use, _READS[use.kind], cause, written(use.target), place, certain=True, new=fact.new)


def _line(fact: Fact, before: Upstream) -> str | None:
    """Return the line of a removed name."""
    lines = (before.revision.text(fact.path or "") or "").split("\n")
    return lines[fact.line - 1].strip() if fact.line and fact.line <= len(lines) else fact.old


def _is_of_module(use: Use, fact: Fact, before: Upstream) -> bool:
    """Return whether a use reads a name of the module that a fact is about, which may provide it on demand."""
    module = before.module(use.target[:-1])
    return module is not None and module.path == fact.path


def _contradicted(fact: Fact, index: SurfaceIndex) -> Iterator[Impact]:
    if fact.new is None or "+" in fact.new:  # a local version is a build for one platform
        return
    for use in index.mentioning(REQUIREMENT, canonicalize_name(fact.name)):
        # What was excluded before is not broken by this commit.
        if _contradicts(use.target[2], fact.new) and not _contradicts(use.target[2], fact.old or ""):
            place = UpstreamPlace(path=fact.path or "", line=fact.line, before=fact.old, after=fact.new)
            yield _impact(use, ImpactKind.VERSION, Cause.VERSION, fact.name, place, certain=True, new=fact.new)


def _default(fact: Fact, index: SurfaceIndex, before: Upstream, after: Upstream) -> Iterator[Impact]:
    """Yield the places that mention a setting, or read an attribute, whose default is another by now.

    A default of None says that other code decides: from it, or to it, nothing follows for who relies on the value.
    """
    if "None" in (fact.old, fact.new):
        return
    owner, _, name = fact.name.rpartition(".")
    place = UpstreamPlace(path=fact.path or "", line=fact.line, before=fact.old, after=fact.new)
    if not owner:
        for use in index.mentioning(FLAG if name.startswith("--") else VARIABLE, name):
            yield _impact(use, ImpactKind.DEFAULT, Cause.DEFAULT_CHANGED, name, place, certain=False, new=fact.new)
        return
    for use in index.passing(name) if {fact.old, fact.new} == _SWITCH else ():
        if use.kind is UseKind.READ and use.target[-1] == name and (read := _field(use, owner, before)):
            now = _field(use, owner, after)
            place = place.model_copy(update={"before": quoted(read), "after": quoted(now) if now else fact.new})
            whole = ".".join((*before.dotted(read.module), fact.name))
            yield _impact(use, ImpactKind.DEFAULT, Cause.DEFAULT_CHANGED, whole, place, certain=False, new=fact.new)
    for use in index.passing(owner):
        # A test makes what it needs.
        if kind(use.path) is not Kind.TEST and _omits(use, owner, name, before):
            constructed = before.find(use.target).last
            whole = ".".join((*before.dotted(constructed.module), fact.name))
            yield _impact(use, ImpactKind.DEFAULT, Cause.DEFAULT_CHANGED, whole, place, certain=False, new=fact.new)


def _omits(use: Use, owner: str, name: str, upstream: Upstream) -> bool:
    """Return whether a call constructs a class and leaves a field to its default."""
    if use.arguments is None or use.target[-1] != owner or use.arguments.any_keywords or use.arguments.any_positional:
        return False
    parameters = called_with(upstream, upstream.find(use.target)) or ()
    positions = [each.name for each in parameters if each.positional]
    return name in {each.name for each in parameters} and name not in (
        *use.arguments.keywords,
        *positions[: use.arguments.positional],
    )


def _field(use: Use, owner: str, upstream: Upstream) -> Place | None:
    """Return the definition that a use reads of a class with this name."""
    found = upstream.find(use.target)
    if found.presence is not Presence.PRESENT or found.last.owner is None or found.last.owner.name != owner:
        return None
    return found.last


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
