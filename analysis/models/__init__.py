"""The data models of the analysis: immutable; every timestamp is timezone-aware and in UTC."""

from analysis.locale import Language
from analysis.models.answers import Citation, Statement, Turn
from analysis.models.commits import MOST_FILES, SHORT_SHA, Commit, FileChange, Links, PullRequest, Repository, Series
from analysis.models.facts import BREAKING, DEPENDENCIES, EXTRAS, OPERATIONAL, Fact, FactKind, Proof, by_kind
from analysis.models.frozen import Frozen
from analysis.models.publications import PublishedBreak, PublishedDay, PublishedRelease, PublishedYear
from analysis.models.ranking import Breakage, BreakageRisk, ChangeType, Importance, Ranked, Reason
from analysis.models.releases import FoundCommit, Released, ReleaseState, ReleaseTag
from analysis.models.reports import (
    Analysis,
    Chosen,
    Concern,
    Coverage,
    DayReport,
    Edit,
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
