"""Weights learned from labelled commits."""

from random import Random

import pytest

from analysis.ranking.weights import judged_points
from tools.fitting import fit, folds, learn_weights, probability


def drawn(count: int, seed: int = 1) -> tuple[list[dict[str, float]], list[bool]]:
    """Commits with signals whose true points are 2 for a, -1 for b and 0 for c, and an intercept of -0.5."""
    random = Random(seed)
    rows, labels = [], []
    for _ in range(count):
        row = {name: 1.0 for name in "abc" if random.random() < 0.5}
        score = -0.5 + 2 * row.get("a", 0) - row.get("b", 0)
        rows.append(row)
        labels.append(random.random() < probability(score))
    return rows, labels


def test_the_points_that_made_the_labels_are_found() -> None:
    """With enough commits the fit comes close to the truth."""
    line = fit(*drawn(4000))
    assert line.intercept == pytest.approx(-0.5, abs=0.2)
    assert [line.points[name] for name in "abc"] == pytest.approx([2, -1, 0], abs=0.25)


def test_points_start_from_those_of_a_prior() -> None:
    """Few commits leave the prior's points nearly as they are, many overrule them, and an unseen signal keeps its own."""
    prior = {"a": 1.0, "b": 1.0, "unseen": 0.7}
    few, many = (fit(*drawn(count), 4.0, prior).points for count in (20, 4000))
    assert abs(few["b"] - 1) < 0.7 < abs(many["b"] - 1)
    assert many["b"] == pytest.approx(-1, abs=0.25)
    assert few["unseen"] == many["unseen"] == 0.7


def test_a_prior_that_is_wrong_about_everything_is_overcome() -> None:
    """Where two kinds of commits are told apart without error, points stay finite, whatever they start from."""
    rows = [{"a": 1.0, "size": 2.0} if number % 4 else {"b": 1.0, "size": 2.0} for number in range(240)]
    labels = ["b" in row for row in rows]
    line = fit(rows, labels, 4.0, {"a": 3.0, "b": -3.0, "size": 3.0})
    assert all(abs(points) < 20 for points in (*line.points.values(), line.intercept))
    assert all((line.score(row) > 0) is label for row, label in zip(rows, labels, strict=True))


def test_tiers_are_a_tenth_and_a_third() -> None:
    """The scores of commits held out set where high and medium begin, and judgement stands beneath the points."""
    random = Random(2)
    rows = [{"a": random.gauss(0, 1), "b": random.gauss(0, 1)} for _ in range(500)]
    labels = [random.random() < probability(2 * row["a"] - 1) for row in rows]
    weights = learn_weights(rows, labels)
    tiers = [weights.tier(weights.intercept + sum(weights.points[n] * row[n] for n in row)).value for row in rows]
    assert tiers.count("high") == pytest.approx(50, abs=6)
    assert tiers.count("medium") == pytest.approx(165, abs=15)
    assert judged_points().items() <= weights.points.items()


@pytest.mark.parametrize("count", [0, 3, 10, 799])
def test_every_commit_is_held_out_once(count: int) -> None:
    """The folds are stretches of history that cover it."""
    assert [place for fold in folds(count) for place in fold] == list(range(count))
