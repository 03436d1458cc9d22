"""What people type and press in Slack, and what they get."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.local.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.running import bot_running, buttons, whole

ADA, DIGEST = "U0ADA", "C0DIGEST"


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as server:
        yield server
        assert [(call.method, call.response) for call in server.refusals] == []
        assert server.breaches == []


def test_a_days_digest_is_private_until_it_is_posted(
    slack: LoopbackSlack, serve: Callable[..., FaultyGitHub], tmp_path: Path
) -> None:
    """A day's digest comes privately at once, and its button posts it to the channel with a thread and a file."""
    github = serve(recorded(1), recorded(2))
    with bot_running(slack, github.url, tmp_path):
        slack.command(ADA, DIGEST, "2026-02-05")
        reply = slack.wait_for(lambda: [m for m in slack.private(ADA, DIGEST) if "post_to_channel" in buttons(m)])[0]
        assert "2026-02-05" in whole(reply)
        assert slack.channel(DIGEST) == []
        slack.press(ADA, DIGEST, reply.ts, "post_to_channel")
        root = slack.wait_for(lambda: slack.channel(DIGEST))[0]
        slack.wait_for(lambda: slack.thread(DIGEST, root.ts)[-1].files)
