"""A month of breaks, replayed in an upstream repository and a plug-in of it on a git server."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from loopback.slack import LoopbackSlack
from tests.bot.slack.delivery.test_breaking_digests import DIGEST, PLUG
from tests.bot.slack.delivery.test_life_of_breaks import SOON, Bot
from tests.bot.slack.delivery.test_watched import subscribe
from tests.servers.bare import BareRepository, GitServer
from tests.servers.clock import SettableClock
from tests.servers.place import two_channels
from tests.servers.running import bot_running, buttons, posted, stored
from tests.servers.talk import ADA, LIN

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
                is_over = said in ("reverted by", "adapted by")
                found[next(each for each in pieces if each.startswith("#"))] = said if is_struck == is_over else "?"
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
