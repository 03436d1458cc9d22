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
from sqlalchemy.exc import OperationalError

from analysis.errors import DigestError, StoreUnusable
from analysis.models import ReleaseTag, Repository
from bot.models.deliveries import Delivery
from bot.models.subjects import DayRef, ReleaseRef, WeekRef, value_of
from bot.services.reader import Reader
from bot.services.schedule import due, due_releases, due_week
from bot.store import ProcessLocks, SeenReleases, Subscription, Subscriptions
from bot.store.lease import LeaseLost

_WEEK = 7  # days
TICK = timedelta(seconds=5)  # between checks for due digests
RELEASES = timedelta(minutes=10)  # between looks for new releases
_TIDY = timedelta(minutes=2)  # after startup, when interrupted flows have resumed

log = structlog.get_logger(__name__)


def start_due(subscriptions: Subscriptions, reader: Reader, start: Callable[[Delivery], None], now: datetime) -> None:
    """Start every due delivery, then record it; a kill in between starts it again, which has no effect.

    One process at a time: another one would start under a second id what somebody has just changed the language of.
    """
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


def start_releases(
    subscriptions: Subscriptions,
    seen: SeenReleases,
    tags_of: Callable[[Repository], Sequence[ReleaseTag]],
    reader: Reader,
    start: Callable[[Delivery], None],
    now: datetime,
) -> None:
    """Start the digests of the releases that were tagged since the last look, then record it, as `start_due` does."""
    wanting: dict[str, list[Subscription]] = {}
    for each in subscriptions.all():
        if each.terms.releases and not reader.within(each.terms.channel).hides(each.terms.repository):
            wanting.setdefault(each.terms.repository.full_name.lower(), []).append(each)
    for held in wanting.values():
        repository = held[0].terms.repository
        try:
            tags = tags_of(repository)
        except DigestError as exc:
            log.warning("releases not looked for", repository=str(repository), why=str(exc))
            continue
        met = seen.meet(repository, [each.name for each in tags], now)
        for each in held:
            due_now, highest = due_releases(each, tags, met), each.released_to
            for tag, since in due_now:
                terms = each.terms
                ref = ReleaseRef(terms.repository, tag, since, terms.tz.key, terms.language, each.id)
                _start(each, ref, f"s{each.id}-{tag}", start)
                highest = tag if since or not highest else highest
            if due_now:
                subscriptions.started_releases(each.id, highest, now)


def _start(
    subscription: Subscription, ref: DayRef | WeekRef | ReleaseRef, run: str, start: Callable[[Delivery], None]
) -> None:
    delivery = Delivery(f"s{subscription.id}", subscription.terms.channel, value_of(ref), run)
    start(delivery)
    log.info("due", run=run, channel=delivery.channel, what=delivery.what)


def by_one_process(name: str, job: Callable[[], None], locks: ProcessLocks) -> Callable[[], None]:
    """Return a job that does nothing while another process does it, under this name."""

    def attempt() -> None:
        with locks.try_alone(name) as alone:
            if alone:
                job()

    return attempt


@contextmanager
def ticking(
    frequent: Sequence[tuple[timedelta, Callable[[], None]]], tidying: Sequence[Callable[[], None]]
) -> Iterator[None]:
    """Call each of `frequent` at once and then at its interval, and each of `tidying` once a day, during the block."""
    scheduler = BackgroundScheduler(timezone=UTC)
    soon, outage = datetime.now(UTC), _Outage()
    jobs = [(interval, soon, job) for interval, job in frequent]
    jobs += [(timedelta(days=1), soon + _TIDY, job) for job in tidying]
    for interval, first, job in jobs:
        # Late jobs still run; none overlaps itself.
        scheduler.add_job(
            outage.waiting(job),
            IntervalTrigger(seconds=interval.total_seconds()),
            next_run_time=first,
            misfire_grace_time=None,
            coalesce=True,
            max_instances=1,
        )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


class _Outage:
    """Why scheduled work waits, told once until it goes on."""

    def __init__(self) -> None:
        self._told = ""

    def waiting(self, job: Callable[[], None]) -> Callable[[], None]:
        """Return a job that waits for its next time while the database is away."""

        def attempt() -> None:
            try:
                job()
            except (StoreUnusable, LeaseLost) as exc:
                self._tell(str(exc) or "this process has no lease any more")
            except OperationalError:  # of the engine, whose errors are its driver's
                self._tell("the database closed the connection")
            else:
                self._told = ""

        return attempt

    def _tell(self, why: str) -> None:
        if not self._told:
            log.warning("scheduled work waits", why=why)
        self._told = why
