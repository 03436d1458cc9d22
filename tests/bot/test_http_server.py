"""The bot's HTTP server: who neither sends nor reads is ended, and health is told in time whatever the database does."""

import socket
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from threading import Event
from time import monotonic
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from analysis.errors import StoreUnusable
from bot.http_server import HealthChecks, bound, served

WITHIN = 2  # seconds
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


def test_a_check_that_hangs_is_told_in_time() -> None:
    """The reply comes within two seconds with the reason, also to whoever asks meanwhile, and is well again once it ends."""
    back, calls = Event(), []

    def store() -> bool:
        calls.append(1)
        return back.wait(60)

    health = HealthChecks({"store": store, "lease": lambda: True})
    for _ in range(2):
        begun = monotonic()
        assert health.found() == {"store": False, "lease": True, "why": "store did not answer within 1.5 s"}
        assert monotonic() - begun < WITHIN
    assert calls == [1]
    back.set()
    assert health.found() == {"store": True, "lease": True}


@pytest.mark.parametrize(("error", "reason"), [(StoreUnusable("postgresql://h/x is away"), "failed"), (None, "is not")])
def test_the_reason_names_no_address(error: Exception | None, reason: str) -> None:
    """Anybody may ask: what the database said is in the log alone."""

    def store() -> bool:
        if error:
            raise error
        return False

    found = HealthChecks({"store": store}).found()
    assert found["store"] is False
    assert str(found["why"]).startswith(f"store {reason}")
    assert "postgresql" not in str(found)


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
