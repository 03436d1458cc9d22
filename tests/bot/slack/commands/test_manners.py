"""Manners towards people who do not type a command: who names no day, asks, or points at a message."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import buttons, whole
from tests.servers.talk import DIGEST, Talk

_numbers = count()
WEB = "https://github.example/o/n"
ALIKE = [
    recorded(1, sha="abcdef1" + "1" * 33),
    recorded(2, sha="abcdef1" + "2" * 33, parents=["abcdef1" + "1" * 33]),
]


@pytest.fixture(scope="module")
def github() -> Iterator[FaultyGitHub]:
    """Two repositories whose last commits are of 5 February, and one that began today."""
    found = {
        "o/n": RecordedRepository([recorded(1), recorded(2, sha="b2" * 20)]),
        "o/alike": RecordedRepository(ALIKE, {"main": ALIKE[1]["sha"]}),
        "o/young": RecordedRepository([recorded(1, date="2026-02-08T07:00:00+00:00")]),
    }
    with FaultyGitHub(found) as server:
        yield server


@pytest.fixture(scope="module")
def talk(github: FaultyGitHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot on Sunday, 8 February."""
    now = SettableClock(datetime(2026, 2, 8, 9, tzinfo=UTC))
    folder: Path = tmp_path_factory.mktemp("bot")
    with (
        faultless(LoopbackSlack(command_timeout=30)) as slack,
        Talk(slack, github.url, folder, now=now, digest_repos="o/n", digest_language="en", log_level="error") as talk,
    ):
        yield talk
        talk.settle()


@pytest.fixture
def user(talk: Talk) -> str:
    """Somebody who has asked for nothing yet, in the channel."""
    name = talk.slack.workspace.add_user(f"user{next(_numbers)}")
    talk.slack.workspace.channels[DIGEST].members.add(name)
    return name


# No day named


@pytest.mark.parametrize("text", ["", "n", "o/alike"])
def test_the_last_day_with_commits_stands_in_for_an_empty_one(text: str, talk: Talk, user: str) -> None:
    """Who names no day sees the last one that had commits when yesterday had none, and is told so."""
    shown = whole(talk.type(user, text))
    assert "No commits on 2026-02-07 (Sat). Last day with commits: 2026-02-05 (Thu)" in shown
    assert "Commits: 2 |" in shown


@pytest.mark.parametrize("text", ["yesterday", "o/young"])
def test_an_empty_day_is_shown_where_it_is_asked_for_or_no_other_is_there(text: str, talk: Talk, user: str) -> None:
    """A day that somebody names is shown as it is, and so is yesterday where no commit is older."""
    shown = whole(talk.type(user, text))
    assert "2026-02-07 (Sat) · No commits on this day" in shown
    assert "Last day" not in shown


def test_an_empty_day_is_shown_where_the_last_one_is_unknown(talk: Talk, user: str, github: FaultyGitHub) -> None:
    """If GitHub fails to tell the last day with commits, the empty day is the answer."""
    talk.type(user, "yesterday")  # which is stored now
    github.faults = [Fault("^/repos/o/n/commits", 403, times=3, body={"message": "Not accessible"})]
    assert "No commits on this day" in whole(talk.type(user, ""))
    github.faults = []


# Questions


def test_a_question_may_be_typed_after_the_slash_command(talk: Talk, user: str) -> None:
    """A question is answered where commands are typed, to the person who asks alone."""
    shown = talk.type(user, "which commits touch the scheduler").text
    assert "`o/n`" in shown
    assert "didn't understand" not in shown


def test_what_asks_for_nothing_gets_the_commands(talk: Talk, user: str) -> None:
    """A greeting, thanks and signs lead to the commands; thanks in a thread that mention nobody are left alone."""
    for text in ("Hello!", "thanks!", "🚀?"):
        assert talk.reply(user, text, channel=talk.direct(user)).text == "You can ask me:"
    root = talk.open("o/n 0101010")
    assert talk.replies(talk.say(user, "thanks!", root)) == []


# The shortcut


def explained(talk: Talk, user: str, text: str) -> list[str]:
    """What somebody sees after they used the shortcut on a message with this text."""
    seen = {each.ts for each in talk.slack.private(user, DIGEST)}
    public = len(talk.slack.channel(DIGEST)) + 1
    ts = talk.say("U0LIN", text)
    talk.finish(talk.slack.shortcut(user, DIGEST, ts, "explain_commits"))
    assert len(talk.slack.channel(DIGEST)) == public
    assert talk.slack.thread(DIGEST, ts)[1:] == []
    return [whole(each) for each in talk.slack.private(user, DIGEST) if each.ts not in seen]


@pytest.mark.parametrize("text", ["broken since b2b2b2b", f"is {WEB}/pull/2 in?"])
def test_the_commit_of_a_message_is_explained_privately(text: str, talk: Talk, user: str) -> None:
    """A SHA, a pull request and either address are explained to the person who asked, and to nobody else."""
    (shown,) = explained(talk, user, text)
    assert "Change part 2" in shown


def test_each_commit_of_a_message_is_explained_once(talk: Talk, user: str) -> None:
    """Of several commits each is shown, however often it is named; what is not there is named in a line."""
    *shown, missing = explained(talk, user, f"#1 or {WEB}/commit/{'01' * 20} or {WEB}/pull/2? perhaps deadbeef1")
    assert ["Change part 1" in each for each in shown] == [True, False]
    assert "Change part 2" in shown[1]
    assert "deadbeef1" in missing


def test_a_message_without_a_commit_is_told(talk: Talk, user: str) -> None:
    """A message that names none gets a line that says so."""
    (shown,) = explained(talk, user, "lunch?")
    assert "This message names no commit" in shown


def test_the_links_of_our_own_messages_are_found(talk: Talk, user: str) -> None:
    """A message whose commits stand in its blocks alone is explained too."""
    root = talk.open("o/n 0101010")
    seen = len(talk.slack.private(user, DIGEST))
    talk.finish(talk.slack.shortcut(user, DIGEST, root, "explain_commits"))
    shown = talk.slack.private(user, DIGEST)[seen:]
    assert "Change part 1" in whole(shown[0])
    assert "why" in buttons(shown[0])
