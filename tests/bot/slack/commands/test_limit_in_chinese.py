"""GitHub's limit as it is told in a Chinese channel; the command goes on waiting for it when the test ends."""

from datetime import UTC, datetime
from pathlib import Path

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.talk import ADA, DIGEST, LIN, Talk

NOW = datetime(2026, 2, 6, 8, tzinfo=UTC)
RESET = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.replace(minute=10).timestamp()))}


def test_a_limit_is_told_in_the_channels_language_and_time(slack: LoopbackSlack, tmp_path: Path) -> None:
    """Where GitHub's limit is used up a command says so in Chinese, and when the bot goes on."""
    with (
        FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github,
        Talk(slack, github.url, tmp_path, now=SettableClock(NOW)) as talk,
    ):
        talk.type(ADA, "subscribe lang zh")
        github.faults = [Fault("/repos/o/n/commits", status=429, times=1000, headers=RESET)]
        slack.command(LIN, DIGEST, "2026-02-05")
        (told,) = slack.wait_for(lambda: slack.private(LIN, DIGEST))
        assert told.text == "⏳ GitHub 的请求额度已用完，08:10 恢复后自动继续"
