"""Subscriptions that two processes change at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from threading import Barrier
from typing import TypeVar
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)
T = TypeVar("T")


@pytest.fixture
def processes(database_url: str) -> Iterator[list[Subscriptions]]:
    """The subscriptions of two processes on one database."""
    engines = [open_engine(database_url) for _ in range(2)]
    yield [Subscriptions(engine) for engine in engines]
    for engine in engines:
        engine.dispose()


def terms(*paths: str, channel: str = "C0DIGEST") -> Terms:
    return Terms(channel, Repository(owner="o", name="n"), time(9), ZoneInfo("UTC"), "en", paths=paths)


def at_once(processes: list[Subscriptions], do: Callable[[Subscriptions, int], T], count: int = 8) -> list[T]:
    """What threads of both processes get for what they do at the same time."""
    ready = Barrier(count)

    def run(number: int) -> T:
        ready.wait()
        return do(processes[number % 2], number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def test_who_subscribes_at_once_gets_one_subscription(processes: list[Subscriptions]) -> None:
    """Eight people at two processes ask for the same, also where it was cancelled before: all get the one that is new."""
    ended = processes[0].keep(terms(), NOON)
    processes[0].end(ended.id, NOON)
    found = at_once(processes, lambda subscriptions, number: subscriptions.keep(terms(), NOON, f"U{number}"))
    assert {each.id for each in found} == {each.id for each in processes[1].all()}
    assert len(processes[0].all()) == 1
    assert found[0].id != ended.id


def test_of_subscriptions_that_become_the_same_at_once_one_does(processes: list[Subscriptions]) -> None:
    """Of eight that are changed to the same paths one is changed, and the others stay as they are."""
    kept = [processes[0].keep(terms(f"part{number}/"), NOON) for number in range(8)]
    found = at_once(processes, lambda each, number: each.change(kept[number].id, terms("src/"), "U0ADA", NOON))
    assert len([each for each in found if each]) == 1
    paths = {each.terms.paths for each in processes[1].all()}
    assert ("src/",) in paths
    assert len(paths) == 8


def test_what_was_cancelled_meanwhile_is_not_changed(processes: list[Subscriptions]) -> None:
    """Who edits a subscription that somebody else cancels learns that, and it stays cancelled."""
    kept = processes[0].keep(terms(), NOON)
    assert processes[1].end(kept.id, NOON)
    assert processes[0].change(kept.id, terms("src/"), "U0ADA", NOON) is None
    assert processes[0].all() == []


def test_a_cancelled_subscription_is_ended_once(processes: list[Subscriptions]) -> None:
    """Of eight who press the button at the same time one has cancelled it."""
    kept = processes[0].keep(terms(), NOON)
    assert at_once(processes, lambda each, _: each.end(kept.id, NOON)).count(True) == 1


def test_processes_that_start_at_once_subscribe_configured_channels_once(processes: list[Subscriptions]) -> None:
    """The operator's channel is subscribed once; what people subscribed or cancelled is left as they want it."""
    mine, theirs = terms(channel="C0MINE"), terms("src/", channel="C0THEIRS")
    gone = processes[0].keep(terms(channel="C0GONE"), NOON)
    processes[0].end(gone.id, NOON)
    processes[0].keep(theirs, NOON, "U0ADA")
    assert all(at_once(processes, lambda each, _: each.keep_configured(mine, NOON)))
    for channel in ("C0GONE", "C0THEIRS"):
        assert not any(at_once(processes, lambda each, _: each.keep_configured(terms(channel=channel), NOON)))  # noqa: B023 (called at once)
    assert sorted(each.terms.channel for each in processes[1].all()) == ["C0MINE", "C0THEIRS"]


def test_what_was_started_stays_started(processes: list[Subscriptions]) -> None:
    """A process that records an earlier day after another one has recorded a later one takes nothing back."""
    kept = processes[0].keep(terms(), NOON)
    for day in (4, 6, 5):
        processes[day % 2].started(kept.id, date(2026, 2, day))
        processes[day % 2].started_week(kept.id, date(2026, 2, day))
    (found,) = processes[0].all()
    assert (found.started_to, found.weekly_to) == (date(2026, 2, 6), date(2026, 2, 6))
