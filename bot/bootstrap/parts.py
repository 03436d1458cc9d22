"""The parts of a bot: what it opens for as long as it runs, and what its commands, deliveries and listeners share."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine

from analysis.models import Repository
from bot.bootstrap.start import Start
from bot.mcp.visibility import private_with_clients
from bot.models.clock import Clock
from bot.publishing.publications import Publications, opened_publications
from bot.services.access import Access
from bot.services.channels import Channels
from bot.services.configured_repositories import known_repositories
from bot.services.downstream import DownstreamChecks
from bot.services.factory import Services, bot_services
from bot.services.impact import repositories_named
from bot.services.reader import Reader
from bot.settings import Settings
from bot.slack.commands.members import Members
from bot.slack.commands.threads import Threads
from bot.slack.delivery.channel_report import ChannelReports, ChannelWeeks, Postings
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.outbox.outbox import Outbox
from bot.slack.web import Web
from bot.store import Mailbox, Subscriptions
from bot.store.database import passing_failures
from bot.store.executors import Executors, Timing
from bot.store.flow_tables import FlowTables, flow_tables
from bot.store.lease import Lease, flows_url


@dataclass(frozen=True)
class Tables:
    """The tables of the bot beside the store of its services. `failures` counts those of the database that pass."""

    mailbox: Mailbox
    subscriptions: Subscriptions
    executors: Executors
    flows: FlowTables
    failures: Callable[[], int]


@dataclass(frozen=True)
class Parts:
    """What a bot has open. `on_unsubscribed` is called when a channel may have been the last that follows a repository."""

    settings: Settings
    now: Clock
    lease: Lease
    web: Web
    tables: Tables
    services: Services
    publications: Publications
    on_unsubscribed: Callable[[], object]


@contextmanager
def opened_parts(settings: Settings, now: Clock, start: Start, lease: Lease, web: Web) -> Iterator[Parts]:
    """Take the lease, and open everything that stands on its database, for the duration of the block."""
    with ExitStack() as stack:
        engine = stack.enter_context(lease.held())
        tables = stack.enter_context(_tables(settings, engine, start.timing))
        mirrored = (lambda _: True) if start.mirror_all else partial(_is_followed, settings, tables.subscriptions)
        services = stack.enter_context(bot_services(settings, engine, now, start.github, mirrored))
        publications = stack.enter_context(
            opened_publications(settings, services.github.is_public, settings.publish_token)
        )
        removal = stack.enter_context(ThreadPoolExecutor(1, "mirrors"))  # which may have to wait for a reader
        remove_mirrors = services.sources.remove_unused_mirrors
        yield Parts(
            settings,
            now,
            lease,
            web,
            tables,
            services,
            publications,
            on_unsubscribed=lambda: removal.submit(remove_mirrors),
        )


@contextmanager
def _tables(settings: Settings, engine: Engine, timing: Timing) -> Iterator[Tables]:
    with flow_tables(flows_url(settings.database_url.get_secret_value()), engine) as flows:
        executors = Executors(engine, timing)
        yield Tables(Mailbox(engine), Subscriptions(engine), executors, flows, passing_failures)


def _is_followed(settings: Settings, subscriptions: Subscriptions, repository: Repository) -> bool:
    """Return whether a repository is configured or subscribed, itself or as downstream code: one mirror has all its branches."""
    downstream = (*subscriptions.downstream(), *repositories_named(settings.digest_downstream))
    named = (*known_repositories(settings, subscriptions), *downstream)
    return repository.full_name.lower() in {each.full_name.lower() for each in named}


class Shared:
    """What commands, deliveries and listeners share, built on the parts of a bot."""

    def __init__(self, parts: Parts, start: Start) -> None:
        settings, now, web, services = parts.settings, parts.now, parts.web, parts.services
        mailbox, subscriptions = parts.tables.mailbox, parts.tables.subscriptions
        locks, writing = services.store.locks, parts.lease.writing
        self.outbox = Outbox(mailbox, web, now, pace=start.pace, writing=writing, locks=locks)
        self.sessions = AgentSessions(web, services.store.ongoing_answers, now)
        self.reader = _reader(parts)
        self.channels = Channels(self.reader, subscriptions, settings.digest_language, settings.tz)
        self.checks = DownstreamChecks(services.impacts, subscriptions, now)
        self.reports = ChannelReports(services.store, subscriptions, self.checks, now)
        self.weeks = ChannelWeeks(services.weeks, self.reports, self.checks, now)
        self.postings = Postings(mailbox, web, self.reports)
        self.members = Members(web.directory)
        self.threads = Threads(mailbox, web, private_to_model=settings.digest_private_to_model)


def _reader(parts: Parts) -> Reader:
    settings, services = parts.settings, parts.services
    private = private_with_clients(settings.digest_private, allowed=settings.digest_mcp_private)
    return Reader(
        services.digests,
        services.commits,
        partial(known_repositories, settings, parts.tables.subscriptions),
        Access(private, services.github.is_public, parts.now),
        usual=settings.digest_repos,
        locks=services.store.locks,
        verdicts=services.store.verdicts,
    )
