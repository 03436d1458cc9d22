"""/mcp of `serve`: whom it lets in, what it refuses, and that Slack is answered whatever its clients do."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from bot.http_server import THREADS
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.mcp_clients import forget_limits
from tests.servers.running import bot_running, free_port
from tests.servers.wire import Got, ask, send

TOKEN = "made-up-token-of-the-operator"
Serve = Callable[..., FaultyGitHub]


class Site(NamedTuple):
    """A bot behind an address, and the port of its figures."""

    slack: LoopbackSlack
    url: str
    metrics: int

    def post(self, body: Any, token: str | None = TOKEN, **headers: str) -> Got:
        """What /mcp answers to a message, with a token unless there is none."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given = {"Authorization": f"Bearer {token}"} if token else {}
        return ask(f"{self.url}/mcp", data, {**known, **given, **headers})

    def counted(self, name: str) -> list[str]:
        with urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return [line for line in lines if line.startswith(f"vllm_digest_mcp_{name}_total")]


def message(name: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@contextmanager
def running(github: str, folder: Path, **settings: Any) -> Iterator[Site]:
    port = free_port()
    with LoopbackSlack() as slack, bot_running(slack, github, folder, http=True, metrics_port=port, **settings):
        yield Site(slack, str(slack.delivery.deliver_to).removesuffix("/slack/events"), port)


@pytest.fixture(scope="module")
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bot")


@pytest.fixture(scope="module")
def running_site(github: FaultyGitHub, folder: Path) -> Iterator[Site]:
    settings = {"digest_mcp_token": TOKEN, "digest_mcp_hosts": "bot.example"}
    with running(github.url, folder, **settings) as found:
        yield found


@pytest.fixture
def site(running_site: Site, folder: Path) -> Site:
    """A bot, whose limits no earlier test used up."""
    forget_limits(folder)
    return running_site


def test_without_a_token_there_is_no_server(tmp_path: Path) -> None:
    """As long as DIGEST_MCP_TOKEN is not set, /mcp is no page."""
    with running("http://127.0.0.1:9", tmp_path) as bare:
        assert bare.post(message("digest")).status == 404


def test_only_the_token_lets_a_client_in(site: Site) -> None:
    """A request without the token, with another, or with it in another form is refused, and counted."""
    before = site.counted("refused")
    wrong = [site.post(message("digest"), None), site.post(message("digest"), "another-token-of-this-length")]
    wrong.append(site.post(message("digest"), None, Authorization=f"Basic {TOKEN}"))
    wrong.append(site.post(message("digest"), f"{TOKEN}\xe9"))
    assert wrong == [Got(401, {"error": "unauthorized"})] * 4
    assert before == ["vllm_digest_mcp_refused_total 0.0"]
    assert site.counted("refused") == ["vllm_digest_mcp_refused_total 4.0"]
    assert site.post(message("digest", date="x"), None, Authorization=f"bearer {TOKEN}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        *({"Host": host} for host in ("127.0.0.1:8000, evil", "localhost:x", "127.0.0.1:*", "127.0.0.1.evil.example")),
        {"Origin": "https://evil.example"},
        *(
            {"Origin": f"http://{host}"}
            for host in ("127.0.0.1:9.evil.example", "localhost:9999", "127.0.0.1:1@evil", "")
        ),
        {"Origin": ""},
    ],
)
def test_a_page_of_another_site_is_refused(site: Site, headers: dict[str, str]) -> None:
    """A browser that was led here under another name, or by another page, is refused even with the token."""
    assert site.post(message("digest"), **headers).status in (403, 421)


def test_the_operators_names_are_known(site: Site) -> None:
    """Under a name of DIGEST_MCP_HOSTS the server is reached."""
    assert site.post(message("digest", date="x"), Host="bot.example", Origin="https://bot.example").status == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_to_hold_open(site: Site, method: str) -> None:
    """A client that wants a stream, which would keep a thread, is refused at once."""
    got = ask(f"{site.url}/mcp", None, {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}, method)
    assert got == Got(405, {"error": "method not allowed"})
    listen = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {}}
    assert site.post(listen, **{"MCP-Protocol-Version": "2026-07-28"}).status in (400, 404)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b"\xff",
        b"[]",
    ],
    ids=["cut", "deep", "bytes", "batch"],
)
def test_odd_requests_are_refused(site: Site, body: bytes) -> None:
    """What is no message of the protocol is refused without a traceback."""
    got = site.post(body)
    assert got.status == 400
    assert "Traceback" not in str(got.body)


def test_a_huge_request_is_refused(site: Site) -> None:
    """A body of megabytes is not read."""
    port = int(site.url.rpartition(":")[2])
    head = ("POST /mcp HTTP/1.1", f"Authorization: Bearer {TOKEN}", "Content-Length: 3000000")
    assert send(port, *head).status == 413


@pytest.mark.parametrize("text", ["\ud800", "\x00", "o/n\n"])
def test_odd_characters_are_no_bug(site: Site, text: str) -> None:
    """Half a character, NUL and line breaks in arguments end in a sentence."""
    for call in (
        message("digest", repository=text),
        message("commit", reference=text),
        message("search", words=text),
        message("ask", question=text, reference=text),
    ):
        envelope = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        call["params"]["_meta"] = envelope
        routed = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": call["params"]["name"]}
        for headers in ({}, routed):
            got = site.post(call, **headers)
            assert "something went wrong" not in str(got.body)
    assert not [line for line in site.counted("calls") if '"failed"' in line]


def test_slack_is_answered_while_clients_wait(site: Site, github: FaultyGitHub) -> None:
    """Half of the threads stay free for Slack; a call beyond the other half is told to come back."""
    go = Event()
    github.faults.append(Fault(r"/commits", until=go, times=1))
    with ThreadPoolExecutor(THREADS) as threads:
        calls = [threads.submit(site.post, message("digest", date="2026-01-20")) for _ in range(THREADS)]
        refused = [each for each in calls if _ends(each)]
        done = site.slack.command("U0ADA", "C0DIGEST", "help")
        go.set()
        statuses = sorted(each.result().status for each in calls)
    assert done.acked_after is not None
    assert len(refused) == THREADS // 2
    assert statuses == [200] * (THREADS // 2) + [503] * (THREADS // 2)


def _ends(call: Any) -> bool:
    try:
        call.result(timeout=1)
    except TimeoutError:
        return False
    return True


def test_calls_are_counted(site: Site) -> None:
    """Each call is counted by its tool and how it ended."""
    site.post(message("search", words=""))
    assert 'vllm_digest_mcp_calls_total{outcome="refused",tool="search"}' in str(site.counted("calls"))
