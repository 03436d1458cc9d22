"""The consequences of a range of commits: each commit in one group, its worst, and within a group the worst first."""

from collections.abc import Collection, Mapping, Sequence

from analysis.models import BREAKING, ChangeType, Entry, Fact, FactKind
from analysis.models.impacts import Certainty, DownstreamImpacts, ImpactKind
from analysis.models.upgrades import Consequence, UpgradeRow

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
    Consequence.BREAKING: BREAKING,
    Consequence.BEHAVIOUR: _BEHAVIOUR,
    Consequence.SECURITY: frozenset({FactKind.SECURITY}),
}
_ADDITIONS = frozenset({ChangeType.FEATURE, ChangeType.MODEL_SUPPORT})


def group_by_consequence(
    entries: Sequence[Entry],
    net: Mapping[str, Sequence[Fact]],
    undone: Collection[str],
    found: Mapping[str, tuple[DownstreamImpacts, ...]],
) -> dict[Consequence, tuple[UpgradeRow, ...]]:
    """Group the commits of a range: those that are `undone` within it have no consequence, and most others none either.

    `net` maps SHA -> facts of those whose facts do not all stand at the end, `found` SHA -> what breaks downstream.
    """
    groups: dict[Consequence, list[UpgradeRow]] = {each: [] for each in Consequence}
    for entry in entries:
        sha = entry.commit.sha
        row = UpgradeRow(entry=entry, facts=tuple(net.get(sha, entry.facts)), found=found.get(sha, ()))
        group = None if sha in undone else _consequence(row)
        if group:
            groups[group].append(row)
    return {group: tuple(sorted(rows, key=lambda row: _order(group, row))) for group, rows in groups.items()}


def deciding_facts(consequence: Consequence, row: UpgradeRow) -> tuple[Fact, ...]:
    """Return the facts that put a commit into its group."""
    kinds = _KINDS.get(consequence, frozenset[FactKind]())
    return tuple(each for each in row.facts if each.kind in kinds)


def severity(found: Sequence[DownstreamImpacts]) -> tuple[bool, int, int]:
    """Return the sort key of what a commit breaks, worst first: proven before likely, then by kind and by places."""
    every = [impact for each in found for impact in each.impacts]
    proven = [each for each in every if each.certainty is Certainty.PROVEN]
    kind = min(_IMPACT_KINDS.index(each.kind) for each in proven or every)
    return not proven, kind, -len(proven or every)


def _consequence(row: UpgradeRow) -> Consequence | None:
    if row.found:
        return Consequence.BREAKS_YOU
    for consequence in _KINDS:
        if deciding_facts(consequence, row):
            return consequence
    types = frozenset(row.entry.ranked.change_types)
    if ChangeType.SECURITY in types:
        return Consequence.SECURITY
    return Consequence.ADDITIONS if types & _ADDITIONS else None


def _order(group: Consequence, row: UpgradeRow) -> tuple[object, ...]:
    ranked = row.entry.ranked
    if group is Consequence.BREAKS_YOU:
        return (*severity(row.found), -ranked.score)
    if group is Consequence.BREAKING and ranked.breakage:
        return (-ranked.breakage.score, -ranked.score)
    return (-ranked.score,)
