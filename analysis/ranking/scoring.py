"""Scoring of commits: a sum of weighted signals, and three tiers between a floor and a ceiling set by the evidence."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.models import (
    Breakage,
    BreakageRisk,
    ChangeType,
    Commit,
    Fact,
    FactKind,
    Importance,
    Ranked,
    Reason,
)
from analysis.paths import Kind, kind
from analysis.ranking.change_types import change_types
from analysis.ranking.signals import Signal, signals
from analysis.ranking.weights import Weights, breakage_weights, general_weights

_RISKS = {
    Importance.HIGH: BreakageRisk.LIKELY,
    Importance.MEDIUM: BreakageRisk.POSSIBLE,
    Importance.LOW: BreakageRisk.UNLIKELY,
}
_HARMLESS_KINDS = (Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE)
TIERS = (Importance.LOW, Importance.MEDIUM, Importance.HIGH)


class Contribution(NamedTuple):
    """A signal with its points (log-odds)."""

    signal: Signal
    points: float


class Score(NamedTuple):
    """The sum of the intercept and the contributions, which come strongest first, and the tier."""

    score: float
    importance: Importance
    contributions: Sequence[Contribution]


def score(commit: Commit, found: Sequence[Fact], weights: Weights) -> Score:
    """Score a commit as `rank` does, without its change types and its second score."""
    kinds = () if commit.read else change_types(commit, found)
    return _score(commit, kinds, found, signals(commit, found), weights)


def rank(commit: Commit, found: Sequence[Fact] = (), weights: Weights | None = None) -> Ranked:
    """Score a commit in log-odds and assign its tier, with the reasons strongest first."""
    weights = weights or general_weights()
    every = signals(commit, found)
    kinds = change_types(commit, found)
    score, importance, contributions = _score(commit, kinds, found, every, weights)
    return Ranked(
        score=score,
        importance=importance,
        reasons=_reasons(contributions),
        change_types=kinds,
        breakage=_breakage(every),
    )


def importance_downstream(ranked: Ranked, *, broken: bool) -> Importance:
    """Return the tier of a commit for those who have a downstream repository, which is never below its own.

    It is high if the commit has an impact on that repository, and at least medium if it may break somebody.
    """
    if broken:
        return Importance.HIGH
    risky = ranked.breakage is not None and ranked.breakage.risk is not BreakageRisk.UNLIKELY
    return within(ranked.importance, Importance.MEDIUM if risky else Importance.LOW, Importance.HIGH)


def _score(
    commit: Commit, kinds: Sequence[ChangeType], found: Sequence[Fact], every: Sequence[Signal], weights: Weights
) -> Score:
    score, contributions = _sum(every, weights)
    importance = within(weights.tier(score), floor(found), ceiling(commit, kinds, found))
    return Score(score, importance, contributions)


def _sum(every: Sequence[Signal], weights: Weights) -> tuple[float, Sequence[Contribution]]:
    """Return the sum of the signals' points, and the signals that have any, strongest first."""
    contributions = []
    score = weights.intercept
    for signal in every:
        points = round(weights.points.get(signal.name, 0.0) * signal.value, 2)
        score += points
        if points:
            contributions.append(Contribution(signal, points))
    contributions.sort(key=lambda each: abs(each.points), reverse=True)
    return round(score, 2), contributions  # rounded, so that the displayed score is the one that sets the tier


def _reasons(contributions: Sequence[Contribution]) -> tuple[Reason, ...]:
    return tuple(
        Reason(signal=signal.name, points=points, evidence=signal.evidence) for signal, points in contributions
    )


def _breakage(every: Sequence[Signal]) -> Breakage:
    weights = breakage_weights()
    score, contributions = _sum(every, weights)
    return Breakage(score=score, risk=_RISKS[weights.tier(score)], reasons=_reasons(contributions))


def floor(found: Sequence[Fact]) -> Importance:
    """Return the lowest tier allowed: medium for a breaking change, a flag's new default or a security fix."""
    proven = any(
        fact.breaking
        or fact.kind is FactKind.SECURITY
        or (fact.kind is FactKind.DEFAULT_CHANGED and fact.name.startswith("--"))
        for fact in found
    )
    return Importance.MEDIUM if proven else Importance.LOW


def ceiling(commit: Commit, kinds: Sequence[ChangeType], found: Sequence[Fact]) -> Importance:
    """Return the highest tier allowed: low for formatting only, medium for only documentation, tests, CI or examples."""
    if any(fact.kind is FactKind.LAYOUT for fact in found):
        return Importance.LOW
    if commit.read and all(kind(file.path) in _HARMLESS_KINDS for file in commit.files):
        return Importance.MEDIUM
    if not commit.read and set(kinds) <= {ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD}:
        return Importance.MEDIUM
    return Importance.HIGH


def within(importance: Importance, low: Importance, high: Importance) -> Importance:
    """Clamp `importance` between `low` and `high`; `high` wins."""
    place = max(TIERS.index(importance), TIERS.index(low))
    return TIERS[min(place, TIERS.index(high))]
