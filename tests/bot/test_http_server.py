"""The bot's HTTP server: who neither sends nor reads is ended."""

import socket
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from wsgiref.types import StartResponse, WSGIEnvironment

from bot.http_server import bound, served

_BODY = b"x" * 200_000
_REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


def application(_: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    start_response("200 OK", [("Content-Length", str(len(_BODY)))])
    return [_BODY]


def test_clients_that_do_not_read_their_replies_do_not_deafen_it() -> None:
    """While more clients than it keeps leave a reply unread that no network holds for them, who reads is answered."""
    with ExitStack() as stack:
        place = stack.enter_context(bound("127.0.0.1", 0))
        place.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)  # or this machine would keep the whole reply
        stack.enter_context(served(application, place, deadline=1))
        port = place.getsockname()[1]
        for _ in range(520):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            deaf.connect(("127.0.0.1", port))
            deaf.sendall(_REQUEST)
        with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as client:
            client.request("GET", "/")
            assert client.getresponse().read() == _BODY


def test_a_refusal_repeats_little_of_what_was_sent() -> None:
    """A header that cannot be read is answered in few words, however long it is."""
    with ExitStack() as stack:
        place = stack.enter_context(bound("127.0.0.1", 0))
        stack.enter_context(served(application, place))
        with socket.create_connection(place.getsockname(), timeout=60) as client:
            client.sendall(b"GET / HTTP/1.1\r\nX: a\n" + b"b" * 100_000 + b"\r\n\r\n")
            told = b"".join(iter(lambda: client.recv(65_536), b""))
    assert told.split()[1] == b"400"
    assert len(told) < 1_000
