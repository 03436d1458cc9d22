"""Requests of all kinds: those whose every status is an answer, and those byte by byte, as no client library would send them."""

import json
import resource
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from email.message import Message
from http.client import HTTPResponse
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_OTHER_FILES = 500


class Got(NamedTuple):
    status: int
    body: Any


def ask(
    url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, method: str | None = None
) -> Got:
    """Ask over HTTP; any status is an answer."""
    request = Request(url, body, dict(headers or {}), method=method)
    try:
        with urlopen(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except HTTPError as error:
        with error:
            status, text = error.code, error.read()
    try:
        return Got(status, json.loads(text))
    except ValueError:
        return Got(status, text.decode())


class Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes


def send(port: int, *lines: str, body: bytes = b"", timeout: float = 10) -> Reply:
    """The reply to a first line and headers, in latin-1, and a body; raises TimeoutError without one."""
    head = "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(head + body)
        reply = HTTPResponse(connection)
        reply.begin()
        return Reply(reply.status, reply.headers, reply.read())


def last_words(connection: socket.socket) -> bytes:
    """What the other side says until it hangs up; raises TimeoutError where it does not."""
    said = b""
    try:
        while more := connection.recv(65536):
            said += more
    except ConnectionError:
        pass
    return said


@contextmanager
def dripping(
    port: int, count: int, beginning: bytes, drop: bytes = b"x", every: float = 0.2
) -> Iterator[list[socket.socket]]:
    """So many connections that each begin a request and send another drop of it every so many seconds."""
    _allow_files(count + _OTHER_FILES)
    ended = Event()

    def drip() -> None:
        left = list(connections)
        while not ended.wait(every):
            for each in tuple(left):
                try:
                    each.sendall(drop)
                except OSError:
                    left.remove(each)

    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)) for _ in range(count)
        ]
        for each in connections:
            each.sendall(beginning)
        thread = Thread(target=drip, daemon=True)
        thread.start()
        try:
            yield connections
        finally:
            ended.set()
            thread.join()


def _allow_files(count: int) -> None:
    """Let this process have so many files open, where it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != soft < count:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard)
        )
