"""Days and commits for a bot that many ask at once: who asks for a day that is being read waits, and finds it stored."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from threading import Lock
from zoneinfo import ZoneInfo

from analysis.errors import DigestError
from analysis.models import DayReport, Entry, Language, Repository
from bot.services.access import Access
from bot.services.digest import Progress, Services, digest, stored_digest
from bot.services.lookup import Located, entry_of, locate
from bot.services.reference import Reference


class Reader:
    """A desk that several threads share, as one channel sees it.

    `known` are the repositories that may be named in short there, the first being usual; a short name means one of `usual`,
    the configured ones, before any other.
    """

    def __init__(
        self,
        services: Services,
        configured: Callable[[], Sequence[Repository]],
        access: Access,
        channel: str = "",
        *,
        usual: Sequence[Repository] = (),
        locks: "_Locks | None" = None,
    ) -> None:
        self.services = services
        self._configured = configured
        self._access = access
        self.usual = usual
        self._channel = channel
        self._locks = locks or _Locks()

    def within(self, channel: str) -> "Reader":
        """The same as another channel sees it."""
        return Reader(self.services, self._configured, self._access, channel, usual=self.usual, locks=self._locks)

    @property
    def known(self) -> tuple[Repository, ...]:
        """Those that this channel may see. `DigestError` where GitHub alone could tell of any, and does not."""
        found, trouble = [], None
        for each in self._configured():
            try:
                found += [each] if self._access.may_see(self._channel, each) else []
            except DigestError as exc:
                trouble = exc
        if trouble and not found:
            raise trouble
        return tuple(found)

    def day(
        self,
        repository: Repository,
        day: date,
        tz: ZoneInfo,
        language: Language,
        now: datetime,
        progress: Progress | None = None,
        *,
        ask: bool = True,
    ) -> DayReport:
        """The report of a day."""
        self.allow(repository)
        with self._locks.alone(repository):
            return digest(self.services, repository, day, tz, language, now=now, progress=progress, ask=ask)

    def commit(self, reference: Reference, repository: Repository | None) -> Located:
        """The commit that `reference` names, read if it was not; in `repository` if given, else in any that is known."""
        for named in filter(None, (repository, reference.repository)):
            self.allow(named)
        return locate(self.services, reference, [repository] if repository else self.known)

    def entry(self, located: Located, language: Language, *, patches: bool = False) -> Entry:
        """A commit with its analysis, and with its patches where they are asked for."""
        return entry_of(self.services, located, language, patches=patches)

    def stored(self, repository: Repository, day: date, tz: ZoneInfo, language: Language) -> DayReport | None:
        """The report of a day that was read before, without asking anybody anything."""
        if not self.sees(repository):
            return None
        return stored_digest(self.services, repository, day, tz, language)

    def spelled(self, repository: Repository) -> Repository:
        """A repository as GitHub writes it; `UnknownRepository` or `UnknownBranch` where this channel cannot have it."""
        self.allow(repository)
        return repository if repository in self.known else self.services.github.spelled(repository)

    def sees(self, repository: Repository) -> bool:
        """Whether this channel may see a repository."""
        return self._access.sees(self._channel, repository)

    def hides(self, repository: Repository) -> bool:
        """Whether a repository is kept from this channel, which is known without asking GitHub."""
        return self._access.hides(self._channel, repository)

    def allow(self, repository: Repository) -> None:
        """`UnknownRepository` for one that does not exist, or that this channel may not see: nobody learns which it is."""
        self._access.check(self._channel, repository)


class _Locks:
    """A lock a repository: it is read by one at a time."""

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}
        self._guard = Lock()

    @contextmanager
    def alone(self, repository: Repository) -> Iterator[None]:
        with self._guard:
            lock = self._locks.setdefault(repository.key, Lock())
        with lock:
            yield
