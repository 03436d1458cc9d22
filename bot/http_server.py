"""The bot's HTTP server: its limits on connections and requests, short replies in JSON, and the health of the process."""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from http import HTTPStatus
from threading import Thread
from time import monotonic, time
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

import structlog
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer

from analysis.errors import Misuse
from bot.logs import described

THREADS = 16
_LARGEST = 1_048_576  # bytes of a request body; Slack's are far smaller
_CONNECTIONS = 500  # concurrent; many systems allow a process 1,024 open files
# Seconds for a complete request to arrive, the same while all connections are taken, and between sweeps. Slack's requests
# arrive in milliseconds.
_DEADLINE, _DEADLINE_WHEN_FULL, _SWEEP = 10, 0.5, 1
_TOLD = 100  # characters of why a request cannot be parsed
_QUIET = 60  # minimum seconds between log lines about refused requests

_CHECK_TIMEOUT = 1.5  # seconds of a health check; whoever asks gives up after a few

Health = Callable[[], Mapping[str, bool | str]]  # what works, and `why` if something does not

log = structlog.get_logger(__name__)


@contextmanager
def bound(host: str, port: int, advice: str = "choose others with --port and --host") -> Iterator[socket.socket]:
    """Bind a listening socket for the duration of the block. Raise `Misuse`, with advice, if the address is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        place = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as exc:
        errno = getattr(exc, "errno", None) or 0  # negative if the host name cannot be resolved
        why = os.strerror(errno).lower() if errno > 0 else "no such address"
        raise Misuse(f"port {port} of {host} cannot be opened ({why}); {advice}") from exc
    with place:
        yield place


@contextmanager
def served(
    application: WSGIApplication, place: socket.socket, *, deadline: int = _DEADLINE, threads: int = THREADS
) -> Iterator[None]:
    """Serve an application on a socket for the duration of the block. A request has `deadline` seconds to arrive."""
    sockets: dict[int, Any] = {}
    server: Any = _Server(
        application,
        sockets,
        _sock=place,
        sockinfo=(place.family, place.type, place.proto, place.getsockname()),
        bind_socket=False,
        threads=threads,
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
        # The thread, woken by a reply, may have closed them before the trigger is pulled for that.
        with suppress(OSError):
            server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        thread.join()
        server.task_dispatcher.shutdown()


class _Parser(HTTPRequestParser):
    """A parser that answers 400 to an unparsable URL or Content-Length, where waitress would log an error and hang up, and in few
    words to other errors, where it would repeat what it was sent.
    """

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ParsingError as exc:
            raise ParsingError(str(exc)[:_TOLD]) from exc
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
    """A server that shortens the deadline while all connections are taken, and whose deadline also counts for reading a reply.
    Waitress would accept no connection until one ends, and end none whose reply cannot be sent.
    """

    channel_class = _Channel

    def maintenance(self, now: int) -> None:
        super().maintenance(now)
        channels: Mapping[int, HTTPChannel] = self.active_channels  # type: ignore[assignment] # the stubs are wrong
        for channel in list(channels.values()):
            if channel.total_outbufs_len and channel.last_activity < now - self.adj.channel_timeout:
                channel.handle_close()

    def readable(self) -> bool:
        if len(self._map) >= self.adj.connection_limit:  # type: ignore[attr-defined] # the stubs lack it
            # maintenance() closes requests that have been arriving for longer than channel_timeout.
            self.maintenance(time() + self.adj.channel_timeout - _DEADLINE_WHEN_FULL)  # type: ignore[arg-type] # floats do
        return super().readable()


class Refusals:
    """Counts the requests that are refused for one reason, and logs at most one a minute."""

    def __init__(self, why: str, count: Callable[[], None]) -> None:
        self._why = why
        self._count = count
        self._logged_at = -float(_QUIET)  # monotonic clock

    def add(self) -> None:
        """Count one."""
        self._count()
        if monotonic() - self._logged_at >= _QUIET:
            self._logged_at = monotonic()
            log.warning("refused", why=self._why)


def reply_json(
    start_response: StartResponse,
    status: HTTPStatus,
    reply: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterable[bytes]:
    """Reply with a JSON object, by default the status as an error."""
    body = json.dumps(reply or {"error": status.phrase.lower()}).encode()
    sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    start_response(f"{status.value} {status.phrase}", list(sent.items()))
    return [body]


def reply_health(start_response: StartResponse, health: Health) -> Iterable[bytes]:
    """Reply with what works and what does not: 200 if everything does, else 503."""
    found = health()
    well = "why" not in found
    return reply_json(start_response, HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, {"ok": well, **found})


class HealthChecks:
    """Named checks, each in a thread of its own: one that hangs delays neither the others nor the reply. Thread-safe."""

    def __init__(self, checks: Mapping[str, Callable[[], bool]]) -> None:
        self._checks = checks
        self._threads = {name: ThreadPoolExecutor(1, f"health {name}") for name in checks}

    def found(self) -> dict[str, bool | str]:
        """Return whether each check is well within the time, and `why` not all are, without naming any address."""
        ongoing = {name: self._threads[name].submit(check) for name, check in self._checks.items()}
        wait(ongoing.values(), _CHECK_TIMEOUT)
        reasons = {name: _trouble(check) for name, check in ongoing.items()}
        why = "; ".join(f"{name} {reason}" for name, reason in reasons.items() if reason)
        well: dict[str, bool | str] = {name: not reason for name, reason in reasons.items()}
        return {**well, "why": why} if why else well


def _trouble(check: Future[bool]) -> str:
    """Return why a check is not well; empty if it is."""
    if not check.done():
        check.cancel()  # if it waits for an earlier one, which hangs
        return f"did not answer within {_CHECK_TIMEOUT} s"
    if error := check.exception():
        log.warning("not well", why=described(error))
        return "failed; the log says why"
    return "" if check.result() else "is not well"
