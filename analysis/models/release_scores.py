"""The score of the ranks that commits were given, by the notes of the release that they went into."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, Self

from pydantic import AwareDatetime

from analysis.models.commits import SHORT_SHA, Repository
from analysis.models.frozen import Frozen
from analysis.models.ranking import Importance


class GivenRank(Frozen):
    """The rank that a stored commit was given when it was first reported; score and time are None if they were not kept."""

    sha: str
    url: str
    title: str
    pr: int | None = None
    importance: Importance
    score: float | None = None
    given_at: AwareDatetime | None = None


class RankedCommit(Frozen):
    """A commit of a release with the importance that it was given."""

    sha: str
    url: str
    title: str
    importance: Importance

    @property
    def short_sha(self) -> str:
        return self.sha[:SHORT_SHA]


class TierCount(Frozen):
    """The ranked commits of a tier, and how many of them the notes name."""

    commits: int = 0
    named: int = 0


Verdict = Literal["too_high", "too_low"]


class GivenVerdict(NamedTuple):
    """A person's latest verdict on the tier of a commit."""

    sha: str
    verdict: Verdict


class Corrections(Frozen):
    """People's corrections of ranks: commits that were corrected, that somebody raised, and that somebody lowered."""

    commits: int = 0
    raised: int = 0
    lowered: int = 0

    @classmethod
    def of(cls, given: Iterable[GivenVerdict]) -> Self:
        """Count the commits of some verdicts."""
        shas: dict[Verdict, set[str]] = {"too_low": set(), "too_high": set()}
        for each in given:
            shas[each.verdict].add(each.sha)
        raised, lowered = shas["too_low"], shas["too_high"]
        return cls(commits=len(raised | lowered), raised=len(raised), lowered=len(lowered))


class ReleaseScore(Frozen):
    """How right the ranks of a release's commits were: the notes name what mattered.

    `commits` counts what the release covers, without merges; `by_date` if dates had to delimit it, for want of its tag.
    `named` counts those of them that the notes name, ranked or not. `afterwards` counts what was ranked only
    after the release, of which `left_out` is in no other figure: all of it, unless nothing was ranked before.
    The other figures are about the remaining ranked commits: `breaking_low` are listed as breaking but were ranked low;
    `missed` are the highest-ranked that the notes do not name; `auc` is the probability that a named commit outscores
    another, None without scores of both kinds.
    """

    repository: Repository
    release: str
    url: str = ""
    published_at: AwareDatetime
    by_date: bool = False
    commits: int
    named: int
    afterwards: int = 0
    left_out: int = 0
    tiers: dict[Importance, TierCount]
    breaking: int = 0
    breaking_low: tuple[RankedCommit, ...] = ()
    missed: tuple[RankedCommit, ...] = ()
    corrections: Corrections = Corrections()
    auc: float | None = None

    @property
    def ranked(self) -> int:
        """The number of commits whose ranks the figures are about."""
        return sum(tier.commits for tier in self.tiers.values())

    @property
    def unranked(self) -> int:
        return self.commits - self.ranked - self.left_out

    @property
    def ranked_named(self) -> int:
        """The number of ranked commits that the notes name."""
        return sum(tier.named for tier in self.tiers.values())

    @property
    def high(self) -> TierCount:
        return self.tiers[Importance.HIGH]

    @property
    def at_least_medium_named(self) -> int:
        """The number of commits ranked high or medium that the notes name."""
        return self.high.named + self.tiers[Importance.MEDIUM].named
