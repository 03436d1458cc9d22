"""Concurrent access to days and commits: a request for a day that is being read waits and then finds it stored."""

from collections.abc import Callable, Sequence
from datetime import date, datetime

from analysis.errors import DigestError
from analysis.models import DayReport, Entry, Language, Repository
from analysis.ranking import corrected
from bot.models.reference import Reference
from bot.models.subjects import DayRef
from bot.services.access import Access
from bot.services.commit_reader import Progress
from bot.services.digest import DigestService
from bot.services.lookup import CommitLookup, Located
from bot.store import ProcessLocks, Verdicts


class Reader:
    """Access to days and commits as one channel sees them, shared between threads, and by its `locks` between processes.

    `known` holds the repositories that short names may refer to there, the default first; a short name resolves to one of
    `usual`, the configured ones, before any other. `verdicts` move the tiers of commits in the channel where they were given.
    """

    def __init__(
        self,
        digests: DigestService,
        commits: CommitLookup,
        configured: Callable[[], Sequence[Repository]],
        access: Access,
        channel: str = "",
        *,
        usual: Sequence[Repository] = (),
        locks: ProcessLocks | None = None,
        verdicts: Verdicts | None = None,
    ) -> None:
        self._digests = digests
        self._commits = commits
        self._configured = configured
        self._access = access
        self.usual = usual
        self._channel = channel
        self._locks = locks or ProcessLocks()
        self._verdicts = verdicts

    def within(self, channel: str) -> "Reader":
        """Return the same reader for another channel."""
        return Reader(
            self._digests,
            self._commits,
            self._configured,
            self._access,
            channel,
            usual=self.usual,
            locks=self._locks,
            verdicts=self._verdicts,
        )

    @property
    def known(self) -> tuple[Repository, ...]:
        """Return the repositories that this channel may see. Raise `DigestError` if that is unknown for all because GitHub fails."""
        found, trouble = [], None
        for each in self._configured():
            try:
                found += [each] if self._access.may_see(self._channel, each) else []
            except DigestError as exc:
                trouble = exc
        if trouble and not found:
            raise trouble
        return tuple(found)

    def report(self, ref: DayRef, now: datetime, progress: Progress | None = None, *, ask: bool = True) -> DayReport:
        """Return the report of a day, as `DigestService` does; what is missing is read by one caller at a time for each repository."""
        self.allow(ref.repository)
        finished = self._digests.finished_report(ref, now, ask=ask)
        if finished is None:
            with self._locks.alone(_lock_name(ref.repository)):
                finished = self._digests.report(ref, now, progress, ask=ask)
        return self._corrected_report(finished)

    def latest_day(self, ref: DayRef, now: datetime) -> date | None:
        """Return the last day with commits before a day, as `DigestService` does."""
        self.allow(ref.repository)
        with self._locks.alone(_lock_name(ref.repository)):
            return self._digests.latest_day(ref, now)

    def stored_report(self, ref: DayRef) -> DayReport | None:
        """Return the stored report of a day without requests; None if it was never listed or is not visible here."""
        stored = self._digests.stored_report(ref) if self.sees(ref.repository) else None
        return stored and self._corrected_report(stored)

    def commit(self, reference: Reference, repository: Repository | None) -> Located:
        """Return the commit that `reference` names, in `repository` if given, otherwise in any known one; read it if necessary."""
        for named in filter(None, (repository, reference.repository)):
            self.allow(named)
        return self._commits.locate(reference, [repository] if repository else self.known)

    def entry(self, located: Located, language: Language, *, patches: bool = False) -> Entry:
        """Return a commit with its analysis, and with its patches if requested."""
        entry = self._commits.entry(located, language, patches=patches)
        return self._corrected(located.repository, [entry])[0]

    def canonical_name(self, repository: Repository) -> Repository:
        """Return a repository under GitHub's spelling. Raise `UnknownRepository` or `UnknownBranch` if not available here."""
        self.allow(repository)
        return repository if repository in self.known else self._commits.canonical_name(repository)

    def sees(self, repository: Repository) -> bool:
        """Return whether this channel may see a repository."""
        return self._access.sees(self._channel, repository)

    def hides(self, repository: Repository) -> bool:
        """Return whether DIGEST_PRIVATE hides a repository from this channel; makes no request."""
        return self._access.hides(self._channel, repository)

    def allow(self, repository: Repository) -> None:
        """Raise `UnknownRepository` if a repository does not exist or is not visible here, without revealing which."""
        self._access.check(self._channel, repository)

    def _corrected_report(self, report: DayReport) -> DayReport:
        names = ("entries", "late")
        return report.model_copy(
            update={name: self._corrected(report.repository, getattr(report, name)) for name in names}
        )

    def _corrected(self, repository: Repository, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return the commits with the tiers that people in this channel gave them."""
        given = self._verdicts.in_channel(repository, self._channel) if self._verdicts and self._channel else {}
        return tuple(
            corrected(each, up=given[each.commit.sha] == "too_low") if each.commit.sha in given else each
            for each in entries
        )


def _lock_name(repository: Repository) -> str:
    return f"reading {repository.key}"
