"""The data models of the analysis: immutable; every timestamp is timezone-aware and in UTC."""

from analysis.locale import Language
from analysis.models.answers import Citation, Statement, Turn
from analysis.models.commits import MOST_FILES, SHORT_SHA, Commit, FileChange, Links, PullRequest, Repository, Series
from analysis.models.facts import BREAKING, DEPENDENCIES, EXTRAS, OPERATIONAL, Fact, FactKind, Proof, by_kind
from analysis.models.frozen import Frozen
from analysis.models.publications import PublishedBreak, PublishedDay, PublishedRelease, PublishedYear
from analysis.models.ranking import Breakage, BreakageRisk, ChangeType, Importance, Ranked, Reason
from analysis.models.releases import Released, ReleaseState, ReleaseTag
from analysis.models.reports import (
    Analysis,
    Chosen,
    Coverage,
    DayReport,
    Entry,
    Failure,
    Insight,
    PeriodReport,
    ReadFrom,
    Remark,
    Risk,
    Severity,
    Shortened,
    Stats,
    Touch,
    Usage,
)
from analysis.models.trees import Tree, Trees

__all__ = [
    "BREAKING",
    "DEPENDENCIES",
    "EXTRAS",
    "MOST_FILES",
    "OPERATIONAL",
    "SHORT_SHA",
    "Analysis",
    "Breakage",
    "BreakageRisk",
    "ChangeType",
    "Chosen",
    "Citation",
    "Commit",
    "Coverage",
    "DayReport",
    "Entry",
    "Fact",
    "FactKind",
    "Failure",
    "FileChange",
    "Frozen",
    "Importance",
    "Insight",
    "Language",
    "Links",
    "PeriodReport",
    "Proof",
    "PublishedBreak",
    "PublishedDay",
    "PublishedRelease",
    "PublishedYear",
    "PullRequest",
    "Ranked",
    "ReadFrom",
    "Reason",
    "ReleaseState",
    "ReleaseTag",
    "Released",
    "Remark",
    "Repository",
    "Risk",
    "Series",
    "Severity",
    "Shortened",
    "Statement",
    "Stats",
    "Touch",
    "Tree",
    "Trees",
    "Turn",
    "Usage",
    "by_kind",
]
