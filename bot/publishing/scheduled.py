"""The publication of a day after its digest, as the durable flow's steps; each step may run again."""

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Delivery, Outcome, seconds_until
from bot.models.publish_target import parse_target
from bot.models.subjects import DayRef, parse_day_value, parse_value, value_of
from bot.publishing.publications import Publications
from bot.publishing.publisher import MoreCompleteError, OtherTimezoneError
from bot.services.digest import DigestService
from bot.store import Store

log = structlog.get_logger(__name__)


class ScheduledPublications:
    """Publishes the days that subscriptions got."""

    def __init__(self, publications: Publications, digests: DigestService, store: Store, now: Clock) -> None:
        self._publications = publications
        self._digests = digests
        self._store = store
        self._now = now

    def due(self, delivery: Delivery) -> list[tuple[str, str]]:
        """Return the day and the target of each publication that follows a subscription's digest; none for other deliveries."""
        ref = parse_value(delivery.what)
        if not isinstance(ref, DayRef) or ref.subscription is None:
            return []
        day = value_of(ref._replace(subscription=None))
        return [(day, str(each)) for each in self._publications.targets(ref.repository)]

    def publish(self, day: str, target: str) -> Outcome:
        """Publish a day and store how that ended; the outcome's pause asks for a retry."""
        try:
            outcome = self._publish(parse_day_value(day), target)
        except RateLimited as exc:
            outcome = Outcome(pause=seconds_until(exc.resets_at, self._now()) or SOON, failure=str(exc))
        except OutsideFailure as exc:
            outcome = Outcome(pause=SOON, failure=str(exc))
        except DigestError as exc:
            outcome = Outcome(failure=str(exc))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            outcome = Outcome(failure="this is a bug in vllm-digest; its log has more")
        self._store.publications.note(day, target, outcome.failure, self._now())
        if outcome.failure:
            log.warning("not published", what=day, target=target, why=outcome.failure, retry=outcome.pause is not None)
        return outcome

    def _publish(self, ref: DayRef, name: str) -> Outcome:
        target = parse_target(name)
        if not self._publications.is_meant(target, ref.repository):
            return Outcome()
        report = self._digests.report(ref, self._now(), ask=False)
        try:
            changed = self._publications.publish(target, report, self._now())
        except OtherTimezoneError as exc:
            # Channels choose their time zones; the first that was published stays that of the target.
            log.info("not published", what=value_of(ref), target=name, why=str(exc))
            return Outcome()
        except MoreCompleteError as exc:
            log.info("not published", what=value_of(ref), target=name, why=str(exc))
            return Outcome(pause=seconds_until(report.resumes_at, self._now()))
        log.info("published" if changed else "published before", what=value_of(ref), target=name)
        return Outcome(pause=seconds_until(report.resumes_at, self._now()))
