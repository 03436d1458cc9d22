"""Short-lived cache of failed model calls: forty channels that get one day do not ask forty times.

And whether it answers at all, as far as its last reply tells.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from analysis.models import Language
from analysis.phrases import Phrase

if TYPE_CHECKING:
    from analysis.llm import UsageCounter

_AGAIN = timedelta(minutes=10)  # after which the same question is asked again
Key = tuple[int, Language]  # a commit's id, and the language of the analysis


class ModelQuestion(NamedTuple):
    """Why there is no analysis, what was paid all the same, and when that was."""

    reason: str | Phrase
    meter: "UsageCounter"
    made_at: datetime


class Trouble(NamedTuple):
    """Why the model gave nothing that can be used when it was last asked, and when that was."""

    why: str | Phrase
    at: datetime


class FailureCache:
    """The attempts of late, which several threads share."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._made: dict[Key, ModelQuestion] = {}
        self._trouble: Trouble | None = None
        self._lock = Lock()

    def note(self, key: Key, reason: str | Phrase, meter: "UsageCounter") -> None:
        """An attempt failed just now."""
        now = self._now()
        with self._lock:
            self._made = {other: each for other, each in self._made.items() if now - each.made_at < _AGAIN}
            self._made[key] = ModelQuestion(reason, meter, now)
        self.failed(reason)

    def last(self, key: Key) -> ModelQuestion | None:
        """The attempt that failed a short while ago, if one did."""
        with self._lock:
            found = self._made.get(key)
        return found if found and self._now() - found.made_at < _AGAIN else None

    def failed(self, why: str | Phrase) -> None:
        """The model was asked in vain just now, whatever it was asked."""
        self._trouble = Trouble(why, self._now())

    def succeeded(self) -> None:
        """The model answered just now."""
        self._trouble = None

    @property
    def trouble(self) -> Trouble | None:
        """What was wrong when the model was last asked; None where it answered, or was not asked since the start."""
        return self._trouble
