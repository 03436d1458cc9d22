"""The event loop of the protocol's library, which the tools, in threads of their own, know nothing of."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from typing import Any
from wsgiref.types import WSGIApplication

import anyio
import anyio.lowlevel
from a2wsgi import ASGIMiddleware
from anyio import from_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from analysis.models import Repository
from bot.models.progress import Progress


@contextmanager
def wsgi_application(server: MCPServer) -> Iterator[WSGIApplication]:
    """Run a server's event loop for the duration of the block; yield the WSGI application, whose replies are JSON.

    No request knows of another, and none holds a stream open. Which hosts and origins are answered is for others to say.
    """
    # The library's own check takes anything for a port.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(json_response=True, stateless_http=True, transport_security=security)
    manager = server.session_manager
    with from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(manager.run()):
        loop = portal.call(_running_loop)
        handle: Any = manager.handle_request  # both libraries describe the same interface in types of their own
        application: Any = ASGIMiddleware(handle, loop=loop)
        yield application


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


class ReportedProgress(Progress):
    """Progress of a tool's call, from any of its threads to the client, if that asked for it. Made in the call's own thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._token = from_thread.run_sync(anyio.lowlevel.current_token)
        self._done, self._total, self._title = 0, 0, ""

    def day(self, repository: Repository, day: date) -> None:
        """Begin a stage: a day of a repository."""
        self._title = f"{repository} {day}: "

    def expect(self, steps: int) -> None:
        """Announce further steps."""
        self._total += steps

    def advance(self, steps: int = 1) -> None:
        """Report steps as done."""
        self._done += steps
        message = f"{self._title}{self._done} of {self._total} commits"
        # A client that has gone needs no progress, and its call ends by itself.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.RunFinishedError):
            from_thread.run(
                self._context.report_progress, float(self._done), float(self._total), message, token=self._token
            )
