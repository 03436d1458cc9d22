"""The Bolt app: it checks what Slack sends and calls the listeners."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from analysis.models import Language
from bot.slack.bot import Bot
from bot.slack.listeners import Hands, listen
from bot.slack.web import Web


def slack_app(web: Web, command: str, language: Language, hands: Hands, signing_secret: str = "") -> App:
    """The app with its listeners; `signing_secret` is needed over HTTP only."""
    logger = logging.getLogger("slack_bolt")
    logger.setLevel(logging.ERROR)  # of what nobody listens to it warns, and that is most of what is said in channels
    app = App(
        client=web.client,
        signing_secret=signing_secret or "none",
        logger=logger,
        token_verification_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    listen(app, command, language, web, hands)
    return app


@contextmanager
def socket_mode(bot: Bot, app_token: str, hands: Hands) -> Iterator[None]:
    """The app connected to Slack over a WebSocket, for as long as the block lasts."""
    app = slack_app(bot.web, bot.command, bot.language, hands)
    handler = SocketModeHandler(app, app_token)
    handler.connect()
    try:
        yield
    finally:
        handler.close()
