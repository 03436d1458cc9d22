"""HTTP endpoints: Slack's events, commands and actions at /slack/events, health checks at /healthz, and others by path."""

import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk.signature import SignatureVerifier

from bot.http_server import Health, Refusals, reply_health, reply_json, served
from bot.slack.app import SlackApp

_EVENTS, _HEALTH = "/slack/events", "/healthz"
# Format of Slack's headers. Others are refused unparsed: a timestamp of 400 digits overflows the verifier's arithmetic.
_TIMESTAMP, _SIGNATURE = re.compile(r"[0-9]{1,12}"), re.compile(r"v0=[0-9a-f]{64}")


@contextmanager
def http_mode(
    app: SlackApp,
    signing_secret: str,
    place: socket.socket,
    health: Health,
    refused: Callable[[], None],
    others: Mapping[str, WSGIApplication],
) -> Iterator[None]:
    """Serve an app and its health checks on a socket for the duration of the block; `refused` counts unsigned requests.

    `others` maps path -> a further application that answers there, and checks whom it lets in.
    """
    slack = SignatureCheck(SlackRequestHandler(app, _EVENTS), signing_secret, health, refused)

    def route(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return others.get(environ["PATH_INFO"], slack)(environ, start_response)

    with served(route, place):
        yield


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
        self._refusals = Refusals("not signed with SLACK_SIGNING_SECRET within the last minutes", refused)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == _HEALTH and method in ("GET", "HEAD"):
            return reply_health(start_response, self._health)
        if path != _EVENTS:
            return reply_json(start_response, HTTPStatus.NOT_FOUND)
        if method != "POST":
            return reply_json(start_response, HTTPStatus.METHOD_NOT_ALLOWED)
        body = environ["wsgi.input"].read()
        if not self._signed(environ, body):
            self._refusals.add()
            return reply_json(start_response, HTTPStatus.UNAUTHORIZED)
        try:
            return self._slack({**environ, "wsgi.input": BytesIO(body)}, start_response)
        except (
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
            RecursionError,
        ):  # raised by Bolt's parsing, before any listener runs
            return reply_json(start_response, HTTPStatus.BAD_REQUEST)

    def _signed(self, environ: WSGIEnvironment, body: bytes) -> bool:
        at, signature = environ.get("HTTP_X_SLACK_REQUEST_TIMESTAMP", ""), environ.get("HTTP_X_SLACK_SIGNATURE", "")
        if not (_TIMESTAMP.fullmatch(at) and _SIGNATURE.fullmatch(signature)):
            return False
        try:
            return self._verifier.is_valid(body, at, signature)
        except UnicodeDecodeError:  # in the body
            return False
