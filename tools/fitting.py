"""Fitting of weights to labelled commits: ridge logistic regression by Newton's method."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.ranking.weights import Weights, with_judgement

Row = Mapping[str, float]  # signal -> value
NO_PRIOR: Mapping[str, float] = MappingProxyType({})

RIDGE = 1.0  # chosen on vLLM's v0.10.2 and v0.11.0; from 0.3 to 4 the figures hardly change
RIDGE_TO_PRIOR = 4.0  # repositories differ in a signal's points by half a point rather than by a whole one
_MIN_SEEN = 5  # commits; a signal seen in fewer is not fitted
_MAX_STEPS = 25
_MAX_HALVINGS = 20
_FOLDS = 10
_HIGH = 0.10  # share of the commits, over time
_AT_LEAST_MEDIUM = 0.43
_SMALL = 1e-6

_Array = NDArray[np.float64]


class LinearModel(NamedTuple):
    """A linear model of log-odds: `intercept` plus each signal's points times its value."""

    intercept: float
    points: dict[str, float]

    def score(self, row: Row) -> float:
        return self.intercept + sum(self.points.get(name, 0.0) * value for name, value in row.items())


def probability(score: float) -> float:
    """Convert log-odds to a probability."""
    return float(1 / (1 + np.exp(-np.clip(score, -30, 30))))


def fit(
    rows: Sequence[Row], labels: Sequence[bool], ridge: float = RIDGE, prior: Mapping[str, float] = NO_PRIOR
) -> LinearModel:
    """Fit the line of maximum likelihood, its points regularized by `ridge` towards those of `prior`, or else towards 0.

    The intercept is not regularized. A signal that is not fitted keeps the points that it has in `prior`.
    """
    seen = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in seen.items() if count >= _MIN_SEEN)
    features = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])
    offsets = np.array([sum(prior.get(name, 0.0) * value for name, value in row.items()) for row in rows])
    penalty = np.array([0.0] + [ridge] * len(names))
    added = _newton(features, np.array(labels, float), offsets, penalty)  # to the prior
    by_name = dict(zip(names, added[1:].tolist(), strict=True))
    points = {name: prior.get(name, 0.0) + by_name.get(name, 0.0) for name in {**prior, **by_name}}
    return LinearModel(float(added[0]), points)


def _newton(features: _Array, labels: _Array, offsets: _Array, penalty: _Array) -> _Array:
    """Minimize the negative log-likelihood and the ridge's penalty (of each column); `offsets` are added to the scores."""

    def loss(weights: _Array) -> float:
        scores = offsets + features @ weights
        return float(np.logaddexp(0, np.where(labels, -scores, scores)).sum() + penalty @ weights**2 / 2)

    weights = np.zeros(features.shape[1])
    for _ in range(_MAX_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(offsets + features @ weights, -30, 30)))
        gradient = features.T @ (labels - chances) - penalty * weights
        curvature = np.maximum(chances * (1 - chances), _SMALL)
        hessian = (features.T * curvature) @ features + np.diag(np.maximum(penalty, _SMALL))
        step = np.linalg.solve(hessian, gradient)
        before = loss(weights)
        for _ in range(_MAX_HALVINGS):  # a whole step goes too far where all is nearly certain
            if loss(weights + step) <= before:
                break
            step = step / 2
        else:
            break
        weights = weights + step
        if np.abs(step).max() < _SMALL:
            break
    return weights


def learn_weights(
    rows: Sequence[Row],
    labels: Sequence[bool],
    provenance: Mapping[str, Any] | None = None,
    prior: Weights | None = None,
) -> Weights:
    """Fit weights to labelled commits, bounded by the judged ones, with tier thresholds from held-out scores.

    They stay as near to those of `prior` as the labels let them.
    """
    ranked = sorted(_held_out_scores(rows, labels, prior), reverse=True)
    line = _fit_from(prior, rows, labels)
    return Weights(
        round(line.intercept, 2),
        {name: round(points, 2) for name, points in with_judgement(line.points).items()},
        round(ranked[int(_AT_LEAST_MEDIUM * len(ranked))], 2),
        round(ranked[int(_HIGH * len(ranked))], 2),
        provenance or {},
    )


def folds(count: int) -> list[range]:
    """Split `count` commits into ten contiguous index ranges, since neighbours in history are alike."""
    return [range(number * count // _FOLDS, (number + 1) * count // _FOLDS) for number in range(_FOLDS)]


def _fit_from(prior: Weights | None, rows: Sequence[Row], labels: Sequence[bool]) -> LinearModel:
    return fit(rows, labels, RIDGE_TO_PRIOR, prior.points) if prior else fit(rows, labels)


def _held_out_scores(rows: Sequence[Row], labels: Sequence[bool], prior: Weights | None) -> list[float]:
    """Return each commit's score by weights fitted without its fold."""
    scores: list[float] = []
    for fold in folds(len(rows)):
        rest = [*rows[: fold.start], *rows[fold.stop :]], [*labels[: fold.start], *labels[fold.stop :]]
        line = _fit_from(prior, *rest)
        bounded = LinearModel(line.intercept, with_judgement(line.points))
        scores += [bounded.score(rows[place]) for place in fold]
    return scores
