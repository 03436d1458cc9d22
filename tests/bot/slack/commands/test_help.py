"""What help says where nothing is known yet."""

from datetime import UTC, datetime
from pathlib import Path

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import Talk


def test_help_names_nothing_that_is_not_there(tmp_path: Path) -> None:
    """Where nothing was read yet the examples are of no repository in particular."""
    now = SettableClock(datetime(2026, 2, 6, 9, tzinfo=UTC))
    empty = {"o/n": RecordedRepository([])}
    with LoopbackSlack() as slack, FaultyGitHub(empty) as github, Talk(slack, github.url, tmp_path, now=now) as talk:
        told = whole(talk.type("U0ADA", "help"))
    assert "`/vllm-digest 2026-02-05`" in told
    assert "`/vllm-digest n 2026-02-05`" in told
    assert "`/vllm-digest SHA`  a commit (SHA, #PR or URL)" in told
    assert "vllm/" not in told.lower()


def test_help_shows_what_is_there(tmp_path: Path) -> None:
    """The commit of the examples is one that the bot has read of what the channel follows, in whatever time zone that was."""
    now = SettableClock(datetime(2026, 2, 8, 9, tzinfo=UTC))
    days = {name: RecordedRepository([recorded(number)]) for number, name in enumerate(("o/n", "o/m", "o/empty"), 1)}
    days["o/empty"] = RecordedRepository([])
    with (
        LoopbackSlack() as slack,
        FaultyGitHub(days) as github,
        Talk(slack, github.url, tmp_path, now=now, digest_repos="o/empty,o/n") as talk,
    ):
        talk.type("U0ADA", "n 0101010")
        told = whole(talk.type("U0ADA", "help"))
        assert "`/vllm-digest 0101010`  a commit (SHA, #1 or URL)" in told
        assert "`/vllm-digest n 2026-02-07`" in told
        for text in ("m 2026-02-05", "subscribe o/m tz Asia/Shanghai"):
            talk.type("U0ADA", f"o/{text}" if text.startswith("m") else text)
        told = whole(talk.type("U0ADA", "help"))
        assert "`/vllm-digest 0202020`  a commit (SHA, #2 or URL)" in told
        for example in ("0202020", "0101010"):
            assert "has no commit" not in whole(talk.type("U0ADA", example))
