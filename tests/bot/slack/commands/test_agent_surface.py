"""The agent surface: sessions and their stop button, prompts, and ratings; and what happens to questions under way."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from bot.slack.delivery.sessions import PROMPTS
from loopback.slack import Fault, LoopbackSlack
from tests.servers.chat import ScriptedChat
from tests.servers.conversing import CONNECTOR, RACE, long_answer, sample_talk
from tests.servers.running import stored
from tests.servers.talk import ADA, DIGEST, LIN, Talk, markdown, ratings

STOPPED = "⏹ This answer was stopped."


class Scene(NamedTuple):
    """A talk that goes on from test to test, its model, and the message of a commit."""

    talk: Talk
    chat: ScriptedChat
    commit: str

    def ask(self, user: str, text: str, *, channel: str = DIGEST) -> str:
        """Asks in the thread of the commit, or directly, and waits until the model has begun."""
        asked = len(self.chat.requests)
        ts = self.talk.say(user, text, self.commit if channel == DIGEST else None, channel)
        self.talk.slack.wait_for(lambda: len(self.chat.requests) > asked)
        return ts

    def session(self) -> str | None:
        return self.talk.slack.workspace.channels[DIGEST].sessions.get(self.commit)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with ExitStack() as stack:
        chat = stack.enter_context(ScriptedChat(long_answer))
        slack = stack.enter_context(LoopbackSlack(pace=False, threaded_direct=True))
        talk = stack.enter_context(sample_talk(stack, slack, tmp_path_factory.mktemp("bot"), **model(chat)))
        yield Scene(talk, chat, talk.open(CONNECTOR))


def model(chat: ScriptedChat) -> dict[str, Any]:
    return {"openai_base_url": chat.url, "openai_api_key": "key", "digest_model": "scripted"}


@pytest.fixture
def scene(served: Scene) -> Iterator[Scene]:
    """The scene, with a model that says its first words and waits; at the end nothing is left half done."""
    served.chat.hold = 1
    served.chat.go.clear()
    yield served
    served.chat.go.set()
    served.talk.settle()
    slack = served.talk.slack
    slack.wait_for(lambda: not any(each.name == "answer" for each in threading.enumerate()))
    slack.wait_for(
        lambda: all("processing" not in each.sessions.values() for each in slack.workspace.channels.values())
    )
    assert not any(each.streaming for each in served.talk.everything())
    # What Slack ended by itself cannot be ended again, and a thread that is gone has no session.
    assert {call.response["error"] for call in slack.refusals} <= {"message_not_in_streaming_state", "thread_not_found"}


def statuses(talk: Talk, since: int = 0) -> list[str]:
    return [call.params["status"] for call in talk.slack.asked("agents.sessions.setStatus")[since:]]


# Stopping


def test_a_stop_while_the_model_writes_is_confirmed(scene: Scene) -> None:
    """At once, though the model goes on: nothing was shown yet, and only the line is."""
    scene.chat.hold = 0
    ts = scene.ask(ADA, "which tests are new?")
    scene.talk.slack.stop(ADA, DIGEST, scene.commit)
    (reply,) = scene.talk.replies(ts)
    assert markdown(reply) == STOPPED


def test_a_stop_that_comes_too_late_leaves_the_answer(scene: Scene) -> None:
    """Where the answer has just ended, only the session is set right again."""
    scene.chat.go.set()
    ts = scene.ask(ADA, "which tests are new?")
    (reply,) = scene.talk.replies(ts)
    scene.talk.slack.workspace.channels[DIGEST].sessions[scene.commit] = "processing"
    scene.talk.slack.stop(ADA, DIGEST, scene.commit)
    scene.talk.slack.wait_for(lambda: scene.session() == "active")
    assert STOPPED not in markdown(reply)


# Several questions at once


@pytest.mark.parametrize("other", [LIN, ADA])
def test_questions_in_one_thread_at_once_are_answered_once_each(scene: Scene, other: str) -> None:
    """Of two people, or of one who goes on while the last answer streams; the session ends with the last of them."""
    before = len(statuses(scene.talk))
    said = [scene.ask(ADA, "which tests are new?"), scene.ask(other, "what is --kv-connector for?")]
    assert scene.session() == "processing"
    scene.chat.go.set()
    replies = [scene.talk.replies(ts) for ts in said]
    assert [len(each) for each in replies] == [1, 1]
    assert replies[0][0].ts != replies[1][0].ts
    assert statuses(scene.talk, before) == ["processing", "processing", "active"]


def test_a_stop_ends_every_answer_in_its_thread_and_no_other(scene: Scene) -> None:
    """Both answers in the thread end; one in direct messages goes on."""
    talk = scene.talk
    direct = talk.direct(LIN)
    here = [scene.ask(user, "which tests are new?") for user in (ADA, LIN)]
    there = scene.ask(LIN, f"does {RACE} take a lock?", channel=direct)
    talk.slack.stop(ADA, DIGEST, scene.commit)
    talk.slack.wait_for(lambda: scene.session() == "active")
    scene.chat.go.set()
    assert [STOPPED in markdown(reply) for ts in here for reply in talk.replies(ts)] == [True, True]
    assert [STOPPED in markdown(reply) for reply in talk.replies(there, direct)] == [False]


# Questions that change


def test_a_question_that_is_edited_meanwhile_is_answered_once(scene: Scene) -> None:
    """The answer is to what was asked first."""
    ts = scene.ask(ADA, "which tests are new?")
    asked = len(scene.chat.requests)
    scene.talk.slack.edit(ADA, DIGEST, ts, "what is --kv-connector for?")
    scene.chat.go.set()
    assert len(scene.talk.replies(ts)) == 1
    assert len(scene.chat.requests) == asked


def test_a_question_that_is_deleted_meanwhile_stops_its_answer_alone(scene: Scene) -> None:
    """Another answer in the thread goes on."""
    talk = scene.talk
    deleted, kept = scene.ask(ADA, "which tests are new?"), scene.ask(LIN, "which tests are new?")
    talk.slack.delete(ADA, DIGEST, deleted)
    scene.chat.go.set()
    (reply,) = talk.replies(kept)
    assert STOPPED not in markdown(reply)


@pytest.mark.parametrize("directly", [False, True])
def test_a_question_that_is_deleted_meanwhile_is_not_answered(scene: Scene, directly: bool) -> None:
    """Neither an answer nor an error is shown, in a thread or where the thread is gone with the question."""
    talk, scene.chat.hold = scene.talk, 0
    channel = talk.direct(ADA) if directly else DIGEST
    ts = scene.ask(ADA, f"does {RACE} take a lock?", channel=channel)
    said, before = len([each for each in talk.everything() if each.channel == channel]), len(statuses(talk))
    talk.slack.delete(ADA, channel, ts)
    talk.slack.wait_for(lambda: statuses(talk, before) == ["active"])
    talk.settle()
    assert len([each for each in talk.everything() if each.channel == channel]) == said


# Ratings


def rows(talk: Talk) -> list[tuple[str, ...]]:
    return stored(talk.folder, 'select "user", rating, about from answer_ratings order by "user"')


def test_the_last_rating_of_each_person_is_kept(scene: Scene) -> None:
    """Of a thumb that goes up and then down the second counts; the status says how many there are."""
    talk = scene.talk
    scene.chat.go.set()
    (reply,) = talk.replies(scene.ask(ADA, "which tests are new?"))
    for user, value in ((ADA, "helpful"), (ADA, "unhelpful"), (LIN, "helpful")):
        talk.finish(talk.slack.press(user, DIGEST, reply.ts, "rate_answer", value))
    assert [(user, rating) for user, rating, _ in rows(talk)] == [(ADA, "unhelpful"), (LIN, "helpful")]
    assert all(CONNECTOR in about for *_, about in rows(talk))
    assert "👍 1 · 👎 1" in str(talk.type(ADA, "status").blocks)


# Prompts and the app's tabs


def test_prompts_are_suggested_where_people_write_directly(scene: Scene) -> None:
    """Whoever opens the messages tab gets the prompts of the manifest, and no Home is published for that."""
    slack = scene.talk.slack
    published = len(slack.asked("views.publish"))
    slack.open_home(LIN, tab="messages")
    prompts = slack.wait_for(lambda: slack.workspace.channels[scene.talk.direct(LIN)].prompts)
    assert prompts == [(str(title), str(message)) for title, message in PROMPTS]
    scene.talk.settle()
    assert len(slack.asked("views.publish")) == published


def test_a_direct_message_that_is_a_thread_is_answered_in_it(scene: Scene) -> None:
    """Where Slack tells a direct message as the root of a thread, commands are answered there, as questions are."""
    scene.chat.go.set()
    direct = scene.talk.direct(ADA)
    for text in (RACE, f"does {RACE} take a lock?"):
        ts = scene.talk.say(ADA, text, channel=direct)
        assert {each.thread_ts for each in scene.talk.replies(ts, direct)} == {ts}


# Blocks that are refused


def test_buttons_that_slack_does_not_take_are_left_out(scene: Scene) -> None:
    """An answer whose blocks are refused is complete without them."""
    scene.chat.go.set()
    fault = Fault("chat.stopStream", "error", error="invalid_blocks", where=lambda params: bool(params.get("blocks")))
    scene.talk.slack.faults.append(fault)
    (reply,) = scene.talk.replies(scene.ask(ADA, "which tests are new?"))
    assert markdown(reply)
    assert not ratings(reply)
