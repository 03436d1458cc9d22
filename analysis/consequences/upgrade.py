"""The commits of a range by their consequences: each in one group, its worst, and within a group what reaches most first."""

from collections.abc import Collection, Mapping, Sequence

from analysis.consequences import consequences, order
from analysis.models import BREAKING, DEPENDENCIES, ChangeType, Entry, Fact, FactKind, Language
from analysis.models.consequences import Whom
from analysis.models.impacts import Certainty, DownstreamImpacts, ImpactKind
from analysis.models.upgrades import UpgradeGroup, UpgradeRow

_IMPACT_KINDS = list(ImpactKind)  # what stops a whole module comes first
_BEHAVIOUR = DEPENDENCIES | {FactKind.DEFAULT_CHANGED, FactKind.RETYPED, FactKind.DEPRECATED}
_KINDS = {
    UpgradeGroup.BREAKING: frozenset(BREAKING) - DEPENDENCIES,
    UpgradeGroup.BEHAVIOUR: _BEHAVIOUR,
    UpgradeGroup.SECURITY: frozenset({FactKind.SECURITY}),
}
_ADDITIONS = frozenset({ChangeType.FEATURE, ChangeType.MODEL_SUPPORT})


def group_by_consequence(
    entries: Sequence[Entry],
    net: Mapping[str, Sequence[Fact]],
    undone: Collection[str],
    found: Mapping[str, tuple[DownstreamImpacts, ...]],
    language: Language,
) -> dict[UpgradeGroup, tuple[UpgradeRow, ...]]:
    """Group the commits of a range: those that are `undone` within it have no consequence, and most others none either.

    `net` maps SHA -> facts of those whose facts do not all stand at the end, `found` SHA -> what breaks downstream.
    """
    groups: dict[UpgradeGroup, list[UpgradeRow]] = {each: [] for each in UpgradeGroup}
    for entry in entries:
        sha = entry.commit.sha
        facts, broken = tuple(net.get(sha, entry.facts)), found.get(sha, ())
        group = None if sha in undone else _group(entry, facts, broken)
        if group:
            told = consequences(entry, language, facts)
            groups[group].append(UpgradeRow(entry=entry, facts=facts, consequences=told, found=broken))
    return {group: tuple(sorted(rows, key=row_order)) for group, rows in groups.items()}


def severity(found: Sequence[DownstreamImpacts]) -> tuple[bool, int, int]:
    """Return the sort key of what a commit breaks, worst first: proven before likely, then by kind and by places."""
    every = [impact for each in found for impact in each.impacts]
    proven = [each for each in every if each.certainty is Certainty.PROVEN]
    kind = min(_IMPACT_KINDS.index(each.kind) for each in proven or every)
    return not proven, kind, -len(proven or every)


def _group(entry: Entry, facts: Sequence[Fact], found: Sequence[DownstreamImpacts]) -> UpgradeGroup | None:
    if found:
        return UpgradeGroup.BREAKS_YOU
    for group, kinds in _KINDS.items():
        if any(each.kind in kinds for each in facts):
            return group
    types = frozenset(entry.ranked.change_types)
    if ChangeType.SECURITY in types:
        return UpgradeGroup.SECURITY
    return UpgradeGroup.ADDITIONS if types & _ADDITIONS and ChangeType.BUG_FIX not in types else None


def row_order(row: UpgradeRow) -> tuple[object, ...]:
    """Return the sort key of a commit of an upgrade, the worst first."""
    score = -row.entry.ranked.score
    if row.found:
        return (*severity(row.found), score)
    return (*order(row.consequences[0]), score) if row.consequences else (len(Whom), score)
