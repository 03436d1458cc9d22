"""What the bot listens to. A listener acknowledges, keeps what was asked, and hands over: nothing is answered here.

Commands and buttons are acknowledged first and kept then; events are kept first, since Slack sends again what was not
acknowledged. A modal is opened at once: its trigger lives three seconds.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import structlog
from slack_bolt import Ack, App, BoltResponse

from analysis.models import Language
from bot.slack.modals import ASK, ask_modal, asked_in, no_question
from bot.slack.requests import Request, from_button, from_command, from_form, from_message
from bot.slack.web import SlackFailure, Web

BUTTONS = ("post_to_channel", "show_rest", "full_report", "page")
ASKING = ("ask", "ask_commit")

log = structlog.get_logger(__name__)


class Hands(NamedTuple):
    """Where listeners hand over: whether a message may concern the bot, where it is kept, and who begins to answer it."""

    concerns: Callable[[Request], bool]
    keep: Callable[[Request], object]
    start: Callable[[Request], None]


def listen(app: App, command: str, language: Language, web: Web, hands: Hands) -> None:
    """Registers every listener."""

    def keep_event(body: dict[str, Any], context: dict[str, Any], next: Callable[[], BoltResponse]) -> BoltResponse:  # noqa: A002 (Bolt's name)
        request = from_message(body, web.me["user_id"])
        if request and hands.concerns(request):
            hands.keep(request)
            context["request"] = request
        return next()

    def on_event(context: dict[str, Any]) -> None:
        if context.get("request"):
            hands.start(context["request"])

    def hand_over(request: Request) -> None:
        hands.keep(request)
        hands.start(request)

    def on_command(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        hand_over(from_command(body))

    def on_button(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        hand_over(from_button(body))

    def on_ask(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        request = from_button(body)
        try:
            web.open_view(body["trigger_id"], ask_modal(request, language))
        except SlackFailure as exc:
            log.warning("no modal", run=request.run, why=str(exc))

    def on_question(ack: Ack, body: dict[str, Any]) -> None:
        asked_at, question = asked_in(body["view"])
        if not question:
            ack(response_action="errors", errors=no_question(language))
            return
        ack()
        hand_over(from_form(body, asked_at, question))

    for event in ("message", "app_mention"):
        app.event(event, middleware=[keep_event])(on_event)
    app.command(command)(on_command)
    for action in (*BUTTONS, re.compile(r"which_\d+")):
        app.action(action)(on_button)
    for action in ASKING:
        app.action(action)(on_ask)
    # A link opened from a button is told too, and needs no answer.
    app.action(re.compile(r"open_.*"))(lambda ack: ack())
    app.view(ASK)(on_question)
