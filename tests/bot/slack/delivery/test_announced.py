"""Who changed what a channel gets is told to everybody in it, once."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from loopback.slack.faults import Fault, Kind
from tests.bot.slack.commands.test_subscriptions import filled, held, opened
from tests.conftest import recorded
from tests.servers.clock import SettableClock, noon_clock
from tests.servers.github import FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk

TEAM = "C0TEAM"


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with faultless(LoopbackSlack(pace=False)) as server:
        server.workspace.add_channel("team", TEAM, members=[ADA, "U0BOT"])
        yield server


@pytest.fixture
def talk(slack: LoopbackSlack, tmp_path: Path) -> Iterator[Talk]:
    days = RecordedRepository([recorded(1), recorded(2)])
    clock = SettableClock(datetime(2026, 2, 6, 8, tzinfo=UTC))
    with (
        FaultyGitHub({"o/n": days, "o/m": days}) as github,
        Talk(slack, github.url, tmp_path, now=clock) as running,
    ):
        yield running


def lines(talk: Talk, channel: str = DIGEST) -> list[str]:
    """What the channel was told of its subscriptions, in whole and without mentions."""
    found = []
    for each in filter(lambda each: each.by_bot, talk.slack.channel(channel)):
        assert "<@" not in whole(each)
        assert "'user'" not in str(each.blocks)
        if each.text.startswith(("📬", "📭")):
            found.append(each.text)
    return found


def test_a_command_is_told_to_the_channel(talk: Talk) -> None:
    """A subscription that is made, changed or ended by a command is told in a line, one that stays as it was is not."""
    confirmed = whole(talk.type(ADA, "subscribe at 09:00 tz Asia/Shanghai watch LLM"))
    assert "✅ Subscribed \no/n" in confirmed
    assert "09:00 Asia/Shanghai" not in confirmed.partition("First digest")[0]
    for text in ("subscribe at 10:00", "subscribe at 10:00", "unsubscribe", "unsubscribe"):
        talk.type(ADA, text)
    assert lines(talk) == [
        "📬 ada subscribed this channel to o/n (👁 Watches: LLM): daily 09:00 Asia/Shanghai, en",
        "📬 ada changed this channel's subscription to o/n: time 09:00 → 10:00",
        "📭 ada cancelled this channel's subscription to o/n (👁 Watches: LLM)",
    ]


def test_a_mention_is_told_in_the_channel_and_not_only_in_its_thread(talk: Talk) -> None:
    """What is asked by a mention is answered in its thread, and the line stands in the channel."""
    talk.reply(LIN, f"{BOT} subscribe")
    assert lines(talk) == ["📬 lin subscribed this channel to o/n: daily 09:00 UTC, en"]


def test_a_form_and_a_button_are_told_in_the_channels_language(talk: Talk, tmp_path: Path) -> None:
    """What is filled into a form, moved to another channel by it, or ended by a button at home, is told where it matters."""
    view = opened(talk)
    talk.finish(talk.slack.submit(ADA, view.id, filled(language="zh", least="low")))
    (kept,) = held(tmp_path)
    shown = talk.type(ADA, "subscriptions")
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription", str(kept.id))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    talk.finish(talk.slack.submit(ADA, view.id, filled(channel=TEAM, language="zh", least="low")))
    talk.finish(talk.slack.open_home(ADA))
    home = talk.slack.wait_for(lambda: talk.slack.home(ADA))
    talk.finish(talk.slack.press_view(ADA, home.id, "unsubscribe", str(kept.id)))
    assert held(tmp_path) == []
    assert lines(talk) == ["📬 ada 为本频道订阅了 o/n：每天 10:30 UTC，zh", "📭 ada 取消了本频道的订阅：o/n"]
    assert lines(talk, TEAM) == ["📬 ada 为本频道订阅了 o/n：每天 10:30 UTC，zh", "📭 ada 取消了本频道的订阅：o/n"]


def test_direct_messages_have_nobody_else_to_tell(talk: Talk) -> None:
    """A subscription of one's own conversation with the bot is confirmed there, and not told once more."""
    direct = talk.direct(ADA)
    talk.type(ADA, "subscribe", direct)
    assert lines(talk, direct) == []


@pytest.mark.parametrize("kind", ["drop", "accept_and_drop"])
def test_a_line_is_there_once_whatever_became_of_its_answer(tmp_path: Path, kind: Kind) -> None:
    """A line whose post is lost on its way, or whose answer is, and a bot that is started again meanwhile, tell it once."""
    clock = noon_clock()
    with (
        LoopbackSlack(now=clock.timestamp) as slack,
        FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github,
    ):
        talk = Talk(slack, github.url, tmp_path, now=clock)
        with talk:
            slack.faults.append(Fault("chat.postMessage", kind))
            slack.command(ADA, DIGEST, "subscribe")
            slack.wait_for(lambda: slack.asked("chat.postMessage"))
            talk.stop()
            talk.start()
            slack.wait_for(lambda: lines(talk))
            talk.settle(60)
            assert lines(talk) == ["📬 ada subscribed this channel to o/n: daily 09:00 UTC, en"]
