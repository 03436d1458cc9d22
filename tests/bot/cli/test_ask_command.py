"""Questions on the command line, the digest in Slack's form, and a bot that cannot start."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.slack.messages.blocks import Message
from loopback.slack import LoopbackSlack
from tests.bot.cli.test_command_line import one_line
from tests.conftest import Run, recorded
from tests.servers.chat import ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.running import bot_database, bot_running
from tests.slack_checks import assert_takes

Serve = Callable[..., FaultyGitHub]
LOCK = {
    "filename": "pkg/part1.py",
    "status": "modified",
    "additions": 1,
    "deletions": 1,
    "changes": 2,
    "patch": "@@ -40,2 +40,2 @@\n def work():\n-    return first()\n+    return best_of(8)",
}


@pytest.fixture
def server(serve: Serve) -> FaultyGitHub:
    """Two commits whose SHAs begin with the same four digits, which the branch holds."""
    first, second = "0101a" + "1" * 35, "0101b" + "2" * 35
    return serve(
        recorded(1, sha=first, files=[LOCK]), recorded(2, sha=second, parents=[first], message="[Docs] Explain (#2)")
    )


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with ScriptedChat(lambda _: "`best_of` is called now [pkg/part1.py:41]. It moves to `src/nowhere.py`.") as running:
        yield running


@pytest.mark.parametrize("ref", ["0101a", "0101A1111", "#1", "1", "https://github.example/o/n/pull/1"])
def test_a_question_is_answered_with_its_place(ref: str, run: Run, server: FaultyGitHub) -> None:
    """However the commit is called, the answer names the line that says so, on standard output alone."""
    ran = run("ask", ref, "where is `best_of` called?", server=server)
    assert "pkg/part1.py:41" in ran.out
    assert (ran.code, ran.err) == (0, "")


def test_an_answer_is_in_the_language_of_its_question(run: Run, server: FaultyGitHub) -> None:
    """A question in Chinese is answered in Chinese whatever the settings say, unless a language is asked for."""
    assert "都没有提到 `ROCm`" in run("ask", "#1", "这会影响 ROCm 吗？", server=server).out
    assert (
        "nor the message mentions `ROCm`"
        in run("ask", "#1", "does it touch ROCm?", server=server, DIGEST_LANGUAGE="zh").out
    )
    assert (
        "nor the message mentions `ROCm`" in run("ask", "#1", "这会影响 ROCm 吗？", "--lang", "en", server=server).out
    )


def test_what_commit_shows_ask_knows(run: Run, serve: Serve) -> None:
    """A commit that another restored is reverted for both commands, and author, date and pull request answer questions."""
    server = serve(recorded(1), recorded(2, message="[Core] Restore part 1 (reverts #1) (#2)"))
    assert "Reverts #1" in run("commit", "#2", "--lang", "en", server=server).out
    assert "reverted by 0202020" in run("commit", "#1", "--lang", "en", server=server).out
    asked = {
        "was this reverted?": "Reverted by `0202020`.",
        "被回退了吗？": "已被 `0202020` 回退。",
        "who wrote this?": "Written by Core Team.",
        "什么时候合入的？": "合入于 2026-02-05 12:01 UTC。",
        "which PR?": "It is pull request #1.",
        "why is it ranked high?": "Ranked low: ",
        "有测试吗？": "改动的文件（1 个文件）中没有测试。",
    }
    for question, text in asked.items():
        told = run("ask", "#1", question, server=server).out
        assert text in told
        assert "does not show" not in told


def test_a_model_answers_and_what_it_makes_up_is_left_out(run: Run, server: FaultyGitHub, chat: ScriptedChat) -> None:
    """A model's statements come with their places, those about what is not there do not come, and --no-model asks none."""
    model = {"DIGEST_MODEL": "scripted", "OPENAI_BASE_URL": chat.url, "OPENAI_API_KEY": "key"}
    ran = run("ask", "#1", "what does it return?", server=server, **model)
    assert (ran.code, ran.err) == (0, "")
    assert ("best_of" in ran.out, "part1.py:41" in ran.out, "nowhere.py" in ran.out) == (True, True, False)
    assert len(chat.requests) == 1
    assert run("ask", "#1", "what does it return?", "--no-model", server=server, **model).code == 0
    assert len(chat.requests) == 1


def test_a_model_that_cannot_be_reached_is_replaced(run: Run, server: FaultyGitHub) -> None:
    """Where the model does not answer the rules do, and the command succeeds."""
    model = {"DIGEST_MODEL": "scripted", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "hunter2"}
    ran = run("ask", "#1", "where is `best_of` called?", server=server, **model)
    assert (ran.code, "part1.py:41" in ran.out) == (0, True)
    assert "hunter2" not in ran.out + ran.err


def test_a_repository_is_asked_about_the_days_that_the_question_names(run: Run, server: FaultyGitHub) -> None:
    """Days in words bound the answer, which says them; what asks what removed something looks at all that is stored."""
    asked = "which commits call `best_of` on 2026-02-05?"
    ran = run("ask", "o/n", asked, server=server)
    assert "In the commits of `o/n` on 2026-02-05:" in ran.out
    assert "0101a11" in ran.out
    ran = run("ask", "o/n", "what removed `Zyzzyva9000`?", server=server)
    assert "None of the 2 stored commits mentions `Zyzzyva9000`" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("zzz", "why?"), "neither a commit nor a day"),
        (("deadbeef", "why?"), "o/n has no commit deadbeef"),
        (("#99", "why?"), "o/n has no pull request #99"),
        (("https://github.example/o/nowhere/pull/1", "why?"), "o/nowhere"),
        (("#1", " \n "), "the question is empty"),
        (("#1", "why?", "--repo", "nowhere"), "none of the configured"),
        (("#1", "why?", "--lang", "fr"), "--lang"),
        (("#1",), "QUESTION"),
        ((), "REF"),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_line(
    arguments: tuple[str, ...], words: str, run: Run, server: FaultyGitHub
) -> None:
    """What cannot be right is one line on standard error, exit 2, and nothing on standard output."""
    ran = run("ask", *arguments, server=server)
    assert words in one_line(ran.err)
    assert (ran.code, ran.out) == (2, "")


def test_an_ambiguous_sha_names_those_that_it_could_be(run: Run, server: FaultyGitHub) -> None:
    """Of a SHA that several stored commits begin with each is named."""
    assert run("digest", "2026-02-05", server=server).code == 0
    ran = run("ask", "0101", "why?", server=server)
    assert {"0101a1111111", "0101b2222222"} <= set(one_line(ran.err).replace(",", " ").replace(";", " ").split())
    assert ran.code == 2


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_digest_in_slacks_form_is_one_that_slack_takes(language: str, run: Run) -> None:
    """The sample day in Slack's form is a list of messages within every limit: one for the channel, the others for its thread."""
    ran = run("digest", "--sample", "--format", "slack", "--lang", language)
    messages = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert all(each.keys() == {"text", "blocks", "thread"} for each in messages)
    assert [each["thread"] for each in messages] == [False, *[True] * (len(messages) - 1)]
    assert_takes(Message(each["text"], tuple(each["blocks"]), each["thread"]) for each in messages)
    assert "2026-02-05" in messages[0]["text"]


def test_the_digests_of_several_repositories_follow_each_other(run: Run, server: FaultyGitHub) -> None:
    """With several repositories each begins with a message for the channel, an empty day being nothing else."""
    server.repositories["o/m"] = server.repositories["o/n"]
    ran = run("digest", "2026-02-05", "--format", "slack", server=server, DIGEST_REPOS="o/n,o/m")
    roots = [each["text"].split(" ")[0] for each in json.loads(ran.out) if not each["thread"]]
    assert roots == ["o/n", "o/m"]
    (empty,) = json.loads(run("digest", "2026-02-04", "--format", "slack", server=server).out)
    assert (empty["thread"], "No commits" in empty["text"]) == (False, True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN is not set"),
        ({"SLACK_BOT_TOKEN": "xoxb-hunter2"}, "SLACK_APP_TOKEN is not set"),
        ({"SLACK_BOT_TOKEN": "hunter2", "SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN: is not a valid token"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xoxb-hunter2"}, "SLACK_APP_TOKEN: is not a valid token"),
        (
            {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DATABASE_URL": "sqlite:///:memory:"},
            "DATABASE_URL",
        ),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DIGEST_CHANNEL": "#general"}, "DIGEST_CHANNEL"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DIGEST_COMMAND": "digest"}, "DIGEST_COMMAND"),
    ],
)
def test_a_bot_that_cannot_start_says_why_in_one_line(settings: dict[str, str], words: str, run: Run) -> None:
    """Without tokens, or with settings that cannot be, the bot ends at once with one line and exit 2."""
    ran = run("run", **settings)
    assert words in one_line(ran.err)
    assert "hunter2" not in ran.err
    assert (ran.code, ran.out) == (2, "")


def test_a_second_bot_on_the_same_store_is_refused(run: Run, server: FaultyGitHub, tmp_path: Path) -> None:
    """Where a bot runs on a store another one ends at once and says so."""
    with LoopbackSlack() as slack, bot_running(slack, server.url, tmp_path):
        ran = run(
            "run",
            server=server,
            SLACK_BOT_TOKEN=slack.bot_token,
            SLACK_APP_TOKEN=slack.app_token,
            SLACK_API_URL=slack.url,
            DATABASE_URL=bot_database(tmp_path),
        )
    assert "another vllm-digest is using" in one_line(ran.err)
    assert (ran.code, ran.out) == (2, "")
