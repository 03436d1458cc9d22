"""The second score: how likely a commit is to break somebody downstream."""

import pytest

from analysis.models import BreakageRisk, Commit, Fact, FactKind, Importance, Repository
from analysis.ranking import general_weights, importance_downstream, packaged_weights, rank
from tests.factories import commit, file

REFACTORING = commit(
    "[Core] Tidy the scheduler's interface",
    [
        file(f"engine/core/{name}.py", additions=90, deletions=80)
        for name in ("scheduler", "queue", "config", "plugins")
    ],
)
REQUIRED = Fact(kind=FactKind.REQUIRED_PARAMETER, name="schedule(limit)", path="engine/core/scheduler.py")
README = commit("[Doc] Correct a link", [file("README.md", additions=1, deletions=1)])


def test_a_wide_change_of_the_engine_is_likelier_to_break_others_than_a_readme() -> None:
    """The score has reasons that add up to it, and a risk in words."""
    wide, small = (rank(each).breakage for each in (REFACTORING, README))
    assert wide
    assert small
    assert wide.score > small.score
    assert (wide.risk, small.risk) == (BreakageRisk.LIKELY, BreakageRisk.UNLIKELY)
    intercept = small.score - sum(reason.points for reason in small.reasons)
    assert wide.score == pytest.approx(intercept + sum(reason.points for reason in wide.reasons), abs=0.01)


def test_a_proven_break_raises_the_second_score() -> None:
    """Facts weigh in it what maintainers' complaints teach."""
    plain, proven = rank(REFACTORING).breakage, rank(REFACTORING, [REQUIRED]).breakage
    assert plain
    assert proven
    assert proven.score > plain.score


def test_the_second_score_leaves_the_first_alone() -> None:
    """Importance is that of the weights for importance, whatever the risk of breakage."""
    weights = general_weights()._replace(high=99.0, medium=98.0)
    ranked = rank(REFACTORING, weights=weights)
    assert ranked.importance is Importance.LOW
    assert ranked.breakage == rank(REFACTORING).breakage


@pytest.mark.parametrize(
    ("subject", "broken", "importance"),
    [
        (README, False, Importance.LOW),
        (README, True, Importance.HIGH),
        (REFACTORING, False, Importance.MEDIUM),
        (REFACTORING, True, Importance.HIGH),
    ],
)
def test_those_downstream_see_the_higher_tier(subject: Commit, broken: bool, importance: Importance) -> None:
    """An impact makes a commit high, a risk of breakage at least medium, and nothing makes it lower."""
    weights = general_weights()._replace(high=99.0, medium=98.0)
    ranked = rank(subject, weights=weights)
    assert importance_downstream(ranked, broken=broken) is importance
    high = ranked.model_copy(update={"importance": Importance.HIGH})
    assert importance_downstream(high, broken=False) is Importance.HIGH


def test_a_repository_called_breakage_has_the_general_weights() -> None:
    """The second score's weights are no repository's."""
    assert packaged_weights(Repository(owner="o", name="breakage")) == general_weights()
