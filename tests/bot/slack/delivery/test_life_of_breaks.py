"""What becomes of a break, as its channel sees it: the first message of its digest is edited, and nothing is posted for it."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from loopback.slack import LoopbackSlack, Message
from tests.bot.slack.delivery.test_breaking_digests import DIGEST, PLUG, UPSTREAM, digest
from tests.bot.slack.delivery.test_watched import subscribe
from tests.servers.bare import BareRepository, GitServer
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.place import OTHER, two_channels
from tests.servers.plugin import plugin, upstream
from tests.servers.running import bot_running, buttons, posted, press, stored, whole
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


PARTS = set(range(1, 8))
# What a commit at noon of a day does, if there is one: upstream removes parts or takes its removal back, or the plug-in does
# without some; and what the first messages newly say the next morning of the removals, each named by its first part.
MONTH: tuple[tuple[int, str, set[int], dict[str, str]], ...] = (
    (9, "remove", {1}, {"#1": ""}),
    (10, "remove", {2}, {"#2": ""}),
    (11, "adapt", {1}, {"#1": "adapted by", "#2": "🙋"}),
    (12, "remove", {3, 4}, {"#3": ""}),
    (13, "adapt", {3}, {"#3": "1 of 2 adapted"}),
    (16, "remove", {5}, {"#5": ""}),
    (17, "restore", {2}, {"#2": "reverted by"}),
    (18, "remove", {6}, {"#6": ""}),
    (19, "adapt", {4, 5}, {"#3": "adapted by", "#5": "adapted by"}),
    (21, "", set(), {}),
    (23, "remove", {7}, {"#7": ""}),
    (24, "", set(), {"#7": "put off until"}),
    (25, "restore", {6}, {"#6": "reverted by", "#7": ""}),
)
MARKS = ("reverted by", "1 of 2 adapted", "adapted by", "put off until", "🙋")


def committed(upstream: BareRepository, plugin: BareRepository, number: int) -> None:
    """Commit what happened in the month, up to one of its rows; before the first what both begin with."""
    day, what, parts, _ = MONTH[number] if number >= 0 else (5, "begin", PARTS, {})
    done = {
        each: {part for _, past, some, _ in MONTH[: number + 1] if past == each for part in some}
        for each in ("remove", "restore", "adapt")
    }
    core = "\n\n\n".join(f"def part{each}(): ..." for each in sorted(PARTS - done["remove"] | done["restore"]))
    use = "from engine.core import part{0}\n\n\ndef use():\n    part{0}()\n"
    users = {f"plug/use{each}.py": use.format(each).encode() for each in PARTS - done["adapt"]}
    engine = {"engine/__init__.py": b"", "engine/core.py": core.encode()}
    title = f"Remove {' and '.join(f'part{each}' for each in sorted(parts))} (#{min(parts, default=0)})"
    message = f'Revert "{title}" (#{100 + min(parts)})' if what == "restore" else title if what == "remove" else "Go on"
    for bare, files in ((upstream, engine), (plugin, {"plug/__init__.py": b"", **users})):
        if what == "begin" or (what and (bare is plugin) == (what == "adapt")):
            parents = bare.git("for-each-ref", "--format=%(objectname)", "refs/heads/main").split()
            at = int(datetime(2026, 2, day, 12, tzinfo=UTC).timestamp())
            bare.commit(files, *parents, message=message.encode(), at=at)


def lives(slack: LoopbackSlack) -> dict[str, str]:
    """What the first messages say of each commit that breaks the code, of which only what is over is struck."""
    found = {}
    for part in (part for each in posted(slack, DIGEST) for block in each.blocks for part in block.get("elements", ())):
        for row in part.get("elements", ()) if part.get("type") == "rich_text_list" else ():
            pieces = [str(each.get("text", "")) for each in row["elements"]]
            if any(each.startswith("plug/") for each in pieces):
                said = next((mark for mark in MARKS if mark in "".join(pieces)), "")
                is_struck = any(each.get("style", {}).get("strike") for each in row["elements"])
                assert is_struck == (said in ("reverted by", "adapted by"))
                found[next(each for each in pieces if each.startswith("#"))] = said
    return found


def test_a_month(tmp_path: Path) -> None:
    """Every morning the first messages say of each removal whether it is open, taken, put off until its day, adapted in part or
    whole, or undone; all that is ever posted are the digests, and in their threads the reverts.
    """
    upstream, plugin = (BareRepository(tmp_path / f"{each}.git") for each in ("engine", "plug"))
    committed(upstream, plugin, -1)
    subscribe(tmp_path, DIGEST, downstream=(PLUG,))
    clock, expected = SettableClock(datetime(2026, 2, 9, 9, 30, tzinfo=UTC)), dict[str, str]()
    with ExitStack() as ending:
        slack = ending.enter_context(two_channels(clock))
        server = ending.enter_context(GitServer({"o/n": upstream, "o/plug": plugin}))
        mirrors = tmp_path / "mirrors"
        ending.enter_context(bot_running(slack, server.url, tmp_path, now=clock, digest_mirrors=mirrors, edits=SOON))
        bot = Bot(slack, server, clock, tmp_path)
        for number, (day, _, _, said) in enumerate(MONTH):
            committed(upstream, plugin, number)
            clock.set(datetime(2026, 2, day + 1, 9, 30, tzinfo=UTC))
            expected.update(said)
            slack.wait_for(lambda: lives(slack) == expected)
            if day == 10:
                bot.press(ADA, *offering(slack, 2, "take_break"))
            if day == 23:
                bot.press(LIN, *offering(slack, 7, "put_off_break"), "2026-02-26")
        keys = [key for (key,) in stored(tmp_path, "select key from outbox")]
        assert {key.partition(":")[0] for key in keys} == {"digest", "revert"}


def offering(slack: LoopbackSlack, part: int, action: str) -> tuple[str, str]:
    """The message in a thread that offers an action for what breaks the use of a part, and the action's name."""

    def found() -> list[tuple[str, str]]:
        shown = [each for root in posted(slack, DIGEST) for each in slack.thread(DIGEST, root.ts)]
        own = (each for each in shown if f"plug/use{part}.py" in str(each.blocks))
        return [(each.ts, name) for each in own for name in buttons(each) if name.startswith(action)]

    return slack.wait_for(found)[0]
