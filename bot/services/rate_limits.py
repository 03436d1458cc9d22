"""Rate limits of a caller, a person or a program: for all requests, and for answers, which cost tokens."""

from datetime import timedelta

from bot.models.clock import Clock
from bot.store import Mailbox

_REQUEST_INTERVAL = timedelta(seconds=3)  # sustained rate: one request per caller
_REQUEST_BURST = timedelta(minutes=1)  # burst: this much backlog of requests is allowed
_QUESTION_INTERVAL = timedelta(seconds=6)  # sustained rate: one question per caller
_QUESTION_BURST = timedelta(minutes=2)  # burst: this much backlog of questions is allowed
_NOTICE_INTERVAL = timedelta(minutes=1)  # minimum time between two notices of a limit to a caller


class RateLimits:
    """Rate limits of callers, kept in the store. A request that is tried again after a failure, its `run`, counts once."""

    def __init__(self, mailbox: Mailbox, now: Clock) -> None:
        self._mailbox = mailbox
        self._now = now

    def allows_request(self, caller: str, run: str = "") -> bool:
        """Return whether a request is within its caller's limit."""
        return self._allows(f"requests {caller}", _REQUEST_INTERVAL, _REQUEST_BURST, owner=run)

    def allows_question(self, caller: str, run: str = "") -> bool:
        """Return whether a question is within its caller's limit."""
        return self._allows(f"questions {caller}", _QUESTION_INTERVAL, _QUESTION_BURST, owner=run)

    def allows_notice(self, caller: str) -> bool:
        """Return whether a caller may get the notice of its limit again, so that notices cannot flood a channel."""
        return self._allows(f"slower {caller}", _NOTICE_INTERVAL, timedelta())

    def _allows(self, name: str, interval: timedelta, burst: timedelta, *, owner: str = "") -> bool:
        return self._mailbox.reserve_slot(name, self._now, interval, most=burst, owner=owner) is not None
