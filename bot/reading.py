"""Days and commits for a bot that many ask at once: who asks for a day that is being read waits, and finds it stored."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from threading import Lock
from zoneinfo import ZoneInfo

from analysis.errors import UnknownRepository
from analysis.models import DayReport, Entry, Language, Repository
from bot.analysing import Analyst
from bot.digest import Desk, Progress, current, digest
from bot.lookup import Located, locate
from bot.reference import Reference


class Reading:
    """A desk that several threads share. `known` are the repositories that may be named in short, the first being usual."""

    def __init__(self, desk: Desk, known: Sequence[Repository]) -> None:
        self.desk = desk
        self.known = tuple(known)
        self._locks: dict[str, Lock] = {}
        self._guard = Lock()

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
        """The report of a day. `UnknownRepository` for one that is private and not configured."""
        self.allow(repository)
        with self._alone(repository):
            return digest(self.desk, repository, day, tz, language, now=now, progress=progress, ask=ask)

    def commit(self, reference: Reference, repository: Repository | None) -> Located:
        """The commit that `reference` names, read if it was not; in `repository` if given, else in any that is known."""
        named = repository or reference.repository
        if named:
            self.allow(named)
        return locate(self.desk, reference, [repository] if repository else self.known)

    def entry(self, located: Located, language: Language, *, patches: bool = False) -> Entry:
        """A commit with its analysis; with its patches for a question, which does not wait for an analysis first."""
        desk = self.desk
        with Analyst(
            desk.store, located.repository, language, desk.modelling, desk.github.contents, ask=not patches
        ) as analyst:
            analyst.submit([located.commit_id])
        entry = analyst.entries(current(desk.store, [located.commit_id]))[0]
        if not patches:
            return entry
        whole = desk.store.commits([located.commit_id], patches=True)[0].commit
        return entry.model_copy(update={"commit": whole})

    def allow(self, repository: Repository) -> None:
        """Public repositories may be asked for by anybody, others only if an operator configured them: `UnknownRepository`."""
        if any(each.full_name.lower() == repository.full_name.lower() for each in self.known):
            return
        try:
            public = self.desk.github.is_public(repository)
        except UnknownRepository:
            public = False
        if not public:
            # The same words for one that is private and one that is not there: nobody learns which of them it is.
            raise UnknownRepository(f"GitHub has no repository {repository.full_name}, or this bot may not see it")

    @contextmanager
    def _alone(self, repository: Repository) -> Iterator[None]:
        with self._guard:
            lock = self._locks.setdefault(repository.key, Lock())
        with lock:
            yield
