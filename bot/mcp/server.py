"""The server: its tools, what it says of itself, errors as one sentence; and serving it on standard input and output."""

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from inspect import getdoc
from typing import Any

import structlog
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from analysis.errors import DigestError
from analysis.text import one_line, shorten
from bot import logs
from bot.mcp.results import NOTICE, neutralised
from bot.mcp.tools import Tools
from bot.mcp.visibility import CLIENT, Visibility, private_with_clients
from bot.models.clock import Clock
from bot.services.factory import bot_services
from bot.services.limits import CallerLimits
from bot.services.reader import Access, Reader
from bot.settings import Settings
from bot.store import Mailbox, open_engine

_MOST_OF_ERROR = 500  # characters

INSTRUCTIONS = (
    "Commits of busy GitHub repositories: which of a day's matter and why, what breaks downstream code, what may have"
    " caused a failure, and answers that cite the diff. All tools only read. " + NOTICE
)
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)

Count = Callable[[str, str], None]

log = structlog.get_logger(__name__)


def mcp_server(tools: Tools, count: Count = lambda *_: None) -> MCPServer:
    """Return a server with these tools; `count` receives the name and the outcome of each call: done, refused or failed."""
    functions = (tools.digest, tools.commit, tools.search, tools.impact, tools.compat, tools.suspects, tools.ask)
    checked = [Tool.from_function(each, description=getdoc(each), annotations=_READ_ONLY) for each in functions]
    return MCPServer(
        "vllm-digest",
        instructions=INSTRUCTIONS,
        version=version("vllm-digest"),
        tools=[_CheckedTool(**dict(each), count=count) for each in checked],
        subscriptions=False,
    )


class _CheckedTool(Tool):
    """A tool whose errors are one sentence, and whose results are free of characters that act on what shows them."""

    count: Count = Field(default=lambda *_: None, exclude=True)

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: FBT001, FBT002 (the library's)
    ) -> Any:
        del convert_result  # a result is always converted here
        unknown = [each for each in arguments if each not in self.parameters["properties"]]
        if unknown:
            takes = ", ".join(self.parameters["properties"])
            return self._refused(f"{self.name} has no argument {unknown[0]!r}; it takes {takes}")
        try:
            found = await super().run(arguments, context)
        except ToolError as exc:
            cause = exc.__cause__
            if isinstance(cause, ValidationError):
                return self._refused(_invalid_argument(cause))
            if isinstance(cause, DigestError):
                return self._refused(re.sub(r"--repo( owner/name)?", "the argument repository", str(cause)))
            if not isinstance(exc, UnexpectedToolError):
                return self._refused(str(exc))
            log.exception("this is a bug in vllm-digest", tool=self.name, exc_info=cause)
            self.count(self.name, "failed")
            return _error("something went wrong in vllm-digest; its log says what")
        self.count(self.name, "done")
        value = neutralised(found)
        text = TextContent(type="text", text=json.dumps(value, ensure_ascii=False))
        return CallToolResult(content=[text], structured_content=value)

    def _refused(self, sentence: str) -> CallToolResult:
        self.count(self.name, "refused")
        return _error(sentence)


def _error(sentence: str) -> CallToolResult:
    text = shorten(one_line(sentence), _MOST_OF_ERROR)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _invalid_argument(error: ValidationError) -> str:
    """Return what is wrong with the first invalid argument, without its value."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "the arguments"
    return f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"


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
        mcp_server(tools).run("stdio")
