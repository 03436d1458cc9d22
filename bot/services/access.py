"""Access control for repositories: public ones everywhere, private ones only in the channels that DIGEST_PRIVATE lists.

In any other channel a private repository is indistinguishable from one that does not exist.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from threading import Lock

from analysis.errors import DigestError, UnknownRepository
from analysis.locale import Phrase
from analysis.models import Repository
from bot.models.clock import Clock

_REMEMBERED = timedelta(minutes=30)  # how long GitHub's answer about a repository is cached
_SILENT = timedelta(seconds=30)  # how long to wait before asking again after GitHub failed


class Access:
    """Visibility rules for repositories, shared by threads.

    `private` maps a repository's lower-case full name to its channels; `is_public` asks GitHub.
    """

    def __init__(
        self,
        private: Mapping[str, frozenset[str]],
        is_public: Callable[[Repository], bool],
        now: Clock,
    ) -> None:
        self._private = private
        self._is_public = is_public
        self._now = now
        self._known: dict[str, tuple[datetime, bool]] = {}
        self._failed: dict[str, tuple[datetime, DigestError]] = {}
        self._lock = Lock()

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
            known, failed = self._known.get(name), self._failed.get(name)
        if known and now - known[0] < _REMEMBERED:
            return known[1]
        if failed and now - failed[0] < _SILENT:
            raise failed[1]
        try:
            public = self._is_public(repository)
        except UnknownRepository:
            public = False
        except DigestError as exc:
            if known:
                return known[1]  # during an outage the last known answer stands
            with self._lock:
                self._failed[name] = (self._now(), exc)
            raise
        with self._lock:
            self._known[name] = (now, public)
        return public
