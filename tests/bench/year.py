"""A year's use of one bot on SQLite: a large store, many subscriptions, and a month of their digests.

Those of some channels are delivered for real, at speed; those of the others are copies of their rows. Slack keeps no pace and
GitHub is asked for nothing: what is measured is the bot's own memory, its files and their tidying.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from sqlalchemy import delete, update

from analysis.models import Repository
from analysis.search.words import VERSION
from bot.slack.outbox import AT_ONCE
from bot.store import Store, Subscriptions, Terms, open_engine, schema
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
_PATIENCE = 600  # seconds
_GROWTH = 0.1  # of the memory after a fifth of the days
_TIDY = 60.0  # seconds
_OF_STORE, _OF_FLOWS = (  # tables with rows of a delivery
    ("outbox", "threads", "turns"),
    ("workflow_status", "workflow_input", "workflow_output", "operation_outputs"),
)


def year(
    *, commits: int = 100_000, subscriptions: int = 500, replayed_ones: int = 10, days: int = 30, real: int = 500
) -> Iterator[Row]:
    """Deliver so many days to some of so many channels from a store of so many commits, then one day beside all rows, and delete what is old."""
    channels = [f"C0YEAR{number:04}" for number in range(replayed_ones)]
    first = datetime.combine(day_of(commits), time(), UTC) - (days + 2) * _DAY  # the last day of the store is not over
    with TemporaryDirectory() as name, LoopbackSlack(pace=False) as slack, served({NAME: []}) as github:
        url = f"sqlite:///{name}/digest.db"
        _prepare(url, commits, real, channels, first)
        for channel in channels:
            slack.workspace.add_channel(channel.lower(), channel, members=["U0ADA", "U0BOT"])
        engine = open_engine(url)
        with replayed(slack, github.url, url, first, AT_ONCE) as (bot,), flow_tables(flows_url(url)) as flows:
            memory, used = [], []

            def deliver(number: int) -> None:
                before, now = bot.used, first + number * _DAY
                bot.ask("set", now + timedelta(hours=_AT.hour, minutes=1))
                slack.wait_for(lambda: _delivered(Subscriptions(engine), flows, now), _PATIENCE)
                used.append((bot.used - before) / replayed_ones)
                memory.append(bot.memory)
                slack.calls.clear()

            for number in range(1, days + 1):
                deliver(number)
            _multiply(Path(name), subscriptions // replayed_ones, (first + days * _DAY).date())
            deliver(days + 1)
            stems = ("digest", "digest-flows")  # with their logs
            sizes = [sum(each.stat().st_size for each in Path(name).glob(f"{stem}.db*")) for stem in stems]
            with engine.begin() as connection:
                connection.execute(delete(schema.subscriptions))  # nothing is due while it tidies up
            bot.ask("set", datetime.now(UTC) + _KEPT)  # of the engine, whose times are the machine's
            tidied = bot.ask("tidy")
        engine.dispose()
        yield from _told(memory, used, days)
        yield Row(
            f"  the store of {commits:,} commits, unindexed, and the flows",
            " and ".join(f"{each / MB:.0f} MB" for each in sizes),
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
    with engine.begin() as connection:  # `store` tells what indexing takes, which would go on meanwhile
        connection.execute(update(schema.commits).values(words_version=VERSION))
    subscriptions = Subscriptions(engine)
    for channel in channels:
        subscriptions.keep(Terms(channel, Repository.parse(NAME), _AT, _ZONE, "en"), first + timedelta(hours=12))
    Store(engine).close()
    engine.dispose()


def _multiply(folder: Path, times: int, delivered: date) -> None:
    """Copy the rows of all deliveries for so many channels more, which have all until the day `delivered`."""
    for file, tables in (("digest.db", (*_OF_STORE, "subscriptions")), ("digest-flows.db", _OF_FLOWS)):
        with closing(sqlite3.connect(folder / file)) as connection, connection:
            for table in tables:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                copied = {each: f"replace({each}, 'C0YEAR', 'C' || :copy || 'YEAR')" for each in columns}
                if table == "subscriptions":
                    copied |= {"id": "NULL", "started_to": f"'{delivered}'"}
                found = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0]  # of those delivered
                query = f"INSERT OR IGNORE INTO {table} SELECT {', '.join(copied.values())} FROM {table} WHERE rowid <= {found}"
                connection.executemany(query, [{"copy": copy} for copy in range(1, times)])


def _delivered(subscriptions: Subscriptions, flows: FlowTables, now: datetime) -> bool:
    """Whether every digest of the day before has begun, and nothing waits any more."""
    if flows.in_flight():
        return False
    return all(each.started_to == (now - _DAY).date() for each in subscriptions.all())


def _told(memory: Sequence[int], used: Sequence[float], days: int) -> Iterator[Row]:
    settled, last = memory[days // 5], memory[-1]
    yield Row(
        f"{days} days of digests, and one beside all rows: memory at the end",
        f"{last / MB:.0f} MB",
        f"after {days // 5 + 1} days: {settled / MB:.0f} MB",
        aim=f"<= {100 * _GROWTH:.0f}% more",
        met=last <= (1 + _GROWTH) * settled,
        measured=True,
    )
    yield Row(
        "  processor time of a digest: the first day, and beside all rows",
        f"{duration(used[0])} and {duration(used[-1])}",
    )
