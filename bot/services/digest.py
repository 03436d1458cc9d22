"""One day of one repository, from GitHub to a report: list, read, find facts, rank, analyse, keep.

Every step asks the store first, so that what was done once is not done again, and what failed can be completed.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import date, datetime, timedelta
from threading import Event
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.facts import facts
from analysis.models import Commit, DayReport, Failure, Language, Remark, Repository
from analysis.phrases import Phrase
from analysis.sources.github import GitHub
from analysis.window import Window, window
from bot.services.analyst import Analyst, Modelling
from bot.store import Store, StoredCommit, StoredDay

_READERS = 8  # requests at once: far below GitHub's limit of 100
_FOLLOWED = timedelta(days=7)  # how old a day, or the listing before it, may be for late arrivals to be looked for


class Services(NamedTuple):
    """What a use case works with."""

    github: GitHub
    store: Store
    modelling: Modelling | None = None


class Progress(Protocol):
    """Somebody who watches commits being read and analysed."""

    def expect(self, steps: int) -> None:
        """So many commits are to be read, and so many to be put to a model."""

    def advance(self) -> None:
        """One of them was, or failed."""


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
    """The report of a day. Commits that could not be read are in it by title and in its failures; a rerun completes it.

    Without `ask` no model is asked anything new. The model analyses what is read while the rest is still being read. `OutsideFailure` when the day could not even be listed.
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
    """The report of a day as far as the store has it, without asking anybody; None for a day that was never listed."""
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
    """Stores a commit that was read, with the facts that it proves. Gives its id."""
    return store.save_commit(repository, commit, facts(commit))


def current(store: Store, ids: Sequence[int]) -> list[StoredCommit]:
    """The commits with these ids, with the facts that today's rules find in them."""
    return [_with_facts(store, each) for each in store.commits(ids)]


def _with_facts(store: Store, each: StoredCommit) -> StoredCommit:
    """The commit with the facts of today's rules, found anew from its stored patches where older rules made them."""
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
    late, remarks = _followed(services, repository, day, tz, whole, now)
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


def _followed(
    services: Services, repository: Repository, day: date, tz: ZoneInfo, whole: Window, now: datetime
) -> tuple[list[Commit], list[Remark]]:
    """What landed on the branch since the last day that was listed, but is dated on a day whose report is out.

    Only a day that is read while it is fresh is followed: of an old one GitHub can no longer tell when commits landed.
    """
    before = services.store.latest_day_before(repository, day, tz.key)
    if before is None or day - before > _FOLLOWED or now - whole.end > _FOLLOWED:
        return [], []
    stored = services.store.day(repository, before, tz.key)
    if not stored or not stored.commit_ids:
        return [], []
    base = services.store.commits(stored.commit_ids[:1])[0].commit.sha
    try:
        head = services.github.head(repository)
        gained = services.github.gained(repository, base, head)
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
    """What could not be read, and when GitHub's limit is lifted if that was why."""

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
    """Reads commits, several at once, and keeps each as it comes, which `on_kept` is told by its id. Gives those that failed.

    The thread that read a commit keeps it before it reads another: one that only keeps would wait for all that read.
    Once GitHub's limit is used up nobody asks any more: the rest fail for the same reason.
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
    return Phrase("limited_until", at=exc.resets_at.astimezone(tz)) if exc.resets_at else Phrase("limited")
