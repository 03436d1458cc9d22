"""Socket Mode: envelopes from Slack, received and acknowledged over a WebSocket that we open.

The SDK's own clients handle broken connections badly: the built-in one busy-loops for a minute before it reconnects, and
the one based on websocket-client closes connections while another thread reads them.
Source: docs.slack.dev/apis/events-api/using-socket-mode.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Self

import structlog
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from analysis.errors import DigestError
from bot.logs import described

AT_ONCE = 10  # envelopes handled concurrently: so many events, and so many of all others
_OPENING = 10  # seconds to open a connection
_PING = 10  # seconds between pings
_SILENCE = 5  # seconds to wait for a pong before the connection counts as dead
_CLOSING = 1  # seconds to close a connection
_PAUSES = (0.2, 1, 2, 5, 10, 30)  # seconds before reconnecting, by attempt; the last one repeats

Json = dict[str, Any]
log = structlog.get_logger(__name__)


class Sockets:
    """Socket Mode connections, open while the context is entered.

    `first` is the WebSocket URL of the first one, `address` returns a new one. `answer` takes an envelope's payload and returns the payload of its ack, or None
    if it must not be acknowledged.
    """

    def __init__(self, first: str, address: Callable[[], str], answer: Callable[[Json], Json | None]) -> None:
        self._first = first
        self._address = address
        self._answer = answer
        self._open: list[ClientConnection] = []
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._ended = Event()
        # Events are stored before their ack. They have threads of their own, so that a busy store delays no command's ack.
        self._events = ThreadPoolExecutor(AT_ONCE, "event")
        self._others = ThreadPoolExecutor(AT_ONCE, "envelope")

    def __enter__(self) -> Self:
        """Start listening."""
        self._begin(self._first)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        with self._lock:
            connections, threads = [*self._open], [*self._threads]
        for connection in connections:
            connection.close()
        for thread in threads:
            thread.join()
        self._events.shutdown()
        self._others.shutdown()

    def _begin(self, address: str = "") -> None:
        thread = Thread(target=self._run, args=(address,), daemon=True)
        with self._lock:
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
            thread.start()

    def _run(self, address: str) -> None:
        """Reconnect in a loop until stopped, or until another thread has taken over."""
        failed = 0
        while not self._ended.is_set():
            failed += 1
            try:
                with self._connected(address or self._address()) as connection:
                    failed = 0
                    if self._listen(connection):
                        return
            except (WebSocketException, OSError, DigestError) as exc:
                log.warning("not connected to slack", why=described(exc))
            except Exception:
                log.exception("this is a bug in vllm-digest")
            address = ""  # each URL is valid for one connection
            self._ended.wait(_PAUSES[min(failed, len(_PAUSES) - 1)])

    def _connected(self, address: str) -> ClientConnection:
        return connect(
            address,
            open_timeout=_OPENING,
            ping_interval=_PING,
            ping_timeout=_SILENCE,
            close_timeout=_CLOSING,
            max_size=None,
        )

    def _listen(self, connection: ClientConnection) -> bool:
        """Read a connection until it closes. Return whether another one replaced it, after Slack announced the closing."""
        replaced = False
        with self._lock:
            self._open.append(connection)
        try:
            for text in () if self._ended.is_set() else connection:
                message = json.loads(text)
                if message.get("type") == "disconnect" and not replaced:
                    replaced = True
                    self._begin()
                elif "envelope_id" in message:
                    workers = self._events if message.get("type") == "events_api" else self._others
                    workers.submit(self._acknowledge, connection, message)
        except (ConnectionClosed, ValueError) as exc:
            log.info("connection lost", why=described(exc))
        finally:
            with self._lock:
                self._open.remove(connection)
        return replaced

    def _acknowledge(self, connection: ClientConnection, envelope: Json) -> None:
        try:
            payload = self._answer(envelope["payload"])
        except Exception:
            log.exception("this is a bug in vllm-digest")
            return
        if payload is None:
            return
        text = json.dumps({"envelope_id": envelope["envelope_id"], **({"payload": payload} if payload else {})})
        # If the connection broke meanwhile, use another one; without any, Slack resends the envelope.
        for each in (connection, *reversed(self._open)):
            with suppress(ConnectionClosed, OSError):
                each.send(text)
                return
        log.warning("not acknowledged", envelope=envelope["envelope_id"])
