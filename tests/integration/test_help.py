"""What help says where nothing is known yet."""

from datetime import UTC, datetime
from pathlib import Path

from bot.local.github import RecordedRepository
from bot.local.slack import LoopbackSlack
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
    assert "vllm/" not in told.lower()
