"""A clock that goes on from whatever instant it is set to, as fast as it is told."""

from datetime import UTC, datetime, timedelta
from time import monotonic


class SettableClock:
    """Gives the time when it is called. It may be set while others read it."""

    def __init__(self, now: datetime, speed: float = 1) -> None:
        self._speed = speed
        self.set(now)

    def __call__(self) -> datetime:
        set_to, at = self._set
        return set_to + timedelta(seconds=(monotonic() - at) * self._speed)

    def set(self, now: datetime) -> None:
        self._set = now, monotonic()

    def advance(self, by: timedelta) -> None:
        self.set(self() + by)

    def timestamp(self) -> float:
        """Seconds since the epoch, as the loopback Slack asks for them."""
        return self().timestamp()


def noon_clock(speed: float = 1) -> SettableClock:
    """A clock that starts on a Friday at 12:00 UTC, 20:00 in Shanghai: no digest is due for hours, whenever a test runs."""
    return SettableClock(datetime(2026, 2, 6, 12, tzinfo=UTC), speed)
