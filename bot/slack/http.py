"""Slack's requests over HTTP: events, commands and actions at /slack/events, and /healthz for whoever looks after the process."""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from threading import Thread
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
    door = Door(SlackRequestHandler(slack_app(bot, hands, signing_secret), _EVENTS), signing_secret, health)
    sockets: dict[int, Any] = {}
    server: Any = create_server(door, sockets, sockets=[place], threads=_THREADS, max_request_body_size=_LARGEST)
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

    def __init__(self, slack: SlackRequestHandler, signing_secret: str, health: Health) -> None:
        self._slack = slack
        self._verifier = SignatureVerifier(signing_secret)
        self._health = health

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if (path, method) == (_HEALTH, "GET"):
            return self._say_health(start_response)
        if (path, method) != (_EVENTS, "POST"):
            return _answer(start_response, HTTPStatus.NOT_FOUND)
        body = environ["wsgi.input"].read()
        if not self._signed(environ, body):
            log.warning("refused", why="not signed with SLACK_SIGNING_SECRET within the last minutes")
            return _answer(start_response, HTTPStatus.UNAUTHORIZED)
        try:
            return self._slack({**environ, "wsgi.input": BytesIO(body)}, start_response)
        except (ValueError, TypeError, AttributeError):  # before anything of ours is called
            return _answer(start_response, HTTPStatus.BAD_REQUEST)

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
