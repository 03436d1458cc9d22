"""The digest of one day of one repository: list, read, find facts, rank, analyse, store; and the week of such days.

Every step checks the store first, so that finished work is not repeated and a rerun completes what failed.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.models import Commit, DayReport, Language, ReadFrom, Remark, Repository
from analysis.models.release_scores import Corrections
from analysis.models.weeks import WeekReport
from analysis.report.week_report import week_report
from analysis.window import Window, window
from bot.models.progress import SILENT, Progress
from bot.models.subjects import DayRef, WeekRef
from bot.services.analyst import Analyst, net_changes, with_needed_patches
from bot.services.commit_reader import Unfinished, current_commits, is_current, read_commits
from bot.services.commit_sources import CommitSource, CommitSources
from bot.services.limits import MeteredModel
from bot.store import Store, StoredDay

T = TypeVar("T")
ReadDay = Callable[[DayRef], DayReport]

_DAYS_AT_ONCE = 31  # whose commits are prepared together
_LATE_MAX_AGE = timedelta(days=7)  # maximum age of a day, and of the previous listing, to look for late commits


class DayRead(NamedTuple):
    """A day that was read, its report unless the day failed, and what is missing or why it failed; "" if nothing is."""

    day: date
    report: DayReport | None
    missing: str


class DigestService:
    """Reports of days, from the sources of commits, the store, and a model if there is one."""

    def __init__(self, sources: CommitSources, store: Store, model: MeteredModel | None = None) -> None:
        self._sources = sources
        self._store = store
        self._model = model

    def report(self, ref: DayRef, now: datetime, progress: Progress = SILENT, *, ask: bool = True) -> DayReport:
        """Return the report of a day. Unreadable commits appear by title and in its failures; a rerun completes them.

        Without `ask` there are no new model calls. Analysis overlaps with reading. Raise `OutsideFailure` if the day cannot
        be listed.
        """
        source: CommitSource | None = None
        listed = self._finished_listing(ref)
        if listed is None:
            source = self._sources.current(ref.repository, now, window(ref.day, ref.tz).end)
            listed = self._list_day(source, ref, now)
        ids = listed.commit_ids + listed.late_ids
        source = source or self._sources.stored(ref.repository)
        with self._analyst(ref, source, progress, ask=ask) as analyst:
            stored = current_commits(self._store, ids, source)
            analyst.submit([each.id for each in stored if each.commit.read])
            unread = [each.commit for each in stored if not each.commit.read]
            if unread:
                analyst.prepare()
            progress.expect(len(unread) + len(analyst.unanalysed(ids)))
            unfinished = read_commits(
                self._store, source, ref.repository, unread, ref.tz, progress, lambda saved: analyst.submit([saved])
            )
            analyst.submit_low()
            analyst.edit(partial(self._assemble, ref, listed, source, analyst, unfinished))
        if source.read_from is ReadFrom.API_INSTEAD and listed.read_from is ReadFrom.MIRROR:  # it failed meanwhile
            listed = self._store.set_read_from(ref.repository, ref.day, ref.timezone, listed, source.read_from)
        report = self._assemble(ref, listed, source, analyst, unfinished)
        entries = zip(ids, (*report.entries, *report.late), strict=True)
        self._store.ranks.keep({each: entry.ranked for each, entry in entries if entry.commit.read}, now)
        return report

    def reports(
        self,
        repository: Repository,
        days: Sequence[date],
        tz: ZoneInfo,
        language: Language,
        now: datetime,
        progress: Progress = SILENT,
    ) -> Iterator[DayRead]:
        """Read days, oldest first, and yield the result of each. Raise `RateLimited` when GitHub's limit is used up."""
        for number, day in enumerate(days):
            if number % _DAYS_AT_ONCE == 0:
                self.prepare(repository, days[number : number + _DAYS_AT_ONCE], tz, now)
            progress.day(repository, day)
            try:
                report = self.report(DayRef(repository, day, tz.key, language), now, progress)
            except RateLimited:
                raise
            except OutsideFailure as exc:
                yield DayRead(day, None, str(exc))
            else:
                yield DayRead(day, report, missing_of(report))
            progress.day_done()

    def latest_day(self, ref: DayRef, now: datetime) -> date | None:
        """Return the last day with commits before a day; None if there is none. Raise `OutsideFailure` if it is unknown."""
        whole = window(ref.day, ref.tz)
        source = self._sources.current(ref.repository, now, whole.end)
        sha = source.commit_before(whole.start)
        if sha is None:
            return None
        return source.read_commit(sha, pull=False).commit.committed_at.astimezone(ref.tz).date()

    def prepare(self, repository: Repository, days: Sequence[date], tz: ZoneInfo, now: datetime) -> None:
        """Prepare the reading of those days that were not listed yet, all at once; `days` are in order."""
        unlisted = [day for day in days if self._store.day(repository, day, tz.key) is None]
        if unlisted:
            whole = Window(window(unlisted[0], tz).start, window(unlisted[-1], tz).end)
            self._sources.current(repository, now, min(now, whole.end)).prepare_window(whole)

    def stored_report(self, ref: DayRef) -> DayReport | None:
        """Return the report of a day from the store alone, without requests; None if the day was never listed."""
        listed = self._store.day(ref.repository, ref.day, ref.timezone)
        if listed is None:
            return None
        source = self._sources.stored(ref.repository)
        with self._analyst(ref, source, SILENT, ask=False) as analyst:
            return self._assemble(ref, listed, source, analyst, Unfinished())

    def is_finished(self, ref: DayRef, *, ask: bool = True) -> bool:
        """Return whether nothing of a day is left to list, to read or, if one may `ask` the model, to analyse."""
        listed = self._finished_listing(ref)
        if listed is None:
            return False
        ids, source = listed.commit_ids + listed.late_ids, self._sources.stored(ref.repository)
        with self._analyst(ref, source, SILENT, ask=ask) as analyst:
            return not analyst.unanalysed(ids) and all(is_current(each, source) for each in self._store.commits(ids))

    def _analyst(self, ref: DayRef, source: CommitSource, progress: Progress, *, ask: bool) -> Analyst:
        return Analyst(self._store, ref.repository, ref.language, self._model, source, progress.advance, ask=ask)

    def _assemble(
        self, ref: DayRef, listed: StoredDay, source: CommitSource, analyst: Analyst, unfinished: Unfinished
    ) -> DayReport:
        ids = listed.commit_ids + listed.late_ids
        stored = current_commits(self._store, ids)
        entries = analyst.entries(stored)
        shown = with_needed_patches(self._store, {each.commit.sha: each.id for each in stored}, entries)
        report = DayReport(
            repository=ref.repository,
            date=ref.day,
            timezone=ref.timezone,
            language=ref.language,
            window=window(ref.day, ref.tz),
            entries=shown[: len(listed.commit_ids)],
            late=shown[len(listed.commit_ids) :],
            failed=unfinished.failures,
            resumes_at=unfinished.resumes_at,
            shortened=analyst.shortened(stored),
            replaced=analyst.replaced(stored),
            net_facts=net_changes(self._store, source, stored, entries),
            remarks=listed.remarks,
            read_from=listed.read_from,
        )
        return analyst.with_model(report, ids)

    def _finished_listing(self, ref: DayRef) -> StoredDay | None:
        """Return the listing of a day if it is complete."""
        stored = self._store.day(ref.repository, ref.day, ref.timezone)
        complete = stored and stored.listed_at >= window(ref.day, ref.tz).end
        return stored if stored and complete and Remark.LATE_UNKNOWN not in stored.remarks else None

    def _list_day(self, source: CommitSource, ref: DayRef, now: datetime) -> StoredDay:
        whole = window(ref.day, ref.tz)
        listed = source.list_commits(whole)
        late, remarks = self._late_commits(source, ref, whole, now)
        if now < whole.end:
            remarks = [Remark.NOT_OVER, *remarks]
        known = {commit.sha for commit in listed}
        return self._store.save_day(
            ref.repository,
            ref.day,
            ref.timezone,
            listed=listed,
            late=[commit for commit in late if commit.sha not in known],
            remarks=remarks,
            listed_at=now,
            read_from=source.read_from,
        )

    def _late_commits(
        self, source: CommitSource, ref: DayRef, whole: Window, now: datetime
    ) -> tuple[list[Commit], list[Remark]]:
        """Return late commits, with remarks: landed since the last listed day, but dated on a day already reported.

        Only recent days are checked: for older ones GitHub no longer tells when commits landed.
        """
        store, repository = self._store, ref.repository
        before = store.latest_day_before(repository, ref.day, ref.timezone)
        if before is None or ref.day - before > _LATE_MAX_AGE or now - whole.end > _LATE_MAX_AGE:
            return [], []
        stored = store.day(repository, before, ref.timezone)
        if not stored or not stored.commit_ids:
            return [], []
        base = store.commits(stored.commit_ids[:1])[0].commit.sha
        try:
            gained = source.compare(base, source.head())
        except OutsideFailure:
            return [], [Remark.LATE_UNKNOWN]
        reported = store.listed_dates(repository, ref.timezone)
        known = store.listed_shas(repository, [commit.sha for commit in gained.commits], other_than=ref.day)
        late = [
            commit
            for commit in gained.commits
            if commit.sha not in known
            and commit.committed_at < whole.start
            and commit.committed_at.astimezone(ref.tz).date() in reported
        ]
        late.sort(key=lambda commit: commit.committed_at, reverse=True)
        return late, [Remark.REWRITTEN] if gained.rewritten else []


def reports_of(
    repositories: Sequence[Repository], make: Callable[[Repository], T]
) -> tuple[list[T], dict[str, DigestError]]:
    """Return the reports that `make` makes, and the errors of other repositories. Raise the first if there is no report."""
    reports: list[T] = []
    failures: dict[str, DigestError] = {}
    for each in repositories:
        try:
            reports.append(make(each))
        except DigestError as exc:
            failures[str(each)] = exc
    if failures and not reports:
        raise next(iter(failures.values()))
    return reports, failures


def missing_of(report: DayReport) -> str:
    """Return what is missing from a day's report; "" if nothing is."""
    if report.failed:
        read = f"{len(report.failed)} of {report.coverage.listed} commits could not be read"
        return f"{read} ({report.failed[0].reason})"
    return "GitHub could not be asked what landed late" if Remark.LATE_UNKNOWN in report.remarks else ""


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
        """Read the days that are over, those since the first that is stored, or the `whole` week; a digest's own days always.

        What was before is not read: of a repository that is followed since yesterday a week has a day. After an error of
        GitHub the other days that are stored still count.
        """
        since = date.min if whole or ref.covered else self._store.first_day(ref.repository, ref.timezone)
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
            length=ref.size,
            net_facts=net_changes(self._store, source, stored, read),
            corrections=self._corrections(ref),
            score=self._store.release_scores.latest(ref.repository),
        )

    def _corrections(self, ref: WeekRef) -> Corrections:
        since, until = window(ref.first, ref.tz).start, window(ref.last + timedelta(days=1), ref.tz).start
        return Corrections.of(self._store.verdicts.given(ref.repository, since, until))
