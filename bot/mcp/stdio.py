"""The MCP server on standard input and output: the operator's own command, for an agent on the same machine."""

from bot import logs
from bot.mcp.event_loop import run_over_stdio
from bot.mcp.server import mcp_server
from bot.mcp.tools import Tools
from bot.mcp.visibility import CLIENT, Visibility, private_with_clients
from bot.models.clock import Clock
from bot.services.factory import bot_services
from bot.services.limits import CallerLimits
from bot.services.reader import Access, Reader
from bot.settings import Settings
from bot.store import Mailbox, open_engine


def serve_stdio(settings: Settings, now: Clock) -> None:
    """Serve until standard input ends. Any repository may be named but those of DIGEST_PRIVATE, as `digest` reads any.

    Raise `StoreUnusable` if the database cannot be opened.
    """
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    engine = open_engine(settings.database_url.get_secret_value())
    private = private_with_clients(settings.digest_private, allowed=settings.digest_mcp_private)
    access = Access(private, lambda _: True, now)
    with bot_services(settings, engine, now) as services:
        reader = Reader(
            services.digests,
            services.commits,
            lambda: settings.digest_repos,
            access,
            CLIENT,
            usual=settings.digest_repos,
            locks=services.store.locks,
        )
        visibility = Visibility(reader, settings.digest_downstream)
        limits = CallerLimits(Mailbox(engine), now)
        tools = Tools(services, reader, visibility, limits, now, settings.digest_language, settings.tz)
        run_over_stdio(mcp_server(tools))
