"""Evaluation of a ranking against release notes, compared with a baseline formula and with the number of changed lines.

All figures are exact or seeded: the same examples give the same figures.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from analysis.models import Commit, Fact, Importance, Ranked
from analysis.ranking.release_score import auc
from analysis.ranking.scoring import rank
from analysis.ranking.signals import signals
from analysis.ranking.weights import Weights
from tools.fitting import folds, learn_weights, probability

_SAMPLES = 1000  # bootstrap samples
_TAIL = 0.025  # probability on each side of an interval
_BINS = 10  # groups of a reliability table
_HIGH = frozenset({Importance.HIGH})
_AT_LEAST_MEDIUM = frozenset({Importance.HIGH, Importance.MEDIUM})

# The baseline's formula: points for the Conventional Commits prefix, the size, and the most common kind of file.
_PREFIX = re.compile(r"(\w+)(?:\([^)]*\))?!?:")
_PREFIXES = {
    "feat": 8,
    "fix": 7,
    "perf": 6,
    "refactor": 5,
    "test": 3,
    "docs": 2,
    "ci": 2,
    "chore": 1,
    "style": 1,
    "build": 1,
}
_NO_PREFIX = 3
_LINES = ((500, 3), (100, 2), (50, 1))
_FILES = ((5, 2), (2, 1))
_CODE = frozenset(["py", "c", "cc", "cpp", "cu", "cuh", "h", "hpp", "js", "ts", "go", "rs", "java", "sh"])
_PROSE = frozenset(["md", "rst", "txt"])
_BASELINE_HIGH, _BASELINE_MEDIUM = 10, 6


class Example(NamedTuple):
    """A commit with its facts, and whether release notes name it (as breaking); training repeats it `weight` times."""

    commit: Commit
    facts: tuple[Fact, ...]
    named: bool
    breaking: bool = False
    weight: int = 1


class Interval(NamedTuple):
    """A figure with its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class AtTier(NamedTuple):
    """The commits at a tier or above: their share of all, and their precision and recall for the labelled commits."""

    share: float
    precision: float
    recall: float


class Reliability(NamedTuple):
    """Commits with similar probabilities of being named: their mean probability, and the share that is named."""

    chance: float
    named: float
    commits: int


class Evaluation(NamedTuple):
    """The figures of a ranking and of its baselines."""

    auc: Interval
    baseline: Interval
    lines: Interval
    over_baseline: Interval
    over_lines: Interval
    high: AtTier
    at_least_medium: AtTier
    baseline_high: AtTier
    baseline_at_least_medium: AtTier
    calibration_error: float
    reliability: tuple[Reliability, ...]
    breaking: Mapping[Importance, int]


def train(
    examples: Sequence[Example], provenance: Mapping[str, Any] | None = None, prior: Weights | None = None
) -> Weights:
    """Learn weights from examples, ignoring facts, so that a commit has equal points with and without its patches.

    They start from those of `prior`, if given.
    """
    repeated = [example for example in examples for _ in range(example.weight)]
    rows = [{signal.name: signal.value for signal in signals(example.commit)} for example in repeated]
    return learn_weights(rows, [example.named for example in repeated], provenance, prior)


def rank_all(weights: Weights, examples: Sequence[Example]) -> list[Ranked]:
    """Rank the examples by the given weights."""
    return [rank(example.commit, example.facts, weights) for example in examples]


def cross_validate(examples: Sequence[Example], prior: Weights | None = None) -> list[Ranked]:
    """Rank each example by weights (and tiers) learned without its fold of history."""
    found: list[Ranked] = []
    for fold in folds(len(examples)):
        weights = train([*examples[: fold.start], *examples[fold.stop :]], prior=prior)
        found += rank_all(weights, examples[fold.start : fold.stop])
    return found


def evaluate(examples: Sequence[Example], ranked: Sequence[Ranked]) -> Evaluation:
    """Compute the figures of the given ranks."""
    labels = [example.named for example in examples]
    scores = [each.score for each in ranked]
    tiers = [each.importance for each in ranked]
    baseline = [float(baseline_score(example.commit)) for example in examples]
    baseline_tiers = [baseline_tier(score) for score in baseline]
    lines = [float(example.commit.size) for example in examples]
    table = reliability(labels, [probability(score) for score in scores])
    return Evaluation(
        auc=auc_interval(labels, scores),
        baseline=auc_interval(labels, baseline),
        lines=auc_interval(labels, lines),
        over_baseline=gain_interval(labels, scores, baseline),
        over_lines=gain_interval(labels, scores, lines),
        high=at_tier(labels, tiers, _HIGH),
        at_least_medium=at_tier(labels, tiers, _AT_LEAST_MEDIUM),
        baseline_high=at_tier(labels, baseline_tiers, _HIGH),
        baseline_at_least_medium=at_tier(labels, baseline_tiers, _AT_LEAST_MEDIUM),
        calibration_error=calibration_error(table),
        reliability=tuple(table),
        breaking=Counter(tier for tier, example in zip(tiers, examples, strict=True) if example.breaking),
    )


def auc_interval(labels: Sequence[bool], scores: Sequence[float], *, seed: int = 1) -> Interval:
    """Return the ROC AUC with its bootstrap interval."""
    return _bootstrap(len(labels), seed, lambda picked: auc(*_picked(picked, labels, scores)))


def gain_interval(
    labels: Sequence[bool], scores: Sequence[float], others: Sequence[float], *, seed: int = 1
) -> Interval:
    """Return the difference between the AUC of `scores` and that of `others`, both on the same bootstrap samples."""
    return _bootstrap(
        len(labels),
        seed,
        lambda picked: auc(*_picked(picked, labels, scores)) - auc(*_picked(picked, labels, others)),
    )


def _picked(picked: Sequence[int], labels: Sequence[bool], scores: Sequence[float]) -> tuple[list[bool], list[float]]:
    return [labels[place] for place in picked], [scores[place] for place in picked]


def _bootstrap(count: int, seed: int, figure: Callable[[Sequence[int]], float]) -> Interval:
    random = Random(seed)  # noqa: S311 (nothing secret)
    found = sorted(figure(random.choices(range(count), k=count)) for _ in range(_SAMPLES))
    cut = int(_TAIL * _SAMPLES)
    return Interval(figure(range(count)), found[cut], found[-1 - cut])


def at_tier(labels: Sequence[bool], tiers: Sequence[Importance], among: frozenset[Importance]) -> AtTier:
    """Return the figures of the commits whose tier is in `among`."""
    inside = [label for label, tier in zip(labels, tiers, strict=True) if tier in among]
    hits = sum(inside)
    return AtTier(
        len(inside) / len(labels) if labels else 0.0,
        hits / len(inside) if inside else 0.0,
        hits / sum(labels) if any(labels) else 0.0,
    )


def reliability(labels: Sequence[bool], chances: Sequence[float]) -> list[Reliability]:
    """Compare mean probabilities with observed shares in ten groups of equal size."""
    order = sorted(range(len(labels)), key=lambda place: chances[place])
    bounds = [number * len(order) // _BINS for number in range(_BINS + 1)]
    groups = [order[start:end] for start, end in pairwise(bounds) if end > start]
    return [
        Reliability(
            sum(chances[place] for place in group) / len(group),
            sum(labels[place] for place in group) / len(group),
            len(group),
        )
        for group in groups
    ]


def calibration_error(table: Sequence[Reliability]) -> float:
    """Return the expected calibration error: the mean absolute difference between probability and share."""
    commits = sum(group.commits for group in table)
    return sum(abs(group.chance - group.named) * group.commits for group in table) / commits if commits else 0.0


def baseline_score(commit: Commit) -> int:
    """Return the reference system's score of a commit, reconstructed from its published reports."""
    prefix = _PREFIX.match(commit.title.lower())
    endings = [path.lower().rpartition(".")[2] for path in commit.paths]
    kinds = Counter(2 if ending in _CODE else 0 if ending in _PROSE else 1 for ending in endings)
    return (
        (_PREFIXES.get(prefix[1], _NO_PREFIX) if prefix else _NO_PREFIX)
        + next((points for least, points in _LINES if commit.size > least), 0)
        + next((points for points, _ in kinds.most_common(1)), 0)
        + next((points for least, points in _FILES if len(endings) > least), 0)
    )


def baseline_tier(score: float) -> Importance:
    """Return the reference system's tier for a score."""
    if score >= _BASELINE_HIGH:
        return Importance.HIGH
    return Importance.MEDIUM if score >= _BASELINE_MEDIUM else Importance.LOW
