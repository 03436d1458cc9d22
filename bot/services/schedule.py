"""The schedule of a subscription's digests: pure arithmetic over dates, time zones and clock changes.

The digest of a day is due at the subscription's time on the day after; a weekly one, of the seven days before, on its weekday.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

from bot.store import Subscription, Weekday

_WEEK = 7
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
_MOST = 3  # maximum number of missed days to catch up on


def due(subscription: Subscription, now: datetime) -> list[date]:
    """Return the days whose digests are due now, oldest first."""
    today = now.astimezone(subscription.terms.tz).date()
    latest = today - timedelta(days=1)
    if now < fires(today, subscription.terms.time, subscription.terms.tz):
        latest -= timedelta(days=1)
    found = []
    for back in range(_MOST):
        day = latest - timedelta(days=back)
        if subscription.started_to and day <= subscription.started_to:
            break
        if fires(day + timedelta(days=1), subscription.terms.time, subscription.terms.tz) <= subscription.created_at:
            break
        found.append(day)
    return found[::-1]


def due_week(subscription: Subscription, now: datetime) -> date | None:
    """Return the day of the weekly digest that is due now; of several that were missed it is the last. None if none is due."""
    terms = subscription.terms
    if terms.weekly is None:
        return None
    today = now.astimezone(terms.tz).date()
    day = today - timedelta(days=(today.weekday() - WEEKDAYS.index(terms.weekly)) % _WEEK)
    if now < fires(day, terms.time, terms.tz):
        day -= timedelta(days=_WEEK)
    return day if subscription.weekly_to is None or day > subscription.weekly_to else None


def next_week(subscription: Subscription, now: datetime) -> datetime | None:
    """Return the instant (UTC) at which the next weekly digest is due; None without one."""
    terms = subscription.terms
    if terms.weekly is None:
        return None
    today = now.astimezone(terms.tz).date()
    day = today + timedelta(days=(WEEKDAYS.index(terms.weekly) - today.weekday()) % _WEEK)
    if fires(day, terms.time, terms.tz) <= now or (subscription.weekly_to and day <= subscription.weekly_to):
        day += timedelta(days=_WEEK)
    return fires(day, terms.time, terms.tz)


def fires(day: date, at: time, tz: ZoneInfo) -> datetime:
    """Return the instant (UTC) of a local time: the first if a clock change repeats it, a later one if it skips it."""
    return datetime.combine(day, at, tz).astimezone(UTC)


def next_digest(subscription: Subscription, now: datetime) -> datetime:
    """Return the instant (UTC) at which the next digest is due; never for a day whose digest was already started."""
    terms = subscription.terms
    today = now.astimezone(terms.tz).date()
    if subscription.started_to:
        today = max(today, subscription.started_to + timedelta(days=2))
    at = fires(today, terms.time, terms.tz)
    return at if at > now else fires(today + timedelta(days=1), terms.time, terms.tz)
