"""The view that each channel has of repositories, days and commits, and the settings of its digest.

Public repositories are seen everywhere, private ones only in the channels that DIGEST_PRIVATE lists. In any other channel a
private repository is indistinguishable from one that does not exist. A request for a day that is being read waits, and then
finds it stored.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from threading import Lock
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import DigestError, UnknownRepository
from analysis.locale import Phrase
from analysis.models import DayReport, Entry, Language, Repository
from analysis.ranking import corrected
from bot.models.clock import Clock
from bot.models.progress import SILENT, Progress
from bot.models.reference import Reference
from bot.models.subjects import DayRef
from bot.services.digest import DigestService
from bot.services.lookup import CommitLookup, Located, Unmerged
from bot.store import ProcessLocks, Subscriptions, Terms, Verdicts

_CACHE_TIME = timedelta(minutes=30)  # how long GitHub's answer about a repository is cached


@dataclass(eq=False)
class Access:
    """Visibility rules for repositories, shared by threads.

    `private` maps a repository's lower-case full name to its channels; `is_public` asks GitHub.
    """

    _private: Mapping[str, frozenset[str]]
    _is_public: Callable[[Repository], bool]
    _now: Clock
    _known: dict[str, tuple[datetime, bool]] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def sees(self, channel: str, repository: Repository) -> bool:
        """Return whether a channel may see a repository; False while GitHub cannot confirm that it is public."""
        try:
            return self.may_see(channel, repository)
        except DigestError:
            return False

    def check(self, channel: str, repository: Repository) -> None:
        """Raise `UnknownRepository`, as for one that does not exist, if a channel may not see a repository."""
        if not self.may_see(channel, repository):
            raise UnknownRepository(
                Phrase(
                    "GitHub has no repository {repository}, or this bot has no access to it",
                    repository=repository.full_name,
                )
            )

    def may_see(self, channel: str, repository: Repository) -> bool:
        """Return whether a channel may see a repository. Raise `DigestError` if only GitHub knows and it does not answer."""
        name = repository.full_name.lower()
        listed = self._private.get(name)
        if listed is not None and channel in listed:
            return True
        # A repository listed for other channels is looked up too, so that it fails like any other while GitHub is down.
        return self._public(name, repository) and listed is None

    def hides(self, channel: str, repository: Repository) -> bool:
        """Return whether DIGEST_PRIVATE hides a repository from a channel; makes no request."""
        listed = self._private.get(repository.full_name.lower())
        return listed is not None and channel not in listed

    def _public(self, name: str, repository: Repository) -> bool:
        now = self._now()
        with self._lock:
            known = self._known.get(name)
        if known and now - known[0] < _CACHE_TIME:
            return known[1]
        try:
            public = self._is_public(repository)
        except UnknownRepository:
            public = False
        except DigestError:
            if known:
                return known[1]  # during an outage the last known answer stands
            raise
        with self._lock:
            self._known[name] = (now, public)
        return public


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
        reader = copy(self)
        reader._channel = channel  # noqa: SLF001 (of the same class)
        return reader

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

    def report(self, ref: DayRef, now: datetime, progress: Progress = SILENT, *, ask: bool = True) -> DayReport:
        """Return the report of a day, as `DigestService` does; what is missing is read by one caller at a time for each repository."""
        self.allow(ref.repository)
        stored = self._digests.stored_report(ref) if self._digests.is_finished(ref, ask=ask) else None
        if stored is None:
            with self._locks.alone(_lock_name(ref.repository)):
                stored = self._digests.report(ref, now, progress, ask=ask)
        return self._corrected_report(stored)

    def resumes_at(self, ref: DayRef, now: datetime) -> datetime | None:
        """Read what is missing of a day; return when GitHub's limit lets the rest be read, if that is missing."""
        self.allow(ref.repository)
        return None if self._digests.is_finished(ref) else self.report(ref, now).resumes_at

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
        return self._commits.locate(reference, self._named(reference, repository))

    def commit_or_pull(self, reference: Reference, repository: Repository | None) -> Located | Unmerged:
        """Return the commit that `reference` names, as `commit` does, or the pull request if that is not merged."""
        return self._commits.find(reference, self._named(reference, repository))

    def shown_entry(self, located: Located, language: Language) -> Entry:
        """Return a commit with its analysis and its first release, for which GitHub is asked if no mirror tells."""
        return self._commits.with_release(located.repository, self.entry(located, language))

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

    def _named(self, reference: Reference, repository: Repository | None) -> Sequence[Repository]:
        """Return the repositories in which to look for a commit. Raise `UnknownRepository` for one that is named and not visible here."""
        for named in filter(None, (repository, reference.repository)):
            self.allow(named)
        return [repository] if repository else self.known

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


class ChannelView(NamedTuple):
    """One channel: the repositories and days that it may see, the language and time zone of its digest, and what it follows."""

    reader: Reader
    language: Language
    tz: ZoneInfo
    followed: tuple[Repository, ...] = ()


def visible_terms(terms: Terms, reader: Reader) -> Terms:
    """Return terms without the downstream repositories that DIGEST_PRIVATE hides where they are shown."""
    return terms._replace(downstream=tuple(each for each in terms.downstream if not reader.hides(each)))


class Channels:
    """The view of each channel. The first subscription sets its language and time zone, otherwise the defaults do."""

    def __init__(self, reader: Reader, subscriptions: Subscriptions, language: Language, tz: ZoneInfo) -> None:
        self._subscriptions = subscriptions
        self.everywhere = ChannelView(reader, language, tz)

    def view(self, channel: str) -> ChannelView:
        """Return the view of one channel."""
        view = self.everywhere._replace(reader=self.everywhere.reader.within(channel))
        held = self._subscriptions.of(channel)
        if not held:
            return view
        followed = tuple(each.terms.repository for each in held)
        return view._replace(language=held[0].terms.language, tz=held[0].terms.tz, followed=followed)


def known_repositories(configured: Sequence[Repository], subscriptions: Subscriptions) -> list[Repository]:
    """Return the configured and the subscribed repositories, each once."""
    subscribed = [each.terms.repository for each in subscriptions.all()]
    return list({each.key: each for each in (*configured, *subscribed)}.values())
