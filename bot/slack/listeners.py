"""The listeners. A listener acknowledges, stores the request and hands it over; replies are made elsewhere.

Commands and buttons are acknowledged before they are stored; events are stored first, since Slack resends those that were
not acknowledged. A modal is opened at once: its trigger expires after three seconds.
"""

import re
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import structlog
from slack_bolt import Ack, App, BoltResponse

from analysis.models import Language
from bot.slack.messages.ask_modal import ASK, ask_modal, asked_in, no_question
from bot.slack.messages.blocks import Action
from bot.slack.messages.subscription_modal import SUBSCRIBE
from bot.slack.parsing.requests import Request, from_button, from_command, from_form, from_home, from_message
from bot.slack.web import Web
from bot.slack.web_errors import SlackFailure

BUTTONS = (
    Action.POST,
    Action.POST_AGAIN,
    "show_rest",
    "full_report",
    "page",
    "settings",
    "unsubscribe",
    "too_high",
    "too_low",
    "send_again",
    "drop_held",
)
SUBSCRIBING = ("open_subscribe", "edit_subscription")
ASKING = ("ask", "ask_commit")

log = structlog.get_logger(__name__)


class Hands(NamedTuple):
    """The functions that listeners call.

    `concerns` filters messages, `keep` stores a request, `start` begins its handling, and `language` returns a channel's.
    `terms_view` builds the subscription modal; `terms_filled` parses a submitted one into a request or errors by field.
    `acknowledged` receives each request's kind and the seconds until its ack; `refused` counts unsigned requests.
    """

    concerns: Callable[[Request], bool]
    keep: Callable[[Request], object]
    start: Callable[[Request], None]
    language: Callable[[str], Language]
    terms_view: Callable[[Request], dict[str, Any]]
    terms_filled: Callable[[dict[str, Any]], tuple[Request | None, dict[str, str]]]
    acknowledged: Callable[[str, float], None]
    refused: Callable[[], None]


class Listeners:
    """The listeners of one app. What follows an ack runs in `executor`, so that no ack waits for the store or for Slack."""

    def __init__(self, web: Web, hands: Hands, executor: Executor) -> None:
        self._web = web
        self._hands = hands
        self._executor = executor

    def register(self, app: App, command: str) -> None:
        """Register the listeners with the app; `command` is the slash command's name."""
        for event in ("message", "app_mention"):
            app.event(event, middleware=[self.keep_event])(self.on_event)
        app.command(command)(self.on_command)
        for action in (*BUTTONS, re.compile(r"which_\d+")):
            app.action(action)(self.on_button)
        app.event("app_home_opened")(self.on_home)
        for action in SUBSCRIBING:
            app.action(action)(self.on_subscribe)
        app.view(SUBSCRIBE)(self.on_terms)
        for action in ASKING:
            app.action(action)(self.on_ask)
        app.view(ASK)(self.on_question)

    def keep_event(
        self, body: dict[str, Any], context: dict[str, Any], next_: Callable[[], BoltResponse]
    ) -> BoltResponse:
        """Store a message that may concern the bot, before Bolt acknowledges it."""
        request = from_message(body, self._web.me["user_id"])
        if request and self._hands.concerns(request):
            self._hands.keep(request)
            context["request"] = request
        return next_()

    def on_event(self, context: dict[str, Any]) -> None:
        if context.get("request"):
            self._submit(self._hands.start, context["request"])

    def on_command(self, ack: Ack, body: dict[str, Any]) -> None:
        ack()
        self._submit(self._hand_over, from_command(body))

    def on_button(self, ack: Ack, body: dict[str, Any]) -> None:
        ack()
        self._submit(self._hand_over, from_button(body))

    def on_ask(self, ack: Ack, body: dict[str, Any]) -> None:
        ack()
        request = from_button(body)
        self._submit(self._open, body, request, lambda: ask_modal(request, self._hands.language(request.channel)))

    def on_question(self, ack: Ack, body: dict[str, Any]) -> None:
        asked_at, question = asked_in(body["view"])
        if not question:
            ack(response_action="errors", errors=no_question(self._hands.language(asked_at.channel)))
            return
        ack()
        self._submit(self._hand_over, from_form(body, asked_at, question))

    def on_home(self, body: dict[str, Any]) -> None:
        request = from_home(body)
        if request:
            self._submit(self._hand_over, request)

    def on_subscribe(self, ack: Ack, body: dict[str, Any]) -> None:
        ack()
        request = from_button(body)
        self._submit(self._open, body, request, lambda: self._hands.terms_view(request))

    def on_terms(self, ack: Ack, body: dict[str, Any]) -> None:
        filled, errors = self._hands.terms_filled(body)
        if filled is None:
            ack(response_action="errors", errors=errors)
            return
        ack()
        self._submit(self._hand_over, filled)

    def _open(self, body: dict[str, Any], request: Request, view: Callable[[], dict[str, Any]]) -> None:
        """Open a modal; on failure hand the request over, so that the person gets a reply."""
        try:
            self._web.open_view(body["trigger_id"], view())
        except SlackFailure as exc:
            log.warning("no modal", run=request.run, why=str(exc))
            self._hand_over(request)

    def _hand_over(self, request: Request) -> None:
        self._hands.keep(request)
        self._hands.start(request)

    def _submit(self, do: Callable[..., None], *arguments: Any) -> None:
        self._executor.submit(_logged, do, *arguments)


def _logged(do: Callable[..., None], *arguments: Any) -> None:
    """Call a function, and log its exception, which nobody waits for."""
    try:
        do(*arguments)
    except Exception:
        log.exception("this is a bug in vllm-digest")
