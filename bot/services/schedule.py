"""The schedule of a subscription's digests: pure arithmetic over dates, time zones and clock changes.

The digest of a day is due at the subscription's time on the day after.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.store import Subscription

_MOST = 3  # days that are made up for


def due(subscription: Subscription, now: datetime) -> list[date]:
    """The days whose digests are to be started now, oldest first."""
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


def fires(day: date, at: time, tz: ZoneInfo) -> datetime:
    """The instant (UTC) of a time of day: the first where a clock change makes it twice, later where it leaves it out."""
    return datetime.combine(day, at, tz).astimezone(UTC)


def next_digest(subscription: Subscription, now: datetime) -> datetime:
    """The instant (UTC) at which the next digest is due: not today where yesterday's was started at an earlier time."""
    terms = subscription.terms
    today = now.astimezone(terms.tz).date()
    if subscription.started_to:
        today = max(today, subscription.started_to + timedelta(days=2))
    at = fires(today, terms.time, terms.tz)
    return at if at > now else fires(today + timedelta(days=1), terms.time, terms.tz)
