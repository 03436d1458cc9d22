"""Conversations in Slack with a model: what is answered, what is passed over, and where the citations lead."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from loopback.slack import LoopbackSlack
from tests.servers.chat import ScriptedChat
from tests.servers.conversing import ALIKE, COMMITS, CONNECTOR, RACE, WEB, assert_well, commits, plausible, sample_talk
from tests.servers.running import buttons, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk, markdown, told


class Place(NamedTuple):
    """Where people talk."""

    commit: str
    day: str


class Scene(NamedTuple):
    """A talk that goes on from test to test, and the model."""

    talk: Talk
    at: Place
    chat: ScriptedChat


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A bot that has posted a commit and a day."""
    with ExitStack() as stack:
        chat = stack.enter_context(ScriptedChat(plausible, pause=0.02))
        model = {"openai_base_url": chat.url, "openai_api_key": "key", "digest_model": "scripted"}
        slack = stack.enter_context(LoopbackSlack(pace=False))
        talk = stack.enter_context(sample_talk(stack, slack, tmp_path_factory.mktemp("bot"), **model))
        yield Scene(talk, Place(talk.open(CONNECTOR), talk.open("2026-02-05")), chat)
        talk.settle()
        assert_well(talk)


def is_chinese(text: str) -> bool:
    return bool(re.search(r"[\u4e00-\u9fff]", re.sub(r"`[^`]*`|\[[^\]]*\]", "", text)))


# A whole conversation

ANSWERED, SILENT = True, False
ASKED = [
    (ADA, "commit", "does this touch ROCm?", ANSWERED),
    (LIN, "commit", "重试几次会放弃？", ANSWERED),
    (ADA, "commit", "thanks, that helps!", SILENT),
    (LIN, "commit", "which flags are new", ANSWERED),
    (ADA, "day", "which of these break us?", SILENT),
    (LIN, "day", f"{RACE} 会影响性能吗", ANSWERED),
    (ADA, "direct", f"does {RACE} change a lock?", ANSWERED),
    (LIN, "direct", "#388 之后要改启动脚本吗？", ANSWERED),
    (LIN, "commit", f"<@{ADA}> 你怎么看？", SILENT),
    (ADA, "commit", "超时默认是多少", ANSWERED),
    # Here the bot is started again.
    (LIN, "commit", "and the tests?", ANSWERED),
    (ADA, "commit", "LGTM", SILENT),
    (LIN, "commit", "我去看看", SILENT),
    (ADA, "commit", "why are there three tries", ANSWERED),
    (ADA, "commit", f"{BOT} summarize it", ANSWERED),
    (LIN, "day", f"{BOT} 今天有什么重要的提交", ANSWERED),
    (ADA, "day", "does #409 need a restart?", ANSWERED),
    (LIN, "day", "看起来都还好", SILENT),
    (ADA, "direct", "and does it come with tests?", ANSWERED),
    (LIN, "direct", "这个参数是什么时候删掉的", ANSWERED),
]


def test_a_conversation_of_two_people_across_a_restart(scene: Scene) -> None:
    """What is meant for the bot is answered once, where and in the language in which it was asked; the rest is passed over."""
    talk = scene.talk
    place = {"commit": (DIGEST, scene.at.commit), "day": (DIGEST, scene.at.day)}
    said = []
    for number, (user, where, text, answered) in enumerate(ASKED):
        if number == 10:
            talk.settle()
            talk.stop()
            talk.start()
        channel, thread = place.get(where) or (talk.direct(user), None)
        said.append((channel, thread, talk.say(user, text, thread, channel), text, answered))
        if number % 2:
            talk.settle()
    for channel, thread, ts, text, answered in said:
        replies = talk.replies(ts, channel)
        assert len(replies) == answered, text
        for reply in replies:
            assert reply.thread_ts == (thread or ts)
            assert markdown(reply).strip()
            assert is_chinese(told(reply)) is is_chinese(text), (text, told(reply))


# In the thread of a commit


@pytest.mark.parametrize(
    ("text", "said", "mark"),
    [("who wrote this?", "Written by", "author"), ("这是哪个 PR？", "对应 PR #", "pull"), ("was it reverted?", "reverts it", "links")],
)  # fmt: skip
def test_a_question_about_metadata_is_answered_in_the_thread(text: str, said: str, mark: str, scene: Scene) -> None:
    """Who wrote a commit, its pull request and its reverts are known in a thread, and shown to a model with marks to cite."""
    scene.talk.reply(LIN, text, scene.at.commit)
    assert said in (prompt := scene.chat.requests[-1]["messages"][1]["content"])
    assert re.search(rf"\[[0-9a-f]{{7}}:{mark}\]", prompt)


def test_a_follow_up_knows_what_was_spoken_of(scene: Scene) -> None:
    """What "it" is, is found in the thread, and the model is shown it without the links of what was answered."""
    scene.talk.reply(LIN, "what is --kv-connector for?", scene.at.commit)
    scene.talk.reply(LIN, "它默认开启吗？", scene.at.commit)
    prompt = scene.chat.requests[-1]["messages"][1]["content"]
    assert "person: what is --kv-connector for?" in prompt
    assert re.search(r"^bot: .*\[[\w/]+\.\w+:\d+\]", prompt, re.MULTILINE)
    assert "#diff-" not in prompt
    assert "Retries, timeouts, --kv-connector and docs" not in prompt.partition("conversation so far:")[2]


def test_another_commit_may_be_named_in_the_thread_of_a_commit(scene: Scene) -> None:
    """A second commit that a question names is looked at beside the thread's own."""
    reply = scene.talk.reply(ADA, f"does it race like {RACE}?", scene.at.commit)
    assert commits(reply)
    assert commits(reply) <= {CONNECTOR, RACE}


# In the thread of a day


@pytest.mark.parametrize("question", ["does anything touch `threading.Lock`?", "有没有提交改到 `threading.Lock`？"])
def test_a_question_that_names_code_is_answered_from_what_touches_it(scene: Scene, question: str) -> None:
    """Of a day only the commits whose diffs touch a symbol are told, with the line; others that merely sound like it are not."""
    reply = scene.talk.reply(ADA, f"{BOT} {question}", scene.at.day)
    changed = re.compile(r"^[+-].*threading\.Lock", re.MULTILINE)
    touching = {
        sha[:9] for sha, each in COMMITS.items() if any(changed.search(file.get("patch", "")) for file in each["files"])
    }
    assert commits(reply) <= touching
    # The model is shown the lines, and nothing of the other commits.
    shown = scene.chat.requests[-1]["messages"][1]["content"].partition("conversation so far:")[0]
    assert shown.count("self._lock = threading.Lock()") >= len(touching)
    assert RACE[:7] not in shown


def test_in_the_thread_of_a_day_a_commit_must_be_named_or_the_bot(scene: Scene) -> None:
    """A question alone is for the people; with a SHA, a pull request, an address or a mention it is for the bot."""
    talk, day = scene.talk, scene.at.day
    said = {
        text: talk.say(ADA, text, day)
        for text in (
            "what breaks us?",
            f"what does {RACE} lock?",
            "what does #409 lock?",
            f"what does {WEB}/commit/{RACE} lock?",
            f"{BOT} what breaks us?",
        )
    }
    replies = {text: talk.replies(ts) for text, ts in said.items()}
    assert [len(found) for found in replies.values()] == [0, 1, 1, 1, 1]
    for text, found in replies.items():
        for reply in found:
            assert (commits(reply) == {RACE}) is (BOT not in text), text
    # The digest's own messages stand in the thread, too, and are no part of what is talked about.
    assert "🔴" not in scene.chat.requests[-1]["messages"][1]["content"].partition("conversation so far:")[2]


def test_of_several_commits_the_bot_asks_for_one(scene: Scene) -> None:
    """Two commits in one question outside their threads, or a SHA that two begin with, are asked back."""
    asks = scene.talk.reply(ADA, f"does {RACE} or #400 take a lock?", scene.at.day)
    assert asks.thread_ts == scene.at.day
    assert "which commit you mean" in whole(asks)
    for twin in ALIKE:
        scene.talk.type(ADA, twin["sha"])
    asks = scene.talk.reply(ADA, "what does abcdef1 return?", scene.at.day)
    assert all(twin["sha"][:12] in whole(asks) for twin in ALIKE)


# Elsewhere in the channel


def test_threads_of_others_and_the_channel_are_none_of_the_bots_business(scene: Scene) -> None:
    """Where nobody mentions it, the bot is silent in the channel and in threads that it did not begin."""
    talk = scene.talk
    root = talk.say(ADA, f"has anyone seen {RACE}?")
    said = [root, talk.say(LIN, f"does {RACE} break us?", root), talk.say(LIN, "does this touch ROCm?")]
    assert [talk.replies(ts) for ts in said] == [[], [], []]
    assert talk.slack.thread(DIGEST, root)[2:] == []


def test_a_mention_in_a_thread_of_others_is_answered_there(scene: Scene) -> None:
    """Asked about a commit in somebody's thread, the bot answers in it, and knows from then on what it is about."""
    talk = scene.talk
    root = talk.say(ADA, "who knows the scheduler?")
    reply = talk.reply(LIN, f"{BOT} does {RACE} take a lock?", root)
    assert reply.thread_ts == root
    assert len(talk.replies(talk.say(ADA, "and the tests?", root))) == 1


# Buttons


def test_the_ask_button_of_a_digest_asks_about_the_day(scene: Scene) -> None:
    """A question in the modal of the day is answered from all its commits; one that names a commit, about that commit."""
    talk = scene.talk
    (answer,) = talk.ask_in_modal(ADA, scene.at.day, "ask", "which commit matters most?")
    (other,) = talk.ask_in_modal(ADA, scene.at.day, "ask", f"does {RACE} take a lock?")
    talk.settle()
    assert (answer.thread_ts, other.thread_ts) == (scene.at.day, scene.at.day)
    assert commits(other) == {RACE}


# Direct messages


def test_direct_messages_are_always_answered(scene: Scene) -> None:
    """What is said to the bot alone gets a reply each time: an answer in a thread, a commit, or what it did not understand."""
    talk = scene.talk
    direct = talk.direct(LIN)
    question = talk.reply(LIN, f"{RACE} 加了什么锁？", channel=direct)
    assert is_chinese(told(question))
    follow_up = talk.reply(LIN, "and the tests?", question.thread_ts, channel=direct)
    assert "test_scheduler.py" in markdown(follow_up)
    assert "ask_commit" in buttons(talk.reply(LIN, RACE, channel=direct))
    assert "`bonjour`" in talk.reply(LIN, "bonjour", channel=direct).text


def test_answers_grow_as_slack_lets_them(scene: Scene) -> None:
    """An answer is one streamed message for who asked, with its key left on it at the end, in channels and directly."""
    talk = scene.talk
    for channel, thread in ((DIGEST, scene.at.commit), (talk.direct(ADA), None)):
        since = len(talk.slack.calls)
        reply = talk.reply(ADA, f"which tests does {CONNECTOR} add?", thread, channel)
        calls = [call for call in talk.slack.calls[since:] if call.response.get("ts") == reply.ts]
        start, *appended, stop = [(call.method, call.params) for call in calls]
        assert (start[0], stop[0]) == ("chat.startStream", "chat.stopStream")
        assert {method for method, _ in appended} <= {"chat.appendStream"}
        assert appended
        assert (start[1]["recipient_user_id"], start[1]["recipient_team_id"]) == (ADA, "T0LOCAL")
        assert stop[1]["metadata"]["event_payload"]["key"].startswith("answer:")
        assert "".join(params["markdown_text"] for _, params in [start, *appended]) == markdown(reply)


# When something fails
