"""The Bolt app: it checks what Slack sends and calls the listeners."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import time

import structlog
import websocket
from slack_bolt import App
from slack_bolt.adapter.socket_mode.internals import run_bolt_app, send_response
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.websocket_client import SocketModeClient

from analysis.errors import BadSetting
from bot.slack.bot import Bot
from bot.slack.listeners import Hands, Listeners
from bot.slack.web import Refused, translated

_PING = 10  # seconds
_SILENCE = 3  # seconds without an answer to it after which a connection is dead

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

    def pass_on(client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        send_response(client, request, run_bolt_app(app, request), time())

    websocket.setdefaulttimeout(_PING)
    client = _Client(app_token, app.logger, app.client, ping_interval=_PING)
    client.socket_mode_request_listeners.append(pass_on)
    try:
        with _blaming("SLACK_APP_TOKEN"), translated():
            client.connect()
        yield
    finally:
        client.close()


class _Client(SocketModeClient):
    """Connects anew within a second when a connection breaks, where the SDK's built-in client takes a minute.

    The SDK's own does not listen for the answers to its pings, and would take a dead connection for a quiet one.
    """

    def _run_current_session(self) -> None:
        if self.current_session and not self.closed:
            self.current_session.run_forever(ping_interval=_PING, ping_timeout=_SILENCE)

    def _monitor_current_session(self) -> None:
        """Nothing: a session that ends is followed by another, and one that has only begun would be taken for ended here."""

    def send_message(self, message: str) -> None:
        """Sends an acknowledgement. Where the connection broke meanwhile, Slack asks for it again over the next one."""
        try:
            super().send_message(message)
        except (websocket.WebSocketException, OSError, AttributeError) as exc:  # the last is a slip of the SDK's there
            log.warning("not acknowledged", why=str(exc))


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as exc:
        raise BadSetting(f"{setting}: {exc}") from exc
