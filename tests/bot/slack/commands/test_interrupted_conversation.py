"""Conversations go on where the bot was ended, or its store lost, and threads of more messages than Slack gives at once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bot.slack.web import Web
from loopback.slack import LoopbackSlack
from tests.servers.chat import ScriptedChat
from tests.servers.clock import noon_clock
from tests.servers.conversing import CONNECTOR, assert_well, commits, long_answer, sample_talk
from tests.servers.talk import ADA, BOT, DIGEST, Talk, ratings, told

SPEED = 10  # of the clock by which the bot and Slack go, so that nobody waits for the bot's pace


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    """Begins talks that end with the test."""
    with ExitStack() as stack:
        talks = []

        def begin(**settings: Any) -> Talk:
            clock = noon_clock(SPEED)
            slack = stack.enter_context(LoopbackSlack(pace=False, now=clock.timestamp))
            talks.append(stack.enter_context(sample_talk(stack, slack, tmp_path, now=clock, **settings)))
            return talks[-1]

        yield begin
        for each in talks:
            assert_well(each)


def test_a_thread_that_the_store_lost_is_known_by_its_root(fresh: Callable[..., Talk]) -> None:
    """Asked in a thread of its own of which nothing is stored, the bot reads in the root's metadata what it is about."""
    talk = fresh()
    commit, day = talk.open(CONNECTOR), talk.open("2026-02-05")
    talk.stop()
    for path in talk.folder.iterdir():
        path.unlink()
    talk.start()
    about = talk.reply(ADA, "what is --kv-connector for?", commit)
    assert commits(about) == {CONNECTOR}
    assert talk.replies(talk.say(ADA, "thanks!", commit)) == []
    assert talk.replies(talk.say(ADA, "what breaks us?", day)) == []
    assert "#388" in told(talk.reply(ADA, f"{BOT} what breaks us?", day))


def test_a_restart_in_mid_stream_completes_the_answer_and_its_session(fresh: Callable[..., Talk]) -> None:
    """The answer is completed in the same message, and nothing in Slack looks as if the bot were still at it."""
    with ScriptedChat(long_answer) as chat:
        talk = fresh(openai_base_url=chat.url, openai_api_key="key", digest_model="scripted")
        commit = talk.open(CONNECTOR)
        sessions = talk.slack.workspace.channels[DIGEST].sessions
        chat.hold = 1
        ts = talk.say(ADA, "which tests are new?", commit)
        (begun,) = talk.slack.wait_for(lambda: [each for each in talk.slack.thread(DIGEST, commit) if each.streaming])
        talk.stop()
        assert sessions[commit] == "processing"
        chat.go.set()
        talk.start()
        (reply,) = talk.replies(ts)
        assert (reply.ts, reply.streaming, sessions[commit]) == (begun.ts, False, "active")
        assert ratings(reply)


def test_a_long_thread_is_read_to_its_end() -> None:
    """What was said last in a thread of 450 is there, and nothing twice."""
    with LoopbackSlack(pace=False) as slack:
        root = slack.say("U0ADA", "C0DIGEST", "let us talk")
        said = [slack.say("U0ADA", "C0DIGEST", f"word {number}", root) for number in range(450)]
        found = [each["ts"] for each in Web(slack.bot_token, slack.url).thread("C0DIGEST", root)]
    assert found == [root, *said]
