"""A bot put together, and its work that nobody asks for: subscriptions of the settings, and what is scheduled."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

from bot import metrics, scheduler
from bot.bootstrap.health import HealthChecks
from bot.bootstrap.parts import Parts, Shared
from bot.bootstrap.requests import responder
from bot.bootstrap.start import Start
from bot.flows import DeliverySteps, Flows
from bot.publishing.scheduled import ScheduledPublications
from bot.services.release_scoring import ReleaseScoring, followed_repositories
from bot.slack.delivery.drafting import DeliveryReader, Drafter
from bot.slack.delivery.revert_notices import RevertNotices
from bot.slack.delivery.sending import Finisher, Sender
from bot.store import Terms

_GLANCE = timedelta(seconds=1)  # between two looks for processes that said that they stop, and for what was deleted


@dataclass(frozen=True)
class Bot:
    """What a bot is made of, what its behaviours share, its durable flows, its figures and the checks of its health."""

    parts: Parts
    shared: Shared
    flows: Flows
    figures: metrics.Metrics
    health: HealthChecks


def new_bot(parts: Parts, start: Start) -> Bot:
    """Put the objects of a bot together."""
    tables, services, now = parts.tables, parts.services, parts.now
    shared = Shared(parts, start)
    published = ScheduledPublications(parts.publications, services.digests, services.store, now)
    steps = _delivery_steps(parts, shared)
    flows = Flows(responder(parts, shared), steps, published, tables.mailbox, now, parts.lease, tables.failures)
    stored = metrics.Stored(services.store, tables.mailbox, tables.subscriptions, tables.executors, tables.flows)
    figures = metrics.Metrics(stored, parts.lease, tables.failures, now)
    return Bot(parts, shared, flows, figures, _health_checks(parts, flows))


def _health_checks(parts: Parts, flows: Flows) -> HealthChecks:
    def store() -> bool:
        parts.tables.mailbox.waiting_since()
        return True

    return HealthChecks({"store": store, "engine": flows.alive, "lease": parts.lease.is_held})


def _delivery_steps(parts: Parts, shared: Shared) -> DeliverySteps:
    mailbox, web = parts.tables.mailbox, parts.web
    channels, reports, weeks = shared.channels, shared.reports, shared.weeks
    return DeliverySteps(
        DeliveryReader(channels, reports, weeks, parts.now),
        Drafter(channels, reports, weeks, shared.checks, shared.postings, mailbox, web),
        Sender(channels, mailbox, shared.outbox),
        Finisher(mailbox, parts.tables.subscriptions, web),
        RevertNotices(channels, reports, parts.services.store, mailbox),
    )


def subscribe_configured_channels(bot: Bot) -> None:
    """Subscribe the channels of DIGEST_CHANNEL to DIGEST_REPOS, keeping subscriptions that people made or cancelled."""
    settings, subscriptions = bot.parts.settings, bot.parts.tables.subscriptions
    for channel in settings.digest_channel:
        for repository in settings.digest_repos:
            if not bot.shared.reader.within(channel).hides(repository):
                terms = Terms(channel, repository, settings.digest_time, settings.tz, settings.digest_language)
                subscriptions.keep_configured(terms, bot.parts.now())


def scheduled(bot: Bot) -> AbstractContextManager[None]:
    """Start what is due, take over from processes that died, and tidy up once a day, for the duration of the block."""
    services, executors, jobs = bot.parts.services, bot.parts.tables.executors, _Jobs(bot)

    def once(job: Callable[[], None]) -> Callable[[], None]:
        return scheduler.by_one_process(f"scheduled {job.__name__}", job, services.store.locks)

    return scheduler.ticking(
        (
            (scheduler.TICK, once(jobs.start_due)),
            (executors.sweep_interval, jobs.take_over),
            (_GLANCE, jobs.take_over_at_once),
            (_GLANCE, bot.parts.tables.mailbox.erase_deleted),
        ),
        (
            once(bot.flows.forget_old),
            once(executors.forget),
            services.sources.remove_unused_mirrors,  # of this machine
            once(services.store.search_index.complete),
            once(jobs.score_releases),
        ),
    )


class _Jobs:
    """The scheduled jobs that need more than one object of the bot."""

    def __init__(self, bot: Bot) -> None:
        services = bot.parts.services
        self._subscriptions, self._executors = bot.parts.tables.subscriptions, bot.parts.tables.executors
        self._flows, self._figures, self._now = bot.flows, bot.figures, bot.parts.now
        self._reader, self._outbox = bot.shared.reader, bot.shared.outbox
        self._scoring = ReleaseScoring(services.github, services.sources, services.store)

    def start_due(self) -> None:
        scheduler.start_due(self._subscriptions, self._reader, self._flows.start_delivery, self._now())

    def take_over(self) -> None:
        self._figures.took_over(self._flows.take_over(self._executors))
        self._figures.deleted_duplicates(self._outbox.delete_duplicates())

    def take_over_at_once(self) -> None:
        if self._executors.newly_ended():
            self.take_over()

    def score_releases(self) -> None:
        followed = followed_repositories(self._subscriptions, self._reader)
        self._scoring.score_new(followed, self._now(), self._figures.release_not_scored)
