"""Every error of Slack's SDK, and every answer that Slack or what lies before it may give, becomes one of ours."""

import http.client
import inspect
import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from slack_sdk import errors
from slack_sdk.errors import SlackApiError, SlackClientError, SlackTokenRotationError
from slack_sdk.web import SlackResponse

from analysis.errors import OutsideFailure
from bot.slack.web import Web
from bot.slack.web_errors import (
    ChannelClosed,
    MissingScope,
    Refused,
    SlackFailure,
    StreamRefused,
    TooLong,
    Unanswered,
    translated_errors,
)
from loopback.http_server import Loopback, QuietHandler


def subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for each in kind.__subclasses__():
        yield from subclasses(each)


VENDORS = [
    *subclasses(SlackClientError),
    *subclasses(http.client.HTTPException),
    *(each for each in subclasses(OSError) if each.__module__ in ("builtins", "urllib.error", "ssl", "socket")),
    json.JSONDecodeError,
    UnicodeDecodeError,
]


def api_error(answer: Any) -> SlackApiError:
    return SlackApiError("vendor's words", answer)  # type: ignore[no-untyped-call]


def made(kind: type[Exception]) -> Exception:
    """An error of that kind, made with whatever its class asks for."""
    if issubclass(kind, SlackTokenRotationError):
        return kind(api_error({"ok": False}))
    if issubclass(kind, SlackApiError):
        return kind("vendor's words", {"ok": False, "error": "some_error"})
    error = kind.__new__(kind, b"", 1) if issubclass(kind, http.client.IncompleteRead) else kind.__new__(kind)
    Exception.__init__(error, "vendor's words")
    return error


def failed(error: Exception) -> SlackFailure:
    with pytest.raises(SlackFailure) as told, translated_errors():
        raise error
    return told.value


def answered(error: str, status: int = 200, **more: Any) -> SlackFailure:
    """What becomes of an answer that names an error."""
    data = {"ok": False, "error": error, **more}
    answer = SlackResponse(
        client=None, http_verb="POST", api_url="x", req_args={}, data=data, headers={}, status_code=status
    )
    return failed(api_error(answer))


class Plain(Loopback):
    """Answers every request with one status and body, announcing more of the latter than it sends if `cut`."""

    def __init__(self, status: int, body: bytes, *, cut: bool = False) -> None:
        class Handler(QuietHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) + 100 * cut))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True

        super().__init__(Handler)

    def post(self) -> None:
        Web("xoxb-1", f"{self.url}/api/").post("C0DIGEST", {"text": "hello"}, "key", None)


@pytest.mark.parametrize("kind", dict.fromkeys(VENDORS), ids=lambda kind: kind.__name__)
def test_no_vendor_error_is_forgotten(kind: type[Exception]) -> None:
    """Whatever Slack's SDK or the HTTP client below it may raise comes out as one of our errors, with words of our own."""
    told = failed(made(kind))
    assert "vendor's words" not in str(told)
    assert len(str(told)) > 20


def test_the_walk_sees_all_of_the_sdks_errors() -> None:
    """No error that the SDK declares is outside the tree that was walked."""
    declared = {each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, Exception)}
    assert declared <= set(VENDORS)
    assert {HTTPError, URLError, TimeoutError, ConnectionResetError, http.client.RemoteDisconnected} <= set(VENDORS)


def test_our_own_errors_pass() -> None:
    """What is no vendor's, bugs included, is left as it is."""
    with pytest.raises(OutsideFailure, match="ours"), translated_errors():
        raise OutsideFailure("ours")
    with pytest.raises(ZeroDivisionError), translated_errors():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("is_archived", ChannelClosed),
        ("not_in_channel", ChannelClosed),
        ("channel_not_found", ChannelClosed),
        ("msg_blocks_too_long", TooLong),
        ("msg_too_long", TooLong),
        ("unknown_method", StreamRefused),
        ("missing_recipient_user_id", StreamRefused),
        ("internal_error", Unanswered),
        ("fatal_error", Unanswered),
        ("service_unavailable", Unanswered),
        ("ratelimited", Unanswered),
        ("rate_limited", Unanswered),
        ("invalid_auth", Refused),
        ("invalid_blocks", Refused),
        ("an_error_of_2031", Refused),
    ],
)
def test_an_error_that_slack_names_is_of_its_kind(code: str, kind: type[SlackFailure]) -> None:
    """A refusal is final and keeps Slack's name for it; an error that passes leaves open what happened."""
    told = answered(code)
    assert type(told) is kind
    assert code in str(told)
    assert not isinstance(told, Refused) or told.code == code


def test_a_missing_scope_is_named() -> None:
    """Whoever reads the error learns which scope the app needs."""
    assert "groups:history" in str(answered("missing_scope", needed="groups:history", provided="chat:write"))


@pytest.mark.parametrize(
    ("needed", "provided", "kind", "named"),
    [
        ("files:write", "chat:write,commands", MissingScope, "files:write ("),
        ("channels:read,groups:read,mpim:read,im:read", "channels:read", MissingScope, "groups:read ("),
        ("channels:read,mpim:read,im:read", "channels:read,groups:read", Refused, "im:read, mpim:read ("),
        ("files:write", "", MissingScope, "files:write ("),
        ("", "", Refused, "missing_scope"),
    ],
)
def test_only_a_scope_of_the_manifest_is_missed(
    needed: str, provided: str, kind: type[SlackFailure], named: str
) -> None:
    """Of the scopes that Slack lists those count which the app lacks and should have; a kind of place that it never reads is refused."""
    told = answered("missing_scope", needed=needed, provided=provided)
    assert type(told) is kind
    assert named in str(told)


@pytest.mark.parametrize("status", [int(status) for status in HTTPStatus if status >= 500])
def test_a_failing_server_leaves_it_open(status: int) -> None:
    """An answer of the 500s says nothing about whether Slack acted, whatever its body says."""
    assert type(answered("is_archived", status)) is Unanswered


@pytest.mark.parametrize("answer", [None, b"\x00", [], "text", {}, {"ok": False}, {"ok": False, "error": None}])
def test_an_error_without_a_name_leaves_it_open(answer: Any) -> None:
    """An error whose answer cannot be read is no refusal."""
    assert type(failed(api_error(answer))) is Unanswered


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<!doctype html><title>Log in to this hotel's network</title>"),
        (200, b""),
        (200, b"[]"),
        (200, b'["ok"]'),
        (200, b"null"),
        (200, b'{"ok": tr'),
        (200, b'{"ok": true}'),
        (200, b'{"ok": true, "ts": 7}'),
        (200, b"\xff\xfe"),
        (403, b"<h1>Forbidden</h1>"),
        (404, b""),
        (502, b"<h1>Bad Gateway</h1>"),
    ],
    ids=str,
)
def test_an_answer_that_is_not_slacks_leaves_it_open(status: int, body: bytes) -> None:
    """What a proxy says in Slack's place, or what makes no sense, is no word of whether a message was posted."""
    with Plain(status, body) as server, pytest.raises(SlackFailure) as told:
        server.post()
    assert type(told.value) is Unanswered


def test_an_answer_that_breaks_off_leaves_it_open() -> None:
    """A connection that ends within the answer says nothing about whether a message was posted."""
    with Plain(200, b'{"ok": true, "ts": "1.2"', cut=True) as server, pytest.raises(Unanswered):
        server.post()


def test_an_address_where_nobody_listens_leaves_it_open() -> None:
    """A Slack that cannot be reached has not refused anything."""
    with pytest.raises(Unanswered):
        Web("xoxb-1", "http://127.0.0.1:9/api/").post("C0DIGEST", {"text": "hello"}, "key", None)
