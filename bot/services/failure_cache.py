"""Short-lived cache of failed model calls: forty channels that get the same day do not retry forty times.

Also records whether the last call to the model succeeded.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from analysis.locale import Phrase
from analysis.models import Language

if TYPE_CHECKING:
    from analysis.llm import UsageCounter

_RETRY_AFTER = timedelta(minutes=10)  # after which a failed call is retried
Key = tuple[int, Language]  # commit id and language of the analysis


class ModelQuestion(NamedTuple):
    """A failed model call: its reason, the tokens it used, and its time."""

    reason: str | Phrase
    meter: "UsageCounter"
    made_at: datetime


class Trouble(NamedTuple):
    """The reason and time of the model's latest failure."""

    why: str | Phrase
    at: datetime


class FailureCache:
    """Recent failed calls, shared between threads."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._made: dict[Key, ModelQuestion] = {}
        self._trouble: Trouble | None = None
        self._lock = Lock()

    def note(self, key: Key, reason: str | Phrase, meter: "UsageCounter") -> None:
        """Record a failed call for `key`, with the tokens that it used."""
        now = self._now()
        with self._lock:
            self._made = {other: each for other, each in self._made.items() if now - each.made_at < _RETRY_AFTER}
            self._made[key] = ModelQuestion(reason, meter, now)
        self.failed(reason)

    def last(self, key: Key) -> ModelQuestion | None:
        """Return the recent failed call for `key`, if any."""
        with self._lock:
            found = self._made.get(key)
        return found if found and self._now() - found.made_at < _RETRY_AFTER else None

    def failed(self, why: str | Phrase) -> None:
        """Record that the latest model call failed, whatever its subject."""
        self._trouble = Trouble(why, self._now())

    def succeeded(self) -> None:
        """Record that the latest model call succeeded."""
        self._trouble = None

    @property
    def trouble(self) -> Trouble | None:
        """Return the failure of the latest model call; None if it succeeded or none was made since startup."""
        return self._trouble
