"""What becomes of a break, as its channel sees it: the first message of its digest is edited, and nothing is posted for it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from loopback.slack import LoopbackSlack, Message
from tests.bot.slack.delivery.test_breaking_digests import DIGEST, PLUG, UPSTREAM, digest
from tests.bot.slack.delivery.test_watched import subscribe
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.place import OTHER, two_channels
from tests.servers.plugin import plugin, upstream
from tests.servers.running import bot_running, buttons, press, whole
from tests.servers.talk import ADA, LIN

SOON = timedelta(seconds=0.5)


class Bot(NamedTuple):
    slack: LoopbackSlack
    github: FaultyGitHub
    clock: SettableClock
    folder: Path

    @property
    def root(self) -> Message:
        return digest(self.slack)[0]

    def sees(self, *words: str) -> str:
        """Wait until the first message says all that, and return what it says."""
        self.slack.wait_for(lambda: all(each in self.said for each in words))
        return self.said

    @property
    def said(self) -> str:
        return whole(self.root).replace("\n", "").replace("\u2024", ".")

    def told(self, user: str = ADA) -> str:
        return whole(self.slack.private(user, DIGEST)[-1])

    def press(self, user: str, ts: str, action: str, value: str | None = None) -> str:
        """Use what a message offers, and return what the person is told privately."""
        before = len(self.slack.private(user, DIGEST))
        if value is None:
            press(self.slack, user, DIGEST, ts, action)
        else:
            self.slack.press(user, DIGEST, ts, action, value)
        self.slack.wait_for(lambda: len(self.slack.private(user, DIGEST)) > before)
        return self.told(user)


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    clock, folder = SettableClock(datetime(2026, 2, 6, 9, 30, tzinfo=UTC), speed=10), tmp_path_factory.mktemp("bot")
    subscribe(folder, DIGEST, downstream=(PLUG,), watch=("stop",))
    subscribe(folder, OTHER)
    github = FaultyGitHub({"o/n": upstream(), "o/plug": plugin()})
    with (
        two_channels(clock) as slack,
        github,
        bot_running(slack, github.url, folder, now=clock, digest_mirrors=folder / "mirrors", edits=SOON),
    ):
        found = Bot(slack, github, clock, folder)
        slack.wait_for(lambda: "/archives/" in str(found.root.blocks))
        yield found


def struck(message: Message) -> str:
    """The text that is struck."""
    return "".join(
        piece.get("text", "")
        for block in message.blocks
        for part in block.get("elements", ())
        for row in part.get("elements", ())
        for piece in row.get("elements", ())
        if isinstance(row, dict)
        if piece.get("style", {}).get("strike")
    )


def test_people_take_it_put_it_off_and_drop_it(bot: Bot) -> None:
    """Each button changes the line of its commit in the first message, tells the person privately, and can be undone; `status`
    and the Home list what is open, with its person and its day; an outsider changes nothing.
    """
    stop, start = digest(bot.slack)[1:3]
    assert {"take_break", "dismiss_break"} < set(buttons(stop))
    count = len(digest(bot.slack))
    assert "You take engine.core.stop" in bot.press(ADA, stop.ts, "take_break").replace("\n", "")
    bot.sees("🙋")
    picker = next(each for each in buttons(stop) if each.startswith("put_off_break"))
    assert "choose a day after today" in bot.press(LIN, stop.ts, picker, "2026-02-06")
    assert "Put off until 2026-02-20" in bot.press(LIN, stop.ts, picker, "2026-02-20")
    bot.sees("put off until 2026-02-20")
    bot.slack.command(LIN, DIGEST, "status")
    bot.slack.wait_for(lambda: "Open in your code: 2" in bot.told(LIN))
    assert f"{UPSTREAM.key}" in bot.told(LIN)
    assert "put off until 2026-02-20" in bot.told(LIN)
    bot.slack.open_home(LIN)
    bot.slack.wait_for(lambda: "Open in your code: 2" in str(bot.slack.home(LIN)))
    told = bot.press(ADA, start.ts, "dismiss_break")
    assert "No concern here: \nengine.core.start" in told
    assert "engine.core.start" in struck(bot.root) or bot.sees("no concern here")
    assert "plug/run.py:10" in struck(bot.root)
    undo = bot.slack.private(ADA, DIGEST)[-1].ts
    bot.slack.command(ADA, DIGEST, "2026-02-05")
    shown = bot.slack.wait_for(
        lambda: [each for each in bot.slack.private(ADA, DIGEST) if "show_rest" in buttons(each)]
    )
    assert "plug/run.py:1" in whole(shown[-1])
    assert "plug/run.py:10" not in whole(shown[-1])
    assert "1 name of no concern here" in whole(shown[-1])
    bot.press(ADA, undo, "reopen_break")
    bot.slack.wait_for(lambda: "no concern here" not in bot.said)
    assert struck(bot.root) == ""
    assert "/archives/" in str(bot.root.blocks)
    assert len(digest(bot.slack)) == count


def test_a_message_says_why_it_is_there(bot: Bot) -> None:
    """The menus of a digest, of a commit in its thread and of a week name the subscription, option, watch, downstream code or
    rule that brought the message, and the command that changes just that.
    """
    root, stop, *_ = digest(bot.slack)
    told = bot.press(ADA, root.ts, "why_here").replace("\n", "")
    assert "This channel subscribes to o/n, daily at 09:00 UTC" in told
    assert "/vllm-digest unsubscribe o/n" in told
    assert "What breaks this code comes first: o/plug" in told
    assert "/vllm-digest subscribe o/n downstream none" in told
    told = bot.press(ADA, stop.ts, "why_here").replace("\n", "")
    assert "It breaks o/plug, which uses engine.core.stop (plug/run.py)" in told
    assert "It touches what this channel watches: stop" in told
    assert "/vllm-digest subscribe o/n watch none" in told
    bot.slack.command(ADA, DIGEST, "week")
    shown = bot.slack.wait_for(lambda: [each for each in bot.slack.private(ADA, DIGEST) if "why_here" in buttons(each)])
    assert "Somebody asked for it" in bot.press(ADA, shown[-1].ts, "why_here")
