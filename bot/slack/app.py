"""The Bolt app: it checks what Slack sends and calls the listeners."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from analysis.errors import BadSetting
from bot.slack.bot import Bot
from bot.slack.listeners import Hands, Listeners
from bot.slack.web import Refused, translated

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


@contextmanager
def socket_mode(bot: Bot, app_token: str, hands: Hands) -> Iterator[None]:
    """The app connected to Slack over a WebSocket, for as long as the block lasts.

    `BadSetting` names the token that Slack does not take.
    """
    with _blaming("SLACK_BOT_TOKEN"):
        log.info("connecting", user=bot.web.me["user"], team=bot.web.me["team"])
    handler = SocketModeHandler(slack_app(bot, hands), app_token)
    with _blaming("SLACK_APP_TOKEN"), translated():
        handler.connect()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        handler.close()  # type: ignore[no-untyped-call]


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as exc:
        raise BadSetting(f"{setting}: {exc}") from exc
