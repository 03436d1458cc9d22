"""The ways in which Slack reaches a bot: over Socket Mode, over HTTP, where agents reach it too, or not at all."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from socket import socket
from typing import TYPE_CHECKING
from wsgiref.types import WSGIApplication

from bot.http_server import bound
from bot.mcp.visibility import CLIENT, Visibility
from bot.services.limits import CallerLimits
from bot.settings import Settings
from bot.slack.app import SlackApp, first_socket_address, slack_app, socket_mode
from bot.slack.commands.subscriptions import SubscriptionForms
from bot.slack.listeners import Listeners
from bot.slack.web import Web

if TYPE_CHECKING:
    from bot.bootstrap import Bot

_HAND_OVERS = 16  # requests handed over concurrently, or modals opened

Listen = Callable[["Bot"], AbstractContextManager[None]]


@contextmanager
def entrance(settings: Settings, web: Web, address: tuple[str, int] | None, *, listens: bool) -> Iterator[Listen]:
    """Check the token, or check the secret and bind the address (host, port); yield the function that starts listening to Slack.

    Raise `BadSetting` for a token or a secret that is missing or rejected, `Misuse` for an address in use.
    """
    if not listens:
        yield lambda _: nullcontext()
    elif address is None:
        token = settings.slack_secret("SLACK_APP_TOKEN")
        first = first_socket_address(web, token)
        yield lambda bot: _over_websocket(bot, token, first)
    else:
        secret = settings.slack_secret("SLACK_SIGNING_SECRET")
        with bound(*address) as place:
            yield lambda bot: _over_http(bot, secret, place)


@contextmanager
def _over_websocket(bot: "Bot", token: str, first: str) -> Iterator[None]:
    with _app(bot) as app, socket_mode(app, bot.web, token, first):
        yield


@contextmanager
def _over_http(bot: "Bot", secret: str, place: socket) -> Iterator[None]:
    from bot.slack.http import http_mode

    with (
        _app(bot, secret) as app,
        _mcp_application(bot) as others,
        http_mode(app, secret, place, bot.health.found, bot.figures.refused, others),
    ):
        yield


@contextmanager
def _app(bot: "Bot", signing_secret: str = "") -> Iterator[SlackApp]:
    """Build the Bolt app. At the end of the block every request that was acknowledged has been handed over."""
    forms = SubscriptionForms(bot.channels, bot.subscriptions, bot.members, bot.defaults)
    with ThreadPoolExecutor(_HAND_OVERS, "hand-over") as executor:
        speaking = bot.threads, forms, bot.channels, bot.sessions
        listeners = Listeners(
            bot.web, bot.mailbox, bot.flows.start_answer, *speaking, bot.subscriptions, bot.now, executor
        )
        command, acknowledged = bot.settings.digest_command, bot.figures.acknowledged
        yield slack_app(listeners, command, bot.web, acknowledged, signing_secret)


@contextmanager
def _mcp_application(bot: "Bot") -> Iterator[dict[str, WSGIApplication]]:
    """Run the MCP server for the duration of the block, if it has a token; yield path -> its application.

    Its clients see the configured and subscribed repositories that are public, or private ones that the operator allows.
    """
    settings = bot.settings
    if settings.digest_mcp_token is None:
        yield {}
        return
    from bot.mcp.http import PATH, TokenCheck, wsgi_application  # the protocol's library takes a second to import
    from bot.mcp.server import mcp_server
    from bot.mcp.tools import Tools

    reader = bot.reader.within(CLIENT)
    visibility = Visibility(reader, settings.digest_downstream, bot.subscriptions.downstream)
    limits, language = CallerLimits(bot.mailbox, bot.now), settings.digest_language
    tools = Tools(bot.services, reader, visibility, limits, bot.now, language, settings.tz)
    with wsgi_application(mcp_server(tools, bot.figures.mcp_called)) as application:
        token = settings.digest_mcp_token.get_secret_value()
        yield {PATH: TokenCheck(application, token, settings.digest_mcp_hosts, bot.figures.mcp_refused)}
