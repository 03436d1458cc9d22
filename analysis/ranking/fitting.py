"""Weights fitted to labelled commits: logistic regression with a ridge, by Newton's method over sparse rows.

A few thousand commits with a dozen signals each: plain lists are enough, and nothing heavy is imported.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analysis.ranking.weights import Weights, with_judgement

Row = Mapping[str, float]  # signal -> value

RIDGE = 1.0  # chosen on vLLM's v0.10.2 and v0.11.0; from .3 to 4 the figures hardly change
_LEAST_SEEN = 5  # commits: what fewer show teaches nothing
_MOST_STEPS = 25
_FOLDS = 10
_HIGH = 0.10  # of the commits, over time
_AT_LEAST_MEDIUM = 0.43
_SMALL = 1e-6


class Line(NamedTuple):
    """Log-odds as a straight line: `intercept` plus the points of each signal times its value."""

    intercept: float
    points: dict[str, float]

    def score(self, row: Row) -> float:
        return self.intercept + sum(self.points.get(name, 0.0) * value for name, value in row.items())


def probability(score: float) -> float:
    """The probability that log-odds stand for."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def fitted(rows: Sequence[Row], labels: Sequence[bool], ridge: float = RIDGE) -> Line:
    """The line that makes the labels likeliest, its points held small by `ridge`; the intercept is free."""
    seen = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in seen.items() if count >= _LEAST_SEEN)
    place = {name: number for number, name in enumerate(names, 1)}
    sparse = [[(0, 1.0), *((place[name], value) for name, value in row.items() if name in place)] for row in rows]
    weights = [0.0] * (len(names) + 1)
    for _ in range(_MOST_STEPS):
        step = _solved(*_curvature(sparse, labels, weights, ridge))
        weights = [weight + each for weight, each in zip(weights, step, strict=True)]
        if max(map(abs, step)) < _SMALL:
            break
    return Line(weights[0], dict(zip(names, weights[1:], strict=True)))


def learned(rows: Sequence[Row], labels: Sequence[bool], provenance: Mapping[str, Any] | None = None) -> Weights:
    """Weights fitted to labelled commits, with judgement beneath them, and tiers at the scores that commits held out get."""
    ranked = sorted(_held_out(rows, labels), reverse=True)
    line = fitted(rows, labels)
    return Weights(
        round(line.intercept, 2),
        {name: round(points, 2) for name, points in with_judgement(line.points).items()},
        round(ranked[int(_AT_LEAST_MEDIUM * len(ranked))], 2),
        round(ranked[int(_HIGH * len(ranked))], 2),
        provenance or {},
    )


def folds(count: int) -> list[range]:
    """The places of `count` commits in ten stretches of history, since neighbours are alike."""
    return [range(number * count // _FOLDS, (number + 1) * count // _FOLDS) for number in range(_FOLDS)]


def _held_out(rows: Sequence[Row], labels: Sequence[bool]) -> list[float]:
    """The score of each commit by what was fitted without its fold."""
    scores: list[float] = []
    for fold in folds(len(rows)):
        line = fitted([*rows[: fold.start], *rows[fold.stop :]], [*labels[: fold.start], *labels[fold.stop :]])
        judged = Line(line.intercept, with_judgement(line.points))
        scores += [judged.score(rows[place]) for place in fold]
    return scores


def _curvature(
    rows: Sequence[Sequence[tuple[int, float]]], labels: Sequence[bool], weights: Sequence[float], ridge: float
) -> tuple[list[list[float]], list[float]]:
    """The second derivatives of the loss at `weights`, and its slope downhill."""
    size = len(weights)
    second = [[0.0] * size for _ in range(size)]
    downhill = [0.0] + [-ridge * weight for weight in weights[1:]]
    for number in range(1, size):
        second[number][number] = ridge
    second[0][0] = _SMALL
    for row, label in zip(rows, labels, strict=True):
        chance = probability(sum(weights[place] * value for place, value in row))
        bend = max(chance * (1 - chance), _SMALL)
        for place, value in row:
            downhill[place] += (label - chance) * value
            line, pull = second[place], bend * value
            for other, another in row:
                line[other] += pull * another
    return second, downhill


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of matrix x = right for a symmetric positive matrix: Cholesky's way."""
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
