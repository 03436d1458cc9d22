"""Reports of what the commits of some days, or one commit, break in downstream trees."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import OutsideFailure
from analysis.models import DayReport, Entry, Failure, Language, Repository
from analysis.models.impacts import CommitImpacts, Downstream, ImpactReport, UnlistedDay
from bot.models.reference import Reference
from bot.models.subjects import DayRef
from bot.services.backfill import DayProgress
from bot.services.commit_sources import CommitSources
from bot.services.digest import DigestService
from bot.services.impact import ComparedSurface, ImpactService
from bot.services.lookup import CommitLookup


class _Found:
    """What was found so far of the commits of several days, each commit compared once."""

    def __init__(self) -> None:
        self.surfaces: list[ComparedSurface] = []
        self.compared: set[str] = set()
        self.commits: list[CommitImpacts] = []
        self.failed: list[Failure] = []
        self.unlisted: list[UnlistedDay] = []

    @property
    def downstreams(self) -> tuple[Downstream, ...]:
        return tuple(each.downstream for each in self.surfaces)

    @property
    def newest_first(self) -> tuple[CommitImpacts, ...]:
        return tuple(sorted(self.commits, key=lambda each: each.entry.commit.committed_at, reverse=True))


class Terms(NamedTuple):
    """The trees that a report is about, its language and time zone, and the time at which it is made (UTC)."""

    downstreams: Sequence[Repository | Path]
    language: Language
    tz: ZoneInfo
    now: datetime


class ImpactReports:
    """Reads commits and compares them with downstream trees. No model is asked."""

    def __init__(
        self, sources: CommitSources, digests: DigestService, commits: CommitLookup, impacts: ImpactService
    ) -> None:
        self._sources = sources
        self._digests = digests
        self._commits = commits
        self._impacts = impacts

    def of_days(
        self, upstream: Repository, days: Sequence[date], terms: Terms, progress: DayProgress | None = None
    ) -> ImpactReport:
        """Return what the commits of these days, oldest first, break.

        A day of several that cannot be listed is named in the report. Raise the errors of `ImpactService.surface`, and
        `OutsideFailure` if the only day cannot be listed.
        """
        # Facts are proven by whole files, which a day that is read before there is a mirror would not have.
        self._sources.mirror(upstream, terms.now)
        found = _Found()
        for day in days:
            try:
                self._add_day(found, upstream, day, terms, progress)
            except OutsideFailure as exc:
                # Without the surfaces no other day can be compared either.
                if len(days) == 1 or not found.surfaces:
                    raise
                found.unlisted.append(UnlistedDay(date=day, reason=exc.what))
            if progress:
                progress.day_done()
        span = f"{days[0]}" if len(days) == 1 else f"{days[0]} – {days[-1]}"
        return ImpactReport(
            repository=upstream,
            period=f"{span} · {terms.tz.key}",
            timezone=terms.tz.key,
            language=terms.language,
            downstreams=found.downstreams,
            compared=len(found.compared),
            commits=found.newest_first,
            failed=tuple(found.failed),
            unlisted=tuple(found.unlisted),
        )

    def _add_day(
        self, found: _Found, upstream: Repository, day: date, terms: Terms, progress: DayProgress | None
    ) -> None:
        if progress:
            progress.day(upstream, day)
        report = self._digests.report(
            DayRef(upstream, day, terms.tz.key, terms.language), terms.now, progress, ask=False
        )
        entries = [each for each in _entries(report) if each.commit.sha not in found.compared]
        if not found.surfaces:
            found.surfaces = self._surfaces(upstream, entries, terms)
        if progress:
            progress.day(upstream, day)
        done = self._impacts.impacts(upstream, entries, found.surfaces, terms.now, progress)
        found.failed += [*report.failed, *done.failed]
        found.commits += done.commits
        found.compared |= {each.commit.sha for each in entries}

    def of_commit(self, reference: Reference, repositories: Sequence[Repository], terms: Terms) -> ImpactReport:
        """Return what one commit breaks. Raise the errors of `ImpactService.surface` and of `CommitLookup.locate`."""
        for each in [reference.repository] if reference.repository else repositories:
            self._sources.mirror(each, terms.now)
        located = self._commits.locate(reference, repositories)
        upstream = located.repository
        entry = self._commits.entry(located, terms.language)
        surfaces = self._surfaces(upstream, [entry], terms)
        done = self._impacts.impacts(upstream, [entry], surfaces, terms.now)
        return ImpactReport(
            repository=upstream,
            period=entry.commit.short_sha,
            timezone=terms.tz.key,
            language=terms.language,
            downstreams=tuple(each.downstream for each in surfaces),
            compared=1,
            commits=done.commits,
            failed=done.failed,
        )

    def _surfaces(self, upstream: Repository, entries: Sequence[Entry], terms: Terms) -> list[ComparedSurface]:
        return [self._impacts.surface(each, upstream, entries, terms.now) for each in terms.downstreams]


def _entries(report: DayReport) -> tuple[Entry, ...]:
    return report.entries + report.late
