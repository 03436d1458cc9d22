"""The week of a repository, from the days that are stored."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from analysis.errors import OutsideFailure
from analysis.models import DayReport
from analysis.models.release_scores import Corrections
from analysis.models.weeks import WeekReport
from analysis.report.week_report import week_report
from analysis.window import window
from bot.models.subjects import DayRef, WeekRef
from bot.services.commit_sources import CommitSources
from bot.services.digest import net_changes
from bot.store import Store

ReadDay = Callable[[DayRef], DayReport]


class ReadWeek(NamedTuple):
    """The days of a week that could be read, oldest first, and the first error of another."""

    days: tuple[DayReport, ...]
    failure: OutsideFailure | None = None

    @property
    def resumes_at(self) -> datetime | None:
        """When GitHub's limit lets the rest be read, if that is what is missing."""
        return max(filter(None, (each.resumes_at for each in self.days)), default=None)


class WeekService:
    """Puts weeks together; nothing of them is stored but their days."""

    def __init__(self, sources: CommitSources, store: Store) -> None:
        self._sources = sources
        self._store = store

    def read(self, ref: WeekRef, today: date, read: ReadDay, *, whole: bool = False) -> ReadWeek:
        """Read the days that are over, those since the first that is stored, or the `whole` week.

        What was before is not read: of a repository that is followed since yesterday a week has a day. After an error of
        GitHub the other days that are stored still count.
        """
        since = date.min if whole else self._store.first_day(ref.repository, ref.timezone)
        days: list[DayReport] = []
        failure: OutsideFailure | None = None
        for each in ref.days:
            stored = self._store.day(ref.repository, each.day, ref.timezone)
            if each.day >= today or since is None or each.day < since or (failure and not stored):
                continue
            try:
                days.append(read(each))
            except OutsideFailure as exc:
                failure = failure or exc
        return ReadWeek(tuple(days), failure)

    def report(
        self,
        ref: WeekRef,
        days: Sequence[DayReport],
        today: date,
        select: Callable[[DayReport], DayReport] = lambda day: day,
    ) -> WeekReport:
        """Return the week of these days, of each what `select` leaves; what changes in sum is found in all commits."""
        entries = {each.commit.sha: each for day in days for each in (*day.entries, *day.late)}
        ids = self._store.read_ids(ref.repository, list(entries))
        stored = self._store.commits(list(ids.values()))
        read = [entries[each.commit.sha] for each in stored]
        source = self._sources.stored(ref.repository)
        return week_report(
            ref.repository,
            ref.first,
            [select(each) for each in days],
            timezone=ref.timezone,
            language=ref.language,
            today=today,
            net_facts=net_changes(self._store, source, stored, read),
            corrections=self._corrections(ref),
            score=self._store.release_scores.latest(ref.repository),
        )

    def _corrections(self, ref: WeekRef) -> Corrections:
        since, until = window(ref.first, ref.tz).start, window(ref.last + timedelta(days=1), ref.tz).start
        given = self._store.verdicts.given(ref.repository, since, until)
        raised, lowered = (
            {each.sha for each in given if each.verdict == verdict} for verdict in ("too_low", "too_high")
        )
        return Corrections(commits=len(raised | lowered), raised=len(raised), lowered=len(lowered))
