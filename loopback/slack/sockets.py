"""The server side of Socket Mode: connections opened with a ticket, which receive envelopes.

Source: docs.slack.dev/apis/events-api/using-socket-mode.
"""

import json
import logging
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from threading import Lock, Thread, Timer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from websockets.datastructures import MultipleValuesError
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from loopback.http_server import Refusal, check_sender
from loopback.slack.workspace import APP

_QUIET = logging.getLogger("loopback.slack.sockets")
_QUIET.propagate = False
_QUIET.addHandler(logging.NullHandler())


class Sockets:
    """The open connections. `heard` is called with (envelope id, payload) of every ack, `changed` on connect and disconnect."""

    def __init__(self, heard: Callable[[str, Any], None], changed: Callable[[], None]) -> None:
        self._heard = heard
        self._changed = changed
        self._lock = Lock()
        self._tickets: set[str] = set()
        self._open: list[ServerConnection] = []
        self._leaving: set[ServerConnection] = set()
        self._timers: list[Timer] = []
        self._turn = 0
        self.opened = 0
        self._server = serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            logger=_QUIET,
            open_timeout=5,
            close_timeout=0.5,
        )
        self._port = self._server.socket.getsockname()[1]
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self._timers:
            timer.cancel()
        self._server.shutdown()
        self._thread.join()
        for connection in self.connections:
            connection.close(1001)

    @property
    def connections(self) -> list[ServerConnection]:
        with self._lock:
            return list(self._open)

    def new_address(self) -> str:
        """Return a URL that is valid for one connection."""
        ticket = str(uuid4())
        with self._lock:
            self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self._port}/link/?ticket={ticket}&app_id={APP}"

    def pick(self) -> ServerConnection | None:
        """Return the next connection in rotation, or None."""
        with self._lock:
            staying = [each for each in self._open if each not in self._leaving]
            self._turn += 1
            return staying[self._turn % len(staying)] if staying else None

    def drop(self, *, abrupt: bool = True, reset: bool = False) -> None:
        """Close every connection: with a close handshake, or abruptly by TCP FIN or RST."""
        for connection in self.connections:
            if abrupt:
                _cut(connection, reset=reset)
            else:
                connection.close(1001)

    def disconnect(self, reason: str = "refresh_requested", linger: float = 0.1) -> None:
        """Send `disconnect` on every connection, then nothing more, and close it after `linger` seconds."""
        for connection in self.connections:
            with self._lock:
                self._leaving.add(connection)
            with suppress(ConnectionClosed):
                connection.send(json.dumps({"type": "disconnect", "reason": reason, "debug_info": _DEBUG}))
            timer = Timer(linger, connection.close)
            timer.daemon = True
            timer.start()
            self._timers.append(timer)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return a refusal unless the request is from the app, with a valid ticket."""
        try:
            check_sender(request.headers.get("Host"), request.headers.get("Origin"), self._port)
            ticket = parse_qs(urlsplit(request.path).query).get("ticket", [""])[0]
        except Refusal as refusal:
            return connection.respond(refusal.status, f"{refusal}\n")
        except (ValueError, MultipleValuesError):
            return connection.respond(HTTPStatus.BAD_REQUEST, "bad request\n")
        with self._lock:
            known = ticket in self._tickets
            self._tickets.discard(ticket)
        return None if known else connection.respond(HTTPStatus.UNAUTHORIZED, "wrong ticket\n")

    def _serve(self, connection: ServerConnection) -> None:
        try:
            with self._lock:
                count = len(self._open) + 1
            info = {"connection_info": {"app_id": APP}, "debug_info": {**_DEBUG, "approximate_connection_time": 18060}}
            connection.send(json.dumps({"type": "hello", "num_connections": count, **info}))
            with self._lock:
                self._open.append(connection)
                self.opened += 1
            self._changed()
            for text in connection:
                _confirm(connection.socket)
                self._read(text)
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                if connection in self._open:
                    self._open.remove(connection)
                self._leaving.discard(connection)
            self._changed()

    def _read(self, text: str | bytes) -> None:
        """Process an ack; other messages are ignored, as by Slack."""
        with suppress(ValueError, KeyError, TypeError):
            message = json.loads(text)
            self._heard(message["envelope_id"], message.get("payload"))


def _cut(connection: ServerConnection, *, reset: bool) -> None:
    with suppress(OSError):
        if reset:
            # Closing then sends RST; the connection's own thread closes it when reading fails.
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.socket.shutdown(socket.SHUT_RDWR)


def _confirm(connection: socket.socket) -> None:
    """Disable delayed TCP ACKs, for which Nagle's algorithm would hold back the app's next write."""
    if sys.platform == "linux":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


_DEBUG = {"host": "applink-local", "build_number": 1}
