"""Failures that people paste into Slack, or attach as a file: the commits that most likely caused them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.slack.parsing.input import plain_lines
from loopback.slack import LoopbackSlack, Message
from tests.servers.chat import ScriptedChat
from tests.servers.conversing import plausible
from tests.servers.github import FaultyGitHub
from tests.servers.plugin import plugin, upstream
from tests.servers.running import whole
from tests.servers.talk import ADA, BOT, DIGEST, Talk

SECRET = "hunter-of-lanterns"
TRACEBACK = f"""Traceback (most recent call last):
  File "/home/ada/plug/run.py", line 11, in run
    stop()
  File "/venv/lib/python3.11/site-packages/engine/core.py", line 6, in stop
    raise NameError("{SECRET}")
NameError: name 'stop' is not defined by {SECRET}
"""
OTHER = """Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/lantern/apps.py", line 6, in setup
    populate()
LookupError: no app
"""


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": upstream(), "o/plug": plugin()}) as server:
        yield server


@pytest.fixture
def talk(slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path) -> Iterator[Talk]:
    """A bot that has stored the day on which `stop` was removed."""
    with Talk(slack, github.url, tmp_path) as talk:
        talk.type(ADA, "2026-02-05")
        yield talk


def test_a_pasted_traceback_is_answered_in_its_thread(talk: Talk) -> None:
    """Its form is enough, in a mention, in direct messages, and as a slash command; the changed line is shown with its place."""
    for asked in (f"{BOT} who did this?\n```\n{TRACEBACK}```", f"{BOT} suspects {TRACEBACK}"):
        ts = talk.say(ADA, asked)
        [reply] = talk.replies(ts)
        assert reply.thread_ts == ts
        assert_is_of_stop(reply)
    direct = talk.direct(ADA)
    assert_is_of_stop(talk.reply(ADA, TRACEBACK, channel=direct))
    assert_is_of_stop(talk.type(ADA, f"suspects {TRACEBACK}"))


def test_a_file_is_read(talk: Talk) -> None:
    """A log attached to a mention is downloaded with the bot's token; one of many megabytes too, from which the end counts."""
    log = b"INFO all is well\n" * 100_000 + TRACEBACK.encode()
    for text in (BOT, f"{BOT} why does this fail?"):
        assert_is_of_stop(attached(talk, text, {"build.log": log}))
    [call, *_] = talk.slack.asked("download")
    assert call.params == {"file": next(iter(talk.slack.workspace.files))}


def test_what_is_no_text_is_refused(talk: Talk) -> None:
    """A binary, an empty and a huge file are a line each, and so is the word alone."""
    for name, content, told in (
        ("core", b"\x7fELF\0\0\0", "is binary"),
        ("build.log", b" \n", "is empty"),
        ("build.log", b"x" * 20_000_001, "larger than 20 MB"),
    ):
        assert told in whole(attached(talk, BOT, {name: content}))
    assert len(talk.slack.asked("download")) == 2
    assert "paste a traceback or log" in whole(talk.reply(ADA, f"{BOT} suspects"))


def test_none_is_an_answer(talk: Talk) -> None:
    """A traceback of another project, and one that no commit explains, are said to have no suspects; in Chinese too."""
    assert "No suspects: no frame" in whole(talk.reply(ADA, f"{BOT} {OTHER}"))
    assert "No suspects: no stored commit" in whole(talk.reply(ADA, f"{BOT} suspects the frobnicator explodes"))
    talk.type(ADA, "subscribe lang zh")
    assert "没有可疑提交" in whole(talk.reply(ADA, f"{BOT} 排查 frobnicator"))


def test_the_channels_own_code_counts(slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path) -> None:
    """With a downstream repository what its frames use is searched, and what the commit breaks of it is shown with both places.

    Where that repository may not be seen nothing is said of it.
    """
    own = TRACEBACK.replace("site-packages/engine", "site-packages/elsewhere").replace("stop", "halt", 1)
    private, mirrors = "o/plug=C0DIGEST", tmp_path / "mirrors"
    with Talk(slack, github.url, tmp_path, digest_mirrors=mirrors, digest_private=private) as talk:
        talk.type(ADA, "2026-02-05")
        talk.type(ADA, "subscribe downstream o/plug")
        told = whole(talk.reply(ADA, f"{BOT} {own}"))
        assert "Tidy stop" in told
        assert "plug/run.py:1" in told
        assert "o/plug" not in whole(talk.reply(ADA, TRACEBACK, channel=talk.direct(ADA)))


def test_nothing_stored_is_said(slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path) -> None:
    """A bot that has read no commit says what people can do about it here, which is no command of the operator's shell."""
    with Talk(slack, github.url, tmp_path) as talk:
        told = whole(talk.reply(ADA, f"{BOT} {TRACEBACK}"))
    assert "are stored; a digest or a backfill of these days stores them" in told
    assert "vllm-digest" not in told


def test_what_was_pasted_reaches_no_model_and_is_forgotten(slack: LoopbackSlack, tmp_path: Path) -> None:
    """Neither the answer, nor a later question in the same thread, nor a question with it in a commit's thread shows it to
    the model; once answered the store holds nothing of it.
    """
    with (
        FaultyGitHub({"o/n": upstream()}) as github,
        ScriptedChat(plausible) as chat,
        Talk(slack, github.url, tmp_path, openai_api_key="key", openai_base_url=chat.url, digest_model="m") as talk,
    ):
        root = talk.open([*upstream().commits][3])
        talk.replies(talk.say(ADA, f"{BOT} {TRACEBACK}", root))
        talk.replies(talk.say(ADA, f"does this commit cause it?\n{TRACEBACK}", root))
        talk.replies(talk.say(ADA, f"{BOT} suspects {SECRET} in stop", root))
        talk.replies(talk.say(ADA, f"{BOT} suspects {f'{SECRET} fails in stop ' * 500}", root))
        talk.ask_in_modal(ADA, root, "ask_commit", f"why?\n{TRACEBACK}")
        talk.replies(talk.say(ADA, f"{BOT} is this safe to backport?", root))
        assert any("backport" in str(each) for each in chat.requests)
        assert not [each for each in chat.requests if SECRET in str(each)]
        talk.settle()
    for file in tmp_path.glob("*.db*"):
        assert SECRET.encode() not in file.read_bytes(), file.name


def test_a_file_that_slack_keeps_back_is_a_line(github: FaultyGitHub, tmp_path: Path) -> None:
    """Without the scope, or with a file that is stored elsewhere, the person is told; no token goes elsewhere."""
    with LoopbackSlack(pace=False) as slack, Talk(slack, github.url, tmp_path) as talk:
        talk.type(ADA, "2026-02-05")
        slack.workspace.url = "http://localhost:9"
        assert "did not provide the file (external)" in whole(attached(talk, BOT, {"a.log": TRACEBACK.encode()}))
        slack.workspace.url = slack.address
        slack.scopes = slack.scopes - {"files:read"}
        assert "files:read" in whole(attached(talk, BOT, {"a.log": TRACEBACK.encode()}))


def attached(talk: Talk, text: str, files: dict[str, bytes]) -> Message:
    """What the bot says to a message with files."""
    [reply] = talk.replies(talk.slack.say(ADA, DIGEST, text, files=files))
    return reply


def assert_is_of_stop(reply: Message) -> None:
    told = whole(reply)
    assert "Most likely first:" in told
    assert "[Misc] Tidy stop (#4)" in told
    assert "engine/core.py:5" in told
    assert "- def stop():" in told
    assert SECRET not in told


def test_slacks_markup_is_taken_off_with_the_lines_kept() -> None:
    """File names that Slack takes for hosts are names again, and lines stay."""
    shown = 'File "/app/<http://run.py|run.py>", line 1\n  a &lt; b'
    assert plain_lines(f"<@U0BOT> {shown}", "U0BOT") == 'File "/app/run.py", line 1\n  a < b'
