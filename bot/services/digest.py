"""The digest of one day of one repository: list, read, find facts, rank, analyse, store.

Every step checks the store first, so that finished work is not repeated and a rerun completes what failed.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import date, datetime, timedelta
from threading import Event
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.facts import facts
from analysis.locale import Phrase
from analysis.models import Commit, DayReport, Failure, Language, Remark, Repository
from analysis.sources.github import GitHub
from analysis.window import Window, window
from bot.services.analyst import Analyst, Modelling
from bot.store import Store, StoredCommit, StoredDay

_READERS = 8  # concurrent requests: far below GitHub's limit of 100
_LATE_MAX_AGE = timedelta(days=7)  # maximum age of a day, and of the previous listing, to look for late commits


class Services(NamedTuple):
    """The dependencies of a use case: GitHub, the store and the model, if any."""

    github: GitHub
    store: Store
    modelling: Modelling | None = None


class Progress(Protocol):
    """Progress of reading and analysing commits."""

    def expect(self, steps: int) -> None:
        """Announce the number of steps: commits to read plus commits to analyse by a model."""

    def advance(self) -> None:
        """Report one step as done or failed."""


def digest(
    services: Services,
    repository: Repository,
    day: date,
    tz: ZoneInfo,
    language: Language,
    *,
    now: datetime,
    progress: Progress | None = None,
    ask: bool = True,
) -> DayReport:
    """Return the report of a day. Unreadable commits appear by title and in its failures; a rerun completes them.

    Without `ask` there are no new model calls. Analysis overlaps with reading. Raise `OutsideFailure` if the day cannot be listed.
    """
    listed = _list_day(services, repository, day, tz, now)
    ids = listed.commit_ids + listed.late_ids
    advance = progress.advance if progress else lambda: None
    with Analyst(
        services.store, repository, language, services.modelling, services.github.contents, advance, ask=ask
    ) as analyst:
        stored = services.store.commits(ids)
        analyst.submit([each.id for each in stored if each.commit.read])
        unread = [each.commit for each in stored if not each.commit.read]
        if progress:
            progress.expect(len(unread) + len(analyst.unasked(ids)))
        unfinished = read_all(services, repository, unread, tz, progress, lambda kept: analyst.submit([kept]))
    return _report(services, repository, day, tz, language, listed, analyst, unfinished)


def stored_digest(
    services: Services, repository: Repository, day: date, tz: ZoneInfo, language: Language
) -> DayReport | None:
    """Return the report of a day from the store alone, without requests; None if the day was never listed."""
    listed = services.store.day(repository, day, tz.key)
    if listed is None:
        return None
    with Analyst(
        services.store, repository, language, services.modelling, services.github.contents, ask=False
    ) as analyst:
        return _report(services, repository, day, tz, language, listed, analyst, Unfinished())


def _report(
    services: Services,
    repository: Repository,
    day: date,
    tz: ZoneInfo,
    language: Language,
    listed: StoredDay,
    analyst: Analyst,
    unfinished: "Unfinished",
) -> DayReport:
    ids = listed.commit_ids + listed.late_ids
    stored = current(services.store, ids)
    entries = analyst.entries(stored)
    return DayReport(
        repository=repository,
        date=day,
        timezone=tz.key,
        language=language,
        window=window(day, tz),
        entries=entries[: len(listed.commit_ids)],
        late=entries[len(listed.commit_ids) :],
        failed=unfinished.failures,
        resumes_at=unfinished.resumes_at,
        shortened=analyst.shortened(stored),
        replaced=analyst.replaced(stored),
        remarks=listed.remarks,
        usage=analyst.usage(ids),
    )


def keep(store: Store, repository: Repository, commit: Commit) -> int:
    """Store a commit that was read, with its facts, and return its id."""
    return store.save_commit(repository, commit, facts(commit))


def current(store: Store, ids: Sequence[int]) -> list[StoredCommit]:
    """Return the commits with these ids, with facts found by the current rules."""
    return [_with_facts(store, each) for each in store.commits(ids)]


def _with_facts(store: Store, each: StoredCommit) -> StoredCommit:
    """Return the commit with current facts, recomputed from its stored patches if older rules found them."""
    if not each.stale or not each.commit.read:
        return each
    whole = store.commits([each.id], patches=True)[0].commit
    found = facts(whole)
    store.save_facts(each.id, whole, found)
    return each._replace(facts=found, stale=False)


def _list_day(services: Services, repository: Repository, day: date, tz: ZoneInfo, now: datetime) -> StoredDay:
    whole = window(day, tz)
    stored = services.store.day(repository, day, tz.key)
    if stored and stored.listed_at >= whole.end and Remark.LATE_UNKNOWN not in stored.remarks:
        return stored
    listed = services.github.list_commits(repository, whole)
    late, remarks = _late_commits(services, repository, day, tz, whole, now)
    if now < whole.end:
        remarks = [Remark.NOT_OVER, *remarks]
    known = {commit.sha for commit in listed}
    return services.store.save_day(
        repository,
        day,
        tz.key,
        listed=listed,
        late=[commit for commit in late if commit.sha not in known],
        remarks=remarks,
        listed_at=now,
    )


def _late_commits(
    services: Services, repository: Repository, day: date, tz: ZoneInfo, whole: Window, now: datetime
) -> tuple[list[Commit], list[Remark]]:
    """Return late commits, with remarks: landed since the last listed day, but dated on a day already reported.

    Only recent days are checked: for older ones GitHub no longer tells when commits landed.
    """
    before = services.store.latest_day_before(repository, day, tz.key)
    if before is None or day - before > _LATE_MAX_AGE or now - whole.end > _LATE_MAX_AGE:
        return [], []
    stored = services.store.day(repository, before, tz.key)
    if not stored or not stored.commit_ids:
        return [], []
    base = services.store.commits(stored.commit_ids[:1])[0].commit.sha
    try:
        head = services.github.head(repository)
        gained = services.github.compare(repository, base, head)
    except OutsideFailure:
        return [], [Remark.LATE_UNKNOWN]
    reported = services.store.listed_dates(repository, tz.key)
    known = services.store.listed_shas(repository, [commit.sha for commit in gained.commits])
    late = [
        commit
        for commit in gained.commits
        if commit.sha not in known
        and commit.committed_at < whole.start
        and commit.committed_at.astimezone(tz).date() in reported
    ]
    late.sort(key=lambda commit: commit.committed_at, reverse=True)
    return late, [Remark.REWRITTEN] if gained.rewritten else []


class Unfinished(NamedTuple):
    """Commits that could not be read, and when GitHub's rate limit resets if that was the cause."""

    failures: tuple[Failure, ...] = ()
    resumes_at: datetime | None = None


def read_all(
    services: Services,
    repository: Repository,
    commits: Sequence[Commit],
    tz: ZoneInfo,
    progress: Progress | None,
    on_kept: Callable[[int], None] = lambda _: None,
) -> Unfinished:
    """Read commits concurrently, store each and pass its id to `on_kept`. Return those that failed.

    Each thread stores its commit before it reads another: a single storing thread would be the bottleneck.
    Once GitHub's rate limit is used up there are no more requests: the remaining commits fail for the same reason.
    """
    if not commits:
        return Unfinished()
    limited = Event()
    limit: list[RateLimited] = []

    def read(sha: str) -> None:
        if limited.is_set():
            raise limit[0]
        try:
            commit = services.github.read_commit(repository, sha)
        except RateLimited as exc:
            limit.append(exc)
            limited.set()
            raise
        on_kept(keep(services.store, repository, commit))

    with ThreadPoolExecutor(min(_READERS, len(commits))) as pool:
        reading: dict[Future[None], str] = {pool.submit(read, commit.sha): commit.sha for commit in commits}
        failures = {}
        try:
            for future in as_completed(reading):
                try:
                    future.result()
                except DigestError as exc:
                    failures[reading[future]] = _reason(exc, tz)
                if progress:
                    progress.advance()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    failed = tuple(
        Failure(sha=commit.sha, stage="read", reason=failures[commit.sha])
        for commit in commits
        if commit.sha in failures
    )
    return Unfinished(failed, limit[0].resets_at if limit else None)


def _reason(exc: DigestError, tz: ZoneInfo) -> str | Phrase:
    if not isinstance(exc, RateLimited):
        return exc.what
    return Phrase("limit, resets {at:%H:%M}", at=exc.resets_at.astimezone(tz)) if exc.resets_at else Phrase("limit")
