"""The commits of a range by their consequences: each in one group, its worst, and within a group what reaches most first."""

from collections.abc import Collection, Mapping, Sequence

from analysis.consequences import consequences, order
from analysis.models import BREAKING, ChangeType, Entry, Fact, FactKind
from analysis.models.consequences import Whom
from analysis.models.impacts import Certainty, DownstreamImpacts, ImpactKind
from analysis.models.upgrades import UpgradeGroup, UpgradeRow

_IMPACT_KINDS = list(ImpactKind)  # what stops a whole module comes first
_BEHAVIOUR = frozenset(
    {
        FactKind.DEFAULT_CHANGED,
        FactKind.RETYPED,
        FactKind.DEPRECATED,
        FactKind.DEPENDENCY_ADDED,
        FactKind.DEPENDENCY_MOVED,
        FactKind.DEPENDENCY_REMOVED,
    }
)
_KINDS = {
    UpgradeGroup.BREAKING: BREAKING,
    UpgradeGroup.BEHAVIOUR: _BEHAVIOUR,
    UpgradeGroup.SECURITY: frozenset({FactKind.SECURITY}),
}
_ADDITIONS = frozenset({ChangeType.FEATURE, ChangeType.MODEL_SUPPORT})


def group_by_consequence(
    entries: Sequence[Entry],
    net: Mapping[str, Sequence[Fact]],
    undone: Collection[str],
    found: Mapping[str, tuple[DownstreamImpacts, ...]],
) -> dict[UpgradeGroup, tuple[UpgradeRow, ...]]:
    """Group the commits of a range: those that are `undone` within it have no consequence, and most others none either.

    `net` maps SHA -> facts of those whose facts do not all stand at the end, `found` SHA -> what breaks downstream.
    """
    groups: dict[UpgradeGroup, list[UpgradeRow]] = {each: [] for each in UpgradeGroup}
    for entry in entries:
        sha = entry.commit.sha
        row = UpgradeRow(entry=entry, facts=tuple(net.get(sha, entry.facts)), found=found.get(sha, ()))
        group = None if sha in undone else _group(row)
        if group:
            groups[group].append(row)
    return {group: tuple(sorted(rows, key=lambda row: _order(group, row))) for group, rows in groups.items()}


def deciding_facts(group: UpgradeGroup, row: UpgradeRow) -> tuple[Fact, ...]:
    """Return the facts that put a commit into its group."""
    kinds = _KINDS.get(group, frozenset[FactKind]())
    return tuple(each for each in row.facts if each.kind in kinds)


def severity(found: Sequence[DownstreamImpacts]) -> tuple[bool, int, int]:
    """Return the sort key of what a commit breaks, worst first: proven before likely, then by kind and by places."""
    every = [impact for each in found for impact in each.impacts]
    proven = [each for each in every if each.certainty is Certainty.PROVEN]
    kind = min(_IMPACT_KINDS.index(each.kind) for each in proven or every)
    return not proven, kind, -len(proven or every)


def _group(row: UpgradeRow) -> UpgradeGroup | None:
    if row.found:
        return UpgradeGroup.BREAKS_YOU
    for group in _KINDS:
        if deciding_facts(group, row):
            return group
    types = frozenset(row.entry.ranked.change_types)
    if ChangeType.SECURITY in types:
        return UpgradeGroup.SECURITY
    return UpgradeGroup.ADDITIONS if types & _ADDITIONS else None


def _order(group: UpgradeGroup, row: UpgradeRow) -> tuple[object, ...]:
    score = -row.entry.ranked.score
    if group is UpgradeGroup.BREAKS_YOU:
        return (*severity(row.found), score)
    told = consequences(row.entry, "en", row.facts)
    return (*order(told[0]), score) if told else (len(Whom), score)
