"""The clock: whose digest is due. It only starts deliveries, under names that say for which day, so that twice is once.

The digest of a day is due at the subscription's time on the day after. What was missed while nothing ran is made up for:
the last three days, the oldest first. The scheduler only wakes us; what is due is read from the subscriptions alone, so
that neither a clock change nor a restart skips or doubles a day.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from bot.services.deliveries import Delivery
from bot.services.schedule import due
from bot.services.subjects import DayRef, value_of
from bot.slack.bot import Bot

_TICK = 5  # seconds between two looks at what is due
_TIDY = timedelta(minutes=2)  # after the start, when what was interrupted is on its way again

log = structlog.get_logger(__name__)


def start_due(bot: Bot, start: Callable[[Delivery], None]) -> None:
    """Starts every delivery that is due, then notes that it was: a kill between the two starts it again, which is nothing."""
    now = bot.now()
    for subscription in bot.subscriptions.all():
        if bot.reading.within(subscription.terms.channel).hides(subscription.terms.repository):
            continue
        for day in due(subscription, now):
            terms = subscription.terms
            what = value_of(DayRef(terms.repository, day, terms.tz.key, terms.language, subscription.id))
            delivery = Delivery(f"s{subscription.id}", terms.channel, what, f"s{subscription.id}-{day}")
            start(delivery)
            bot.subscriptions.started(subscription.id, day)
            log.info("due", run=delivery.run, channel=delivery.channel, what=what)


@contextmanager
def ticking(tick: Callable[[], None], tidy: Callable[[], None]) -> Iterator[None]:
    """Calls `tick` at once and from then on regularly, and `tidy` once a day, while the block runs."""
    scheduler = BackgroundScheduler(timezone=UTC)
    soon = datetime.now(UTC)
    # However late, a tick is worth having; one that is still running is not begun again.
    scheduler.add_job(
        tick,
        IntervalTrigger(seconds=_TICK),
        next_run_time=soon,
        misfire_grace_time=None,
        coalesce=True,
        max_instances=1,
    )
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
