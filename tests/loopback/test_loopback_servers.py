"""The servers on this machine take requests of its own programs and pages alone, and bad ones leave no trace."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest
from slack_sdk import WebClient
from websockets.sync.client import connect

from bot.local.workspace import ADA, sample_slack
from loopback.github import LoopbackGitHub
from loopback.page import Page, Player
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack
from tests.servers.wire import send

HERE = "C0DIGEST"
NAMES = ("slack", "github", "page")
EVIL = "http://evil.example"
FORM = "Content-Type: application/x-www-form-urlencoded"


class Servers:
    """A Slack, a GitHub and the page, each with a path at which it answers by 200."""

    def __init__(self, slack: LoopbackSlack, github: LoopbackGitHub, page: Page) -> None:
        self.slack, self.github, self.page = slack, github, page
        self.ports = {"slack": port_of(slack.address), "github": port_of(github.url), "page": port_of(page.url)}
        self.paths = {"slack": "/api/auth.test", "github": f"/repos/{SAMPLE_REPOSITORY}", "page": f"/{page.key}/"}

    def ask(self, name: str, *headers: str, host: str | None = None) -> int:
        """The status of the reply to a request that would be answered."""
        own = f"127.0.0.1:{self.ports[name]}"
        return send(self.ports[name], f"GET {self.paths[name]} HTTP/1.1", f"Host: {host or own}", *headers).status


def port_of(url: str) -> int:
    return int(url.split(":")[2].partition("/")[0])


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with (
        LoopbackSlack(pace=False) as slack,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as github,
        Page(slack, [Player(ADA, {"zh": "", "en": ""})]) as page,
    ):
        yield Servers(slack, github, page)


@pytest.fixture
def client(servers: Servers) -> WebClient:
    return WebClient(servers.slack.bot_token, base_url=servers.slack.url, retry_handlers=[])


# Who is let in


@pytest.mark.parametrize("name", NAMES)
def test_this_machines_programs_are_let_in(servers: Servers, name: str) -> None:
    """By its number or as localhost, with the port or without, from no page or its own."""
    own = f"127.0.0.1:{servers.ports[name]}"
    for host in (own, f"localhost:{servers.ports[name]}", f"LocalHost:{servers.ports[name]}", "127.0.0.1"):
        assert servers.ask(name, host=host) == 200
    assert servers.ask(name, f"Origin: http://{own}", "Sec-Fetch-Site: same-origin") == 200
    assert servers.ask(name, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate") == 200  # a link is followed


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "[",
        "[::1]",
        "169.254.1.1",
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_was_pointed_at_this_machine_opens_nothing(servers: Servers, name: str, host: str) -> None:
    """A host that is not this machine, whatever it resolves to, is refused."""
    assert servers.ask(name, host=host) == 403


@pytest.mark.parametrize("name", ["slack", "github"])
def test_the_host_names_the_servers_own_port(servers: Servers, name: str) -> None:
    """What the bot alone asks is behind no forwarded port."""
    assert servers.ask(name, host="127.0.0.1:1") == 403


@pytest.mark.parametrize(
    "headers",
    [
        (f"Origin: {EVIL}",),
        ("Origin: null",),
        ("Origin: http://localhost",),
        ("Origin: https://127.0.0.1",),
        ("Sec-Fetch-Site: cross-site",),
        ("Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_another_pages_request_is_refused(servers: Servers, name: str, headers: Sequence[str]) -> None:
    """What a browser sends for a page from elsewhere, also from another port of this machine, is refused."""
    assert servers.ask(name, *headers) == 403


@pytest.mark.parametrize("name", NAMES)
def test_no_other_page_may_read(servers: Servers, name: str) -> None:
    """A preflight is refused, and no reply allows another origin."""
    port, own = servers.ports[name], f"Host: 127.0.0.1:{servers.ports[name]}"
    asking = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
    preflight = send(port, "OPTIONS / HTTP/1.1", own, f"Origin: {EVIL}", *asking)
    answered = send(port, f"GET {servers.paths[name]} HTTP/1.1", own)
    assert (preflight.status, answered.status) == (403, 200)
    for reply in (preflight, answered):
        assert not [header for header in reply.headers if header.lower().startswith("access-control")]


@pytest.mark.parametrize("foreign", [("Host: evil.example",), ("Host: {own}", f"Origin: {EVIL}")])
def test_with_the_tokens_another_page_does_nothing(servers: Servers, client: WebClient, foreign: Sequence[str]) -> None:
    """Even with a token, an upload's ticket or a response_url, what another page asks is not done."""
    slack, port = servers.slack, servers.ports["slack"]
    upload = client.files_getUploadURLExternal(filename="a.md", length=1)
    hook = slack.command(ADA, HERE, wait=False).response_url
    ready = client.files_upload_v2(channel=HERE, content="x", filename="b.md")["file"]
    before = len(slack.calls), len(slack.channel(HERE))
    token = f"token={slack.bot_token}"
    for path, body in (
        ("/api/chat.postMessage", f"{token}&channel={HERE}&text=owned"),
        ("/api/conversations.history", f"{token}&channel={HERE}"),
        ("/api/apps.connections.open", f"token={slack.app_token}"),
        (str(upload["upload_url"]).removeprefix(slack.address), "x"),
        (str(hook).removeprefix(slack.address), '{"text": "owned"}'),
        (ready["url_private"].removeprefix(slack.address), ""),
    ):
        headers = [line.format(own=f"127.0.0.1:{port}") for line in foreign]
        length, bearer = f"Content-Length: {len(body)}", f"Authorization: Bearer {slack.bot_token}"
        method = "POST" if body else "GET"
        reply = send(port, f"{method} {path} HTTP/1.1", *headers, FORM, length, bearer, body=body.encode())
        assert reply.status == 403, path
    assert (len(slack.calls), len(slack.channel(HERE))) == before
    assert slack.workspace.files[upload["file_id"]].content is None


@pytest.mark.parametrize(
    "foreign",
    [
        ("Host: {own}", f"Origin: {EVIL}"),
        ("Host: {own}", "Origin: null"),
        ("Host: evil.example",),
        ("Host: 127.0.0.1:1",),
    ],
)
def test_another_page_opens_no_socket(servers: Servers, client: WebClient, foreign: Sequence[str]) -> None:
    """A WebSocket with a good ticket is opened for the app alone; a page from elsewhere would hear everything."""
    address = client.apps_connections_open(app_token=servers.slack.app_token)["url"]
    port, path = port_of(address), f"/link{address.partition('/link')[2]}"
    headers = [line.format(own=f"127.0.0.1:{port}") for line in foreign]
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    assert send(port, f"GET {path} HTTP/1.1", *headers, *upgrade, key).status == 403
    with connect(address) as connection:  # the ticket is as good as before
        assert json.loads(connection.recv(10))["type"] == "hello"


@pytest.mark.parametrize("line", ["GET http://[ HTTP/1.1", "GET //[ HTTP/1.1", "GET * HTTP/1.1"])
def test_a_malformed_handshake_is_refused(
    servers: Servers, client: WebClient, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is no address is a client's error at the WebSocket's port, too."""
    port = port_of(client.apps_connections_open(app_token=servers.slack.app_token)["url"])
    assert send(port, line, f"Host: 127.0.0.1:{port}").status in {400, 401}
    assert capfd.readouterr().err == ""


def test_tokens_are_of_one_start() -> None:
    """A local workspace has tokens, a signing secret, response_urls and upload addresses that nobody can know beforehand."""
    secrets: list[list[str]] = []
    for _ in range(2):
        with sample_slack(lambda: datetime.now(UTC)) as slack:
            web = WebClient(slack.bot_token, base_url=slack.url)
            upload = web.files_getUploadURLExternal(filename="a.md", length=1)["upload_url"]
            hook = slack.command(ADA, "C0EN", wait=False).response_url
            paths = [str(each).removeprefix(slack.address) for each in (upload, hook)]
            secrets.append([slack.bot_token, slack.app_token, slack.signing_secret, *paths])
    assert all(one != other and len(one) >= 32 for one, other in zip(*secrets, strict=True))


def test_the_page_tells_no_token(servers: Servers) -> None:
    """Neither the page nor its messages hold what opens the Slack beside it."""
    slack, page = servers.slack, servers.page
    ts = slack.say(ADA, HERE, "hello")
    own = f"Host: 127.0.0.1:{servers.ports['page']}"
    for path in ("", "static/server.js", f"source?channel={HERE}&ts={ts}"):
        shown = send(servers.ports["page"], f"GET /{page.key}/{path} HTTP/1.1", own)
        assert shown.status == 200
        for secret in (slack.bot_token, slack.app_token, slack.signing_secret):
            assert secret.encode() not in shown.body


# What makes no sense


@pytest.mark.parametrize(
    ("line", "statuses"),
    [
        ("GET * HTTP/1.1", {400}),
        ("GET http://[ HTTP/1.1", {400}),
        ("GET http://127.0.0.1/ HTTP/1.1", {400}),
        ("GET //[ HTTP/1.1", {403, 404}),
        ("GET / / HTTP/1.1", {400}),
        ("GET /", {403, 404}),
        ("GET / HTTP/9.9", {505}),
        ("GET / HTTP/x", {400}),
        ("BREW / HTTP/1.1", {501}),
        ("\x16\x03\x01\x02\xff rubbish", {400}),
        (f"GET /{'a' * 70_000} HTTP/1.1", {414}),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_malformed_request_gets_a_line(
    servers: Servers, name: str, line: str, statuses: set[int], capfd: pytest.CaptureFixture[str]
) -> None:
    """What cannot be read is answered by a client's error in one line of JSON, and the terminal says nothing."""
    reply = send(servers.ports[name], line, f"Host: 127.0.0.1:{servers.ports[name]}")
    assert reply.status in statuses
    told = json.loads(reply.body)
    assert 0 < len(told.get("error") or told.get("message")) <= 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("headers", [["X: " + "a" * 70_000], ["X: 1"] * 200, ["X" * 70_000]])
@pytest.mark.parametrize("name", NAMES)
def test_headers_without_end_get_a_line(
    servers: Servers, name: str, headers: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Headers that are too long, or too many, are refused."""
    assert send(servers.ports[name], "GET / HTTP/1.1", *headers).status == 431
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("length", "status"),
    [("-5", 400), ("x", 400), ("\xb2", 400), ("1e3", 400), ("5, 5", 400), ("9" * 30, 413), ("9" * 5_000, 413)],
)
@pytest.mark.parametrize("name", NAMES)
def test_an_absurd_length_gets_a_line(
    servers: Servers, name: str, length: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """A length that is no number, or over the limit, is refused before a byte of the body is waited for."""
    path = servers.paths[name] if name != "page" else f"/{servers.page.key}/do/say"
    host = f"Host: 127.0.0.1:{servers.ports[name]}"
    reply = send(servers.ports[name], f"POST {path} HTTP/1.1", host, f"Content-Length: {length}", body=b"{}")
    assert reply.status == status
    assert len(reply.body.splitlines()) == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b'{"text": "\\ud800"}', b"{"])
def test_what_is_no_json_gets_a_line(servers: Servers, body: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    """JSON that is too deep, or none, is a client's error at the page and at the Slack."""
    page, slack = servers.ports["page"], servers.ports["slack"]
    headers = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    act = f"POST /{servers.page.key}/do/say HTTP/1.1"
    reply = send(page, act, f"Host: 127.0.0.1:{page}", *headers, body=body)
    assert (reply.status, reply.body) == (400, b'{"error": "not JSON"}')
    for path, status in (("/api/auth.test", 200), ("/hooks/x", 404)):
        reply = send(slack, f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{slack}", *headers, body=body)
        assert (reply.status, json.loads(reply.body)["ok"]) == (status, False)
    assert (
        send(slack, "POST /api/auth.test HTTP/1.1", f"Host: 127.0.0.1:{slack}", *headers[1:], body=body).status == 200
    )
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "query", ["per_page=x", "page=²", "page=" + "9" * 5_000, "since=x", "since=2026-02-05T00:00:00"]
)
def test_a_query_that_makes_no_sense_is_refused(
    servers: Servers, query: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The GitHub answers 422, as the real one does, to a number or an instant that is none."""
    port = servers.ports["github"]
    path = f"/repos/{SAMPLE_REPOSITORY}/commits?{query}"
    assert send(port, f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}").status == 422
    assert capfd.readouterr().err == ""
