"""Upgrades as people ask for them in Slack: privately with the file in their direct messages, or in a thread with the file there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback.slack import LoopbackSlack
from tests.servers.github import FaultyGitHub
from tests.servers.plugin import PLUGIN, plugin, upstream
from tests.servers.running import whole
from tests.servers.talk import ADA, BOT, DIGEST, Talk

FIRST = next(iter(upstream().commits))  # a SHA


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    code = {**PLUGIN, "Dockerfile": f"ARG N_COMMIT={FIRST}\n"}
    with FaultyGitHub(
        {"o/n": upstream(), "o/plug": plugin(code), "o/other": plugin({"README.md": "Words."})}
    ) as server:
        yield server


def test_an_upgrade_is_a_summary_a_thread_and_a_file(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path
) -> None:
    """From the pin of the channel's downstream repository; who mentions the bot gets all in the thread, who types the command
    the summary, and the file in the direct messages.
    """
    with Talk(slack, github.url, tmp_path, digest_mirrors=tmp_path / "mirrors") as talk:
        talk.type(ADA, "subscribe downstream o/plug")
        asked = talk.say(ADA, f"{BOT} upgrade")
        summary, *thread = talk.replies(asked)
        assert f"o/n · {FIRST[:7]}..HEAD" in whole(summary)
        assert "💥 Breaks your code: 2 of 3 commits" in whole(summary)
        assert f"{FIRST[:7]} is pinned in Dockerfile:1" in whole(summary)
        assert any("plug/run.py:10" in whole(each) for each in thread)
        [file] = [each for message in slack.thread(DIGEST, asked) for each in message.files]
        assert "## 💥 Breaks your code (2)" in (slack.workspace.files[file].content or b"").decode()
        told = talk.type(ADA, f"upgrade {FIRST}..HEAD")
        assert "Full report sent to your DMs" in whole(told)
        assert "💥 Breaks your code: 2 of 3 commits" in whole(slack.private(ADA, DIGEST)[-2])
        [sent] = [each for message in slack.channel(talk.direct(ADA)) for each in message.files]
        assert "## 💥 Breaks your code (2)" in (slack.workspace.files[sent].content or b"").decode()


def test_a_private_repository_is_told_only_where_it_may_be_seen(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path
) -> None:
    """Elsewhere it is as one that does not exist, and its report is no file in direct messages."""
    private = "o/plug=C0DIGEST"
    with Talk(slack, github.url, tmp_path, digest_mirrors=tmp_path / "mirrors", digest_private=private) as talk:
        told = talk.type(ADA, "upgrade downstream o/plug")
        assert "A private repository's report stays in its channel" in whole(told)
        direct = talk.direct(ADA)
        assert not [each for message in slack.channel(direct) for each in message.files]
        [reply] = talk.replies(talk.say(ADA, "upgrade downstream o/plug", channel=direct), direct)
        assert "o/plug, or this bot has no access to it" in whole(reply)


def test_what_cannot_be_answered_is_a_line(slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path) -> None:
    """Without mirrors the commits come from GitHub's API, and the code is not compared; no pin, and no version, say what to do."""
    with Talk(slack, github.url, tmp_path) as talk:
        talk.type(ADA, f"upgrade {FIRST} downstream o/plug")
        assert "⚠️ o/plug could not be checked: this needs a git mirror" in whole(slack.private(ADA, DIGEST)[-2])
        assert "give the version to upgrade from" in whole(talk.type(ADA, "upgrade"))
        assert "4444444" in whole(talk.type(ADA, f"upgrade {'4' * 40}"))
        assert "is older than" in whole(talk.type(ADA, f"upgrade HEAD..{FIRST}"))
