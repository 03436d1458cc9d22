"""Composition root: puts the objects of the running bot together, each given what it uses."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from socket import socket
from wsgiref.types import WSGIApplication

from analysis.errors import StoreUnusable
from analysis.models import Repository
from analysis.sources.github import GitHub
from bot import logs, metrics, scheduler
from bot.flows import DeliverySteps, Flows
from bot.http_server import THREADS, bound
from bot.mcp.visibility import CLIENT, Visibility, private_with_clients
from bot.models.clock import Clock
from bot.publishing.publications import Publications, opened_publications
from bot.publishing.scheduled import ScheduledPublications
from bot.services.access import Access
from bot.services.channels import Channels
from bot.services.configured_repositories import known_repositories
from bot.services.downstream import DownstreamChecks
from bot.services.factory import Services, bot_services
from bot.services.impact import repositories_named
from bot.services.rate_limits import RateLimits
from bot.services.reader import Reader
from bot.services.release_scoring import ReleaseScoring, followed_repositories
from bot.services.suspects import SuspectService
from bot.settings import Settings
from bot.slack.app import SlackApp, sign_in, slack_app, socket_mode
from bot.slack.commands.agent import AnswerFeedback
from bot.slack.commands.commits import CommitCommands, Ranks
from bot.slack.commands.days import DayCommands, DigestButtons
from bot.slack.commands.dispatch import ButtonDispatcher, ButtonHandler, CommandDispatcher, show_no_form
from bot.slack.commands.help import HelpCommand
from bot.slack.commands.home import HeldMessages, Home
from bot.slack.commands.members import Members
from bot.slack.commands.mentions import Messages
from bot.slack.commands.periods import Periods
from bot.slack.commands.posting import PostCommand
from bot.slack.commands.questions import Questions
from bot.slack.commands.responder import RequestHandlers, Responder
from bot.slack.commands.search import SearchCommand
from bot.slack.commands.shortcuts import ExplainShortcut
from bot.slack.commands.status import Status
from bot.slack.commands.subscription_form import SubscriptionForms
from bot.slack.commands.subscriptions import SubscriptionCommands, SubscriptionManager
from bot.slack.commands.suspects import SuspectsCommand
from bot.slack.commands.threads import Threads
from bot.slack.commands.upgrade import UpgradeCommand
from bot.slack.commands.weeks import WeekCommand
from bot.slack.delivery.announcements import Announcements
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.delivery.channel_week import ChannelWeeks
from bot.slack.delivery.drafting import Drafter
from bot.slack.delivery.postings import Postings
from bot.slack.delivery.reading import DeliveryReader
from bot.slack.delivery.reply import Reply
from bot.slack.delivery.requester_notices import RequesterNotices
from bot.slack.delivery.revert_notices import RevertNotices
from bot.slack.delivery.sending import Finisher, Sender
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.listeners import Inbox, Listeners
from bot.slack.messages.blocks import Action
from bot.slack.outbox.outbox import SLACKS_PACE, Outbox, Pace
from bot.slack.parsing import command_types
from bot.slack.parsing.command_types import (
    Ask,
    Day,
    Days,
    ExplainCommits,
    Greeting,
    Help,
    ListSubscriptions,
    Lookup,
    NotUnderstood,
    Search,
    Subscribe,
    Suspects,
    Unsubscribe,
    Upgrade,
    Week,
)
from bot.slack.socket_mode import AT_ONCE
from bot.slack.web import Web
from bot.store import Mailbox, Subscriptions, Terms
from bot.store.database import passing_failures
from bot.store.executors import TIMING, Executors, Timing
from bot.store.flow_tables import FlowTables, flow_tables
from bot.store.lease import Lease, flows_url, new_lease

_GLANCE = timedelta(seconds=1)  # between two looks for processes that were stopped, and said so
_HAND_OVERS = 16  # requests handed over concurrently, or modals opened


@contextmanager
def running_bot(
    settings: Settings,
    now: Clock,
    *,
    address: tuple[str, int] | None = None,
    metrics_port: int = 0,
    metrics_needed: bool = False,
    github: GitHub | None = None,
    pace: Pace = SLACKS_PACE,
    mirror_all: bool = False,
    listens: bool = True,
    timing: Timing = TIMING,
    on_lease_lost: Callable[[], object] = lambda: None,
) -> Iterator[Flows]:
    """Run the bot for the duration of the block: resume interrupted flows, then listen to Slack and the scheduler.

    Yield its flows. Slack reaches the bot at `address` (host, port) over HTTP; without one it connects over Socket Mode,
    unless it is a worker, which never `listens`. On PostgreSQL several may run: `timing` says when one takes over from
    another, and `on_lease_lost` is called, in another thread, when that happened to this one, which acts no more then.
    `metrics_port` is the port of the metrics, 0 for none; it must be free if they are `metrics_needed`. `github` and `pace`
    replace GitHub and the send rate, for the local workspace. With `mirror_all` every repository that is asked about gets a
    mirror, otherwise those that are configured or subscribed. Raise `BadSetting` for tokens that are missing or rejected,
    `StoreUnusable` if another bot uses a store on SQLite, `Misuse` for an address in use.
    """
    logs.set_up(settings.log_level or "INFO", settings.log_format)
    url = settings.database_url.get_secret_value()
    lease = new_lease(url, _command(address, listens=listens), timing, on_lease_lost)
    web = Web(settings.slack_secret("SLACK_BOT_TOKEN"), settings.slack_api_url, before_write=lease.check)
    with ExitStack() as stack:
        listen = stack.enter_context(_listening(settings, address, web) if listens else nullcontext(_not_listening))
        engine = stack.enter_context(lease.held())
        mailbox, subscriptions = Mailbox(engine), Subscriptions(engine)
        executors, failures = Executors(engine, timing), partial(passing_failures, engine)
        flows = stack.enter_context(flow_tables(flows_url(url), engine))
        known = partial(known_repositories, settings, subscriptions)
        mirrored = (lambda _: True) if mirror_all else partial(_is_followed, settings, subscriptions)
        services = stack.enter_context(bot_services(settings, engine, now, github, mirrored))
        publications = stack.enter_context(
            opened_publications(settings, services.github.is_public, settings.publish_token)
        )
        sign_in(web)  # before anything is posted: refused messages are not retried
        removal = stack.enter_context(ThreadPoolExecutor(1, "mirrors"))  # which may have to wait for a reader
        remove_mirrors = services.sources.remove_unused_mirrors
        bot = _Bot(
            settings,
            services,
            known,
            mailbox,
            subscriptions,
            web,
            now,
            pace,
            lambda: removal.submit(remove_mirrors),
            publications,
            lease,
            failures,
            executors,
            flows,
        )
        bot.subscribe_configured_channels()
        stored = metrics.Stored(services.store, mailbox, subscriptions, executors, flows)
        figures = metrics.Metrics(stored, lease, failures, now)
        stack.enter_context(bot.flows.running(flows_url(url)))
        stack.enter_context(bot.scheduled(figures))
        stack.enter_context(metrics.served(figures, bot.health, metrics_port, needed=metrics_needed))
        stack.enter_context(listen(bot, figures))
        yield bot.flows


def _command(address: tuple[str, int] | None, *, listens: bool) -> str:
    """Return the command that the process runs, under which others see it."""
    if not listens:
        return "worker"
    return "serve" if address else "run"


def _not_listening(_bot: "_Bot", _figures: metrics.Metrics) -> AbstractContextManager[None]:
    return nullcontext()


def _is_followed(settings: Settings, subscriptions: Subscriptions, repository: Repository) -> bool:
    """Return whether a repository is configured or subscribed, itself or as downstream code: one mirror has all its branches."""
    downstream = (*subscriptions.downstream(), *repositories_named(settings.digest_downstream))
    named = (*known_repositories(settings, subscriptions), *downstream)
    return repository.full_name.lower() in {each.full_name.lower() for each in named}


@contextmanager
def _listening(
    settings: Settings, address: tuple[str, int] | None, web: Web
) -> Iterator[Callable[["_Bot", metrics.Metrics], AbstractContextManager[None]]]:
    """Check the token, or check the secret and bind the address; yield the function that starts listening to Slack."""
    if address is None:
        token = settings.slack_secret("SLACK_APP_TOKEN")
        yield lambda bot, figures: _over_websocket(bot, figures, web, token)
        return
    secret = settings.slack_secret("SLACK_SIGNING_SECRET")
    with bound(*address) as place:
        yield lambda bot, figures: _over_http(bot, figures, secret, place)


@contextmanager
def _over_websocket(bot: "_Bot", figures: metrics.Metrics, web: Web, token: str) -> Iterator[None]:
    with bot.app(figures, AT_ONCE) as app, socket_mode(app, web, token):
        yield


@contextmanager
def _over_http(bot: "_Bot", figures: metrics.Metrics, secret: str, place: socket) -> Iterator[None]:
    from bot.slack.http import http_mode  # it is not needed for Socket Mode

    with (
        bot.app(figures, THREADS, secret) as app,
        bot.mcp_application(figures) as others,
        http_mode(app, secret, place, bot.health, figures.refused, others),
    ):
        yield


class _Bot:
    """The objects of one bot, each given what it uses."""

    def __init__(
        self,
        settings: Settings,
        services: Services,
        known: Callable[[], Sequence[Repository]],
        mailbox: Mailbox,
        subscriptions: Subscriptions,
        web: Web,
        now: Clock,
        pace: Pace,
        on_unsubscribed: Callable[[], object],
        publications: Publications,
        lease: Lease,
        failures: Callable[[], int],
        executors: Executors,
        flow_tables: FlowTables,
    ) -> None:
        self._settings, self._services, self._on_unsubscribed = settings, services, on_unsubscribed
        self._mailbox, self._subscriptions, self._web, self._now = mailbox, subscriptions, web, now
        self._lease, self._executors, self._flow_tables = lease, executors, flow_tables
        self._outbox = Outbox(mailbox, web, now, pace=pace, writing=lease.writing, locks=services.store.locks)
        self._sessions = AgentSessions(web, services.store.ongoing_answers, now)
        private = private_with_clients(settings.digest_private, allowed=settings.digest_mcp_private)
        access = Access(private, services.github.is_public, now)
        self.reader = Reader(
            services.digests,
            services.commits,
            known,
            access,
            usual=settings.digest_repos,
            locks=services.store.locks,
        )
        self._channels = Channels(self.reader, subscriptions, settings.digest_language, settings.tz)
        self._checks = DownstreamChecks(services.impacts, subscriptions, now)
        self._reports = ChannelReports(services.store, subscriptions, self._checks, now)
        self._weeks = ChannelWeeks(services.weeks, self._reports, self._checks, now)
        self._postings = Postings(mailbox, web, self._reports)
        self._members = Members(web)
        self._threads = Threads(mailbox, web, private_to_model=settings.digest_private_to_model)
        published = ScheduledPublications(publications, services.digests, services.store, now)
        self.flows = Flows(self._responder(), self._delivery_steps(), published, mailbox, now, lease, failures)

    def subscribe_configured_channels(self) -> None:
        """Subscribe the channels of DIGEST_CHANNEL to DIGEST_REPOS, keeping subscriptions that people made or cancelled."""
        settings = self._settings
        for channel in settings.digest_channel:
            for repository in settings.digest_repos:
                if not self.reader.within(channel).hides(repository):
                    terms = Terms(channel, repository, settings.digest_time, settings.tz, settings.digest_language)
                    self._subscriptions.keep_configured(terms, self._now())

    def scheduled(self, figures: metrics.Metrics) -> AbstractContextManager[None]:
        """Start what is due, take over from processes that died, and tidy up once a day, for the duration of the block."""
        services, subscriptions = self._services, self._subscriptions
        scoring = ReleaseScoring(services.github, services.sources, services.store, subscriptions.labels)

        def score_releases() -> None:
            scoring.score_new(
                followed_repositories(subscriptions, self.reader), self._now(), figures.release_not_scored
            )

        def take_over() -> None:
            figures.took_over(self.flows.take_over(self._executors))
            figures.deleted_duplicates(self._outbox.delete_duplicates())

        def take_over_at_once() -> None:
            if self._executors.newly_ended():
                take_over()

        def start_due() -> None:
            scheduler.start_due(subscriptions, self.reader, self.flows.start_delivery, self._now())

        def once(job: Callable[[], None]) -> Callable[[], None]:
            return scheduler.by_one_process(f"scheduled {job.__name__}", job, services.store.locks)

        return scheduler.ticking(
            (
                (scheduler.TICK, once(start_due)),
                (self._executors.sweep_interval, take_over),
                (_GLANCE, take_over_at_once),
            ),
            (
                once(self.flows.forget_old),
                once(self._executors.forget),
                services.sources.remove_unused_mirrors,  # of this machine
                once(services.store.search_index.complete),
                once(score_releases),
            ),
        )

    @contextmanager
    def app(self, figures: metrics.Metrics, at_once: int, signing_secret: str = "") -> Iterator[SlackApp]:
        """Build the Bolt app, for `at_once` requests at a time.

        At the end of the block every request that was acknowledged has been handed over.
        """
        time, command = self._settings.digest_time, self._settings.digest_command
        forms = SubscriptionForms(self._channels, self._subscriptions, self._members, time)
        inbox = Inbox(self._mailbox, self.flows.start_answer, self._now)
        with ThreadPoolExecutor(_HAND_OVERS, "hand-over") as executor:
            listeners = Listeners(self._web, inbox, self._threads, forms, self._channels, self._sessions, executor)
            with slack_app(listeners, command, self._web, figures.acknowledged, at_once, signing_secret) as app:
                yield app

    @contextmanager
    def mcp_application(self, figures: metrics.Metrics) -> Iterator[dict[str, WSGIApplication]]:
        """Run the MCP server for the duration of the block, if it has a token; yield path -> its application.

        Its clients see the configured and subscribed repositories that are public, or private ones that the operator allows.
        """
        settings = self._settings
        if settings.digest_mcp_token is None:
            yield {}
            return
        from bot.mcp.event_loop import wsgi_application  # the protocol's library takes a second to import
        from bot.mcp.http import PATH, TokenCheck
        from bot.mcp.server import mcp_server
        from bot.mcp.tools import Tools

        reader = self.reader.within(CLIENT)
        visibility = Visibility(reader, settings.digest_downstream, self._subscriptions.downstream)
        limits = RateLimits(self._mailbox, self._now)
        tools = Tools(self._services, reader, visibility, limits, self._now, settings.digest_language, settings.tz)
        with wsgi_application(mcp_server(tools, figures.mcp_called), settings.digest_mcp_hosts) as application:
            token = settings.digest_mcp_token.get_secret_value()
            yield {PATH: TokenCheck(application, token, figures.mcp_refused)}

    def health(self) -> dict[str, bool]:
        """Return whether the store and the flow engine work, and this process holds its lease, for /healthz."""
        others = {"engine": self.flows.alive(), "lease": self._lease.is_held()}
        try:
            self._mailbox.waiting_since()
        except StoreUnusable:
            return {"store": False, **others}
        return {"store": True, **others}

    def _delivery_steps(self) -> DeliverySteps:
        notices = RequesterNotices(self._web)
        return DeliverySteps(
            DeliveryReader(self._channels, self._reports, self._weeks, self._now),
            Drafter(self._channels, self._reports, self._weeks, self._checks, self._postings, self._mailbox, notices),
            Sender(self._channels, self._mailbox, self._outbox),
            Finisher(self._mailbox, self._subscriptions, self._web, notices),
            RevertNotices(self._channels, self._reports, self._services.store, self._mailbox),
        )

    def _responder(self) -> Responder:
        store, mailbox, web, now = self._services.store, self._mailbox, self._web, self._now
        limits, periods = RateLimits(mailbox, now), Periods(self._services.period_questions, now)
        status = Status(store, mailbox, self._services.model, web, self._executors, self._flow_tables, now)
        home = Home(self._subscriptions, mailbox, web, status, now)
        post = PostCommand(self._members, self._postings, web)
        days, commits = DayCommands(post, self._checks, now), CommitCommands(store, self._checks, post)
        search = SearchCommand(store)
        suspects = SuspectsCommand(
            SuspectService(store, self._services.commits, self._services.impacts),
            self._checks,
            self._subscriptions,
            web,
        )
        upgrade = UpgradeCommand(self._services.upgrades, self._checks, self._outbox, web, now)
        subscriptions = self._subscription_commands(status, home)
        help_ = HelpCommand(store, self._subscriptions, web, self._settings.digest_command)
        questions = Questions(self._services.answers, periods, commits, self._checks, self._threads, limits)
        commands = CommandDispatcher(
            {
                Day: days.show_day,
                Days: days.show_range,
                Week: WeekCommand(self._weeks, post, self._outbox, now).show,
                Lookup: commits.show,
                ExplainCommits: ExplainShortcut(commits).explain,
                Search: search.show,
                Upgrade: upgrade.show,
                Suspects: suspects.show,
                Subscribe: lambda conversation, command: subscriptions.subscribe(conversation, command.options),
                Unsubscribe: subscriptions.unsubscribe,
                ListSubscriptions: lambda conversation, _: subscriptions.show_all(conversation),
                command_types.Status: lambda conversation, _: subscriptions.show_status(conversation),
                Ask: questions.answer_command,
                Help: lambda conversation, _: help_.show(conversation),
                Greeting: help_.return_greeting,
                NotUnderstood: help_.show_not_understood,
            }
        )
        buttons = ButtonDispatcher(self._button_handlers(post, search, subscriptions, home), questions.choose)
        messages = Messages(commands, questions, self._threads, web)
        handlers = RequestHandlers(commands, buttons, messages, questions, subscriptions, home)
        return Responder(
            handlers,
            self._channels,
            limits,
            mailbox,
            lambda request: Reply(web, self._outbox, self._sessions, request),
            self._sessions,
            home,
            now,
        )

    def _subscription_commands(self, status: Status, home: Home) -> SubscriptionCommands:
        announcements = Announcements(self._subscriptions, self._mailbox, self._web)
        time = self._settings.digest_time
        manager = SubscriptionManager(self._subscriptions, self._members, announcements, time, self._on_unsubscribed)
        return SubscriptionCommands(manager, self._subscriptions, self._members, status, home)

    def _button_handlers(
        self, post: PostCommand, search: SearchCommand, subscriptions: SubscriptionCommands, home: Home
    ) -> dict[str, ButtonHandler]:
        digest = DigestButtons(self._reports, self._outbox, self._web)
        ranks = Ranks(self._subscriptions)
        held = HeldMessages(self._outbox, self._web, home)
        return {
            "show_rest": digest.show_rest,
            "full_report": digest.send_report,
            "page": search.turn_page,
            Action.POST: post.post,
            Action.POST_AGAIN: post.post,
            "too_high": ranks.store,
            "too_low": ranks.store,
            Action.WHY: ranks.explain,
            Action.RATE_ANSWER: AnswerFeedback(self._services.store.ratings, self._mailbox).store,
            "settings": lambda conversation, _: subscriptions.show_all(conversation),
            "unsubscribe": subscriptions.cancel,
            "send_again": held.release,
            "drop_held": held.release,
            # These open modals; as requests they arrive only if Slack did not open one.
            **dict.fromkeys(("ask", "ask_commit", "open_subscribe", "edit_subscription"), show_no_form),
        }
