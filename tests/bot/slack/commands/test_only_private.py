"""A bot that knows nothing but a private repository."""

from pathlib import Path

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk

COMMIT = recorded(71, parents=[], message="[Core] Open the vault (#71)", contents={"pkg/part71.py": "vault = 71\n"})


def test_where_nothing_else_is_configured_there_is_nothing(tmp_path: Path) -> None:
    """A bot that knows only private repositories finds nothing in other channels: no list of repositories does not mean all."""
    with (
        LoopbackSlack(pace=False) as slack,
        FaultyGitHub({"o/secret": RecordedRepository([COMMIT])}) as github,
        Talk(slack, github.url, tmp_path, digest_repos="o/secret", digest_private=f"o/secret={DIGEST}") as talk,
    ):
        slack.workspace.add_channel("other", "C0OTHER", members=[ADA, "U0BOT"])
        assert "vault" in whole(talk.type(ADA, "secret #71"))
        for text in ("search vault", COMMIT["sha"], "#71", "2026-02-05", "help", "subscribe"):
            told = whole(talk.type(ADA, text, "C0OTHER"))
            assert "Open the vault" not in told
            assert "secret" not in told
        assert [(call.method, call.response) for call in slack.refusals] == []
