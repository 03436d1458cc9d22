"""Work that is started and done for all processes of a bot: by one of them at a time, whichever it is."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier, Event
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.flows import delivery_share
from bot.models.deliveries import Delivery
from bot.scheduler import by_one_process, start_due
from bot.services.factory import Services
from bot.services.reader import Access, Reader
from bot.store import Store, Subscriptions, Terms, open_engine
from tests.servers.github import FaultyGitHub

N = Repository(owner="o", name="n")
TUESDAY = datetime(2026, 2, 10, 12, tzinfo=UTC)


class Process:
    """A store of its own on the shared database, and what it started."""

    def __init__(self, database_url: str, reader: Reader) -> None:
        engine = open_engine(database_url)
        self.store, self.subscriptions = Store(engine), Subscriptions(engine)
        self.started: list[Delivery] = []
        self._reader = reader

    def tick(self) -> None:
        """Looks for what is due, as the scheduler does."""
        by_one_process(
            "scheduled start_due",
            lambda: start_due(self.subscriptions, self._reader, self.started.append, TUESDAY),
            self.store.locks,
        )()


@pytest.fixture
def reader(serve: Callable[..., FaultyGitHub], services: Callable[..., Services]) -> Reader:
    found = services(serve())
    return Reader(found.digests, found.commits, lambda: [N], Access({}, found.github.is_public, lambda: TUESDAY))


@pytest.fixture
def processes(database_url: str, reader: Reader) -> Iterator[list[Process]]:
    """Two processes on PostgreSQL; on SQLite, which has one, that one twice."""
    one = Process(database_url, reader)
    other = Process(database_url, reader) if database_url.startswith("postgresql") else one
    yield [one, other]
    for each in (one, other):
        each.store.close()


def test_what_is_due_is_started_once_by_processes_that_look_at_once(processes: list[Process]) -> None:
    """Three missed days and a week of each of four channels are started, in their order, once over both processes."""
    channels = [f"C{number}" for number in range(4)]
    for channel in channels:
        terms = Terms(channel, N, time(9), ZoneInfo("UTC"), "en", weekly="mon")
        processes[0].subscriptions.keep(terms, TUESDAY - timedelta(days=20))
    ready = Barrier(4)

    def tick(number: int) -> None:
        ready.wait()
        processes[number % 2].tick()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(tick, range(4)))
    started = [each for process in set(processes) for each in process.started]
    for channel in channels:
        mine = [each.what for each in started if each.channel == channel]
        assert len(mine) == len(set(mine)) == 4
    assert {each.started_to for each in processes[1].subscriptions.all()} == {date(2026, 2, 9)}
    assert {each.weekly_to for each in processes[1].subscriptions.all()} == {date(2026, 2, 9)}


def test_what_one_process_does_another_leaves_to_it(processes: list[Process]) -> None:
    """While a daily job runs in a process another one leaves it out, and does it when that is free again."""
    busy, go = Event(), Event()
    done: list[str] = []

    def slow() -> None:
        busy.set()
        go.wait(60)
        done.append("slow")

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(by_one_process("tidy", slow, processes[0].store.locks))
        busy.wait(60)
        for each in processes:
            by_one_process("tidy", lambda: done.append("beside"), each.store.locks)()
        go.set()
        first.result()
    by_one_process("tidy", lambda: done.append("after"), processes[1].store.locks)()
    assert done == ["slow", "after"]


@pytest.mark.parametrize(
    ("channels", "processes", "share"), [(20, 2, 10), (21, 4, 6), (3, 4, 4), (10_000, 4, 64), (3, 1, 64)]
)
def test_each_process_takes_its_share_of_the_channels_that_wait(channels: int, processes: int, share: int) -> None:
    """No process takes more than its share, nor more than its threads can serve; few channels wait for nobody."""
    assert delivery_share(channels, processes) == share
