"""Bots of their own kind: that know nothing yet or only what is private, without the agent surface, at a limit, or started again."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopback.github import RecordedRepository
from loopback.slack import Fault as SlackFault
from loopback.slack import LoopbackSlack
from tests.bot.slack.commands.test_subscriptions import held
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.conversing import RACE, sample_talk
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, LIN, Talk, markdown, ratings

NOW = datetime(2026, 2, 6, 8, tzinfo=UTC)
RESET = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.replace(minute=10).timestamp()))}
COMMIT = recorded(71, parents=[], message="[Core] Open the vault (#71)")


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


@pytest.mark.parametrize("refusal", ["unknown_method", "not_allowed"])
def test_without_the_surface_all_is_as_before(tmp_path: Path, refusal: str) -> None:
    """Answers come without buttons, nobody sees an error, and Slack is asked once."""
    with (
        ExitStack() as stack,
        LoopbackSlack(pace=False, agent=refusal != "unknown_method") as slack,
        sample_talk(stack, slack, tmp_path) as talk,
    ):
        if slack.agent:
            slack.faults.append(SlackFault("agents.sessions.setStatus", "error", error=refusal))
        direct = talk.direct(ADA)
        for _ in range(2):
            reply = talk.reply(ADA, f"does {RACE} take a lock?", channel=direct)
            assert markdown(reply)
            assert not ratings(reply)
        slack.open_home(ADA, tab="messages")
        talk.settle()
        assert [call.response["error"] for call in slack.asked("agents.sessions.setStatus")] == [refusal]
        assert slack.asked("assistant.threads.setSuggestedPrompts") == []
        assert slack.private(ADA, direct) == []


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


def test_who_asks_too_much_is_told_so_alone(tmp_path: Path) -> None:
    """A person's questions are limited; that is said to that person alone, and once a minute."""
    with (
        LoopbackSlack(pace=False) as slack,
        FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github,
        Talk(slack, github.url, tmp_path, now=SettableClock(NOW)) as talk,
    ):
        thread = talk.open("#1")
        for _ in range(25):
            talk.say(LIN, "what does this change?", thread)
        talk.settle(60)
    assert not any("Limit: 10 questions" in each.text for each in slack.thread(DIGEST, thread))
    told = [each.text for each in slack.private(LIN, DIGEST) if "Limit: 10 questions" in each.text]
    assert told == ["Limit: 10 questions a minute. Try again shortly"]


def test_what_was_ended_stays_ended_at_the_next_start(tmp_path: Path) -> None:
    """A configured subscription that somebody ended is not revived by a start, and is by whoever subscribes again."""
    with (
        LoopbackSlack(pace=False) as slack,
        FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github,
        Talk(slack, github.url, tmp_path, now=SettableClock(NOW, speed=20), digest_channel=[DIGEST]) as talk,
    ):
        assert [each.user for each in held(talk.folder)] == [""]
        assert "Unsubscribed: o/n" in whole(talk.type(ADA, "unsubscribe"))
        for _ in range(2):
            talk.stop()
            talk.start()
            assert held(talk.folder) == []
        talk.type(ADA, "subscribe")
        assert [each.user for each in held(talk.folder)] == [ADA]
