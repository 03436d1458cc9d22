"""Importance and change types of a commit, and the reasons for them."""

from enum import StrEnum

from analysis.models.frozen import Frozen


class Importance(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ChangeType(StrEnum):
    FEATURE = "feature"
    BUG_FIX = "bug fix"
    PERFORMANCE = "performance"
    REFACTOR = "refactor"
    ARCHITECTURE = "architecture"
    SECURITY = "security"
    MODEL_SUPPORT = "model support"
    DOCS = "docs"
    TESTS = "tests"
    CI_BUILD = "CI/build"
    CONFIG = "config"
    DEPENDENCY = "dependency"
    REVERT = "revert"
    OTHER = "other"


class Reason(Frozen):
    """One signal of the ranking: its name, the points it adds to the score (log-odds), and what it was seen in."""

    signal: str
    points: float
    evidence: str


class Ranked(Frozen):
    """How much a commit matters to those downstream: `score` is the sum of the reasons' points and the intercept."""

    score: float
    importance: Importance
    reasons: tuple[Reason, ...] = ()
    change_types: tuple[ChangeType, ...] = (ChangeType.OTHER,)
