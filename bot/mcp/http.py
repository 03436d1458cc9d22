"""The MCP server over HTTP: its event loop, who may call it, and how many at once."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from a2wsgi import ASGIMiddleware
from anyio import from_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from bot.http_server import THREADS, Refusals, reply_json

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_AT_ONCE = THREADS // 2  # calls, so that Slack's requests always find a thread


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


class TokenCheck:
    """The WSGI application in front of the server's, which answers requests with the operator's token, a few at once.

    They are answered under the names of this machine and of `hosts`, to programs and to pages of the same origin.
    There is no stream to open: a request is a POST, and its reply JSON.
    """

    def __init__(
        self, application: WSGIApplication, token: str, hosts: Sequence[str], refused: Callable[[], None]
    ) -> None:
        self._application = application
        names = "|".join(map(re.escape, (*_LOOPBACK, *hosts)))
        self._own_host = re.compile(rf"(?:{names})(?::[0-9]{{1,5}})?", re.IGNORECASE)
        self._digest = _digest(f"bearer {token}")
        self._refusals = Refusals("an MCP client without DIGEST_MCP_TOKEN", refused)
        self._slots = BoundedSemaphore(_AT_ONCE)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._authorized(environ):
            self._refusals.add()
            return reply_json(start_response, HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
        if not self._own_host.fullmatch(environ.get("HTTP_HOST", "")):
            return reply_json(start_response, HTTPStatus.MISDIRECTED_REQUEST)
        if not _is_of_own_page(environ):
            return reply_json(start_response, HTTPStatus.FORBIDDEN)
        if environ["REQUEST_METHOD"] != "POST":
            return reply_json(start_response, HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "POST"})
        if not self._slots.acquire(blocking=False):
            return reply_json(start_response, HTTPStatus.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})
        try:
            return list(self._application(environ, start_response))
        finally:
            self._slots.release()

    def _authorized(self, environ: WSGIEnvironment) -> bool:
        scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        return compare_digest(_digest(f"{scheme.lower()} {token.strip()}"), self._digest)


def _is_of_own_page(environ: WSGIEnvironment) -> bool:
    """Return whether a request is a program's, which names no origin, or one of a page that came from the same host."""
    origin = environ.get("HTTP_ORIGIN")
    return origin is None or origin in {f"{scheme}://{environ['HTTP_HOST']}" for scheme in ("http", "https")}


def _digest(text: str) -> bytes:
    """Return a digest, so that neither the content nor the length of a token shows in how long a comparison takes."""
    return sha256(text.encode("latin-1", "replace")).digest()
