"""Many days of several repositories, one after the other. What is stored is not read again, so a killed run goes on."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from analysis.errors import OutsideFailure, RateLimited
from analysis.models import Language, Repository
from bot.services.digest import Progress, Services, digest


class DayProgress(Progress, Protocol):
    """Somebody who watches days and, within each, commits."""

    def day(self, repository: Repository, day: date) -> None:
        """The day that is read next."""

    def day_done(self) -> None:
        """It was read, or failed."""


class BackfilledDay(NamedTuple):
    """A day of a backfill: how many commits it has, how many could not be read, and why the day itself failed if it did."""

    repository: Repository
    day: date
    commits: int
    failed: int
    reason: str | None = None


def backfill(
    services: Services,
    repositories: Sequence[Repository],
    days: Sequence[date],
    tz: ZoneInfo,
    language: Language,
    *,
    now: datetime,
    progress: DayProgress | None = None,
) -> Iterator[BackfilledDay]:
    """Reads every day of every repository, oldest first. Ends early when GitHub's limit is used up: a rerun goes on from there."""
    for repository in repositories:
        for day in days:
            if progress:
                progress.day(repository, day)
            try:
                report = digest(services, repository, day, tz, language, now=now, progress=progress)
            except RateLimited:
                raise
            except OutsideFailure as exc:
                yield BackfilledDay(repository, day, 0, 0, str(exc))
            else:
                reason = str(report.failed[0].reason) if report.failed else None
                yield BackfilledDay(repository, day, report.stats.total, len(report.failed), reason)
            if progress:
                progress.day_done()
