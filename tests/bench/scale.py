"""A workspace of ten thousand channels by simulation: a morning of a part of them for real, at speed, then what is the first to give way.

Processes on PostgreSQL read a day and deliver it to some channels, without Slack's pace. What a digest asks of Slack, of the database
and of the processors is then set beside what each allows in an hour. A tick of the scheduler runs with all channels.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from time import perf_counter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import Engine, text

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot import logs
from bot.scheduler import start_due
from bot.services.factory import Services
from bot.services.reader import Access, Reader
from bot.slack.outbox import AT_ONCE, SLACKS_PACE
from bot.store import Store, Subscriptions, Terms, open_engine
from bot.store.flow_tables import flow_tables
from bot.store.lease import flows_url
from loopback.slack import LoopbackSlack
from tests.bench.figures import MB, Row, duration
from tests.bench.real_diffs import real_day
from tests.bench.replayed import replayed
from tests.bench.served import NAME, served
from tests.servers.postgresql import new_postgresql_database

_AT = time(9)
_DAY, _HOUR = timedelta(days=1), 3600  # seconds
_DATE = date(2026, 2, 5)
_PATIENCE = 1800  # seconds
_A_DIGEST = 47  # requests of GitHub without a mirror: a day of 45 commits, its list, and whether it is public
_GITHUB = 5_000  # requests an hour with a token
# Calls a minute of a workspace. Slack guarantees at least so many of its tiers 3 and 4 (docs.slack.dev/apis/web-api/rate-limits);
# of messages it names no figure, and the outbox keeps its own.
_TIERS = {
    "chat.update": 50,
    "conversations.info": 50,
    "conversations.open": 50,
    "conversations.history": 50,
} | dict.fromkeys(("files.getUploadURLExternal", "files.completeUploadExternal", "files.info", "users.info"), 100)


class _Morning(NamedTuple):
    """What a morning took: seconds, calls of Slack, processor seconds and threads of each bot, transactions and connections."""

    seconds: float
    calls: Mapping[str, int]
    used: Sequence[float]
    threads: int
    memory: int
    transactions: int
    connections: int


def scale(*, workspace: int = 10_000, channels: int = 400, processes: int = 4, commits: int = 45) -> Iterator[Row]:
    """Deliver to so many channels by so many processes, and work out when a whole workspace gives way."""
    logs.set_up("ERROR", "console")
    now = datetime.combine(_DATE + _DAY, time(), UTC)
    with new_postgresql_database() as url, served({NAME: real_day(_DATE, commits, {}).commits}) as github:
        engine = open_engine(url)
        ticks = _ticks(engine, github.url, workspace, now)
        morning = _morning(url, engine, github.url, _names(channels), now, processes)
        engine.dispose()
    yield Row(
        f"a tick with {workspace:,} subscriptions: none due, and all, without their flows",
        f"{duration(ticks[0])} and {duration(ticks[1])}",
        aim="< 5 s",
        met=ticks[0] < 5,
        measured=True,
    )
    yield from _told(morning, channels, processes)
    yield from _limits(morning, channels, processes, workspace)


def _names(count: int) -> list[str]:
    return [f"C0SCALE{number:05}" for number in range(count)]


def _subscribe(engine: Engine, names: Sequence[str], now: datetime) -> None:
    subscriptions = Subscriptions(engine)
    for name in names:
        subscriptions.keep(Terms(name, Repository.parse(NAME), _AT, ZoneInfo("UTC"), "en"), now - timedelta(hours=12))


def _ticks(engine: Engine, github_url: str, count: int, now: datetime) -> tuple[float, float]:
    """Return the seconds of a look for what is due where nothing is, and where everything is; then forget the subscriptions."""
    _subscribe(engine, _names(count), now)
    store, subscriptions = Store(engine), Subscriptions(engine)
    with closing(GitHub(github_url, None)) as github:
        services = Services(github, store)
        reader = Reader(services.digests, services.commits, list, Access({}, github.is_public, lambda: now))
        seconds = []
        for instant in (now, now + timedelta(hours=10)):
            began = perf_counter()
            start_due(subscriptions, reader, lambda _: None, instant)
            seconds.append(perf_counter() - began)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM subscriptions"))
    return seconds[0], seconds[1]


def _morning(url: str, engine: Engine, github: str, names: Sequence[str], now: datetime, processes: int) -> _Morning:
    with LoopbackSlack(pace=False) as slack:
        for name in names:
            slack.workspace.add_channel(name.lower(), name, members=["U0ADA", "U0BOT"])
        with (
            replayed(slack, github, url, now, AT_ONCE, processes) as bots,
            flow_tables(flows_url(url), engine) as flows,
        ):
            before, threads, connections = [bot.used for bot in bots], 0, 0
            committed = _committed(engine)
            _subscribe(engine, names, now)
            slack.calls.clear()
            began = perf_counter()
            for bot in bots:
                bot.ask("set", now + timedelta(hours=_AT.hour, minutes=1))

            def delivered() -> bool:
                nonlocal threads, connections
                threads = max(threads, *(bot.threads for bot in bots))
                connections = max(connections, _count(engine, "SELECT count(*) FROM pg_stat_activity"))
                begun = all(each.started_to == (now - _DAY).date() for each in Subscriptions(engine).all())
                return begun and not flows.in_flight()

            slack.wait_for(delivered, _PATIENCE)
            return _Morning(
                perf_counter() - began,
                Counter(call.method for call in slack.calls),
                [bot.used - idle for bot, idle in zip(bots, before, strict=True)],
                threads,
                max(bot.memory for bot in bots),
                _committed(engine) - committed,
                connections,
            )


def _committed(engine: Engine) -> int:
    return _count(engine, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")


def _count(engine: Engine, query: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(query)).scalar_one())


def _told(found: _Morning, channels: int, processes: int) -> Iterator[Row]:
    calls = sum(found.calls.values())
    yield Row(
        f"{channels} channels by {processes} processes, no pace",
        f"{duration(found.seconds)}: {calls / found.seconds:.0f} calls of Slack/s",
        f"{sum(found.used) / channels * 1000:.0f} ms of processor and {found.transactions / channels:.0f} transactions a digest",
    )
    yield Row(
        "  at most, of a process",
        f"{found.threads} threads, {found.memory / MB:.0f} MB",
        f"{found.connections} connections of all",
        "256 threads in the service and the image",
        aim="< 256",
        met=found.threads < 256,
        measured=True,
    )
    share = max(found.used) / sum(found.used)
    yield Row("  of the work, the busiest process did", f"{share:.0%}", limit=f"{1 / processes:.0%}")


def _limits(found: _Morning, channels: int, processes: int, workspace: int) -> Iterator[Row]:
    """Yield how long the whole workspace would keep each that limits it, the first to give way first."""
    seconds = {
        f"Slack: {method}, {most} a minute": found.calls[method] / channels * workspace / most * 60
        for method, most in _TIERS.items()
        if found.calls.get(method)
    }
    messages = found.calls.get("chat.postMessage", 0) / channels * workspace
    gap = SLACKS_PACE.workspace.total_seconds()
    seconds[f"Slack: {messages:,.0f} messages, {1 / gap:.0f} a second"] = messages * gap
    seconds[f"processors: {processes} of them"] = sum(found.used) / channels * workspace / processes
    for name, needed in sorted(seconds.items(), key=lambda each: -each[1]):
        most = workspace * _HOUR / needed
        yield Row(
            f"  {workspace:,} channels at nine, by {name}", duration(needed), f"within an hour: {most:,.0f} channels"
        )
    yield Row(
        "  by GitHub, without mirrors", f"{_GITHUB // _A_DIGEST} repositories an hour", "of 45 commits a day each"
    )
