"""One day of one repository, from GitHub to a report: list, read, find facts, rank, analyse, keep.

Every step asks the store first, so that what was done once is not done again, and what failed can be completed.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import date, datetime, timedelta
from threading import Event
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from analysis.by_rules import VERSION as RULES_VERSION
from analysis.by_rules import analyse_by_rules
from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.facts import facts
from analysis.github import GitHub
from analysis.models import Commit, DayReport, Entry, Failure, Language, Remark, Repository
from analysis.rank import rank
from analysis.window import Window, window
from bot.store import Store, StoredCommit, StoredDay

_READERS = 8  # requests at once: far below GitHub's limit of 100
_FOLLOWED = timedelta(days=7)  # how old a day, or the listing before it, may be for late arrivals to be looked for
_RULES = "rules"


class Desk(NamedTuple):
    """What a use case works with."""

    github: GitHub
    store: Store


class Progress(Protocol):
    """Somebody who watches commits being read."""

    def expect(self, commits: int) -> None:
        """So many commits are to be read."""

    def advance(self) -> None:
        """One of them was read, or failed."""


class Reading(NamedTuple):
    """A day that was listed and read as far as it could be."""

    day: StoredDay
    failures: tuple[Failure, ...]


def digest(
    desk: Desk,
    repository: Repository,
    day: date,
    tz: ZoneInfo,
    language: Language,
    *,
    now: datetime,
    progress: Progress | None = None,
) -> DayReport:
    """The report of a day. Commits that could not be read are in it by title and in its failures; a rerun completes it.

    `OutsideFailure` when the day could not even be listed.
    """
    reading = read_day(desk, repository, day, tz, now=now, progress=progress)
    return DayReport(
        repository=repository,
        date=day,
        timezone=tz.key,
        language=language,
        window=window(day, tz),
        entries=entries(desk.store, reading.day.commit_ids, language),
        late=entries(desk.store, reading.day.late_ids, language),
        failed=reading.failures,
        remarks=reading.day.remarks,
    )


def read_day(
    desk: Desk, repository: Repository, day: date, tz: ZoneInfo, *, now: datetime, progress: Progress | None = None
) -> Reading:
    """Lists a day unless it was listed after its end, and reads those of its commits that are not stored yet."""
    listed = _list_day(desk, repository, day, tz, now)
    unread = [each for each in desk.store.commits(listed.commit_ids + listed.late_ids) if not each.commit.read]
    if progress:
        progress.expect(len(unread))
    return Reading(listed, tuple(_read_all(desk, repository, [each.commit for each in unread], tz, progress)))


def keep(store: Store, repository: Repository, commit: Commit) -> int:
    """Stores a commit that was read, with the facts that it proves. Gives its id."""
    return store.save_commit(repository, commit, facts(commit))


def entries(store: Store, ids: Sequence[int], language: Language) -> tuple[Entry, ...]:
    """The commits with these ids, ranked, linked and analysed; analyses are made once and kept."""
    stored = [_with_facts(store, each) for each in store.commits(ids)]
    links = store.links(stored)
    kept = store.analyses(ids, language, _RULES, RULES_VERSION)
    found = []
    for each in stored:
        ranked = rank(each.commit, each.facts)
        analysis = None
        if each.commit.read:
            made_for, analysis = kept.get(each.id, (None, None))
            if analysis is None or made_for is not ranked.importance:
                analysis = analyse_by_rules(each.commit, each.facts, ranked, language)
                store.save_analysis(each.id, language, _RULES, RULES_VERSION, ranked.importance, analysis)
        found.append(
            Entry(commit=each.commit, facts=each.facts, ranked=ranked, links=links[each.id], analysis=analysis)
        )
    return tuple(found)


def _with_facts(store: Store, each: StoredCommit) -> StoredCommit:
    """The commit with the facts of today's rules, found anew from its stored patches where older rules made them."""
    if not each.stale or not each.commit.read:
        return each
    found = facts(store.commits([each.id], patches=True)[0].commit)
    store.save_facts(each.id, found)
    return each._replace(facts=found, stale=False)


def _list_day(desk: Desk, repository: Repository, day: date, tz: ZoneInfo, now: datetime) -> StoredDay:
    whole = window(day, tz)
    stored = desk.store.day(repository, day, tz.key)
    if stored and stored.listed_at >= whole.end and Remark.LATE_UNKNOWN not in stored.remarks:
        return stored
    listed = desk.github.list_commits(repository, whole)
    late, remarks = _followed(desk, repository, day, tz, whole, now)
    if now < whole.end:
        remarks = [Remark.NOT_OVER, *remarks]
    known = {commit.sha for commit in listed}
    return desk.store.save_day(
        repository,
        day,
        tz.key,
        listed=listed,
        late=[commit for commit in late if commit.sha not in known],
        remarks=remarks,
        listed_at=now,
    )


def _followed(
    desk: Desk, repository: Repository, day: date, tz: ZoneInfo, whole: Window, now: datetime
) -> tuple[list[Commit], list[Remark]]:
    """What landed on the branch since the last day that was listed, but is dated on a day whose report is out.

    Only a day that is read while it is fresh is followed: of an old one GitHub can no longer tell when commits landed.
    """
    before = desk.store.latest_day_before(repository, day, tz.key)
    if before is None or day - before > _FOLLOWED or now - whole.end > _FOLLOWED:
        return [], []
    stored = desk.store.day(repository, before, tz.key)
    if not stored or not stored.commit_ids:
        return [], []
    base = desk.store.commits(stored.commit_ids[:1])[0].commit.sha
    try:
        head = desk.github.head(repository)
        gained = desk.github.gained(repository, base, head)
    except OutsideFailure:
        return [], [Remark.LATE_UNKNOWN]
    reported = desk.store.listed_dates(repository, tz.key)
    known = desk.store.listed_shas(repository, [commit.sha for commit in gained.commits])
    late = [
        commit
        for commit in gained.commits
        if commit.sha not in known
        and commit.committed_at < whole.start
        and commit.committed_at.astimezone(tz).date() in reported
    ]
    late.sort(key=lambda commit: commit.committed_at, reverse=True)
    return late, [Remark.REWRITTEN] if gained.rewritten else []


def _read_all(
    desk: Desk, repository: Repository, commits: Sequence[Commit], tz: ZoneInfo, progress: Progress | None
) -> Iterator[Failure]:
    """Reads commits, several at once, and keeps each as it comes. Gives those that failed.

    Once GitHub's limit is used up nobody asks any more: the rest fail for the same reason.
    """
    if not commits:
        return
    limited = Event()
    limit: list[RateLimited] = []

    def read(sha: str) -> Commit:
        if limited.is_set():
            raise limit[0]
        try:
            return desk.github.read_commit(repository, sha)
        except RateLimited as exc:
            limit.append(exc)
            limited.set()
            raise

    with ThreadPoolExecutor(min(_READERS, len(commits))) as pool:
        reading: dict[Future[Commit], str] = {pool.submit(read, commit.sha): commit.sha for commit in commits}
        failures = {}
        try:
            for future in as_completed(reading):
                try:
                    keep(desk.store, repository, future.result())
                except DigestError as exc:
                    failures[reading[future]] = _reason(exc, tz)
                if progress:
                    progress.advance()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    yield from (
        Failure(sha=commit.sha, stage="read", reason=failures[commit.sha])
        for commit in commits
        if commit.sha in failures
    )


def _reason(exc: DigestError, tz: ZoneInfo) -> str:
    if isinstance(exc, RateLimited):
        return f"limit, resets {exc.resets_at.astimezone(tz):%H:%M}" if exc.resets_at else "limit"
    return str(exc)
