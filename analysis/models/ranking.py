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
    """A signal's contribution to a score: its name, its points (log-odds), and its evidence."""

    signal: str
    points: float
    evidence: str


class BreakageRisk(StrEnum):
    """How likely a commit is to break somebody downstream. The values are part of the JSON report."""

    LIKELY = "likely"
    POSSIBLE = "possible"
    UNLIKELY = "unlikely"


class Breakage(Frozen):
    """The second score of a commit, beside its importance: the log-odds that it breaks somebody downstream."""

    score: float
    risk: BreakageRisk
    reasons: tuple[Reason, ...] = ()


class Ranked(Frozen):
    """The importance of a commit to downstream users: `score` is the sum of the intercept and the reasons' points.

    `breakage` is a score of its own, and moves neither.
    """

    score: float
    importance: Importance
    reasons: tuple[Reason, ...] = ()
    change_types: tuple[ChangeType, ...] = (ChangeType.OTHER,)
    breakage: Breakage | None = None
