"""An HTTP server on 127.0.0.1 for programs and pages of this machine only, running while its context is entered."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

_OWN_HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::([0-9]+))?", re.IGNORECASE)
_LENGTH = re.compile(r"[0-9]+")
_LENGTH_DIGITS = 12  # more digits exceed every limit
_REASON_MOST = 200  # characters


class Refusal(Exception):
    """A refused request, with the status and the short reason of the response."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def check_sender(host: str | None, origin: str | None, port: int | None) -> None:
    """Raise `Refusal` if a foreign web page may have sent a request with these headers.

    The host must be this machine, not a name resolved to it (DNS rebinding), with the port `port`, or any if that is None.
    The origin must be that host, or absent, as for programs.
    """
    named = _OWN_HOST.fullmatch(host or "")
    if named is None or (port is not None and named[1] not in {None, str(port)}):
        raise Refusal(HTTPStatus.FORBIDDEN, "wrong host")
    if origin is not None and origin != f"http://{host}":
        raise Refusal(HTTPStatus.FORBIDDEN, "wrong origin")


class Loopback:
    """A server with a handler class on a free port; `owner` is what handlers know by that name. `url` is its address without a path."""

    def __init__(self, handler: type["QuietHandler"], **owner: Any) -> None:
        self._server = _Server(("127.0.0.1", 0), type(handler.__name__, (handler,), owner))
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class QuietHandler(BaseHTTPRequestHandler):
    """A handler with persistent connections, without Nagle delays and logging.

    Requests that are malformed, too long or possibly from a foreign page are refused before dispatch.
    """

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # for requests without a version, so that responses still have a status line
    # Headers and body are two writes: with Nagle's algorithm each response would wait for a TCP ACK.
    disable_nagle_algorithm = True
    timeout = 20  # seconds of silence, after which the connection is closed
    body_limit = 16_000_000  # bytes
    any_port = False  # whether the Host header may have any port, for forwarded ports

    def handle_one_request(self) -> None:
        self.requestline = self.request_version = self.command = ""  # a response may be needed before they are parsed
        with self.refusing():
            super().handle_one_request()

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        self._check_request()
        return True

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Send the response of a `Refusal` raised in the block."""
        try:
            yield
        except Refusal as refusal:
            self.close_connection = True  # an unread body would be parsed as the next request
            self.refuse(refusal)

    def refuse(self, refusal: Refusal) -> None:
        """Send the response to a refused request."""
        data = json.dumps({"ok": False, "error": str(refusal)}).encode()
        self.respond(refusal.status, data, {"Content-Type": "application/json"})

    def respond(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole response."""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def read_body(self) -> bytes:
        """Read the request's body of Content-Length bytes. Raise `Refusal` if it is missing or short."""
        if "Transfer-Encoding" in self.headers:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "a Content-Length is needed")
        body = self.rfile.read(self._length)
        if len(body) < self._length:
            raise Refusal(HTTPStatus.BAD_REQUEST, "the body ended too early")
        return body

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that http.server cannot parse, without its HTML page."""
        del explain
        raise Refusal(code, (message or HTTPStatus(code).phrase)[:_REASON_MOST])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
        """Log nothing."""

    def _check_request(self) -> None:
        """Raise `Refusal` if the request line or the headers are not acceptable."""
        if not self.path.startswith("/"):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the address is not a path")
        own_port = None if self.any_port else self.connection.getsockname()[1]
        check_sender(self.headers["Host"], self.headers["Origin"], own_port)
        # Links on other pages may lead here; their scripts, images and forms may not.
        followed = self.command == "GET" and self.headers["Sec-Fetch-Mode"] == "navigate"
        if not followed and self.headers["Sec-Fetch-Site"] not in {None, "none", "same-origin"}:
            raise Refusal(HTTPStatus.FORBIDDEN, "wrong origin")
        length = self.headers.get("Content-Length", "0")
        if not _LENGTH.fullmatch(length):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the Content-Length is not a number")
        if len(length) > _LENGTH_DIGITS or int(length) > self.body_limit:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is over {self.body_limit:,} bytes")
        self._length = int(length)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect or do not read their response."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)
