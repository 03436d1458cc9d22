"""HTTP server for Slack's requests: events, commands and actions at /slack/events, health checks at /healthz."""

import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from threading import Thread
from time import monotonic, time
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import structlog
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk.signature import SignatureVerifier
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer

from analysis.errors import Misuse
from bot.slack.app import SlackApp

_EVENTS, _HEALTH = "/slack/events", "/healthz"
THREADS = 16
_LARGEST = 1_048_576  # bytes of a request body; Slack's are far smaller
_CONNECTIONS = 500  # concurrent; many systems allow a process 1,024 open files
# Seconds for a complete request to arrive, the same while all connections are taken, and between sweeps. Slack's requests
# arrive in milliseconds.
_DEADLINE, _DEADLINE_WHEN_FULL, _SWEEP = 10, 0.5, 1
# Format of Slack's headers. Others are refused unparsed: a timestamp of 400 digits overflows the verifier's arithmetic.
_TIMESTAMP, _SIGNATURE = re.compile(r"[0-9]{1,12}"), re.compile(r"v0=[0-9a-f]{64}")
_QUIET = 60  # minimum seconds between log lines about requests without a valid signature

Health = Callable[[], Mapping[str, bool]]

log = structlog.get_logger(__name__)


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Bind a listening socket for the duration of the block. Raise `Misuse` if the address is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        place = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as exc:
        errno = getattr(exc, "errno", None) or 0  # negative if the host name cannot be resolved
        why = os.strerror(errno).lower() if errno > 0 else "no such address"
        raise Misuse(f"port {port} of {host} cannot be opened ({why}); choose others with --port and --host") from exc
    with place:
        yield place


@contextmanager
def http_mode(
    app: SlackApp, signing_secret: str, place: socket.socket, health: Health, refused: Callable[[], None]
) -> Iterator[None]:
    """Serve an app and its health checks on a socket for the duration of the block; `refused` counts unsigned requests."""
    with served(SignatureCheck(SlackRequestHandler(app, _EVENTS), signing_secret, health, refused), place):
        yield


@contextmanager
def served(application: WSGIApplication, place: socket.socket, *, deadline: int = _DEADLINE) -> Iterator[None]:
    """Serve an application on a socket for the duration of the block. A request has `deadline` seconds to arrive."""
    sockets: dict[int, Any] = {}
    server: Any = _Server(
        application,
        sockets,
        _sock=place,
        sockinfo=(place.family, place.type, place.proto, place.getsockname()),
        bind_socket=False,
        threads=THREADS,
        max_request_body_size=_LARGEST,
        connection_limit=_CONNECTIONS,
        channel_timeout=deadline,
        cleanup_interval=_SWEEP,
        asyncore_use_poll=True,
        log_socket_errors=False,
    )
    thread = Thread(target=server.run, name="http", daemon=True)
    thread.start()
    log.info("listening", host=server.effective_host, port=int(server.effective_port))
    try:
        yield
    finally:
        # The server's thread owns the sockets and ends when none is left.
        server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        thread.join()
        server.task_dispatcher.shutdown()


class _Parser(HTTPRequestParser):
    """A parser that answers 400 to an unparsable URL or Content-Length; waitress would log an error and hang up."""

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as exc:
            raise ParsingError("the address or a header cannot be read") from exc


class _Channel(HTTPChannel):
    """A connection whose timeout is a deadline for the whole request, from the connection's start or its last reply;
    waitress would restart it with each byte.
    """

    parser_class = _Parser

    def handle_read(self) -> None:
        since = self.last_activity
        super().handle_read()
        self.last_activity = since


class _Server(TcpWSGIServer):
    """A server that shortens the deadline while all connections are taken; waitress would accept none until one ends."""

    channel_class = _Channel

    def readable(self) -> bool:
        if len(self._map) >= self.adj.connection_limit:  # type: ignore[attr-defined] # the stubs lack it
            # maintenance() closes requests that have been arriving for longer than channel_timeout.
            self.maintenance(time() + self.adj.channel_timeout - _DEADLINE_WHEN_FULL)  # type: ignore[arg-type] # floats do
        return super().readable()


class SignatureCheck:
    """The WSGI application in front of Bolt's, which rejects requests without Slack's signature.

    Bolt checks signatures too, but only after parsing the request, and fails on a timestamp that is not a number.
    """

    def __init__(
        self, slack: SlackRequestHandler, signing_secret: str, health: Health, refused: Callable[[], None]
    ) -> None:
        self._slack = slack
        self._verifier = SignatureVerifier(signing_secret)
        self._health = health
        self._refused = refused
        self._logged_at = -float(_QUIET)  # monotonic clock

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == _HEALTH and method in ("GET", "HEAD"):
            return self._health_response(start_response)
        if path != _EVENTS:
            return _answer(start_response, HTTPStatus.NOT_FOUND)
        if method != "POST":
            return _answer(start_response, HTTPStatus.METHOD_NOT_ALLOWED)
        body = environ["wsgi.input"].read()
        if not self._signed(environ, body):
            self._note_refusal()
            return _answer(start_response, HTTPStatus.UNAUTHORIZED)
        try:
            return self._slack({**environ, "wsgi.input": BytesIO(body)}, start_response)
        except (
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
            RecursionError,
        ):  # raised by Bolt's parsing, before any listener runs
            return _answer(start_response, HTTPStatus.BAD_REQUEST)

    def _note_refusal(self) -> None:
        self._refused()
        if monotonic() - self._logged_at >= _QUIET:
            self._logged_at = monotonic()
            log.warning("refused", why="not signed with SLACK_SIGNING_SECRET within the last minutes")

    def _signed(self, environ: WSGIEnvironment, body: bytes) -> bool:
        at, signature = environ.get("HTTP_X_SLACK_REQUEST_TIMESTAMP", ""), environ.get("HTTP_X_SLACK_SIGNATURE", "")
        if not (_TIMESTAMP.fullmatch(at) and _SIGNATURE.fullmatch(signature)):
            return False
        try:
            return self._verifier.is_valid(body, at, signature)
        except UnicodeDecodeError:  # in the body
            return False

    def _health_response(self, start_response: StartResponse) -> Iterable[bytes]:
        found = self._health()
        well = all(found.values())
        return _answer(start_response, HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, {"ok": well, **found})


def _answer(
    start_response: StartResponse, status: HTTPStatus, reply: Mapping[str, object] | None = None
) -> Iterable[bytes]:
    body = json.dumps(reply or {"error": status.phrase.lower()}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]
