"""A month of breaks replayed: an upstream repository and a plug-in of it on a git server, and a channel that follows both."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.models import Repository
from loopback.slack import LoopbackSlack, Message
from tests.bot.slack.delivery.test_life_of_breaks import SOON
from tests.bot.slack.delivery.test_watched import subscribe
from tests.servers.bare import BareRepository, GitServer
from tests.servers.clock import SettableClock
from tests.servers.place import two_channels
from tests.servers.running import bot_running, buttons, posted, press, stored
from tests.servers.talk import ADA, LIN

CHANNEL = "C0DIGEST"
PARTS = frozenset(range(1, 8))
# What each commit at noon of a day does: upstream removes parts or takes its removal back, or the plug-in does without some.
HISTORY = {
    9: ("remove", {1}),
    10: ("remove", {2}),
    11: ("adapt", {1}),
    12: ("remove", {3, 4}),
    13: ("adapt", {3}),
    16: ("remove", {5}),
    17: ("restore", {2}),
    18: ("remove", {6}),
    19: ("adapt", {4, 5}),
    23: ("remove", {7}),
    25: ("restore", {6}),
}
# What the first messages say by the next morning of the removals, each named by the first of its parts.
SAID = {
    10: {1: "open"},
    11: {1: "open", 2: "open"},
    12: {1: "adapted", 2: "taken"},
    13: {1: "adapted", 2: "taken", 3: "open"},
    14: {1: "adapted", 2: "taken", 3: "1 of 2"},
    17: {1: "adapted", 2: "taken", 3: "1 of 2", 5: "open"},
    18: {1: "adapted", 2: "undone", 3: "1 of 2", 5: "open"},
    19: {1: "adapted", 2: "undone", 3: "1 of 2", 5: "open", 6: "open"},
    20: {1: "adapted", 2: "undone", 3: "adapted", 5: "adapted", 6: "open"},
    22: {1: "adapted", 2: "undone", 3: "adapted", 5: "adapted", 6: "open"},
    24: {1: "adapted", 2: "undone", 3: "adapted", 5: "adapted", 6: "open", 7: "open"},
    25: {1: "adapted", 2: "undone", 3: "adapted", 5: "adapted", 6: "open", 7: "put off"},
    26: {1: "adapted", 2: "undone", 3: "adapted", 5: "adapted", 6: "undone", 7: "open"},
}
# A line is struck once its code is no more, or fits again.
MARKS = {
    "reverted by": "undone",
    "adapted by": "adapted",
    "1 of 2 adapted": "1 of 2",
    "put off until": "put off",
    "🙋": "taken",
}


class Month(NamedTuple):
    slack: LoopbackSlack
    clock: SettableClock
    folder: Path
    upstream: BareRepository
    plugin: BareRepository

    def begin(self) -> None:
        self._commit(self.upstream, {"engine/__init__.py": b"", "engine/core.py": core(PARTS)}, "Begin", 5)
        self._commit(self.plugin, users(PARTS), "Begin", 5)

    def replay(self, day: int) -> None:
        """Commit what happened on a day, if anything did."""
        what, parts = HISTORY.get(day, ("", set()))
        done = {each: set[int]() for each in ("remove", "restore", "adapt")}
        for then in range(day + 1):
            past, theirs = HISTORY.get(then, ("remove", set()))
            done[past] |= theirs
        title = f"[Core] Remove {' and '.join(f'part{each}' for each in sorted(parts))}"
        if what == "adapt":
            self._commit(self.plugin, users(PARTS - done["adapt"]), "Follow the engine", day)
        elif what:
            number = min(parts) if what == "remove" else min(parts) + 100
            message = f"{title} (#{number})" if what == "remove" else f'Revert "{title} (#{min(parts)})" (#{number})'
            files = {"engine/__init__.py": b"", "engine/core.py": core(PARTS - done["remove"] | done["restore"])}
            self._commit(self.upstream, files, message, day)

    def _commit(self, bare: BareRepository, files: dict[str, bytes], message: str, day: int) -> None:
        parents = bare.git("for-each-ref", "--format=%(objectname)", "refs/heads/main").split()
        bare.commit(
            files, *parents, message=message.encode(), at=int(datetime(2026, 2, day, 12, tzinfo=UTC).timestamp())
        )

    def said(self) -> dict[int, str]:
        """What the first messages say of each removal, under what breaks the channel's code."""
        return {
            int(number[1:]): next((state for mark, state in MARKS.items() if mark in told), "open")
            for message in posted(self.slack, CHANNEL)
            for number, told in rows(message)
        }

    def says(self, expected: dict[int, str]) -> bool:
        return self.said() == expected

    def press(self, user: str, number: int, action: str, value: str | None = None) -> None:
        """Use what the message of a removal in the thread offers."""
        message = self.slack.wait_for(lambda: next(iter(self._offering(number, action)), None))
        name = next(each for each in buttons(message) if each.startswith(action))
        told = len(self.slack.private(user, CHANNEL))
        if value is None:
            press(self.slack, user, CHANNEL, message.ts, name)
        else:
            self.slack.press(user, CHANNEL, message.ts, name, value)
        self.slack.wait_for(lambda: len(self.slack.private(user, CHANNEL)) > told)

    def _offering(self, number: int, action: str) -> list[Message]:
        found = [each for root in posted(self.slack, CHANNEL) for each in self.slack.thread(CHANNEL, root.ts)]
        return [each for each in found if action in str(buttons(each)) and f"plug/use{number}.py" in str(each.blocks)]


def core(parts: frozenset[int] | set[int]) -> bytes:
    return "\n\n\n".join(f"def part{each}():\n    return {each}" for each in sorted(parts)).encode()


def users(parts: frozenset[int] | set[int]) -> dict[str, bytes]:
    text = "from engine.core import part{0}\n\n\ndef use():\n    return part{0}()\n"
    return {"plug/__init__.py": b"", **{f"plug/use{each}.py": text.format(each).encode() for each in sorted(parts)}}


def rows(message: Message) -> Iterator[tuple[str, str]]:
    """The number and the text of each line under what breaks the channel's code."""
    for part in (part for block in message.blocks for part in block.get("elements", ())):
        for row in part.get("elements", ()) if part.get("type") == "rich_text_list" else ():
            pieces = [str(each.get("text", each.get("user_id"))) for each in row["elements"]]
            if any(each.startswith("plug/") for each in pieces):
                is_struck = any(each.get("style", {}).get("strike") for each in row["elements"])
                pieces.append("~" if is_struck else "")
                yield next(each for each in pieces if each.startswith("#")), "".join(pieces)


@pytest.fixture
def month(tmp_path: Path) -> Iterator[Month]:
    clock = SettableClock(datetime(2026, 2, 9, 9, 30, tzinfo=UTC))
    upstream, plugin = (BareRepository(tmp_path / f"{each}.git") for each in ("engine", "plug"))
    with ExitStack() as ending:
        slack = ending.enter_context(two_channels(clock))
        server = ending.enter_context(GitServer({"o/n": upstream, "o/plug": plugin}))
        found = Month(slack, clock, tmp_path, upstream, plugin)
        found.begin()
        subscribe(tmp_path, CHANNEL, downstream=(Repository.parse("o/plug"),))
        running = bot_running(slack, server.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors", edits=SOON)
        ending.enter_context(running)
        yield found


def test_the_first_messages_of_a_month_say_what_became_of_each_break(month: Month) -> None:
    """Every morning each removal is open, taken, put off until its day, adapted in part or whole, or undone, as it then is; all
    that is ever posted are the digests, and in their threads the reverts.
    """
    for day in range(9, 26):
        month.replay(day)
        if day + 1 in SAID:
            month.clock.set(datetime(2026, 2, day + 1, 9, 30, tzinfo=UTC))
            with suppress(TimeoutError):
                month.slack.wait_for(partial(month.says, SAID[day + 1]))
            assert month.said() == SAID[day + 1]
        if day + 1 == 11:
            month.press(ADA, 2, "take_break")
        if day + 1 == 24:
            month.press(LIN, 7, "put_off_break", "2026-02-26")
    keys = [key for (key,) in stored(month.folder, "select key from outbox")]
    assert {key.partition(":")[0] for key in keys} == {"digest", "revert"}
