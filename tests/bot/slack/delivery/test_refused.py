"""What Slack refuses is told to somebody, with what to do about it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.slack.manifest import manifest
from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.bot.slack.commands.test_subscriptions import held
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import posted, press, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk

DAY = "2026-02-05"
MORNING = datetime(2026, 2, 6, 7, tzinfo=UTC)
DUE = timedelta(hours=2, minutes=1)  # later, by a clock that hurries
LATER_DAY = [recorded(number, date=f"2026-02-06T12:0{number}:00Z") for number in (3, 4)]
FILES = "the app lacks the Slack scope files:write (missing_scope)"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(MORNING, speed=10)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    """A Slack whose app has the manifest's scopes."""
    with LoopbackSlack(now=clock.timestamp, pace=False, scopes=manifest().scopes) as server:
        yield server
        assert server.breaches == []


@pytest.fixture
def talk(slack: LoopbackSlack, clock: SettableClock, tmp_path: Path) -> Iterator[Talk]:
    commits = [recorded(1), recorded(2), *LATER_DAY]
    with (
        FaultyGitHub({"o/n": RecordedRepository(commits)}) as github,
        Talk(slack, github.url, tmp_path, now=clock) as started,
    ):
        yield started


def shown(talk: Talk, user: str = ADA, channel: str = DIGEST) -> str:
    """What a person was shown last."""
    return whole(talk.slack.private(user, channel)[-1])


def morning(talk: Talk, clock: SettableClock, days: int = 0) -> list[Message]:
    """A digest that is due, with its thread, when its file has come, or a line in its place."""
    before = posted(talk.slack, DIGEST)
    clock.set(MORNING + DUE + timedelta(days=days))
    root: Message = talk.slack.wait_for(lambda: [each for each in posted(talk.slack, DIGEST) if each not in before])[0]
    talk.slack.wait_for(lambda: any(each.files or "report file" in each.text for each in thread(talk, root)))
    return thread(talk, root)


def thread(talk: Talk, root: Message) -> list[Message]:
    return talk.slack.thread(DIGEST, root.ts)


# Files


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", f"{FILES}; ask a workspace admin to update the app with manifest․json and reinstall it"),
        ("zh", "应用缺少 Slack 权限 files:write"),
    ],
)
def test_who_asks_for_a_report_that_slack_does_not_take_is_told(talk: Talk, lang: str, told: str) -> None:
    """The scope that the app lacks is named to the person who pressed "Full report", with what to do, in their language."""
    talk.type(ADA, f"subscribe lang {lang}")
    reply = talk.type(ADA, DAY)
    talk.slack.scopes -= {"files:write"}
    talk.finish(press(talk.slack, ADA, DIGEST, reply.ts, "full_report"))
    assert told in shown(talk)
    assert talk.slack.channel(talk.direct(ADA)) == []


def test_a_digest_without_its_file_is_delivered_and_says_so(talk: Talk, clock: SettableClock) -> None:
    """Where the app may not upload, the thread is told once, the status too, and nothing more once it may."""
    talk.type(ADA, "subscribe")
    talk.slack.scopes -= {"files:write"}
    found = morning(talk, clock)
    lines = [each.text for each in found if "report file" in each.text]
    assert len(lines) == 1
    assert lines[0].startswith(f"⚠️ The report file could not be attached: {FILES}")
    assert "Change part 2" in "".join(map(whole, found))
    talk.slack.wait_for(lambda: held(talk.folder)[0].note)
    assert "o/n: The report file could not be attached" in whole(talk.type(ADA, "status"))
    assert talk.slack.channel(talk.direct(ADA)) == []  # it came, so nobody is alarmed
    talk.slack.scopes |= {"files:write"}
    assert morning(talk, clock, days=1)[-1].files
    talk.slack.wait_for(lambda: not held(talk.folder)[0].note)
    assert "report file" not in whole(talk.type(ADA, "status"))


def test_a_file_that_may_not_be_shared_is_told_too(talk: Talk, clock: SettableClock) -> None:
    """A file that was uploaded and is refused in the channel is missed in the thread, with Slack's reason."""
    talk.type(ADA, "subscribe")
    talk.slack.faults.append(Fault("files.completeUploadExternal$", "error", error="posting_to_channel_denied"))
    assert "restricts who may post there (posting_to_channel_denied)" in morning(talk, clock)[-1].text


# Messages


def in_thread(params: Any) -> bool:
    return bool(params.get("thread_ts")) and not params["text"].startswith("⚠️")


def test_a_part_that_slack_refuses_is_missed_in_the_thread_once(talk: Talk, clock: SettableClock) -> None:
    """Of a digest whose thread lacks messages the others come, with a line that says so and why."""
    talk.type(ADA, "subscribe")
    talk.slack.faults.append(Fault("chat.postMessage$", "error", 99, in_thread, error="invalid_blocks"))
    root, *rest = morning(talk, clock)
    assert DAY in root.text
    (line,) = [each.text for each in rest if not each.files]
    assert line == "⚠️ Part of this could not be posted: Slack rejected the request: invalid_blocks"
    assert sum(bool(each.files) for each in rest) == 1
    talk.slack.wait_for(lambda: "invalid_blocks" in held(talk.folder)[0].note)


def test_who_posts_what_slack_refuses_is_told(talk: Talk) -> None:
    """A post that the channel does not take is told to whoever pressed the button, with the reason."""
    reply = talk.type(LIN, DAY)
    talk.slack.faults.append(Fault("chat.postMessage$", "error", error="restricted_action"))
    talk.slack.press(LIN, DIGEST, reply.ts, "post_to_channel")
    talk.slack.wait_for(lambda: "could not be posted" in shown(talk, LIN))
    assert f"o/n · {DAY} could not be posted: the workspace restricts who may post there" in shown(talk, LIN)
    assert len(talk.slack.asked("chat.postMessage")) == 1  # nothing is tried in a thread that is not there
    talk.slack.press(LIN, DIGEST, talk.type(LIN, DAY).ts, "post_to_channel")
    talk.slack.wait_for(lambda: posted(talk.slack, DIGEST))


def test_who_subscribed_a_channel_that_is_closed_is_told_once(talk: Talk, clock: SettableClock) -> None:
    """A digest that cannot come is told to its subscriber directly, not each morning, and again after one that came."""
    talk.type(ADA, "subscribe")
    channel, direct = talk.slack.workspace.channels[DIGEST], talk.direct(ADA)

    def alarms() -> list[str]:
        return [each.text for each in talk.slack.channel(direct)]

    channel.archived = True
    clock.set(MORNING + DUE)
    talk.slack.wait_for(alarms)
    clock.set(MORNING + DUE + timedelta(days=1))
    talk.slack.wait_for(lambda: len(talk.slack.refusals) > 1)
    (line,) = alarms()
    assert line.startswith(f"⚠️ The digest of {DAY} could not be posted in <#{DIGEST}>: the channel is archived")
    assert "o/n" not in line
    channel.archived = False
    clock.set(MORNING + DUE + timedelta(days=2))
    talk.slack.wait_for(lambda: posted(talk.slack, DIGEST) and not held(talk.folder)[0].note)
    channel.archived = True
    clock.set(MORNING + DUE + timedelta(days=3))
    talk.slack.wait_for(lambda: len(alarms()) == 2)


def test_an_answer_that_slack_refuses_is_told_to_who_asked(talk: Talk) -> None:
    """A mention that cannot be answered in its thread is answered with the reason, to the person alone."""
    talk.slack.faults.append(Fault("chat.postMessage$", "error", 2, error="restricted_action_thread_locked"))
    assert talk.replies(talk.say(ADA, f"{BOT} {DAY}")) == []
    assert "restricts who may post there (restricted_action_thread_locked)" in shown(talk)


# Scopes that are looked up with


@pytest.mark.parametrize("scopes", ["channels:read, groups:read", "users:read"])
def test_a_scope_that_the_app_lacks_is_named_whatever_it_is_for(talk: Talk, scopes: str) -> None:
    """Nobody is called a stranger, or told to invite the bot, where it only may not look: the scope is named."""
    talk.slack.scopes -= set(scopes.split(", "))
    assert f"the app lacks the Slack scope {scopes} (" in whole(talk.type(ADA, "subscribe"))
    assert held(talk.folder) == []


def test_a_home_that_cannot_be_shown_says_why(talk: Talk) -> None:
    """Whoever opens the bot's home reads which scope the app lacks."""
    talk.slack.scopes -= {"users:read"}
    talk.finish(talk.slack.open_home(ADA))
    home = talk.slack.wait_for(lambda: talk.slack.home(ADA))
    assert "the app lacks the Slack scope users:read" in str(home.body)
