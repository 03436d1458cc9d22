"""A range of commits in groups, and what a release branch has picked of it."""

from analysis.consequences.upgrade import group_by_consequence
from analysis.impact.reversal import picks
from analysis.models import ChangeType, Entry, Fact, FactKind, Importance, Ranked
from analysis.models.upgrades import UpgradeGroup
from tests.factories import commit


def entry(
    number: int, *kinds: FactKind, types: tuple[ChangeType, ...] = (ChangeType.OTHER,), score: float = 0
) -> Entry:
    return Entry(
        commit=commit(f"Change {number}", sha=f"{number:040x}"),
        facts=tuple(Fact(kind=kind, name="name") for kind in kinds),
        ranked=Ranked(score=score, importance=Importance.LOW, change_types=types),
    )


def test_each_commit_is_in_its_worst_group_alone() -> None:
    """Breaking comes before behaviour, this before security, and all before additions; the rest, such as fixes, is in no group."""
    entries = [
        entry(1, FactKind.DEFAULT_CHANGED, FactKind.REMOVED_FLAG, types=(ChangeType.FEATURE,)),
        entry(2, FactKind.DEFAULT_CHANGED, FactKind.SECURITY),
        entry(3, FactKind.SECURITY, types=(ChangeType.FEATURE,)),
        entry(4, types=(ChangeType.MODEL_SUPPORT,), score=1),
        entry(5, types=(ChangeType.FEATURE, ChangeType.BUG_FIX), score=2),
        entry(6, types=(ChangeType.BUG_FIX,)),
    ]
    groups = group_by_consequence(entries, {}, (), {}, "en")
    assert {group: [row.entry.commit.title[-1] for row in rows] for group, rows in groups.items()} == {
        UpgradeGroup.BREAKS_YOU: [],
        UpgradeGroup.BREAKING: ["1"],
        UpgradeGroup.BEHAVIOUR: ["2"],
        UpgradeGroup.SECURITY: ["3"],
        UpgradeGroup.ADDITIONS: ["4"],
    }


def test_what_does_not_stand_at_the_end_is_no_consequence() -> None:
    """A fact that the range takes back does not count, nor does a commit that it reverts."""
    entries = [entry(1, FactKind.REMOVED_FLAG), entry(2, FactKind.REMOVED_FLAG)]
    groups = group_by_consequence(entries, {entries[0].commit.sha: ()}, {entries[1].commit.sha}, {}, "en")
    assert not any(groups.values())


def test_picks_are_known_by_number_or_sha_until_they_are_reverted() -> None:
    """A pick has the number of its pull request, or says which commit it is; a revert on the branch ends it."""
    sha = "ab" * 20
    branch = [
        commit("Fix the pool (#11)"),
        commit("Fix the cache (#12) (#90)"),
        commit("Backport", body=f"(cherry picked from commit {sha})"),
        commit("[Release] Cherry-pick #13 and #14 (#91)"),
        commit('Revert "Fix the pool (#11)" (#92)'),
    ]
    found = picks(branch)
    assert found.names == {"#12", "#90", "#13", "#14", "#91", sha}
    assert found.has(commit("Anything", sha=sha))
    assert not found.has(commit("Fix the pool (#11)"))
