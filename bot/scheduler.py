"""The scheduler, which starts the deliveries that are due, under ids with the day, so that a second start has no effect.

The digest of a day is due at the subscription's time on the day after. Digests missed during downtime are caught up on:
the last three days, oldest first, and the last week. The timer only triggers the check; the subscriptions alone determine what is due, so
that neither a clock change nor a restart skips or repeats a day.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from bot.models.deliveries import Delivery
from bot.models.subjects import DayRef, WeekRef, value_of
from bot.services.reader import Reader
from bot.services.schedule import due, due_week
from bot.store import Subscription, Subscriptions

_WEEK = 7  # days
_TICK = 5  # seconds between checks for due digests
_TIDY = timedelta(minutes=2)  # after startup, when interrupted flows have resumed

log = structlog.get_logger(__name__)


def start_due(subscriptions: Subscriptions, reader: Reader, start: Callable[[Delivery], None], now: datetime) -> None:
    """Start every due delivery, then record it; a kill in between starts it again, which has no effect."""
    for subscription in subscriptions.all():
        terms = subscription.terms
        if reader.within(terms.channel).hides(terms.repository):
            continue
        for day in due(subscription, now):
            ref = DayRef(terms.repository, day, terms.tz.key, terms.language, subscription.id)
            _start(subscription, ref, f"s{subscription.id}-{day}", start)
            subscriptions.started(subscription.id, day)
        if coming := due_week(subscription, now):
            first = coming - timedelta(days=_WEEK)
            week = WeekRef(terms.repository, first, terms.tz.key, terms.language, subscription.id)
            _start(subscription, week, f"s{subscription.id}-week-{coming}", start)
            subscriptions.started_week(subscription.id, coming)


def _start(subscription: Subscription, ref: DayRef | WeekRef, run: str, start: Callable[[Delivery], None]) -> None:
    delivery = Delivery(f"s{subscription.id}", subscription.terms.channel, value_of(ref), run)
    start(delivery)
    log.info("due", run=run, channel=delivery.channel, what=delivery.what)


@contextmanager
def ticking(tick: Callable[[], None], tidying: Sequence[Callable[[], None]]) -> Iterator[None]:
    """Call `tick` at once and then every 5 seconds, and each of `tidying` once a day, for the duration of the block."""
    scheduler = BackgroundScheduler(timezone=UTC)
    soon = datetime.now(UTC)
    # Late ticks still run; ticks do not overlap.
    scheduler.add_job(
        tick,
        IntervalTrigger(seconds=_TICK),
        next_run_time=soon,
        misfire_grace_time=None,
        coalesce=True,
        max_instances=1,
    )
    for tidy in tidying:
        scheduler.add_job(
            tidy,
            IntervalTrigger(days=1),
            next_run_time=soon + _TIDY,
            misfire_grace_time=None,
            coalesce=True,
            max_instances=1,
        )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)
