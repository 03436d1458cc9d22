"""How good a ranking is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.models import Importance
from analysis.ranking.release_score import auc
from tests.factories import commit, file
from tools.evaluation import (
    at_tier,
    auc_interval,
    baseline_score,
    baseline_tier,
    calibration_error,
    gain_interval,
    reliability,
)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
PAIRS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1.0, 2.0, 2.5])), max_size=30)


@given(PAIRS)
def test_the_auc_is_the_chance_of_the_right_order(pairs: list[tuple[bool, float]]) -> None:
    """Over all pairs of a labelled and an unlabelled commit, ties counting half."""
    labels, scores = [label for label, _ in pairs], [score for _, score in pairs]
    above = [score for label, score in pairs if label]
    below = [score for label, score in pairs if not label]
    won = [1.0 if up > down else 0.5 if up == down else 0.0 for up in above for down in below]
    assert auc(labels, scores) == pytest.approx(sum(won) / len(won) if won else 0.5)


def test_an_interval_holds_its_figure_and_is_the_same_each_time() -> None:
    """Resampling is seeded."""
    labels, scores = [n % 3 == 0 for n in range(90)], [float((n * 7) % 11 + 4 * (n % 3 == 0)) for n in range(90)]
    found = auc_interval(labels, scores)
    assert found.low < found.value < found.high
    assert found == auc_interval(labels, scores)
    assert gain_interval(labels, scores, scores) == (0, 0, 0)


def test_a_tier_has_a_share_a_precision_and_a_recall() -> None:
    """Of the commits inside, of those how many are labelled, and of the labelled how many are inside."""
    labels, tiers = [True, False, True, False], [HIGH, HIGH, MEDIUM, LOW]
    assert at_tier(labels, tiers, frozenset({HIGH})) == (0.5, 0.5, 0.5)
    assert list(at_tier(labels, tiers, frozenset({HIGH, MEDIUM}))) == pytest.approx([0.75, 2 / 3, 1.0])
    assert at_tier([], [], frozenset({HIGH})) == (0, 0, 0)


def test_chances_that_come_true_are_calibrated() -> None:
    """The error is the mean distance between what was said and what came."""
    labels = [True] * 50 + [False] * 50
    assert calibration_error(reliability(labels, [1.0] * 50 + [0.0] * 50)) == 0
    assert calibration_error(reliability(labels, [0.5] * 100)) == pytest.approx(0.5)
    assert calibration_error(reliability([], [])) == 0


@pytest.mark.parametrize(
    ("title", "path", "lines", "files", "score", "tier"),
    [
        ("feat: x", "a.py", 600, 6, 15, HIGH),
        ("fix(core)!: x", "a.py", 10, 1, 9, MEDIUM),
        ("[Bugfix] x", "a.py", 10, 1, 5, LOW),
        ("[Bugfix] x", "a.cu", 101, 3, 8, MEDIUM),
        ("docs: x", "a.md", 51, 1, 3, LOW),
        ("x: y", "a.yaml", 0, 1, 4, LOW),
    ],
)
def test_the_baseline_ranks_by_prefix_and_size(
    title: str, path: str, lines: int, files: int, score: int, tier: Importance
) -> None:
    """The reference system's formula, as its reports tell it."""
    made = commit(title, [file(f"{n}/{path}", additions=lines if n == 0 else 0) for n in range(files)])
    assert (baseline_score(made), baseline_tier(baseline_score(made))) == (score, tier)
