"""A clock that goes on as clocks do, from whatever instant it is set to."""

from datetime import UTC, datetime


class SettableClock:
    """Gives the time when it is called. It may be set while others read it."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def set(self, now: datetime) -> None:
        self._ahead = now - datetime.now(UTC)

    def timestamp(self) -> float:
        """Seconds since the epoch, as the loopback Slack asks for them."""
        return self().timestamp()
