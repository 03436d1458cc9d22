"""Fitting of weights to labelled commits: ridge logistic regression by Newton's method over sparse rows.

For a few thousand commits with a dozen signals each plain lists suffice, and no heavy dependency is imported.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

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


class LinearModel(NamedTuple):
    """A linear model of log-odds: `intercept` plus each signal's points times its value."""

    intercept: float
    points: dict[str, float]

    def score(self, row: Row) -> float:
        return self.intercept + sum(self.points.get(name, 0.0) * value for name, value in row.items())


def probability(score: float) -> float:
    """Convert log-odds to a probability."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def fit(
    rows: Sequence[Row], labels: Sequence[bool], ridge: float = RIDGE, prior: Mapping[str, float] = NO_PRIOR
) -> LinearModel:
    """Fit the line of maximum likelihood, its points regularized by `ridge` towards those of `prior`, or else towards 0.

    The intercept is not regularized. A signal that is not fitted keeps the points that it has in `prior`.
    """
    seen = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in seen.items() if count >= _MIN_SEEN)
    place = {name: number for number, name in enumerate(names, 1)}
    sparse = [[(0, 1.0), *sorted((place[name], value) for name, value in row.items() if name in place)] for row in rows]
    offsets = [sum(prior.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    weights = [0.0] * (len(names) + 1)  # what is added to the prior
    loss = _loss(sparse, labels, offsets, weights, ridge)
    for _ in range(_MAX_STEPS):
        step = _solve(*_hessian_and_gradient(sparse, labels, offsets, weights, ridge))
        for _ in range(_MAX_HALVINGS):
            moved = [weight + each for weight, each in zip(weights, step, strict=True)]
            if (lower := _loss(sparse, labels, offsets, moved, ridge)) <= loss:
                break
            step = [each / 2 for each in step]  # a whole step goes too far where all is nearly certain
        else:
            break
        weights, loss = moved, lower
        if max(map(abs, step)) < _SMALL:
            break
    added = dict(zip(names, weights[1:], strict=True))
    return LinearModel(weights[0], {name: prior.get(name, 0.0) + added.get(name, 0.0) for name in {**prior, **added}})


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


def _loss(
    rows: Sequence[Sequence[tuple[int, float]]],
    labels: Sequence[bool],
    offsets: Sequence[float],
    weights: Sequence[float],
    ridge: float,
) -> float:
    """Return what is minimized: the negative log-likelihood, and what the ridge adds."""
    loss = ridge / 2 * sum(weight * weight for weight in weights[1:])
    for row, label, offset in zip(rows, labels, offsets, strict=True):
        score = offset + sum(weights[place] * value for place, value in row)
        against = -score if label else score
        loss += max(against, 0.0) + math.log1p(math.exp(-abs(against)))
    return loss


def _hessian_and_gradient(
    rows: Sequence[Sequence[tuple[int, float]]],
    labels: Sequence[bool],
    offsets: Sequence[float],
    weights: Sequence[float],
    ridge: float,
) -> tuple[list[list[float]], list[float]]:
    """Return the lower triangle of the loss's Hessian at `weights`, and the negative gradient.

    `offsets` are added to the rows' scores; the places in a row ascend.
    """
    size = len(weights)
    second = [[0.0] * size for _ in range(size)]
    downhill = [0.0] + [-ridge * weight for weight in weights[1:]]
    for number in range(1, size):
        second[number][number] = ridge
    second[0][0] = _SMALL
    for row, label, offset in zip(rows, labels, offsets, strict=True):
        chance = probability(offset + sum(weights[place] * value for place, value in row))
        bend = max(chance * (1 - chance), _SMALL)
        for count, (place, value) in enumerate(row, 1):
            downhill[place] += (label - chance) * value
            line, pull = second[place], bend * value
            for other, another in row[:count]:
                line[other] += pull * another
    return second, downhill


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve matrix x = right for a symmetric positive definite matrix, of which the lower triangle is read, by Cholesky decomposition."""
    size = len(right)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        row = lower[i]
        for j in range(i + 1):
            other = lower[j]
            rest = matrix[i][j] - sum(row[k] * other[k] for k in range(j))
            row[j] = math.sqrt(rest) if i == j else rest / other[j]
    forward: list[float] = []
    for i in range(size):
        forward.append((right[i] - sum(lower[i][k] * forward[k] for k in range(i))) / lower[i][i])
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (forward[i] - sum(lower[k][i] * found[k] for k in range(i + 1, size))) / lower[i][i]
    return found
