"""What a commit is, what was found in it, and what a day's report holds. Frozen; every instant is aware and in UTC."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_serializer

from analysis.errors import Misuse
from analysis.phrases import Phrase, told
from analysis.window import Window

SHORT_SHA = 7
Language = Literal["zh", "en"]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Repository(Frozen):
    """`owner/name`, or `owner/name@branch` where a branch other than the default one is read."""

    owner: str
    name: str
    branch: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `owner/name[@branch]`; `Misuse` when it is something else."""
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)(?:@([^\s~^:?*\[\\]+))?", text.strip())
        if not match or {match[1], match[2]} & {".", "..", ".git"}:
            raise Misuse(Phrase("repository", text=text))
        return cls(owner=match[1], name=match[2].removesuffix(".git"), branch=match[3])

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """The name under which the store knows it: GitHub's names do not differ by case, branches do."""
        return self.full_name.lower() + (f"@{self.branch}" if self.branch else "")

    def __str__(self) -> str:
        return self.full_name + (f"@{self.branch}" if self.branch else "")


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


class FileChange(Frozen):
    """One file of a commit. `patch` is GitHub's: hunks only, None for a binary, a pure rename or one left out as too large."""

    path: str
    previous_path: str | None = None
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None


class PullRequest(Frozen):
    number: int
    title: str
    body: str = ""


class Commit(Frozen):
    """A commit as GitHub serves it; a merge is compared with its first parent. `read` is False while only listed.

    `not_on` names the branch that was looked at and does not hold it; None where nothing speaks against it.
    """

    sha: str
    url: str
    parents: tuple[str, ...] = ()
    author: str
    authored_at: AwareDatetime
    committed_at: AwareDatetime
    message: str
    files: tuple[FileChange, ...] = ()
    additions: int = 0
    deletions: int = 0
    pull: PullRequest | None = None
    not_on: str | None = None
    read: bool = True

    @property
    def short_sha(self) -> str:
        return self.sha[:SHORT_SHA]

    @property
    def title(self) -> str:
        return self.message.split("\n", 1)[0].strip()

    @property
    def body(self) -> str:
        return self.message.partition("\n")[2].strip()

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1

    @property
    def subject(self) -> str:
        """The title that says what was done: for GitHub's merge commits the pull request's, in the body's first line."""
        if self.is_merge and self.title.startswith("Merge pull request #") and self.body:
            return self.body.split("\n", 1)[0].strip()
        return self.title

    @property
    def pr(self) -> int | None:
        """The pull request's number: as GitHub tells it, else as the title ends with it."""
        if self.pull:
            return self.pull.number
        match = re.search(r"\(#(\d{1,9})\)\s*$", self.title) or re.match(r"Merge pull request #(\d{1,9}) ", self.title)
        return int(match[1]) if match else None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


class FactKind(StrEnum):
    """What a diff can prove, in the order in which a reader wants to know it. The value is part of the store and of the JSON report."""

    REMOVED_ENV = "removed environment variable"
    RENAMED_ENV = "renamed environment variable"
    REMOVED_FLAG = "removed flag"
    RENAMED_FLAG = "renamed flag"
    REMOVED_KEY = "removed configuration key"
    RENAMED_KEY = "renamed configuration key"
    REMOVED_ROUTE = "removed HTTP route"
    RENAMED_ROUTE = "renamed HTTP route"
    REMOVED_FIELD = "removed API field"
    RENAMED_FIELD = "renamed API field"
    SUPPORT_DROPPED = "dropped support"
    MINIMUM_RAISED = "raised minimum version"
    REMOVED_NAME = "removed public name"
    RENAMED_NAME = "renamed public name"
    MOVED_NAME = "moved public name"
    MOVED_MODULE = "moved module"
    REMOVED_PARAMETER = "removed parameter"
    RENAMED_PARAMETER = "renamed parameter"
    REQUIRED_PARAMETER = "new required parameter"
    REQUIRED_METHOD = "new abstract method"
    RETYPED = "changed type"
    DEFAULT_CHANGED = "changed default"
    DEPENDENCY_ADDED = "added dependency"
    DEPENDENCY_REMOVED = "removed dependency"
    DEPENDENCY_MOVED = "moved dependency"
    FILE_DELETED = "deleted source file"
    TEST_REMOVED = "removed or skipped test"
    CONCURRENCY = "concurrency touched"
    MEMORY = "memory ownership touched"
    SECURITY = "security-relevant"
    REVERT = "revert"
    LAYOUT = "only layout"


BREAKING = frozenset(
    {
        FactKind.REMOVED_ENV,
        FactKind.RENAMED_ENV,
        FactKind.REMOVED_FLAG,
        FactKind.RENAMED_FLAG,
        FactKind.REMOVED_KEY,
        FactKind.RENAMED_KEY,
        FactKind.REMOVED_ROUTE,
        FactKind.RENAMED_ROUTE,
        FactKind.REMOVED_FIELD,
        FactKind.RENAMED_FIELD,
        FactKind.SUPPORT_DROPPED,
        FactKind.MINIMUM_RAISED,
        FactKind.REMOVED_NAME,
        FactKind.RENAMED_NAME,
        FactKind.MOVED_NAME,
        FactKind.MOVED_MODULE,
        FactKind.REMOVED_PARAMETER,
        FactKind.RENAMED_PARAMETER,
        FactKind.REQUIRED_PARAMETER,
        FactKind.REQUIRED_METHOD,
    }
)


# What one file takes away, while another may well have it: a module's name, a server's route, a command's flag.
_OF_ONE_FILE = frozenset({FactKind.REMOVED_NAME, FactKind.REMOVED_ROUTE, FactKind.REMOVED_FLAG})
_COME = frozenset({FactKind.MINIMUM_RAISED, FactKind.REQUIRED_PARAMETER, FactKind.REQUIRED_METHOD})


class Fact(Frozen):
    """Something that the commit proves: what happened to `name`, and where (`line` in the old file for what is gone)."""

    kind: FactKind
    name: str
    path: str | None = None
    line: int | None = None
    old: str | None = None
    new: str | None = None

    @property
    def breaking(self) -> bool:
        return self.kind in BREAKING

    @property
    def gone(self) -> bool:
        """Whether it breaks by taking something away, rather than by asking for something."""
        return self.breaking and self.kind not in _COME

    @property
    def gone_from(self) -> str | None:
        """The one file that it is gone from, where another may have it still."""
        return self.path if self.kind in _OF_ONE_FILE else None

    @property
    def place(self) -> str:
        if self.path is None:
            return ""
        return self.path if self.line is None else f"{self.path}:{self.line}"


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


class Series(Frozen):
    """A commit's place in a "[2/N]" series; `commits` are the known ones of the series, oldest first, itself included."""

    part: int
    of: int | None
    commits: tuple[str, ...] = ()


class Links(Frozen):
    """Other commits that this one is tied to, by SHA."""

    reverts: str | None = None
    reverts_also: tuple[str, ...] = ()
    reverted_by: str | None = None
    series: Series | None = None
    fixes: tuple[str, ...] = ()
    fixed_by: tuple[str, ...] = ()

    @property
    def all_reverted(self) -> tuple[str, ...]:
        return ((self.reverts,) if self.reverts else ()) + self.reverts_also


class Severity(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Risk(Frozen):
    risk: str
    severity: Severity
    mitigation: str = ""


class Insight(Frozen):
    architecture: str = ""
    performance: str = ""
    security: str = ""
    compatibility: str = ""
    maintenance: str = ""
    dependencies: str = ""


class Analysis(Frozen):
    """What a commit does and what follows. Plain text with `code` spans; each surface escapes it."""

    by: Literal["model", "rules"]
    summary: str
    scope: tuple[str, ...] = ()
    insight: Insight = Insight()
    risks: tuple[Risk, ...] = ()
    advice: tuple[str, ...] = ()


class Touch(Frozen):
    """Where a commit touches what a channel watches: `term` as it was written, `line` None where the patch is not here."""

    term: str
    path: str
    line: int | None = None
    url: str

    @property
    def place(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Entry(Frozen):
    """A commit in a report with all that is known of it; `analysis` is None only where the commit could not be read.

    `watched` is for one reader alone: where the commit touches what their channel watches.
    """

    commit: Commit
    facts: tuple[Fact, ...] = ()
    ranked: Ranked
    links: Links = Links()
    analysis: Analysis | None = None
    watched: tuple[Touch, ...] = ()


class Failure(Frozen, arbitrary_types_allowed=True):
    """A commit that could not be read or analysed, and why."""

    sha: str
    stage: Literal["read", "analyse"]
    reason: str | Phrase

    @field_serializer("reason")
    def _english(self, reason: str | Phrase) -> str:
        return str(reason)

    def told(self, language: Language) -> str:
        """Why, in a language."""
        return str(told(self.reason, language))


class Shortened(Frozen):
    sha: str
    left_out: tuple[str, ...]


class Stats(Frozen):
    total: int
    high: int
    medium: int
    low: int


class Remark(StrEnum):
    """What else the reader of a day must know."""

    NOT_OVER = "the day was not over when it was listed"
    REWRITTEN = "the branch was rewritten by a force push"
    LATE_UNKNOWN = "GitHub could not be asked what landed late"


class Chosen(Frozen):
    """What a channel asked for of a day, in the report's language, and how many commits and late ones that leaves out."""

    told: str
    unselected: int = 0
    unselected_late: int = 0


class Coverage(Frozen):
    """listed = ranked = analysed + by_rules + len(failed), over the day's commits and those that landed late.

    What a channel's selection leaves out was listed and ranked, and is counted nowhere else.
    """

    listed: int
    ranked: int
    analysed: int
    by_rules: int
    failed: tuple[Failure, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    replaced: tuple[Failure, ...] = ()
    remarks: tuple[Remark, ...] = ()


class Usage(Frozen):
    """What a day's analyses cost; None where it is unknown or no model was asked."""

    model: str | None = None
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    removed_claims: int | None = None


class DayReport(Frozen):
    """One day of one repository, from which every format is made. Entries are newest first."""

    repository: Repository
    date: date
    timezone: str
    language: Language
    window: Annotated[Window, Field(description="UTC")]
    entries: tuple[Entry, ...] = ()
    late: tuple[Entry, ...] = Field(default=(), description="landed after the day they are dated was reported")
    failed: tuple[Failure, ...] = ()
    resumes_at: AwareDatetime | None = Field(default=None, description="when GitHub's limit lets the failed be read")
    shortened: tuple[Shortened, ...] = ()
    replaced: tuple[Failure, ...] = Field(default=(), description="analysed by rules, because the model failed")
    remarks: tuple[Remark, ...] = ()
    usage: Usage = Usage()
    chosen: Chosen | None = Field(default=None, description="what a channel selected; None for the whole day")

    def tier(self, importance: Importance) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.ranked.importance == importance)

    @property
    def stats(self) -> Stats:
        counts = {tier.value: len(self.tier(tier)) for tier in Importance}
        return Stats(total=len(self.entries), **counts)

    @property
    def coverage(self) -> Coverage:
        entries = self.entries + self.late
        kept = [entry.analysis for entry in entries if entry.analysis]
        by_model = sum(analysis.by == "model" for analysis in kept)
        listed = len(entries) + (self.chosen.unselected + self.chosen.unselected_late if self.chosen else 0)
        return Coverage(
            listed=listed,
            ranked=listed,
            analysed=by_model,
            by_rules=len(kept) - by_model,
            failed=self.failed,
            shortened=self.shortened,
            replaced=self.replaced,
            remarks=self.remarks,
        )
