"""Scoring of commits: a sum of weighted signals, and three tiers between a floor and a ceiling set by the evidence."""

from collections.abc import Sequence

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


def rank(commit: Commit, found: Sequence[Fact] = (), weights: Weights | None = None) -> Ranked:
    """Score a commit in log-odds and assign its tier, with the reasons strongest first."""
    weights, every, kinds = weights or general_weights(), signals(commit, found), change_types(commit, found)
    score, reasons = _sum(every, weights)
    return Ranked(
        score=score,
        importance=within(weights.tier(score), floor(found), ceiling(commit, kinds, found)),
        reasons=reasons,
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


def _sum(every: Sequence[Signal], weights: Weights) -> tuple[float, tuple[Reason, ...]]:
    """Return the sum of the intercept and the signals' points, and the signals that have any, strongest first."""
    reasons = []
    score = weights.intercept
    for signal in every:
        points = round(weights.points.get(signal.name, 0.0) * signal.value, 2)
        score += points
        if points:
            reasons.append(Reason(signal=signal.name, points=points, evidence=signal.evidence))
    reasons.sort(key=lambda each: abs(each.points), reverse=True)
    return round(score, 2), tuple(reasons)  # rounded, so that the displayed score is the one that sets the tier


def _breakage(every: Sequence[Signal]) -> Breakage:
    weights = breakage_weights()
    score, reasons = _sum(every, weights)
    return Breakage(score=score, risk=_RISKS[weights.tier(score)], reasons=reasons)


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
