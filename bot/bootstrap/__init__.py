"""Composition root: puts the objects of the running bot together, each given what it uses."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot import logs, metrics, scheduler
from bot.bootstrap.entrances import entrance
from bot.flows import SLACK, Flows
from bot.http_server import HealthChecks
from bot.mcp.visibility import private_with_clients
from bot.models.clock import Clock
from bot.publishing.publications import ScheduledPublications, opened_publications
from bot.services.breaks import BreakLives
from bot.services.downstream import DownstreamChecks
from bot.services.factory import bot_services
from bot.services.limits import CallerLimits
from bot.services.reader import Access, Channels, Reader, known_repositories
from bot.services.releases import followed_repositories
from bot.services.surfaces import repositories_named
from bot.settings import Settings
from bot.slack.app import sign_in
from bot.slack.commands.alerts import AlertCommands
from bot.slack.commands.breaks import BreakCommands
from bot.slack.commands.commit_commands import CommitCommands
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.days import DayCommands
from bot.slack.commands.help import HelpCommand
from bot.slack.commands.home import Home
from bot.slack.commands.posting import Members, PostCommand
from bot.slack.commands.questions import Questions
from bot.slack.commands.reasons import MessageReasons
from bot.slack.commands.responder import Handler, Responder, show_no_form
from bot.slack.commands.status import BotStatus
from bot.slack.commands.subscriptions import SubscriptionCommands, SubscriptionDefaults
from bot.slack.commands.suspects_command import SuspectsCommand
from bot.slack.commands.threads import Threads
from bot.slack.commands.upgrade import UpgradeCommand
from bot.slack.commands.welcome import Welcome
from bot.slack.delivery.alerts import AlertNews
from bot.slack.delivery.announcements import Announcements
from bot.slack.delivery.channel_report import ChannelReports, Postings
from bot.slack.delivery.drafts import Drafter
from bot.slack.delivery.edits import DigestEdits
from bot.slack.delivery.revert_notices import RevertNotices
from bot.slack.delivery.sending import Sender
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.messages.blocks import Action
from bot.slack.outbox import SLACKS_PACE, Outbox, Pace
from bot.slack.parsing import command_types as kinds
from bot.slack.parsing.requests import HomeRequest, JoinRequest, ShortcutRequest, SubscriptionForm
from bot.slack.parsing.subscription_options import default_options
from bot.slack.web import Web
from bot.store import Alerts, Mailbox, SeenReleases, Subscriptions
from bot.store.database import condition
from bot.store.executors import TIMING, Executors, Timing
from bot.store.flow_tables import flow_tables
from bot.store.lease import Lease, flows_url, new_lease
from bot.store.transactions import passing_failures

# Between two looks for processes that said that they stop, and for what was deleted.
_POLL_INTERVAL = timedelta(seconds=1)
_PULLS_AN_HOUR, _PULLS_WITHOUT_TOKEN = 50, 10  # requests for the pull requests of alerts
_ALERTS_KEPT = timedelta(days=30)  # once they are over
_BREAKS_KEPT = timedelta(days=90)  # since the last change of their lives

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Start:
    """How a process is started. By default it connects to Slack over Socket Mode and shows no figures.

    Slack reaches it at `address` (host, port) over HTTP if there is one; a worker never `listens`. `metrics_port` is the
    loopback port of the metrics, 0 for none; it must be free if they are `metrics_needed`. On PostgreSQL several processes
    may run: `timing` says when one takes over from another, and `on_lease_lost` is called, in another thread, when this one
    has lost its lease and acts no more. `github` and `pace` replace GitHub and the send rate, for the local workspace. Due
    digests are looked for at each `tick`, new releases at intervals of `releases`, and what is to be edited in digests at those of
    `edits`. With `mirror_all` every repository that is asked about gets a mirror, otherwise
    those that are configured or subscribed.
    """

    address: tuple[str, int] | None = None
    listens: bool = True
    metrics_port: int = 0
    metrics_needed: bool = False
    timing: Timing = TIMING
    on_lease_lost: Callable[[], object] = lambda: None
    github: GitHub | None = None
    pace: Pace = SLACKS_PACE
    tick: timedelta = scheduler.TICK
    edits: timedelta = timedelta(minutes=10)
    releases: timedelta = scheduler.RELEASES
    mirror_all: bool = False

    @property
    def command(self) -> str:
        """The command that the process runs, under which others see it."""
        if not self.listens:
            return "worker"
        return "serve" if self.address else "run"


@contextmanager
def running_bot(settings: Settings, now: Clock, start: Start) -> Iterator[Flows]:
    """Run the bot for the duration of the block: resume interrupted flows, then listen to Slack and the scheduler.

    Yield its flows. Raise `BadSetting` for tokens that are missing or rejected, `StoreUnusable` if another bot uses a store
    on SQLite, `Misuse` for an address or a port in use.
    """
    logs.set_up(settings.log_level or "INFO", settings.log_format)
    url = settings.database_url.get_secret_value()
    condition(url)  # a database that cannot be used is told before Slack is asked anything
    lease = new_lease(url, start.command, start.timing, start.on_lease_lost)
    web = Web(settings.slack_secret("SLACK_BOT_TOKEN"), settings.slack_api_url, before_write=lease.check)
    with ExitStack() as stack:
        # Whatever may be refused comes before the lease, by which others know of this process.
        listen = stack.enter_context(entrance(settings, web, start.address, listens=start.listens))
        serve_metrics = stack.enter_context(metrics.metrics_port(start.metrics_port, needed=start.metrics_needed))
        sign_in(web)
        bot = Bot(settings, now, start, lease, web, stack)
        log.info("connecting", user=web.me["user"], team=web.me["team"])
        bot.subscribe_configured_channels()
        stack.enter_context(bot.flows.running(flows_url(url)))
        stack.enter_context(bot.scheduled(start))
        serve_metrics(bot.figures.registry, bot.health.found)
        stack.enter_context(listen(bot))
        yield bot.flows


class Bot:
    """The objects of a bot, those that share its database and those that its commands, deliveries and listeners share."""

    def __init__(self, settings: Settings, now: Clock, start: Start, lease: Lease, web: Web, stack: ExitStack) -> None:
        """Take the lease, and open everything that stands on its database until the `stack` is closed."""
        self.settings, self.now, self.web = settings, now, web
        options = default_options(settings.digest_subscribe)
        self.defaults = SubscriptionDefaults(options, settings.digest_time, web.directory)
        engine = stack.enter_context(lease.held())
        self.mailbox, self.subscriptions = Mailbox(engine), Subscriptions(engine)
        self._seen_releases, self._alerts = SeenReleases(engine), Alerts(engine)
        self._executors = Executors(engine, start.timing)
        flows = flow_tables(flows_url(settings.database_url.get_secret_value()), engine)
        self._flow_tables = stack.enter_context(flows)
        mirrored = (lambda _: True) if start.mirror_all else self._is_followed
        services = self.services = stack.enter_context(bot_services(settings, engine, now, start.github, mirrored))
        store = services.store

        self.outbox = Outbox(self.mailbox, web, now, pace=start.pace, writing=lease.writing, locks=store.locks)
        self.sessions = AgentSessions(web, store.ongoing_answers, now)
        self.reader = self._new_reader()
        self.channels = Channels(self.reader, self.subscriptions, settings.digest_language, settings.tz)
        named = repositories_named(settings.digest_downstream)
        self._checks = DownstreamChecks(services.impacts, self.subscriptions, now, named)
        self._lives = BreakLives(store, self.subscriptions, services.impacts, now)
        self._reports = ChannelReports(
            store, services.weeks, services.release_digests, self.subscriptions, self._checks, self._lives, now
        )
        self._edits = DigestEdits(self.reader, services.sources, store, self._lives, self.mailbox, web, now)
        self._postings = Postings(self.mailbox, web, self._reports)
        interval = timedelta(hours=1) / (_PULLS_AN_HOUR if settings.github_token else _PULLS_WITHOUT_TOKEN)
        self._news = AlertNews(
            self._alerts, services.commits, self.channels, self.mailbox, web.directory, interval, now
        )
        self.members = Members(web.directory)
        self.threads = Threads(self.mailbox, web, private_to_model=settings.digest_private_to_model)

        files = opened_publications(settings, services.github.is_public, settings.publish_token, services.compatibility)
        published = ScheduledPublications(
            stack.enter_context(files), services.digests, services.release_digests, store, now
        )
        self.flows = self._flows(published, lease)
        stored = metrics.Stored(store, self.mailbox, self._executors, self._flow_tables)
        self.figures = metrics.Metrics(stored, lease, passing_failures, now)
        self.health = HealthChecks({"store": self._reads, "engine": self.flows.alive, "lease": lease.is_held})

    def subscribe_configured_channels(self) -> None:
        """Subscribe the channels of DIGEST_CHANNEL to DIGEST_REPOS, keeping subscriptions that people made or cancelled."""
        settings = self.settings
        for channel in settings.digest_channel:
            for repository in settings.digest_repos:
                if not self.reader.within(channel).hides(repository):
                    terms = self.defaults.terms(channel, repository, self.channels.everywhere)
                    self.subscriptions.keep_configured(terms, self.now())

    def scheduled(self, start: Start) -> AbstractContextManager[None]:
        """Start what is due, look for releases, edit digests, take over from processes that died, and tidy up once a day, for the duration of the block."""
        services = self.services

        def once(job: Callable[[], None]) -> Callable[[], None]:
            return scheduler.by_one_process(f"scheduled {job.__name__.strip('_')}", job, services.store.locks)

        return scheduler.ticking(
            (
                (start.tick, once(self._start_due)),
                (start.releases, once(self._start_releases)),
                (start.tick, once(self._start_alerts)),
                (start.timing.sweep, self._take_over),
                (start.edits, once(self._edit_digests)),
                (_POLL_INTERVAL, self._take_over_at_once),
                (_POLL_INTERVAL, self.mailbox.erase_deleted),
            ),
            (
                once(self.flows.forget_old),
                once(self._executors.forget),
                once(self._forget_alerts_and_breaks),
                services.sources.remove_unused_mirrors,  # of this machine
                once(services.store.search_index.complete),
                once(self._score_releases),
            ),
        )

    def _start_due(self) -> None:
        scheduler.start_due(self.subscriptions, self.reader, self.flows.start_delivery, self.now())
        if processes := len(self._executors.living()):  # on PostgreSQL
            self.flows.share_deliveries(self._flow_tables.open_partitions(SLACK), processes)

    def _edit_digests(self) -> None:
        self._lives.refresh(self.reader)
        self._edits.refresh(known_repositories(self.settings.digest_repos, self.subscriptions))

    def _start_releases(self) -> None:
        now, sources, seen = self.now(), self.services.sources, self._seen_releases
        scheduler.start_releases(
            self.subscriptions,
            seen,
            lambda repository: sources.current(repository, now, now).release_tags(),
            self.reader,
            self.flows.start_delivery,
            now,
        )

    def _start_alerts(self) -> None:
        self._news.settle()
        for each in self._alerts.settled():
            self.flows.start_alert(each.id)

    def _take_over(self) -> None:
        self.figures.taken_over(self.flows.take_over(self._executors))
        self.outbox.delete_duplicates()

    def _take_over_at_once(self) -> None:
        if self._executors.newly_ended():
            self._take_over()

    def _forget_alerts_and_breaks(self) -> None:
        self._alerts.forget(self.now() - _ALERTS_KEPT)
        self.services.store.breaks.forget(self.now() - _BREAKS_KEPT)

    def _score_releases(self) -> None:
        followed = followed_repositories(self.subscriptions, self.reader)
        self.services.releases.score_new(followed, self.now())

    def _reads(self) -> bool:
        self.mailbox.waiting_since()
        return True

    def _is_followed(self, repository: Repository) -> bool:
        """Return whether a repository is configured or subscribed, itself or as downstream code: one mirror has all its branches."""
        downstream = (*self.subscriptions.downstream(), *repositories_named(self.settings.digest_downstream))
        named = (*known_repositories(self.settings.digest_repos, self.subscriptions), *downstream)
        return repository.full_name.lower() in {each.full_name.lower() for each in named}

    def _new_reader(self) -> Reader:
        settings, services = self.settings, self.services
        private = private_with_clients(settings.digest_private, allowed=settings.digest_mcp_private)
        return Reader(
            services.digests,
            services.commits,
            partial(known_repositories, settings.digest_repos, self.subscriptions),
            Access(private, services.github.is_public, self.now),
            usual=settings.digest_repos,
            locks=services.store.locks,
            verdicts=services.store.verdicts,
        )

    def _flows(self, published: ScheduledPublications, lease: Lease) -> Flows:
        channels, reports, mailbox, web = self.channels, self._reports, self.mailbox, self.web
        return Flows(
            self._responder(),
            Drafter(channels, reports, self._checks, self._lives, self._postings, mailbox, web, self.now),
            Sender(channels, self.subscriptions, mailbox, self.outbox, self._edits, web),
            RevertNotices(channels, reports, self.services.store, mailbox),
            self._news,
            published,
            mailbox,
            self.now,
            lease,
            passing_failures,
        )

    def _responder(self) -> Responder:
        """Return what answers people's requests."""
        services, mailbox, web, now = self.services, self.mailbox, self.web, self.now
        status = BotStatus(
            services.store, mailbox, services.model, web, self._executors, self._flow_tables, self._lives, now
        )
        limits = CallerLimits(mailbox, now)
        home = Home(self.subscriptions, self._alerts, mailbox, self.outbox, web, status, now)
        post = PostCommand(self.members, self._postings)
        days = DayCommands(self._reports, post)
        commits = CommitCommands(services.store, services.sources, self._checks, post)
        answering = services.answers, services.period_questions, self._checks, self.threads, limits
        questions = Questions(*answering, services.store.ratings, mailbox)
        alerts = AlertCommands(
            self._alerts, self._news, services.store, services.commits, self.members, home, web.directory
        )
        announcements = Announcements(self.subscriptions, mailbox, web)
        subscriptions = SubscriptionCommands(
            self.subscriptions, self.members, announcements, status, home, self.defaults
        )
        welcome = Welcome(services.store, mailbox, self.members, web, self.settings.digest_command)
        handlers: dict[type | str, Handler] = {
            **self._commands(days, commits, alerts, questions, subscriptions, home),
            **self._buttons(post, days, commits, alerts, questions, subscriptions, home),
            JoinRequest: welcome.greet,
            Action.NOT_NOW: welcome.decline,
        }
        converse = partial(Conversation, web, self.outbox, self.sessions, now)
        return Responder(handlers, self.channels, self.threads, limits, mailbox, converse, self.sessions, home, now)

    def _commands(
        self,
        days: DayCommands,
        commits: CommitCommands,
        alerts: AlertCommands,
        questions: Questions,
        subscriptions: SubscriptionCommands,
        home: Home,
    ) -> dict[type | str, Handler]:
        services, checks, web = self.services, self._checks, self.web
        help_ = HelpCommand(web, self.settings.digest_command)
        return {
            kinds.Day: days.show_day,
            kinds.Days: days.show_range,
            kinds.Week: days.show_week,
            kinds.Lookup: commits.show,
            kinds.SetAlert: alerts.set,
            kinds.ListAlerts: alerts.show_all,
            kinds.Search: commits.search,
            kinds.Upgrade: UpgradeCommand(services.upgrades, checks).show,
            kinds.Suspects: SuspectsCommand(services.suspects, checks, web).show,
            kinds.Subscribe: subscriptions.subscribe,
            kinds.Unsubscribe: subscriptions.unsubscribe,
            kinds.ListSubscriptions: subscriptions.show_all,
            kinds.Status: subscriptions.show_status,
            kinds.Ask: questions.answer,
            kinds.Help: help_.show,
            kinds.NotUnderstood: help_.show_not_understood,
            ShortcutRequest: commits.explain,
            SubscriptionForm: subscriptions.apply_form,
            HomeRequest: home.open,
        }

    def _buttons(
        self,
        post: PostCommand,
        days: DayCommands,
        commits: CommitCommands,
        alerts: AlertCommands,
        questions: Questions,
        subscriptions: SubscriptionCommands,
        home: Home,
    ) -> dict[type | str, Handler]:
        breaks = BreakCommands(self.services.store.breaks, self._lives, self._edits, self.members)
        reasons = MessageReasons(
            self.subscriptions, self._reports, self._lives, self.mailbox, self.settings.digest_command
        )
        return {
            "show_rest": days.show_rest,
            "full_report": days.send_report,
            Action.POST: post.post,
            Action.POST_AGAIN: post.post,
            "too_high": commits.correct_tier,
            "too_low": commits.correct_tier,
            Action.TELL_RELEASED: alerts.set_by_button,
            Action.TELL_REVERTED: alerts.set_by_button,
            "cancel_alert": alerts.cancel,
            Action.WHY: commits.explain_tier,
            Action.WHY_HERE: reasons.show,
            **dict.fromkeys((Action.TAKE, Action.PUT_OFF, Action.DISMISS, Action.REOPEN), breaks.change),
            Action.RATE_ANSWER: questions.rate,
            "settings": subscriptions.show_all,
            "unsubscribe": subscriptions.cancel,
            "send_again": home.release,
            "drop_held": home.release,
            # These open modals; as requests they arrive only if Slack did not open one.
            **dict.fromkeys(("ask", "ask_commit", "open_subscribe", "edit_subscription"), show_no_form),
        }
