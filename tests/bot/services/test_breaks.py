"""The life of a break, as the mirror of the downstream repository and the store tell it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from bot.models.subjects import DayRef
from bot.services.breaks import BreakLives
from bot.services.downstream import DownstreamChecks
from bot.services.reader import Access, Reader
from bot.store import BreakState, DownstreamBreak, Subscriptions, Terms
from tests.servers.downstream import DAY, MORNING_AFTER, PLUGIN, UPSTREAM, USES, Pair

CHANNEL = "C0DIGEST"
LOAD, STEP = "engine.core.load", "engine.core.Worker.step"


class Life(NamedTuple):
    """A channel that follows a plug-in, which the day's commit broke."""

    pair: Pair
    lives: BreakLives
    reader: Reader
    subscriptions: Subscriptions
    now: list[datetime]

    def after(self, minutes: int = 11) -> dict[str, tuple[BreakState, str]]:
        """Look at what became of the breaks a little later; return name -> its state and the commit that the state names."""
        self.now[0] += timedelta(minutes=minutes)
        self.lives.refresh(self.reader)
        return {each.name: (each.state, each.by_commit.rpartition("/")[2]) for each in self.held()}

    def held(self) -> list[DownstreamBreak]:
        return self.lives.of_channel(self.reader, CHANNEL)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with ExitStack() as ending:
        pair, now = Pair(tmp_path, ending), [MORNING_AFTER]
        services = pair.services()
        subscriptions = Subscriptions(services.store.database.engine)
        subscriptions.keep(
            Terms(CHANNEL, UPSTREAM, time(9), ZoneInfo("UTC"), "en", downstream=(PLUGIN,)), MORNING_AFTER
        )
        access = Access({}, lambda _: True, lambda: now[0])
        reader = Reader(services.digests, services.commits, lambda: [UPSTREAM], access)
        lives = BreakLives(services.store, subscriptions, services.impacts, lambda: now[0])
        report = reader.report(DayRef(UPSTREAM, DAY, "UTC", "en"), now[0])
        checks = DownstreamChecks(services.impacts, subscriptions, lambda: now[0])
        check = checks.check(reader, CHANNEL, UPSTREAM, report.entries)
        for _ in range(2):  # a delivery that was interrupted finds it again
            lives.keep(CHANNEL, UPSTREAM, check)
        yield Life(pair, lives, reader, subscriptions, now)


def ported(text: str) -> Callable[[Life], str]:
    return lambda life: life.pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": text.encode()}, life.pair.head)


def elsewhere(life: Life) -> str:
    files = {"plugin/__init__.py": b"SIZE = 1\n", "plugin/worker.py": USES}
    return life.pair.commit(files, life.pair.head)


def moved(life: Life) -> str:
    return life.pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": b"# Moved.\n" + USES}, life.pair.head)


TEXT = USES.decode()
WITHOUT_LOAD = TEXT.replace(", load", "").replace('load(tokens, "r")', "tokens")
GUARDED = TEXT.replace(
    "from engine.core import Worker, load",
    "from engine.core import Worker\ntry:\n    from engine.core import load\nexcept ImportError:\n    load = None",
)


@pytest.mark.parametrize(
    ("change", "adapted"),
    [
        (elsewhere, set()),
        (moved, set()),
        (ported(WITHOUT_LOAD), {LOAD}),
        (ported(GUARDED), {LOAD}),
        (ported(WITHOUT_LOAD.replace("(self, tokens)", "(self, tokens, cache=None)")), {LOAD, STEP}),
        (ported("SIZE = 1\n"), {LOAD, STEP}),
    ],
)
def test_a_break_is_adapted_once_the_head_has_the_use_no_more(
    life: Life, change: Callable[[Life], str], adapted: set[str]
) -> None:
    """It is open as long as a line has the use, wherever in the file; when none has, or a guard is round it, it is adapted by the
    commit that changed it. What is adapted stays so.
    """
    assert life.after() == {LOAD: (BreakState.FOUND, ""), STEP: (BreakState.FOUND, "")}
    sha = change(life)
    expected = {each: (BreakState.ADAPTED, sha) if each in adapted else (BreakState.FOUND, "") for each in (LOAD, STEP)}
    assert life.after() == expected
    assert {each.head for each in life.held()} == {sha}
    assert life.after() == expected


def test_a_break_is_adapted_by_the_commit_that_took_its_use_among_many(life: Life) -> None:
    """Of the commits since the last look that changed the file it is the first that has the use no more."""
    files = {"plugin/__init__.py": b"", "plugin/worker.py": WITHOUT_LOAD.encode()}
    by = life.pair.commit(files, elsewhere(life))
    life.pair.commit(files | {"plugin/worker.py": f"# Words.\n{WITHOUT_LOAD}".encode()}, by)
    assert life.after()[LOAD] == (BreakState.ADAPTED, by)


def test_a_use_that_moves_to_another_file_is_followed(life: Life) -> None:
    """It is adapted by the commit that takes it from where it is by then."""
    files = {"plugin/__init__.py": b"", "plugin/worker.py": b"SIZE = 1\n"}
    moving = life.pair.commit(files | {"plugin/runner.py": USES}, life.pair.head)
    assert life.after() == dict.fromkeys((LOAD, STEP), (BreakState.FOUND, ""))
    by = life.pair.commit(files | {"plugin/runner.py": WITHOUT_LOAD.encode()}, moving)
    assert life.after() == {LOAD: (BreakState.ADAPTED, by), STEP: (BreakState.FOUND, "")}


def test_a_rewritten_branch_is_compared_as_it_is(life: Life) -> None:
    """A use that it never had is adapted, by no commit; a channel that follows the code no more has no breaks."""
    life.pair.plugin.commit({"a.py": b"SIZE = 1\n"})
    assert life.after() == dict.fromkeys((LOAD, STEP), (BreakState.ADAPTED, ""))
    [held] = life.subscriptions.of(CHANNEL)
    life.subscriptions.keep(held.terms._replace(downstream=()), life.now[0])
    assert life.after() == {}
