"""Slack's requests over HTTP: events, commands and actions at /slack/events, and /healthz for whoever looks after the process."""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from threading import Thread
from time import monotonic
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import structlog
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk.signature import SignatureVerifier
from waitress import wasyncore
from waitress.server import create_server

from analysis.errors import Misuse
from bot.slack.app import slack_app
from bot.slack.bot import Bot
from bot.slack.listeners import Hands

_EVENTS, _HEALTH = "/slack/events", "/healthz"
_THREADS = 16
_LARGEST = 1_048_576  # bytes of a request; Slack's are far smaller
# A request that only half arrives keeps one of so many places for so many seconds; Slack's arrive in milliseconds.
_CONNECTIONS, _IDLE, _SWEEP = 1_000, 10, 5
_QUIET = 60  # seconds between two lines of the log about requests that Slack did not sign

Health = Callable[[], Mapping[str, bool]]

log = structlog.get_logger(__name__)


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """An address to listen at, taken for as long as the block lasts. `Misuse` where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        place = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as exc:
        errno = getattr(exc, "errno", None) or 0  # below 0 where it is the name that cannot be found
        why = os.strerror(errno).lower() if errno > 0 else "no such address"
        raise Misuse(
            f"port {port} of {host} cannot be listened at ({why}); choose others with --port and --host"
        ) from exc
    with place:
        yield place


@contextmanager
def http_mode(bot: Bot, signing_secret: str, hands: Hands, place: socket.socket, health: Health) -> Iterator[None]:
    """The app behind an address, for as long as the block lasts."""
    app = slack_app(bot, hands, signing_secret)
    door = Door(SlackRequestHandler(app, _EVENTS), signing_secret, health, hands.refused)
    sockets: dict[int, Any] = {}
    server: Any = create_server(
        door,
        sockets,
        sockets=[place],
        threads=_THREADS,
        max_request_body_size=_LARGEST,
        connection_limit=_CONNECTIONS,
        channel_timeout=_IDLE,
        cleanup_interval=_SWEEP,
        asyncore_use_poll=True,
    )
    thread = Thread(target=server.run, name="http", daemon=True)
    thread.start()
    log.info("listening", host=server.effective_host, port=int(server.effective_port))
    try:
        yield
    finally:
        # They belong to its thread, which ends without any.
        server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        thread.join()
        server.task_dispatcher.shutdown()


class Door:
    """The WSGI application in front of Bolt's: it lets nothing in that Slack did not sign.

    Bolt checks signatures too, but reads a request before it does, and takes a timestamp that is no number for a bug.
    """

    def __init__(
        self, slack: SlackRequestHandler, signing_secret: str, health: Health, refused: Callable[[], None]
    ) -> None:
        self._slack = slack
        self._verifier = SignatureVerifier(signing_secret)
        self._health = health
        self._refused = refused
        self._told_at = -float(_QUIET)  # by the clock that only runs on

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == _HEALTH and method in ("GET", "HEAD"):
            return self._say_health(start_response)
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
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):  # before anything of ours is called
            return _answer(start_response, HTTPStatus.BAD_REQUEST)

    def _note_refusal(self) -> None:
        self._refused()
        if monotonic() - self._told_at >= _QUIET:
            self._told_at = monotonic()
            log.warning("refused", why="not signed with SLACK_SIGNING_SECRET within the last minutes")

    def _signed(self, environ: WSGIEnvironment, body: bytes) -> bool:
        at, signature = environ.get("HTTP_X_SLACK_REQUEST_TIMESTAMP"), environ.get("HTTP_X_SLACK_SIGNATURE")
        try:
            return self._verifier.is_valid(body, at, signature)
        except (ValueError, TypeError):  # no number, or not ASCII
            return False

    def _say_health(self, start_response: StartResponse) -> Iterable[bytes]:
        found = self._health()
        well = all(found.values())
        return _answer(start_response, HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, {"ok": well, **found})


def _answer(
    start_response: StartResponse, status: HTTPStatus, told: Mapping[str, object] | None = None
) -> Iterable[bytes]:
    body = json.dumps(told or {"error": status.phrase.lower()}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]
