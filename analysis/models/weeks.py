"""A week of one repository: the commits of up to seven days by what they change in sum."""

from datetime import date

from pydantic import Field

from analysis.models.commits import Commit
from analysis.models.facts import Fact, FactKind
from analysis.models.frozen import Frozen
from analysis.models.release_scores import Corrections, ReleaseScore
from analysis.models.reports import Entry, PeriodReport, Stats


class WeekDay(Frozen):
    """A day of a week with the SHAs of its commits; None if they are not stored, or the day is not over."""

    date: date
    commits: tuple[str, ...] | None = None
    over: bool = True


class Revert(Frozen):
    """A commit that reverts another, the title that it takes back, and the commit of the week that landed it again."""

    commit: Commit
    title: str
    landed_again: Commit | None = None


class Announcement(Frozen):
    """A commit that deprecates something, with the facts that say what, and when it goes."""

    entry: Entry
    facts: tuple[Fact, ...]


class Area(Frozen):
    """A folder, and how many commits touch files in it."""

    path: str
    commits: int


class WeekReport(PeriodReport):
    """Seven days of one repository, or those that a digest covers, oldest first, some of which may not be stored. Each commit is in `entries` once, late ones too."""

    days: tuple[WeekDay, ...]
    reverts: tuple[Revert, ...] = ()
    announced: tuple[Announcement, ...] = ()
    areas: tuple[Area, ...] = ()
    corrections: Corrections = Corrections()
    score: ReleaseScore | None = Field(default=None, description="how right the ranks of the latest release were")

    def net(self, entry: Entry) -> tuple[Fact, ...]:
        """Return the facts of a commit that stand after the week, but for what it only announces, which is told apart."""
        return tuple(each for each in super().net(entry) if each.kind is not FactKind.DEPRECATED)

    @property
    def first(self) -> date:
        return self.days[0].date

    @property
    def last(self) -> date:
        return self.days[-1].date

    @property
    def stored(self) -> tuple[date, ...]:
        """The days whose commits are stored."""
        return tuple(each.date for each in self.days if each.commits is not None)

    @property
    def missing(self) -> tuple[date, ...]:
        """The days that are over, and whose commits are not stored."""
        return tuple(each.date for each in self.days if each.over and each.commits is None)

    def daily(self) -> tuple[tuple[date, Stats | None], ...]:
        """Return each day with its commits by tier, None if they are not stored."""
        entries = {each.commit.sha: each for each in self.entries}
        return tuple(
            (day.date, None if day.commits is None else Stats.of([entries[sha] for sha in day.commits]))
            for day in self.days
        )
