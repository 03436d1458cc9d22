"""The same nine o'clock for a thousand subscriptions on PostgreSQL, by one, two and four processes, and what a second one gains."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import NamedTuple

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from bot.store import open_engine
from bot.store.executors import Executors
from loopback.slack import LoopbackSlack
from tests.bench.bots import bot_at_work
from tests.bench.figures import Row, duration
from tests.bench.generated import Writer
from tests.bench.morning import arrived, reports, subscribe
from tests.bench.replies import after
from tests.bench.served import served
from tests.servers.chat import ScriptedChat
from tests.servers.postgresql import new_postgresql_database

_DAY = timedelta(days=1)
_SAMPLING = 0.25  # seconds between two looks at the database's sessions
_PATIENCE = 3600  # seconds
_SESSIONS = (
    "SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock') FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid != pg_backend_pid()"
)


class _Load(NamedTuple):
    """Repositories with so many commits each, channels, their subscriptions, and model calls at once over all processes."""

    repositories: int
    commits: int
    channels: int
    subscriptions: int
    at_once: int
    call: float  # seconds that the model takes


class _Done(NamedTuple):
    """A morning: its row, the seconds until the last analysis, connections at most, and the share of looks at which one waited."""

    row: Row
    analysed: float
    connections: int
    waiting: float
    calls: int
    wrong: int


def morning_together(
    *,
    processes: Sequence[int] = (1, 2, 4),
    repositories: int = 20,
    commits: int = 3,
    channels: int = 400,
    subscriptions: int = 1000,
    analysed: int = 40,
    at_once: int = 64,
    call: float = 2.0,
) -> Iterator[Row]:
    """Digests due at once, delivered by so many processes; then days of `analysed` commits, if any, by one and two."""
    load = _Load(repositories, commits, channels, subscriptions, at_once, call)
    for count in processes:
        done = _morning(load, count)
        yield done.row
        wanted = load.repositories * load.commits
        yield Row("  each commit analysed once", f"{done.calls} calls", aim=f"{wanted}", met=done.calls == wanted)
        yield Row("  connections at most", str(done.connections), f"a lock waited for in {done.waiting:.1%} of looks")
        yield Row("  refusals, breaches of Slack's limits", str(done.wrong), aim="0", met=not done.wrong)
    if not analysed:
        return
    few = _Load(repositories, analysed, repositories, repositories, at_once, call)
    seconds = {count: _morning(few, count).analysed for count in (1, 2)}
    limit = repositories * analysed / max(1, at_once - at_once // 4) * call
    yield Row(
        f"{repositories * analysed} analyses by two processes",
        f"{duration(seconds[2])} (x {seconds[1] / seconds[2]:.2f})",
        f"by one: {duration(seconds[1])}",
        f"the model alone: about {duration(limit)}",
        "x 1.9",
        seconds[1] / seconds[2] >= 1.9,
        measured=True,
    )


def _morning(load: _Load, processes: int) -> _Done:
    names = [f"lantern/part-{number}" for number in range(load.repositories)]
    teams = [f"C0TEAM{number:03}" for number in range(load.channels)]
    now = datetime.now(UTC)
    ends: list[float] = []
    with (
        new_postgresql_database() as url,
        TemporaryDirectory() as folder,
        LoopbackSlack() as slack,
        ScriptedChat(after(load.call)) as chat,
    ):
        for team in teams:
            slack.workspace.add_channel(team.lower(), team, members=["U0ADA", "U0BOT"])
        histories = {name: Writer(seed).days(now.date() - _DAY, 1, load.commits) for seed, name in enumerate(names)}
        settings = {"DATABASE_URL": url, "DIGEST_REPOS": names[0], "DIGEST_CONCURRENCY": str(load.at_once)}
        wanted = load.repositories * load.commits
        with served(histories, 0.05) as github, _watched(url) as sessions:
            with bot_at_work(slack, github.url, chat.url, Path(folder), workers=processes - 1, **settings):
                slack.wait_for(lambda: _living(url) == processes, _PATIENCE)
                began = time.perf_counter()
                subscribe(url, names, teams, load.subscriptions, now)
                slack.wait_for(lambda: len(chat.requests) >= wanted, _PATIENCE)
                ends.append(time.perf_counter() - began + load.call)
                slack.wait_for(lambda: reports(slack, teams) == load.subscriptions, _PATIENCE)
            seconds = time.perf_counter() - began
            row = arrived(
                slack,
                teams,
                load.subscriptions,
                seconds,
                f", {processes} processes" if processes > 1 else ", 1 process",
            )
            calls = len(chat.requests)
        wrong = len(slack.refusals) + len(slack.breaches)
    waited = sum(bool(waiting) for _, waiting in sessions) / max(1, len(sessions))
    return _Done(row, ends[0], max(count for count, _ in sessions), waited, calls, wrong)


def _living(url: str) -> int:
    engine = open_engine(url)
    try:
        return len(Executors(engine).living())
    finally:
        engine.dispose()


@contextmanager
def _watched(url: str) -> Iterator[list[tuple[int, int]]]:
    """Look at the database's sessions until the block ends; yield how many there were, and how many waited for a lock."""
    found: list[tuple[int, int]] = [(0, 0)]
    ended = Event()
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")

    def look() -> None:
        with engine.connect() as connection:
            while not ended.wait(_SAMPLING):
                row = connection.exec_driver_sql(_SESSIONS).one()
                found.append((row[0], row[1]))

    with ThreadPoolExecutor(1) as executor:
        looking = executor.submit(look)
        try:
            yield found
        finally:
            ended.set()
            looking.result()
