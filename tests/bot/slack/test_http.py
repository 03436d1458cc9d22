"""The bot's HTTP side: whom it lets in, and what it answers to others."""

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from hypothesis import Phase, given, settings

from bot.http_server import bound, served
from loopback.slack import LoopbackSlack
from tests.servers.running import bot_running, stored
from tests.servers.wire import Got, ask, dripping, last_words, send
from tests.strategies import PAYLOADS, examples, form

SECRET = "made-up-secret"
COMMAND = urlencode(
    {
        "command": "/vllm-digest",
        "text": "help",
        "user_id": "U0ADA",
        "team_id": "T0LOCAL",
        "channel_id": "C0DIGEST",
        "trigger_id": "1.2",
    }
)
QUESTION = {"question": {"question": {"value": "why?"}}}


class Site(NamedTuple):
    """A bot behind an address."""

    slack: LoopbackSlack
    url: str
    folder: Path

    def send(self, body: str | bytes, **headers: str) -> Got:
        kind = "application/json" if body[:1] in ("{", "[", b"{") else "application/x-www-form-urlencoded"
        data = body.encode() if isinstance(body, str) else body
        return ask(f"{self.url}/slack/events", data, {"Content-Type": kind, **headers})

    def signed(self, body: str) -> Got:
        return self.send(body, **signed_at(0, body))

    def requests(self) -> int:
        [(found,)] = stored(self.folder, "select count(*) from inbox")
        return int(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, payloads: list[Any]) -> Iterator[Site]:
    """A bot behind HTTP. The payloads come first: its threads use random numbers, which Hypothesis forbids while it thinks."""
    folder = tmp_path_factory.mktemp("bot")
    with LoopbackSlack(signing_secret=SECRET) as slack, bot_running(slack, "http://127.0.0.1:9", folder, http=True):
        url = str(slack.delivery.deliver_to).removesuffix("/slack/events")
        yield Site(slack, url, folder)


# Signatures


def signed_at(seconds: float, body: str = COMMAND, secret: str = SECRET) -> dict[str, str]:
    """The headers of a request that was signed so many seconds from now."""
    at = str(int(time.time() + seconds))
    digest = hmac.new(secret.encode(), f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}"}


def changed(**headers: str) -> dict[str, str]:
    """Headers that were right until some were changed: names with underscores, {} being the signature."""
    right = signed_at(0)
    return right | {name.replace("_", "-"): value.format(right["X-Slack-Signature"]) for name, value in headers.items()}


REFUSED: dict[str, Callable[[], tuple[str | bytes, dict[str, str]]]] = {
    "wrong secret": lambda: (COMMAND, signed_at(0, secret="another-secret")),
    "empty secret": lambda: (COMMAND, signed_at(0, secret="")),
    "no headers": lambda: (COMMAND, {}),
    "no timestamp": lambda: (COMMAND, {"X-Slack-Signature": signed_at(0)["X-Slack-Signature"]}),
    "body changed": lambda: (COMMAND.replace("help", "status"), signed_at(0)),
    "body longer": lambda: (COMMAND + "&text=status", signed_at(0)),
    "another timestamp": lambda: (COMMAND, changed(X_Slack_Request_Timestamp=str(int(time.time()) + 7))),
    "timestamp that is no number": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="now")),
    "empty timestamp": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="")),
    "timestamp of 400 digits": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="9" * 400)),
    "timestamp of 5,000 digits": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="9" * 5_000)),
    "timestamp that is not ASCII": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="\xb2")),
    "timestamp that is not finite": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="inf")),
    "timestamp below zero": lambda: (COMMAND, changed(X_Slack_Request_Timestamp="-1")),
    "signature without end": lambda: (COMMAND, changed(X_Slack_Signature="{}" + "0" * 90_000)),
    "signature that is not ASCII": lambda: (COMMAND, changed(X_Slack_Signature="{}\xe9")),
    "signature of another version": lambda: (COMMAND, changed(X_Slack_Signature="v1{}")),
    "empty signature": lambda: (COMMAND, changed(X_Slack_Signature="")),
    "malformed JSON": lambda: ('{"type": ', {}),
    "not UTF-8": lambda: (b"\xff\xfe\xfd", signed_at(0)),
    "ssl_check": lambda: ("ssl_check=1&token=x", {}),
    "url_verification": lambda: ('{"type": "url_verification", "challenge": "c"}', {}),
    "claims to come by socket": lambda: (COMMAND, {"X-Slack-Bolt-Lazy-Only": "1", "X-Slack-Socket-Mode": "1"}),
    "empty": lambda: ("", {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_slack_did_not_sign_gets_401_and_reaches_nothing(case: str, site: Site) -> None:
    """A request that is not signed with our secret is turned away: nothing is kept, nothing is asked of Slack."""
    body, headers = REFUSED[case]()
    before = site.requests(), len(site.slack.calls)
    assert site.send(body, **headers) == Got(401, {"error": "unauthorized"})
    time.sleep(0.1)
    assert (site.requests(), len(site.slack.calls)) == before


@pytest.mark.parametrize("seconds", [-3600, -310, 310, 3600])
def test_a_stale_signature_gets_401_and_reaches_nothing(seconds: int, site: Site) -> None:
    """A rightly signed request whose time is over five minutes off is turned away, as one that was recorded and sent again."""
    before = site.requests()
    assert site.send(COMMAND, **signed_at(seconds)).status == 401
    assert site.requests() == before


def test_what_slack_signed_is_let_in(site: Site) -> None:
    """The same request is let in with the right signature, within some minutes, and kept once however often it comes."""
    body = COMMAND.replace("1.2", "3.4")
    before = site.requests()
    for headers in (signed_at(0, body), signed_at(-200, body), signed_at(200, body)):
        assert site.send(body, **headers) == Got(200, "")
    deadline = time.monotonic() + 60
    while site.requests() == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert site.requests() == before + 1


def test_the_address_can_be_verified(site: Site) -> None:
    """Slack's question whether we are who it thinks is answered, as the app's settings page asks it."""
    body = json.dumps(
        {"type": "url_verification", "token": "t", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}
    )
    assert site.signed(body) == Got(200, {"challenge": json.loads(body)["challenge"]})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"type": ', 400),
        ("[]", 400),
        ("[" * 100_000, 400),
        ('{"a":' * 100_000, 400),
        ("command=%2Fvllm-digest&text=help", 400),
        ('{"type": "block_actions"}', 400),
        ("payload=7", 400),
        ("payload=%7B", 400),
        ('payload={"user": {"id": "U0ADA", "team_id": "T0LOCAL"}, "view": ""}', 400),
        ('payload={"type": "block_actions", "user": {"id": "U0ADA"}, "actions": [{"action_id": "ask"}]}', 400),
        ('{"type": "event_callback", "event": {"type": "message", "channel": "C\\ud800", "ts": "1.1"}}', 400),
        ('{"type": "event_callback", "event": 7}', 400),
        ('{"team_id": "T0LOCAL"}', 404),
        ("team_id=T0LOCAL", 404),
        ('{"type": "event_callback", "team_id": "T0LOCAL", "event": {"type": "team_join"}}', 404),
    ],
)
def test_what_is_signed_but_no_request_of_slacks_is_refused(body: str, status: int, site: Site) -> None:
    """Even with a signature, what makes no sense is a client's error, not ours."""
    assert site.signed(body).status == status


@pytest.mark.parametrize("value", [None, "", "x|y", "1 or 1=1", "9999", "9" * 40, "٣"])
@pytest.mark.parametrize("action", ["unsubscribe", "show_rest", "too_high", "why"])
def test_a_button_with_a_forged_value_gets_a_line(action: str, value: str | None, site: Site) -> None:
    """What no button of ours carries is answered by one ordinary line, and is no bug."""
    workspace = site.slack.workspace
    user = workspace.add_user("eve")  # somebody else each time: a person may not press so much
    workspace.channels["C0DIGEST"].members.add(user)
    pressed = {"type": "button", "action_id": action, "block_id": "b", "action_ts": "1.1"}
    payload = {
        "type": "block_actions",
        "user": {"id": user, "team_id": "T0LOCAL"},
        "channel": {"id": "C0DIGEST"},
        "trigger_id": f"forged.{action}.{value}",
        "actions": [pressed if value is None else pressed | {"value": value}],
    }
    assert site.signed(urlencode({"payload": json.dumps(payload)})).status == 200
    told = site.slack.wait_for(lambda: site.slack.private(user, "C0DIGEST"))[-1].text
    assert "\n" not in told
    assert "operator" not in told
    assert "管理员" not in told


# Rightly signed, and not to be believed

FORGED: dict[str, dict[str, str]] = {
    "another workspace": {"team_id": "T0OTHER"},
    "no workspace": {"team_id": ""},
    "another organisation": {"enterprise_id": "E0OTHER"},
    "another app": {"api_app_id": "A0OTHER"},
    "an address that is not Slack's": {"response_url": "{elsewhere}/hooks/1"},
    "an address that ends as the API's": {"response_url": "http://x.127.0.0.1/hooks/1"},
    "a name before the address": {"response_url": "{own}@{host}/hooks/1"},
}


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[LoopbackSlack]:
    """A server that is not the bot's Slack, and must hear nothing."""
    with LoopbackSlack() as server:
        yield server
    assert server.calls == []


@pytest.mark.parametrize("case", FORGED)
def test_a_signed_request_that_is_not_for_this_bot_is_acknowledged_and_nothing_is_done(
    case: str, site: Site, elsewhere: LoopbackSlack
) -> None:
    """A signature is not enough: of another workspace, organisation or app, or for an answer elsewhere, nothing is kept or said."""
    places = {
        "elsewhere": elsewhere.address,
        "own": site.slack.address,
        "host": elsewhere.address.removeprefix("http://"),
    }
    forged = {name: value.format(**places) for name, value in FORGED[case].items()}
    before = site.requests()
    body = urlencode({**dict(parse_qsl(COMMAND)), "trigger_id": f"forged.{case}", **forged})
    assert site.signed(body) == Got(200, "")
    time.sleep(0.1)
    assert site.requests() == before
    assert elsewhere.calls == []


def test_a_form_that_was_given_another_response_url_is_answered_in_slack(site: Site, elsewhere: LoopbackSlack) -> None:
    """What a forged form carries back from the modal leads nowhere else: the reply is shown in the channel, to the person alone."""
    user = site.slack.workspace.add_user("mia")
    site.slack.workspace.channels["C0DIGEST"].members.add(user)
    button = {"kind": "button", "key": "button:1", "user": user, "channel": "C0DIGEST", "action": "ask", "value": "x"}
    opened = json.dumps({**button, "private": True, "response_url": f"{elsewhere.address}/hooks/1"})
    payload = form({"callback_id": "ask", "private_metadata": opened, "state": {"values": QUESTION}})
    payload |= {"user": {"id": user, "team_id": "T0LOCAL"}}
    assert site.signed(urlencode({"payload": json.dumps(payload)})).status == 200
    site.slack.wait_for(lambda: site.slack.private(user, "C0DIGEST"))


# Payloads that nobody would send


@pytest.fixture(scope="module")
def payloads() -> list[Any]:
    """What Hypothesis thinks of, before it is sent."""
    found: list[Any] = []

    @settings(examples(100), phases=[Phase.generate])
    @given(PAYLOADS)
    def keep(payload: Any) -> None:
        found.append(payload)

    keep()
    return found


@pytest.mark.hypothesis
def test_any_payload_is_taken_or_refused(payloads: list[Any], site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """A signed payload of any shape is taken, or is the sender's error; the log has no bug, and the next one is answered."""
    for payload in payloads:
        told = json.dumps(payload)
        is_event = isinstance(payload, dict) and payload.get("type") == "event_callback"
        body = told if is_event else urlencode({"payload": told})
        assert site.signed(body).status in (200, 400, 404), told
    user = site.slack.workspace.add_user("zoe")
    site.slack.workspace.channels["C0DIGEST"].members.add(user)
    assert site.signed(COMMAND.replace("1.2", "7.8").replace("U0ADA", user)).status == 200
    site.slack.wait_for(lambda: site.slack.private(user, "C0DIGEST"))
    assert [record.getMessage() for record in caplog.records if record.exc_info or "bug" in record.getMessage()] == []


# Everything else


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/", "GET"),
        ("/metrics", "GET"),
        ("/slack/events/", "POST"),
        ("/slack/install", "GET"),
        ("/slack/oauth_redirect", "GET"),
        ("/healthz", "POST"),
        ("/healthz/x", "GET"),
        ("/%2e%2e/etc/passwd", "GET"),
    ],
)
def test_everything_else_is_not_found(path: str, method: str, site: Site) -> None:
    """There is nothing but Slack's requests and the health."""
    assert ask(f"{site.url}{path}", b"" if method != "GET" else None, method=method).status == 404


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_slacks_address_takes_posts_only(method: str, site: Site) -> None:
    """Another method than Slack's own is said not to be allowed."""
    assert ask(f"{site.url}/slack/events", method=method).status == 405


def test_the_health_can_be_asked_for_without_its_words(site: Site) -> None:
    """A HEAD of the health is answered as its GET."""
    assert ask(f"{site.url}/healthz", method="HEAD") == Got(200, "")


def test_a_request_has_a_deadline_as_a_whole() -> None:
    """A request that is not there in time is cut off, however often another byte of it comes."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "0")])
        return []

    with bound("127.0.0.1", 0) as place, served(answer, place, deadline=1), ExitStack() as open_:
        port = place.getsockname()[1]
        for beginning, drop in (
            ("", b"G"),
            ("", b"\r\n"),
            ("GET / HTTP/1.1\r\nX: ", b"x"),
            ("POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n", b"x"),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        ):
            slow = open_.enter_context(dripping(port, 20, beginning.encode(), drop))
            assert send(port, "GET / HTTP/1.1").status == 200
            assert {last_words(each) for each in slow} == {b""}


@pytest.mark.parametrize(
    "lines",
    [
        ["GET http://[ HTTP/1.1"],
        ["POST /slack/events HTTP/1.1", "Content-Length: -5"],
        ["POST /slack/events HTTP/1.1", "Content-Length: x"],
        ["POST /slack/events HTTP/1.1", "Content-Length: " + "9" * 5_000],
        ["\x16\x03\x01 rubbish"],
    ],
)
def test_what_cannot_be_read_is_a_bad_request(lines: list[str], site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """An address or a length that makes no sense is the client's error, and no line of the log."""
    assert send(int(site.url.rpartition(":")[2]), *lines).status == 400
    assert caplog.records == []


def test_half_sent_requests_do_not_deafen_it(site: Site) -> None:
    """With hundreds of requests that never end, what Slack sends is answered at once."""
    host, _, port = site.url.removeprefix("http://").partition(":")
    with ExitStack() as open_:
        for _ in range(300):
            half = open_.enter_context(socket.create_connection((host, int(port)), timeout=10))
            half.sendall(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf")
        begun = time.monotonic()
        assert site.signed(COMMAND.replace("1.2", "5.6")).status == 200
        assert time.monotonic() - begun < 8  # they are given up after ten


def test_what_is_too_large_is_refused(site: Site) -> None:
    """A body of megabytes is not read."""
    connection = HTTPConnection(site.url.removeprefix("http://"), timeout=10)
    connection.putrequest("POST", "/slack/events")
    connection.putheader("Content-Length", "3000000")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
