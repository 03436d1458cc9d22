"""Rate limits of a person: for all requests, and for answers, which cost tokens."""

from datetime import timedelta

from bot.models.clock import Clock
from bot.slack.parsing.requests import AnyRequest, MessageRequest
from bot.store import Mailbox

_REQUEST_INTERVAL = timedelta(seconds=3)  # sustained rate: one request per person
_REQUEST_BURST = timedelta(minutes=1)  # burst: this much backlog of requests is allowed
_QUESTION_INTERVAL = timedelta(seconds=6)  # sustained rate: one question per person
_QUESTION_BURST = timedelta(minutes=2)  # burst: this much backlog of questions is allowed
_NOTICE_INTERVAL = timedelta(minutes=1)  # minimum time between two notices of a limit to a person


class RateLimits:
    """Rate limits of people, kept in the store."""

    def __init__(self, mailbox: Mailbox, now: Clock) -> None:
        self._mailbox = mailbox
        self._now = now

    def allows_request(self, request: AnyRequest) -> bool:
        """Return whether a request is within its person's limit; a message that is not addressed to the bot always is."""
        if isinstance(request, MessageRequest) and not request.mentioned and not request.direct:
            return True
        return self._allows(f"requests {request.user}", _REQUEST_INTERVAL, _REQUEST_BURST, owner=request.run)

    def allows_question(self, request: AnyRequest) -> bool:
        """Return whether a question is within its person's limit."""
        return self._allows(f"questions {request.user}", _QUESTION_INTERVAL, _QUESTION_BURST, owner=request.run)

    def allows_notice(self, user: str) -> bool:
        """Return whether a person may get the notice of their limit again, so that notices cannot flood a channel."""
        return self._allows(f"slower {user}", _NOTICE_INTERVAL, timedelta())

    def _allows(self, name: str, interval: timedelta, burst: timedelta, *, owner: str = "") -> bool:
        """Reserve a slot; a request that is tried again after a failure, its `owner`, counts once."""
        return self._mailbox.reserve_slot(name, self._now, interval, most=burst, owner=owner) is not None
