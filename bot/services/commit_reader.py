"""Commits of a repository, read concurrently and stored with their facts."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import DigestError, RateLimited
from analysis.facts import facts
from analysis.locale import Phrase
from analysis.models import Commit, Fact, Failure, Proof, ReadFrom, Repository, Trees
from analysis.sources.secrets import redacted_facts
from bot.models.progress import SILENT, Progress
from bot.services.commit_sources import CommitSource, ReadCommit
from bot.store import Store, StoredCommit

_READERS = 8  # concurrent requests: far below GitHub's limit of 100
_READERS_OF_MIRROR = 2  # without requests: more only wait for one another's Python code


class Unfinished(NamedTuple):
    """Commits that could not be read, and when GitHub's rate limit resets if that was the cause."""

    failures: tuple[Failure, ...] = ()
    resumes_at: datetime | None = None


def save_commit(store: Store, repository: Repository, read: ReadCommit) -> int:
    """Store a commit that was read, with its facts, and return its id."""
    return store.save_commit(repository, read.commit, *_proved_facts(read.commit, read.trees))


def current_commits(store: Store, ids: Sequence[int], source: CommitSource | None = None) -> list[StoredCommit]:
    """Return the commits with these ids, with facts found by the current rules.

    Those that older rules found are found anew: in whole files if `source` has them, otherwise in the stored patch. So are
    those that a patch proved before there was a mirror. What whole files proved stays until they can be read again.
    """
    stored = store.commits(ids)
    outdated = {each.id for each in stored if each.commit.read and _is_outdated(each, source)}
    if outdated and source:
        source.prepare([each.commit.sha for each in stored if each.id in outdated])
    return [_with_current_facts(store, each, source) if each.id in outdated else each for each in stored]


def is_current(stored: StoredCommit, source: CommitSource) -> bool:
    """Return whether a commit was read, and its facts are those that the current rules find."""
    return stored.commit.read and not _is_outdated(stored, source)


def _is_outdated(stored: StoredCommit, source: CommitSource | None) -> bool:
    mirrored = source is not None and source.read_from is ReadFrom.MIRROR
    return stored.stale or (mirrored and stored.proof is Proof.PATCH)


def _with_current_facts(store: Store, each: StoredCommit, source: CommitSource | None) -> StoredCommit:
    trees = source.trees(each.commit) if source else None
    if each.proof is Proof.FILES and trees is None:
        return each
    whole = store.commits([each.id], patches=True)[0].commit
    found, proof = _proved_facts(whole, trees)
    store.save_facts(each.id, whole, found, proof)
    return each._replace(facts=found, stale=False, proof=proof)


def _proved_facts(commit: Commit, trees: Trees | None) -> tuple[tuple[Fact, ...], Proof]:
    """Return the commit's facts, and whether they were found in whole files or in its patches."""
    return redacted_facts(facts(commit, trees)), Proof.FILES if trees else Proof.PATCH


def read_commits(
    store: Store,
    source: CommitSource,
    repository: Repository,
    commits: Sequence[Commit],
    tz: ZoneInfo,
    progress: Progress = SILENT,
    on_saved: Callable[[int], None] = lambda _: None,
    *,
    pulls: bool = True,
) -> Unfinished:
    """Read commits concurrently, store each and pass its id to `on_saved`. Return those that failed.

    Without `pulls` their pull requests are not asked for.

    Each thread stores its commit before it reads another: a single storing thread would be the bottleneck.
    Once GitHub's rate limit is used up there are no more requests: the remaining commits fail for the same reason.
    """
    if not commits:
        return Unfinished()
    source.prepare([commit.sha for commit in commits])
    limits: list[RateLimited] = []  # that were met

    def read_and_save(sha: str) -> None:
        if limits:
            raise limits[0]
        try:
            read = source.read_commit(sha, pull=pulls)
        except RateLimited as exc:
            limits.append(exc)
            raise
        on_saved(save_commit(store, repository, read))

    readers = _READERS if pulls or source.read_from is not ReadFrom.MIRROR else _READERS_OF_MIRROR
    reasons = _failure_reasons([commit.sha for commit in commits], read_and_save, readers, tz, progress)
    shas = [commit.sha for commit in commits if commit.sha in reasons]
    failed = tuple(Failure(sha=sha, stage="read", reason=reasons[sha]) for sha in shas)
    return Unfinished(failed, limits[0].resets_at if limits else None)


def _failure_reasons(
    shas: Sequence[str], read: Callable[[str], None], readers: int, tz: ZoneInfo, progress: Progress
) -> dict[str, str | Phrase]:
    """Read all commits, that many at once; return SHA -> why it failed."""
    reasons: dict[str, str | Phrase] = {}
    with ThreadPoolExecutor(min(readers, len(shas))) as pool:
        reading = {pool.submit(read, sha): sha for sha in shas}
        try:
            for future in as_completed(reading):
                try:
                    future.result()
                except DigestError as exc:
                    reasons[reading[future]] = _reason(exc, tz)
                progress.advance()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return reasons


def _reason(exc: DigestError, tz: ZoneInfo) -> str | Phrase:
    if not isinstance(exc, RateLimited):
        return exc.what
    return Phrase("limit, resets {at:%H:%M}", at=exc.resets_at.astimezone(tz)) if exc.resets_at else Phrase("limit")
