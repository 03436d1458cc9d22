"""The ways in which Slack reaches a bot: over Socket Mode, over HTTP, where agents reach it too, or not at all."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from socket import socket
from wsgiref.types import WSGIApplication

from bot.bootstrap.bot import Bot
from bot.bootstrap.start import Start
from bot.mcp.visibility import CLIENT, Visibility
from bot.services.rate_limits import RateLimits
from bot.settings import Settings
from bot.slack.app import SlackApp, first_socket_address, slack_app, socket_mode
from bot.slack.commands.subscription_form import SubscriptionForms
from bot.slack.listeners import Inbox, Listeners
from bot.slack.socket_mode import AT_ONCE
from bot.slack.web import Web

_HAND_OVERS = 16  # requests handed over concurrently, or modals opened

Listen = Callable[[Bot], AbstractContextManager[None]]


@contextmanager
def entrance(settings: Settings, start: Start, web: Web) -> Iterator[Listen]:
    """Check the token, or check the secret and bind the address; yield the function that starts listening to Slack.

    Raise `BadSetting` for a token or a secret that is missing or rejected, `Misuse` for an address in use.
    """
    if not start.listens:
        yield lambda _: nullcontext()
    elif start.address is None:
        token = settings.slack_secret("SLACK_APP_TOKEN")
        first = first_socket_address(web, token)
        yield lambda bot: _over_websocket(bot, token, first)
    else:
        from bot.http_server import bound  # it is not needed for Socket Mode

        secret = settings.slack_secret("SLACK_SIGNING_SECRET")
        with bound(*start.address) as place:
            yield lambda bot: _over_http(bot, secret, place)


@contextmanager
def _over_websocket(bot: Bot, token: str, first: str) -> Iterator[None]:
    with _app(bot, AT_ONCE) as app, socket_mode(app, bot.parts.web, token, first):
        yield


@contextmanager
def _over_http(bot: Bot, secret: str, place: socket) -> Iterator[None]:
    from bot.http_server import THREADS
    from bot.slack.http import http_mode

    with (
        _app(bot, THREADS, secret) as app,
        _mcp_application(bot) as others,
        http_mode(app, secret, place, bot.health.found, bot.figures.refused, others),
    ):
        yield


@contextmanager
def _app(bot: Bot, at_once: int, signing_secret: str = "") -> Iterator[SlackApp]:
    """Build the Bolt app, for `at_once` requests at a time.

    At the end of the block every request that was acknowledged has been handed over.
    """
    settings, tables, shared, web = bot.parts.settings, bot.parts.tables, bot.shared, bot.parts.web
    forms = SubscriptionForms(shared.channels, tables.subscriptions, shared.members, settings.digest_time)
    inbox = Inbox(tables.mailbox, bot.flows.start_answer, bot.parts.now)
    with ThreadPoolExecutor(_HAND_OVERS, "hand-over") as executor:
        listeners = Listeners(web, inbox, shared.threads, forms, shared.channels, shared.sessions, executor)
        command, acknowledged = settings.digest_command, bot.figures.acknowledged
        with slack_app(listeners, command, web, acknowledged, at_once, signing_secret) as app:
            yield app


@contextmanager
def _mcp_application(bot: Bot) -> Iterator[dict[str, WSGIApplication]]:
    """Run the MCP server for the duration of the block, if it has a token; yield path -> its application.

    Its clients see the configured and subscribed repositories that are public, or private ones that the operator allows.
    """
    settings, tables, now = bot.parts.settings, bot.parts.tables, bot.parts.now
    if settings.digest_mcp_token is None:
        yield {}
        return
    from bot.mcp.event_loop import wsgi_application  # the protocol's library takes a second to import
    from bot.mcp.http import PATH, TokenCheck
    from bot.mcp.server import mcp_server
    from bot.mcp.tools import Tools

    reader = bot.shared.reader.within(CLIENT)
    visibility = Visibility(reader, settings.digest_downstream, tables.subscriptions.downstream)
    limits, language = RateLimits(tables.mailbox, now), settings.digest_language
    tools = Tools(bot.parts.services, reader, visibility, limits, now, language, settings.tz)
    with wsgi_application(mcp_server(tools, bot.figures.mcp_called)) as application:
        token = settings.digest_mcp_token.get_secret_value()
        yield {PATH: TokenCheck(application, token, settings.digest_mcp_hosts, bot.figures.mcp_refused)}
