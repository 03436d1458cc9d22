"""Access to repositories: public ones for everybody, private ones only in the channels that DIGEST_PRIVATE lists for them.

Elsewhere a private repository is unknown, whoever asks and however: nothing tells it from one that does not exist.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from threading import Lock

from analysis.errors import DigestError, UnknownRepository
from analysis.models import Repository
from analysis.phrases import Phrase

_REMEMBERED = timedelta(minutes=30)  # how long GitHub's word on a repository holds
_SILENT = timedelta(seconds=30)  # how long nobody asks again a GitHub that did not answer


class Access:
    """`private` maps a repository's full name in lower case to its channels; `is_public` asks GitHub."""

    def __init__(
        self,
        private: Mapping[str, frozenset[str]],
        is_public: Callable[[Repository], bool],
        now: Callable[[], datetime],
    ) -> None:
        self._private = private
        self._is_public = is_public
        self._now = now
        self._known: dict[str, tuple[datetime, bool]] = {}
        self._failed: dict[str, tuple[datetime, DigestError]] = {}
        self._lock = Lock()

    def sees(self, channel: str, repository: Repository) -> bool:
        """Whether a channel may see a repository; not while nobody can say that it is public."""
        try:
            return self.may_see(channel, repository)
        except DigestError:
            return False

    def check(self, channel: str, repository: Repository) -> None:
        """`UnknownRepository`, as for one that does not exist, where a channel may not see it."""
        if not self.may_see(channel, repository):
            raise UnknownRepository(Phrase("unseen", repository=repository.full_name))

    def may_see(self, channel: str, repository: Repository) -> bool:
        """Whether a channel may see a repository. `DigestError` where GitHub alone could tell, and does not."""
        name = repository.full_name.lower()
        listed = self._private.get(name)
        if listed is not None and channel in listed:
            return True
        # One that is listed elsewhere is asked for too: while GitHub is silent it must not answer where no other does.
        return self._public(name, repository) and listed is None

    def hides(self, channel: str, repository: Repository) -> bool:
        """Whether DIGEST_PRIVATE keeps a repository from a channel: known without asking anybody."""
        listed = self._private.get(repository.full_name.lower())
        return listed is not None and channel not in listed

    def _public(self, name: str, repository: Repository) -> bool:
        now = self._now()
        with self._lock:
            told, failed = self._known.get(name), self._failed.get(name)
        if told and now - told[0] < _REMEMBERED:
            return told[1]
        if failed and now - failed[0] < _SILENT:
            raise failed[1]
        try:
            public = self._is_public(repository)
        except UnknownRepository:
            public = False
        except DigestError as exc:
            if told:
                return told[1]  # of what was public a moment ago an outage is no news
            with self._lock:
                self._failed[name] = (self._now(), exc)
            raise
        with self._lock:
            self._known[name] = (now, public)
        return public
