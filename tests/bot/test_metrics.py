"""The figures that Prometheus reads: what they count, and what they keep to themselves."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine

from bot.metrics import Metrics, Stored, metrics_port
from bot.store import Mailbox, Store, open_engine
from bot.store.database import engine_as_it_is
from bot.store.executors import Executors
from bot.store.flow_tables import FlowTables
from bot.store.lease import Lease, new_lease
from bot.store.transactions import passing_failures
from loopback.slack import Fault, LoopbackSlack
from tests.conftest import recorded
from tests.servers.databases import empty_database
from tests.servers.github import FaultyGitHub
from tests.servers.postgresql import new_postgresql_database, postgresql_database
from tests.servers.running import bot_running, free_port, stored, whole
from tests.servers.wire import Got, ask, send

ADA, DIGEST = "U0ADA", "C0DIGEST"
Figures = dict[tuple[str, str], float]
Serve = Callable[..., FaultyGitHub]


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as server:
        yield server


def scrape(port: int) -> str:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def figures(text: str) -> Figures:
    """(name, value of its only label) -> figure; of the histogram the count alone."""
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


@pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])
def test_requests_and_messages_are_counted(slack: LoopbackSlack, serve: Serve, tmp_path: Path, http: bool) -> None:
    """What came is counted by kind with how soon it was acknowledged; messages and spending as the store has them."""
    port = free_port()
    github = serve(recorded(1))
    with bot_running(slack, github.url, tmp_path, http=http, metrics_port=port, digest_channel=[DIGEST]):
        before = figures(scrape(port))
        assert before["vllm_digest_messages", "sent"] == 0
        assert not [name for name, _ in before if name == "vllm_digest_requests_total"]
        for _ in range(3):
            slack.command(ADA, DIGEST, "help")
        slack.say(ADA, DIGEST, "<@U0BOT> help")
        slack.wait_for(lambda: len(slack.private(ADA, DIGEST)) == 3 and len(slack.channel(DIGEST)) == 1)
        slack.wait_for(lambda: slack.thread(DIGEST, slack.channel(DIGEST)[0].ts)[1:])
        slack.wait_for(lambda: figures(scrape(port))["vllm_digest_oldest_request_age_seconds", ""] == 0)
        after = figures(scrape(port))
    assert after["vllm_digest_requests_total", "command"] == 3
    assert after["vllm_digest_requests_total", "mention"] == 1
    told = sum(value for (name, _), value in after.items() if name == "vllm_digest_requests_total")
    assert after["vllm_digest_acknowledgement_seconds_count", ""] == told
    assert 0 < after["vllm_digest_acknowledgement_seconds_sum", ""] < told
    assert after["vllm_digest_messages", "sent"] >= 1
    assert after["vllm_digest_spent_usd", ""] == 0
    assert after["vllm_digest_store_up", ""] == 1
    assert [value for (name, _), value in after.items() if name == "vllm_digest_build_info"] == [1]
    assert after["process_resident_memory_bytes", ""] > 0


def test_a_request_that_waits_grows_old(slack: LoopbackSlack, serve: Serve, tmp_path: Path) -> None:
    """While a request cannot be answered its age is told."""
    port = free_port()
    with bot_running(slack, serve().url, tmp_path, metrics_port=port):
        slack.faults.append(Fault("response_url|chat.postEphemeral", "stall", seconds=3, acted=False))
        slack.command(ADA, DIGEST, "help")
        time.sleep(1)
        assert 0.5 < figures(scrape(port))["vllm_digest_oldest_request_age_seconds", ""] < 5


def test_names_are_kept_to_ourselves(slack: LoopbackSlack, serve: Serve, tmp_path: Path) -> None:
    """No repository, person, channel, token or word of anybody's is in the figures."""
    port = free_port()
    github = serve(recorded(1, message="[Core] Add the unannounced accelerator (#1)"), name="acme/secret-engine")
    settings: dict[str, Any] = {
        "digest_repos": "acme/secret-engine",
        "digest_channel": [DIGEST],
        "digest_private": {"acme/secret-engine": [DIGEST]},
    }
    with bot_running(slack, github.url, tmp_path, metrics_port=port, **settings):
        for text in ("2026-02-05", "subscriptions", "search accelerator"):
            slack.command(ADA, DIGEST, text)
        slack.wait_for(lambda: len(slack.private(ADA, DIGEST)) >= 3)
        text = scrape(port).lower()
    for word in ("acme", "secret", "accelerator", "xoxb", "xapp", ADA, DIGEST, "ada"):
        assert word.lower() not in text


def test_a_port_that_is_taken_is_a_warning(
    slack: LoopbackSlack, serve: Serve, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where the port of the figures is in use the bot runs without them, and says so once."""
    port = int(slack.address.rpartition(":")[2])
    with bot_running(slack, serve().url, tmp_path, metrics_port=port, log_level="warning"):
        slack.command(ADA, DIGEST, "help")
        slack.wait_for(lambda: slack.private(ADA, DIGEST))
    told = [line for line in capfd.readouterr().err.splitlines() if "no metrics" in line]
    assert len(told) == 1
    assert str(port) in told[0]


def test_figures_end_with_the_bot(slack: LoopbackSlack, serve: Serve, tmp_path: Path) -> None:
    """The port is free again when the bot has ended, and another bot's figures begin anew."""
    port = free_port()
    for _ in range(2):
        with bot_running(slack, serve().url, tmp_path, metrics_port=port):
            assert ("vllm_digest_requests_total", "command") not in figures(scrape(port))
            slack.command(ADA, DIGEST, "help")
        with pytest.raises(URLError):
            scrape(port)


@pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])
def test_the_health_is_at_the_same_port(slack: LoopbackSlack, tmp_path: Path, http: bool) -> None:
    """However Slack reaches it, a process tells at /healthz of its metrics port whether it is well: 200, or 503 with what is not."""
    port = free_port()
    with bot_running(slack, "http://127.0.0.1:9", tmp_path, http=http, metrics_port=port, log_level="critical"):
        url = f"http://127.0.0.1:{port}/healthz"
        assert ask(url) == Got(200, {"ok": True, "store": True, "engine": True, "lease": True})
        stored(tmp_path, "alter table inbox rename to lost")
        assert ask(url) == Got(
            503, {"ok": False, "store": False, "engine": True, "lease": True, "why": "store failed; the log says why"}
        )
        assert figures(scrape(port))["vllm_digest_store_up", ""] == 0
        stored(tmp_path, "alter table lost rename to inbox")


# The port


@pytest.fixture(scope="module")
def served_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a process that has nothing to do."""
    port, url = free_port(), empty_database(tmp_path_factory.mktemp("idle") / "bot.db")
    with metrics_port(port) as serve_metrics:
        serve_metrics(metrics_of(open_engine(url), new_lease(url, "serve")).registry, dict)
        yield port


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost@evil", ""])
def test_a_page_that_was_led_to_the_port_is_refused(host: str, served_port: int) -> None:
    """A browser that reaches the port under another name (DNS rebinding) is told nothing."""
    got = send(served_port, "GET /metrics HTTP/1.1", f"Host: {host}")
    assert (got.status, got.body) == (403, b'{"error": "forbidden"}')


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST", "[::1]:{}", "127.0.0.1:9000"])
def test_this_machine_is_told_the_figures(host: str, served_port: int) -> None:
    """Under this machine's names, on a forwarded port too, the figures are told."""
    got = send(served_port, "GET /metrics HTTP/1.1", f"Host: {host.format(served_port)}")
    assert got.status == 200
    assert b"vllm_digest_build_info" in got.body


# Several processes

NOW = datetime(2026, 2, 6, 12, tzinfo=UTC)
OWN = {"vllm_digest_lease_held", "vllm_digest_takeovers_total"}


def metrics_of(engine: Engine, lease: Lease, failures: int = 0) -> Metrics:
    """The figures of a process on PostgreSQL."""
    stored = Stored(Store(engine), Mailbox(engine), Executors(engine), FlowTables(engine))
    return Metrics(stored, lease, lambda: failures, lambda: NOW)


def read(metrics: Metrics) -> Figures:
    return figures(generate_latest(metrics.registry).decode())


@pytest.mark.own_database
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_flows_are_counted_while_they_wait(slack: LoopbackSlack, serve: Serve, tmp_path: Path, kind: str) -> None:
    """Of a day and a commit for one channel, which Slack does not take, one is begun and one waits in the queue, with its age."""
    port, in_queue = free_port(), {("deliver", status, "slack") for status in ("pending", "enqueued")}
    github, failed_before = serve(recorded(1)), passing_failures()  # which a process counts whatever its bots
    with new_postgresql_database() as url:
        database_url = url if kind == "postgresql" else empty_database(tmp_path / "bot.db")
        with bot_running(slack, github.url, tmp_path, metrics_port=port, database_url=database_url):
            for what in ("2026-02-05", "#1"):
                slack.command(ADA, DIGEST, what)
            slack.wait_for(lambda: slack.private(ADA, DIGEST)[1:])
            slack.faults.append(Fault("chat.postMessage", times=1000))
            for each in slack.private(ADA, DIGEST):
                slack.press(ADA, DIGEST, each.ts, "post_to_channel")
            slack.wait_for(lambda: set(flows(scrape(port))) >= in_queue, 30)
            text = scrape(port)
            slack.command(ADA, DIGEST, "status")
            status = slack.wait_for(lambda: slack.private(ADA, DIGEST)[2:])[0]
    assert {flows(text)[each] for each in in_queue} == {1}
    found = figures(text)
    assert 0 <= found["vllm_digest_oldest_enqueued_age_seconds", "slack"] < 60
    assert found["vllm_digest_lease_held", ""] == 1
    assert found["vllm_digest_database_failures_total", ""] == failed_before
    assert found.get(("vllm_digest_processes", "run")) == (1 if kind == "postgresql" else None)
    assert ("Processes: 1 (run)" in whole(status)) is (kind == "postgresql")
    assert gethostname() not in whole(status)


def flows(text: str) -> dict[tuple[str, str, str], float]:
    """(name, status, queue) -> number of flows."""
    return {
        (sample.labels["name"], sample.labels["status"], sample.labels["queue"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "vllm_digest_flows"
    }


@pytest.mark.own_database
def test_figures_over_all_are_the_same_from_each_process() -> None:
    """Two processes tell the same of the database and each its own of itself; processes are counted by what they run."""
    with postgresql_database() as url:
        engine = open_engine(url)
        first, second = new_lease(url, "run"), new_lease(url, "worker")
        with first.held(), second.held():
            one, other = metrics_of(engine, first), metrics_of(engine, second)
            one.taken_over(2)
            Mailbox(engine).receive("r1", {}, NOW - timedelta(minutes=5))
            seen, also = read(one), read(other)
        engine.dispose()
    stored = {key for key in seen if key[0].startswith("vllm_digest_")} - {(name, "") for name in OWN}
    stored -= {("vllm_digest_heartbeat_age_seconds", "")}  # which grows
    assert {key: seen[key] for key in stored} == {key: also[key] for key in stored}
    assert (seen["vllm_digest_processes", "run"], seen["vllm_digest_processes", "worker"]) == (1, 1)
    assert 0 <= seen["vllm_digest_heartbeat_age_seconds", ""] < 10
    assert seen["vllm_digest_oldest_request_age_seconds", ""] == 300
    assert seen["vllm_digest_takeovers_total", ""] == 2
    assert also["vllm_digest_takeovers_total", ""] == 0


@pytest.mark.own_database
def test_figures_without_a_database() -> None:
    """While the database is away a process still tells its own figures, and that the store does not answer."""
    url = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/none"
    found = read(metrics_of(engine_as_it_is(url, read_only=True), new_lease(url, "worker"), failures=7))
    assert found["vllm_digest_store_up", ""] == 0
    assert found["vllm_digest_database_failures_total", ""] == 7
    assert found["vllm_digest_lease_held", ""] == 1
    assert ("vllm_digest_processes", "worker") not in found


@pytest.mark.parametrize(
    "header", ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"]
)
def test_a_page_that_names_the_port_honestly_is_refused(header: str, served_port: int) -> None:
    """A page of another origin, which every browser says with its requests, makes nobody collect the figures."""
    name, _, value = header.partition(": ")
    for path in ("/metrics", "/healthz"):
        with closing(HTTPConnection("127.0.0.1", served_port, timeout=60)) as client:
            client.request("GET", path, headers={name: value})
            assert client.getresponse().status == 403
