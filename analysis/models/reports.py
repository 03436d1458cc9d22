"""The analysis of a commit, and the report of a day."""

from collections.abc import Collection
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, field_serializer

from analysis.locale import Language, Phrase, translated
from analysis.models.commits import Commit, Links, Repository
from analysis.models.facts import Fact
from analysis.models.frozen import Frozen
from analysis.models.ranking import Importance, Ranked
from analysis.models.releases import Released
from analysis.window import Window


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


# Whom a headline concerns: whoever uses, installs or extends the project, waits for a fix, wants what is new, or nobody else.
Concern = Literal["users", "operators", "plug-ins", "fixes", "new", "nobody"]


class Analysis(Frozen):
    """The description of a commit and its consequences. Plain text with `code` spans; each surface escapes it.

    The headline is a model's, and `also` what else readers have to know, both of at most 90 characters as they are
    asked for, or "". `concerns` is None where the model did not say whom the headline concerns.
    """

    by: Literal["model", "rules"]
    headline: str = ""
    also: str = ""
    concerns: Concern | None = None
    summary: str
    scope: tuple[str, ...] = ()
    insight: Insight = Insight()
    risks: tuple[Risk, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The headline, and what else readers have to know, to be shown above the summary; not with what it begins."""
        return " · ".join(each for each in (self.headline, self.also) if each and not self.summary.startswith(each))

    @property
    def texts(self) -> list[str]:
        """All texts, in the order of the fields; a risk is followed by its mitigation."""
        risks = [text for each in self.risks for text in (each.risk, each.mitigation)]
        return [self.summary, self.also, *self.scope, *(text for _, text in self.insight), *risks, *self.advice]


class Touch(Frozen):
    """A place where a commit touches a channel's watched term; `term` is as written, `line` is None without a patch."""

    term: str
    path: str
    line: int | None = None
    url: str

    @property
    def place(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Entry(Frozen):
    """A commit in a report with its data; `analysis` is None only if the commit could not be read.

    `watched` is specific to one channel: where the commit touches its watched terms.
    """

    commit: Commit
    facts: tuple[Fact, ...] = ()
    ranked: Ranked
    links: Links = Links()
    analysis: Analysis | None = None
    watched: tuple[Touch, ...] = ()
    released: Released = Released()


class Failure(Frozen, arbitrary_types_allowed=True):
    """A commit that could not be read or analysed, and why."""

    sha: str
    stage: Literal["read", "analyse"]
    reason: str | Phrase

    @field_serializer("reason")
    def _english(self, reason: str | Phrase) -> str:
        return str(reason)

    def translated(self, language: Language) -> str:
        """Return the reason in the given language."""
        return str(translated(self.reason, language))


class Shortened(Frozen):
    sha: str
    left_out: tuple[str, ...]


class Stats(Frozen):
    total: int
    high: int
    medium: int
    low: int

    @classmethod
    def of(cls, entries: Collection[Entry]) -> Self:
        """Count commits by tier."""
        counts = {tier.value: sum(each.ranked.importance is tier for each in entries) for tier in Importance}
        return cls(total=len(entries), **counts)


class Remark(StrEnum):
    """Remarks on the completeness of a day's report."""

    NOT_OVER = "the day was not over when it was listed"
    REWRITTEN = "the branch was rewritten by a force push"
    LATE_UNKNOWN = "GitHub could not be asked what landed late"


class ReadFrom(StrEnum):
    """Where the commits of a day were listed and read. The values are part of the store and of the JSON report."""

    API = "api"
    MIRROR = "mirror"
    API_INSTEAD = "api instead of mirror"  # the mirror failed


class Chosen(Frozen):
    """A channel's selection from a day, in the report's language, with the numbers of commits it leaves out."""

    description: str
    unselected: int = 0
    unselected_late: int = 0


class Coverage(Frozen):
    """The counts of a report: listed = ranked = analysed + by_rules + len(failed), late commits included.

    Commits that a channel's selection leaves out count as listed and ranked only.
    """

    listed: int
    ranked: int
    analysed: int
    by_rules: int
    failed: tuple[Failure, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    replaced: tuple[Failure, ...] = ()
    remarks: tuple[Remark, ...] = ()
    read_from: ReadFrom = ReadFrom.API


class Usage(Frozen):
    """The model usage of a day's analyses; None if unknown or no model was used."""

    model: str | None = None
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    removed_claims: int | None = None


class Edit(Frozen):
    """How a model edited the day of some commits: which readers have to know first, and one sentence about some.

    `headlines` are those that the sentence was made of, by SHA: it stands as long as they do.
    """

    commits: tuple[str, ...]
    order: tuple[str, ...] = ()
    lead: str = ""
    headlines: dict[str, str] = Field(default={})
    usage: Usage = Usage()


class PeriodReport(Frozen):
    """The commits of a period of one repository, newest first, in a time zone and a language."""

    repository: Repository
    timezone: str
    language: Language
    entries: tuple[Entry, ...] = ()
    late: tuple[Entry, ...] = Field(default=(), description="landed after the day they are dated was reported")
    failed: tuple[Failure, ...] = ()
    net_facts: dict[str, tuple[Fact, ...]] = Field(
        default={}, description="SHA -> what the period changes there in sum, where other commits of it take facts back"
    )
    edit: Edit | None = Field(default=None, description="how a model edited it; None for the rules' order and no lead")
    chosen: Chosen | None = Field(default=None, description="what a channel selected; None for all commits")

    def tier(self, importance: Importance) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.ranked.importance == importance)

    def net(self, entry: Entry) -> tuple[Fact, ...]:
        """Return the facts of a commit that stand after the whole period."""
        return self.net_facts.get(entry.commit.sha, entry.facts)

    @property
    def stats(self) -> Stats:
        return Stats.of(self.entries)


class DayReport(PeriodReport):
    """One day of one repository, the source of every format."""

    date: date
    window: Annotated[Window, Field(description="UTC")]
    resumes_at: AwareDatetime | None = Field(default=None, description="when GitHub's limit lets the failed be read")
    shortened: tuple[Shortened, ...] = ()
    replaced: tuple[Failure, ...] = Field(default=(), description="analysed by rules, because the model failed")
    remarks: tuple[Remark, ...] = ()
    read_from: ReadFrom = ReadFrom.API
    usage: Usage = Usage()

    @property
    def coverage(self) -> Coverage:
        entries = self.entries + self.late
        analyses = [entry.analysis for entry in entries if entry.analysis]
        by_model = sum(analysis.by == "model" for analysis in analyses)
        listed = len(entries) + (self.chosen.unselected + self.chosen.unselected_late if self.chosen else 0)
        return Coverage(
            listed=listed,
            ranked=listed,
            analysed=by_model,
            by_rules=len(analyses) - by_model,
            failed=self.failed,
            shortened=self.shortened,
            replaced=self.replaced,
            remarks=self.remarks,
            read_from=self.read_from,
        )
