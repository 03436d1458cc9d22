"""The listeners. A listener acknowledges, stores the request and hands it over; replies are made elsewhere.

Commands and buttons are acknowledged before they are stored; events are stored first, since Slack resends those that were
not acknowledged. A modal is opened at once: its trigger expires after three seconds.
"""

import re
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from slack_bolt import Ack, App, BoltResponse

from analysis.errors import DigestError, StoreUnusable
from analysis.locale import catalogue
from analysis.models import Language
from bot.models.clock import Clock
from bot.services.reader import Channels
from bot.slack.commands.subscriptions import SubscriptionForms
from bot.slack.commands.threads import Threads
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.messages.blocks import Action
from bot.slack.messages.modals import ASK, SUBSCRIBE, ask_modal, asked_in, no_question
from bot.slack.parsing.departures import DEPARTURES, Departed, departed
from bot.slack.parsing.requests import (
    AnyRequest,
    ButtonRequest,
    deleted_message,
    from_button,
    from_command,
    from_form,
    from_home,
    from_join,
    from_message,
    from_shortcut,
    message_key,
    request_row,
    stopped_thread,
)
from bot.slack.web import Web
from bot.slack.web_errors import SlackFailure
from bot.store import Mailbox, Subscriptions

SUBSCRIBING = ("open_subscribe", "edit_subscription")
ASKING = (Action.ASK, Action.ASK_COMMIT)
EXPLAIN = "explain_commits"  # the message shortcut's callback_id in the manifest

Listener = Callable[[Ack, dict[str, Any]], None]

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Listeners:
    """The listeners of one app. What follows an ack runs in `executor`, so that no ack waits for the store or for Slack.

    `start` starts the handling of a stored request, once, by its key.
    """

    _web: Web
    _mailbox: Mailbox
    _start: Callable[[str], None]
    _threads: Threads
    _forms: SubscriptionForms
    _channels: Channels
    _sessions: AgentSessions
    _subscriptions: Subscriptions
    _now: Clock
    _executor: Executor

    def register(self, app: App, command: str) -> None:
        """Register the listeners with the app; `command` is the slash command's name."""
        for event in ("message", "app_mention"):
            app.event(event, middleware=[self.keep_event])(self.on_event)
        app.event("member_joined_channel", middleware=[self.keep_join])(self.on_event)
        for event in DEPARTURES:
            app.event(event, middleware=[self.keep_departure])(lambda: None)
        app.command(command)(self._handing_over(from_command))
        app.message_shortcut(EXPLAIN)(self._handing_over(from_shortcut))
        app.event("app_home_opened")(self.on_home)
        app.event("agent_session_stopped")(self.on_stop)
        for action in SUBSCRIBING:
            app.action(action)(self._opening(self._forms.modal))
        app.view(SUBSCRIBE)(self.on_terms)
        for action in ASKING:
            app.action(action)(self._opening(lambda button: ask_modal(button, self._language(button.channel))))
        app.action(re.compile(""))(self._handing_over(from_button))  # the first listener that matches takes an action
        app.view(ASK)(self.on_question)

    def _handing_over(self, parse: Callable[[dict[str, Any]], AnyRequest]) -> Listener:
        """Return a listener that acknowledges a payload and hands its request over."""

        def listener(ack: Ack, body: dict[str, Any]) -> None:
            ack()
            self._submit(self._hand_over, parse(body))

        return listener

    def _opening(self, modal: Callable[[ButtonRequest], dict[str, Any]]) -> Listener:
        """Return a listener that acknowledges a button and opens its modal."""

        def listener(ack: Ack, body: dict[str, Any]) -> None:
            ack()
            self._submit(self._open, body["trigger_id"], from_button(body), modal)

        return listener

    def keep_event(
        self, body: dict[str, Any], context: dict[str, Any], next_: Callable[[], BoltResponse]
    ) -> BoltResponse:
        """Store a message that may concern the bot, or forget one that was deleted, before Bolt acknowledges it."""
        if deleted := deleted_message(body):
            self._withdraw(message_key(*deleted))
            return next_()
        request = from_message(body, self._web.me["user_id"])
        if request and self._threads.concerns(request):
            self._store(request)
            context["request"] = request
        return next_()

    def keep_join(
        self, body: dict[str, Any], context: dict[str, Any], next_: Callable[[], BoltResponse]
    ) -> BoltResponse:
        """Store the bot's joining of a channel before Bolt acknowledges it."""
        if request := from_join(body, self._web.me["user_id"]):
            self._store(request)
            context["request"] = request
        return next_()

    def keep_departure(self, body: dict[str, Any], next_: Callable[[], BoltResponse]) -> BoltResponse:
        """Have subscriptions end whose channel or person is gone, before Bolt acknowledges the event."""
        if gone := departed(body):
            _end_departed(self._subscriptions, gone, self._now())
        return next_()

    def on_event(self, context: dict[str, Any]) -> None:
        if context.get("request"):
            self._submit(self._start, context["request"].key)

    def on_stop(self, body: dict[str, Any]) -> None:
        if thread := stopped_thread(body):
            self._submit(self._sessions.stop, *thread)

    def on_question(self, ack: Ack, body: dict[str, Any]) -> None:
        button, question = asked_in(body["view"])
        if not question:
            ack(response_action="errors", errors=no_question(self._language(button.channel)))
            return
        ack()
        self._submit(self._hand_over, from_form(body, button, question))

    def on_home(self, body: dict[str, Any]) -> None:
        request = from_home(body)
        if request:
            self._submit(self._hand_over, request)
        elif body["event"].get("tab") == "messages":
            channel = str(body["event"].get("channel"))
            self._submit(lambda: self._sessions.suggest_prompts(channel, self._language(channel)))

    def on_terms(self, ack: Ack, body: dict[str, Any]) -> None:
        form, errors = self._forms.parse(body)
        if form is None:
            ack(response_action="errors", errors=errors)
            return
        ack()
        self._submit(self._hand_over, form)

    def _open(self, trigger: str, request: ButtonRequest, modal: Callable[[ButtonRequest], dict[str, Any]]) -> None:
        """Open a modal; on failure hand the request over, so that the person gets a reply."""
        try:
            self._web.open_view(trigger, modal(request))
        except DigestError as exc:
            log.warning("no modal", run=request.run, why=str(exc))
            self._hand_over(request)

    def _store(self, request: AnyRequest) -> None:
        """Store a request, once however often Slack delivers it."""
        self._mailbox.receive(request.key, request_row(request), self._now())

    def _withdraw(self, key: str) -> None:
        """Forget a message that was deleted: it is not answered, and an answer under way ends, whichever process writes it."""
        if self._mailbox.request(key):
            self._mailbox.done(key, self._now())

    def _hand_over(self, request: AnyRequest) -> None:
        try:
            self._store(request)
        except StoreUnusable as exc:
            log.warning("request lost", run=request.run, why=str(exc))
            self._apologise(request)
        else:
            self._start(request.key)

    def _apologise(self, request: AnyRequest) -> None:
        """Tell the person that a request was lost, where Slack gave a place to do so. The store knows no language now."""
        if not request.response_url:
            return
        say = catalogue(self._channels.everywhere.language)
        text = say("⚠️ I can't store requests at the moment. Try again later, or tell your operator")
        try:
            self._web.respond_at_once(request.response_url, {"text": text}, replace=False)
        except SlackFailure as exc:
            log.warning("not told", why=str(exc))

    def _language(self, channel: str) -> Language:
        return self._channels.view(channel).language

    def _submit(self, do: Callable[..., None], *arguments: Any) -> None:
        self._executor.submit(_logged, do, *arguments)


def _logged(do: Callable[..., None], *arguments: Any) -> None:
    """Call a function and log its exception, since no caller waits for it."""
    try:
        do(*arguments)
    except StoreUnusable as exc:
        log.warning("not done", why=str(exc))
    except Exception:
        log.exception("this is a bug in vllm-digest")


def _end_departed(subscriptions: Subscriptions, gone: Departed, now: datetime) -> None:
    """End or move the subscriptions of a channel or a person that is gone; doing so again changes nothing.

    Those that a person who left made for a channel stay: they are the channel's.
    """
    if gone.how is None:
        subscriptions.follow(gone.channel, gone.new_channel)
        return
    for each in subscriptions.end_all(gone.how, now, channel=gone.channel, user=gone.user):
        log.warning("subscription ended", subscription=each.id, channel=each.terms.channel, why=gone.how)
