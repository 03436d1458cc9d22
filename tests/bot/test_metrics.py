"""The figures that Prometheus reads: what they count, and what they keep to themselves."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from loopback.slack import Fault, LoopbackSlack
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.running import bot_running, free_port

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
def test_requests_messages_and_subscriptions_are_counted(
    slack: LoopbackSlack, serve: Serve, tmp_path: Path, http: bool
) -> None:
    """What came is counted by kind with how soon it was acknowledged; messages, subscriptions and spending as the store has them."""
    port = free_port()
    github = serve(recorded(1))
    with bot_running(slack, github.url, tmp_path, http=http, metrics_port=port, digest_channel=[DIGEST]):
        before = figures(scrape(port))
        assert before["vllm_digest_subscriptions", ""] == 1
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
    assert after["vllm_digest_subscriptions_noted", ""] == 0
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
