"""The Bolt app: it checks what Slack sends and calls the listeners."""

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import structlog
from slack_bolt import App, BoltRequest

from analysis.errors import BadSetting
from bot.slack.bot import Bot
from bot.slack.listeners import Hands, Listeners
from bot.slack.sockets import Sockets
from bot.slack.web import Refused

log = structlog.get_logger(__name__)


def slack_app(bot: Bot, hands: Hands) -> App:
    """The app with its listeners."""
    logger = logging.getLogger("slack_bolt")
    logger.setLevel(logging.ERROR)  # of what nobody listens to it warns, and that is most of what is said in channels
    app = App(
        client=bot.web.client,
        logger=logger,
        token_verification_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    Listeners(bot.web, bot.language, hands).register(app, bot.command)
    return app


def sign_in(bot: Bot) -> None:
    """Learns who the bot is. `BadSetting` where Slack does not take its token."""
    with _blaming("SLACK_BOT_TOKEN"):
        log.info("connecting", user=bot.web.me["user"], team=bot.web.me["team"])


@contextmanager
def socket_mode(bot: Bot, app_token: str, hands: Hands) -> Iterator[None]:
    """The app connected to Slack over a WebSocket, for as long as the block lasts. `BadSetting` where its token is not taken."""
    app = slack_app(bot, hands)

    def answer(payload: dict[str, Any]) -> dict[str, Any] | None:
        told = app.dispatch(BoltRequest(mode="socket_mode", body=payload))
        if told.status != 200:  # noqa: PLR2004
            return None
        if not told.body:
            return {}
        is_json = told.headers.get("content-type", [""])[0].startswith("application/json")
        return dict(json.loads(told.body)) if is_json else {"text": told.body}

    with ExitStack() as stack:
        with _blaming("SLACK_APP_TOKEN"):
            stack.enter_context(Sockets(lambda: bot.web.socket_address(app_token), answer))
        yield


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as exc:
        raise BadSetting(f"{setting}: {exc}") from exc
