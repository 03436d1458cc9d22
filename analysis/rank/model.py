"""The ranking: a sum of weighted signals, and three tiers between a floor and a ceiling that the evidence sets."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from analysis.models import ChangeType, Commit, Fact, FactKind, Importance, Ranked, Reason
from analysis.paths import Kind, kind
from analysis.rank.change_types import change_types
from analysis.rank.signals import signals

_ORDER = (Importance.LOW, Importance.MEDIUM, Importance.HIGH)


class Weights(NamedTuple):
    """Points of log-odds a signal, the intercept, and the scores from which a commit is medium or high."""

    intercept: float
    points: dict[str, float]
    medium: float
    high: float


@cache
def general_weights() -> Weights:
    """The weights in the package, for any repository."""
    table = tomllib.loads(files("analysis.rank").joinpath("weights.toml").read_text("utf-8"))
    return Weights(table["intercept"], table["weights"], table["tiers"]["medium"], table["tiers"]["high"])


def rank(commit: Commit, found: Sequence[Fact] = (), weights: Weights | None = None) -> Ranked:
    """How much `commit` matters, and why: the reasons come strongest first."""
    weights = weights or general_weights()
    reasons = []
    score = weights.intercept
    for signal in signals(commit, found):
        points = round(weights.points.get(signal.name, 0.0) * signal.value, 2)
        score += points
        if points:
            reasons.append(Reason(signal=signal.name, points=points, evidence=signal.evidence))
    reasons.sort(key=lambda reason: -abs(reason.points))
    kinds = change_types(commit, found)
    importance = within(_tier(score, weights), floor(found), ceiling(commit, kinds))
    return Ranked(score=round(score, 2), importance=importance, reasons=tuple(reasons), change_types=kinds)


def floor(found: Sequence[Fact]) -> Importance:
    """The tier below which nothing may move a commit: medium for a proven breaking change, a flag's new default, a security fix."""
    proven = any(
        fact.breaking
        or fact.kind is FactKind.SECURITY
        or (fact.kind is FactKind.DEFAULT_CHANGED and fact.name.startswith("--"))
        for fact in found
    )
    return Importance.MEDIUM if proven else Importance.LOW


def ceiling(commit: Commit, kinds: Sequence[ChangeType]) -> Importance:
    """The tier above which nothing may move a commit: medium where only documentation, tests or CI change."""
    harmless = {Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE}
    if commit.read and all(kind(file.path) in harmless for file in commit.files):
        return Importance.MEDIUM
    if not commit.read and set(kinds) <= {ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD}:
        return Importance.MEDIUM
    return Importance.HIGH


def within(importance: Importance, low: Importance, high: Importance) -> Importance:
    """`importance` moved up to the floor, then down to the ceiling."""
    place = max(_ORDER.index(importance), _ORDER.index(low))
    return _ORDER[min(place, _ORDER.index(high))]


def _tier(score: float, weights: Weights) -> Importance:
    if score >= weights.high:
        return Importance.HIGH
    return Importance.MEDIUM if score >= weights.medium else Importance.LOW
