"""A year's use of one bot on SQLite: a large store, many subscriptions, and a month of their digests replayed at speed.

Slack keeps no pace and GitHub is asked for nothing: what is measured is the bot's own memory, its files and their tidying.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.slack.outbox import AT_ONCE
from bot.store import Store, Subscriptions, Terms, open_engine
from bot.store.flow_tables import FlowTables, flow_tables
from bot.store.lease import flows_url
from loopback.slack import LoopbackSlack
from tests.bench.figures import MB, Row, duration
from tests.bench.real_diffs import real_day
from tests.bench.replayed import replayed
from tests.bench.served import NAME, served
from tests.bench.stored_commits import day_of, fill, words_of

_AT = time(9)
_ZONE = ZoneInfo("UTC")
_DAY = timedelta(days=1)
_KEPT = timedelta(days=31)  # after which flows are deleted
_PATIENCE = 3600  # seconds
_GROWTH = 0.1  # of the memory after a fifth of the days
_TIDY = 60.0  # seconds


def year(*, commits: int = 100_000, subscriptions: int = 500, days: int = 30, real: int = 500) -> Iterator[Row]:
    """Deliver so many days to so many channels from a store of so many commits, then delete what is old."""
    channels = [f"C0YEAR{number:04}" for number in range(subscriptions)]
    first = datetime.combine(day_of(commits), time(), UTC) - (days + 1) * _DAY  # the last day of the store is not over
    with TemporaryDirectory() as name, LoopbackSlack(pace=False) as slack, served({NAME: []}) as github:
        url = f"sqlite:///{name}/digest.db"
        _prepare(url, commits, real, channels, first)
        for channel in channels:
            slack.workspace.add_channel(channel.lower(), channel, members=["U0ADA", "U0BOT"])
        engine = open_engine(url)
        with replayed(slack, github.url, url, first, AT_ONCE) as (bot,), flow_tables(flows_url(url)) as flows:
            memory, seconds = [], []
            for number in range(1, days + 1):
                began = perf_counter()
                bot.ask("set", first + number * _DAY + timedelta(hours=_AT.hour, minutes=1))
                now = first + number * _DAY
                slack.wait_for(lambda now=now: _delivered(Subscriptions(engine), flows, now), _PATIENCE)  # type: ignore[misc]
                seconds.append(perf_counter() - began)
                memory.append(bot.memory)
                slack.calls.clear()
            sizes = _sizes(Path(name))
            bot.ask("set", datetime.now(UTC) + _KEPT)  # of the engine, whose times are the machine's
            tidied = bot.ask("tidy")
        engine.dispose()
        yield from _told(memory, seconds, subscriptions)
        yield Row(
            f"  the store of {commits:,} commits, and the flows", " and ".join(f"{each / MB:.0f} MB" for each in sizes)
        )
        yield Row(
            f"  deleting {days * subscriptions:,} deliveries that are a month old",
            duration(tidied),
            aim=f"< {duration(_TIDY)}",
            met=tidied < _TIDY,
            measured=True,
        )


def _prepare(url: str, commits: int, real: int, channels: Sequence[str], first: datetime) -> None:
    engine = open_engine(url)
    fill(engine, words_of(real_day(first.date(), real).commits), commits)
    subscriptions = Subscriptions(engine)
    for channel in channels:
        subscriptions.keep(Terms(channel, Repository.parse(NAME), _AT, _ZONE, "en"), first + timedelta(hours=12))
    Store(engine).close()
    engine.dispose()


def _delivered(subscriptions: Subscriptions, flows: FlowTables, now: datetime) -> bool:
    """Whether every digest of the day before has begun, and nothing waits any more."""
    if flows.in_flight():
        return False
    return all(each.started_to == (now - _DAY).date() for each in subscriptions.all())


def _told(memory: Sequence[int], seconds: Sequence[float], subscriptions: int) -> Iterator[Row]:
    settled, last = memory[len(memory) // 5], memory[-1]
    yield Row(
        f"{len(memory)} days of {subscriptions} digests: memory at the end",
        f"{last / MB:.0f} MB",
        f"after {len(memory) // 5 + 1} days: {settled / MB:.0f} MB",
        aim=f"<= {100 * _GROWTH:.0f}% more",
        met=last <= (1 + _GROWTH) * settled,
        measured=True,
    )
    yield Row("  a day, the first and the last", f"{duration(seconds[0])} and {duration(seconds[-1])}")


def _sizes(folder: Path) -> tuple[int, int]:
    """Return the bytes of the store and of the engine's tables, with their logs."""

    def total(stem: str) -> int:
        return sum(each.stat().st_size for each in folder.glob(f"{stem}.db*"))

    return total("digest"), total("digest-flows")
