"""Backfill of many days of several repositories, one at a time. Stored commits are skipped, so an interrupted run resumes."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from analysis.errors import OutsideFailure, RateLimited
from analysis.models import Language, Repository
from bot.models.subjects import DayRef
from bot.services.commit_reader import Progress
from bot.services.digest import DigestService

_DAYS_AT_ONCE = 31  # whose commits are prepared together


class DayProgress(Progress, Protocol):
    """Progress over days and, within each, over commits."""

    def day(self, repository: Repository, day: date) -> None:
        """Report the start of a day."""

    def day_done(self) -> None:
        """Report the end of the current day, read or failed."""


class BackfilledDay(NamedTuple):
    """Result of a backfilled day: commits listed, commits that could not be read, and the reason if the day failed."""

    repository: Repository
    day: date
    commits: int
    failed: int
    reason: str | None = None


def backfill(
    digests: DigestService,
    repositories: Sequence[Repository],
    days: Sequence[date],
    tz: ZoneInfo,
    language: Language,
    *,
    now: datetime,
    progress: DayProgress | None = None,
) -> Iterator[BackfilledDay]:
    """Read every day of every repository, oldest first, yielding each result.

    Raise `RateLimited` when GitHub's limit is used up; a rerun resumes from there.
    """
    for repository in repositories:
        for number, day in enumerate(days):
            if number % _DAYS_AT_ONCE == 0:
                digests.prepare(repository, days[number : number + _DAYS_AT_ONCE], tz, now)
            if progress:
                progress.day(repository, day)
            try:
                report = digests.report(DayRef(repository, day, tz.key, language), now, progress)
            except RateLimited:
                raise
            except OutsideFailure as exc:
                yield BackfilledDay(repository, day, 0, 0, str(exc))
            else:
                reason = str(report.failed[0].reason) if report.failed else None
                yield BackfilledDay(repository, day, report.stats.total, len(report.failed), reason)
            if progress:
                progress.day_done()
