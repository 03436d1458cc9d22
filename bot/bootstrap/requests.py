"""The handlers of people's requests, each given what it uses."""

from bot.bootstrap.parts import Parts, Shared
from bot.services.rate_limits import RateLimits
from bot.services.suspects import SuspectService
from bot.slack.commands.commits import CommitCommands, Ranks
from bot.slack.commands.days import DayCommands, DigestButtons
from bot.slack.commands.help import HelpCommand
from bot.slack.commands.home import HeldMessages, Home
from bot.slack.commands.posting import PostCommand
from bot.slack.commands.questions import AnswerFeedback, Periods, Questions
from bot.slack.commands.responder import Handler, RequestHandlers, Responder, show_no_form
from bot.slack.commands.status import BotStatus
from bot.slack.commands.subscriptions import SubscriptionCommands, SubscriptionManager
from bot.slack.commands.suspects import SuspectsCommand
from bot.slack.commands.upgrade import UpgradeCommand
from bot.slack.commands.weeks import WeekCommand
from bot.slack.delivery.announcements import Announcements
from bot.slack.delivery.reply import RequestReply
from bot.slack.messages.blocks import Action
from bot.slack.parsing.command_types import (
    Ask,
    Day,
    Days,
    ExplainCommits,
    Help,
    ListSubscriptions,
    Lookup,
    NotUnderstood,
    Search,
    Status,
    Subscribe,
    Suspects,
    Unsubscribe,
    Upgrade,
    Week,
)
from bot.slack.parsing.requests import HomeRequest, SubscriptionForm


def responder(parts: Parts, shared: Shared) -> Responder:
    """Return what answers the requests of a bot."""
    mailbox, web, now = parts.tables.mailbox, parts.web, parts.now
    handlers = _Handlers(parts, shared)
    return Responder(
        handlers.by_kind(),
        shared.channels,
        handlers.limits,
        mailbox,
        lambda request: RequestReply(web, shared.outbox, shared.sessions, request),
        shared.sessions,
        handlers.home,
        now,
    )


class _Handlers:
    """The handlers of commands, buttons and messages, some of which share others."""

    def __init__(self, parts: Parts, shared: Shared) -> None:
        self._parts, self._shared = parts, shared
        tables, services, web, now = parts.tables, parts.services, parts.web, parts.now
        status = BotStatus(services.store, tables.mailbox, services.model, web, tables.executors, tables.flows, now)
        self.limits = RateLimits(tables.mailbox, now)
        self.home = Home(tables.subscriptions, tables.mailbox, web, status, now)
        self._post = PostCommand(shared.members, shared.postings, web)
        self._commits = CommitCommands(services.store, shared.checks, self._post)
        self._subscriptions = self._subscription_commands(status)
        self._questions = Questions(
            services.answers,
            Periods(services.period_questions, now),
            self._commits,
            shared.checks,
            shared.threads,
            self.limits,
        )

    def by_kind(self) -> RequestHandlers:
        """Return the handlers of each kind of request."""
        return RequestHandlers(self._by_type(), self._buttons(), self._questions.choose, self._shared.threads)

    def _by_type(self) -> dict[type, Handler]:
        shared, web, now = self._shared, self._parts.web, self._parts.now
        days, subscriptions = DayCommands(self._post, shared.checks, now), self._subscriptions
        help_ = HelpCommand(
            self._parts.services.store, self._parts.tables.subscriptions, web, self._parts.settings.digest_command
        )
        return {
            Day: days.show_day,
            Days: days.show_range,
            Week: WeekCommand(shared.weeks, self._post, shared.outbox, now).show,
            Lookup: self._commits.show,
            ExplainCommits: self._commits.explain,
            Search: self._commits.search,
            Upgrade: UpgradeCommand(self._parts.services.upgrades, shared.checks, shared.outbox, web, now).show,
            Suspects: self._suspects().show,
            Subscribe: lambda conversation, command: subscriptions.subscribe(conversation, command.options),
            Unsubscribe: subscriptions.unsubscribe,
            ListSubscriptions: lambda conversation, _: subscriptions.show_all(conversation),
            Status: lambda conversation, _: subscriptions.show_status(conversation),
            Ask: self._questions.answer,
            Help: lambda conversation, _: help_.show(conversation),
            NotUnderstood: help_.show_not_understood,
            SubscriptionForm: subscriptions.apply_form,
            HomeRequest: self.home.open,
        }

    def _suspects(self) -> SuspectsCommand:
        services = self._parts.services
        service = SuspectService(services.store, services.commits, services.impacts)
        return SuspectsCommand(service, self._shared.checks, self._parts.web)

    def _subscription_commands(self, status: BotStatus) -> SubscriptionCommands:
        subscriptions, members = self._parts.tables.subscriptions, self._shared.members
        announcements = Announcements(subscriptions, self._parts.tables.mailbox, self._parts.web)
        time, on_unsubscribed = self._parts.settings.digest_time, self._parts.on_unsubscribed
        manager = SubscriptionManager(subscriptions, members, announcements, time, on_unsubscribed)
        return SubscriptionCommands(manager, subscriptions, members, status, self.home)

    def _buttons(self) -> dict[str, Handler]:
        tables, web, shared = self._parts.tables, self._parts.web, self._shared
        digest, ranks = DigestButtons(shared.reports, shared.outbox, web), Ranks(self._parts.services.store.verdicts)
        held, subscriptions = HeldMessages(shared.outbox, web, self.home), self._subscriptions
        return {
            "show_rest": digest.show_rest,
            "full_report": digest.send_report,
            "page": self._commits.turn_page,
            Action.POST: self._post.post,
            Action.POST_AGAIN: self._post.post,
            "too_high": ranks.store,
            "too_low": ranks.store,
            Action.WHY: ranks.explain,
            Action.RATE_ANSWER: AnswerFeedback(self._parts.services.store.ratings, tables.mailbox).store,
            "settings": lambda conversation, _: subscriptions.show_all(conversation),
            "unsubscribe": subscriptions.cancel,
            "send_again": held.release,
            "drop_held": held.release,
            # These open modals; as requests they arrive only if Slack did not open one.
            **dict.fromkeys(("ask", "ask_commit", "open_subscribe", "edit_subscription"), show_no_form),
        }
