"""Times until another process goes on with what a killed one had begun.

A digest waits for its model for ever; whoever reads it is killed (SIGKILL), again and again, and the time counts until another
process asks the model. The clock starts at the kill, which comes at a random moment between two looks for dead processes.
BENCH_TAKEOVERS of them are with the usual timing, BENCH_QUICK_TAKEOVERS with a tenth of it.
"""

import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine
from bot.store.executors import TIMING, Timing
from tests.bench.figures import Row, duration, tails
from tests.conftest import recorded
from tests.servers.killed import CHANNELS, Killable, killable, more
from tests.servers.postgresql_server import own_postgresql
from tests.servers.two_days import TENTH

_TOLD = 90.0  # seconds within which the documents say that a killed process's work goes on
_COMMANDS = ("run", "worker", "run")
_SEED = 300


def takeover(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """Kill owners of a flow with either timing."""
    numbers = count()
    with own_postgresql() as server:
        for name, timing, usual in (("BENCH_TAKEOVERS", TIMING, 10), ("BENCH_QUICK_TAKEOVERS", TENTH, 100)):
            if kills := int(settings.get(name, usual)):
                yield _figure(_taken_over(server.new_database(f"takeover_{next(numbers)}"), kills, timing), timing)


def _figure(seconds: list[float], timing: Timing) -> Row:
    limit = _TOLD * (timing.sweep / TIMING.sweep)
    return Row(
        f"{len(seconds)} owners killed, looked for every {duration(timing.sweep.total_seconds())}",
        f"{tails(seconds)}, most {duration(max(seconds))}",
        limit=f"{duration(timing.sweep.total_seconds())} between two looks",
        aim=f"<= {duration(limit)}",
        met=max(seconds) <= limit,
        measured=True,
    )


def _taken_over(database_url: str, kills: int, timing: Timing) -> list[float]:
    """The seconds of each takeover."""
    random = Random(_SEED)
    now = datetime.now(UTC)
    zone = ZoneInfo("UTC" if now.hour < 22 else "Asia/Shanghai")  # in which today does not end soon
    yesterday = now.astimezone(zone) - timedelta(days=1)
    commit = recorded(1, date=yesterday.replace(hour=9).isoformat())
    with (
        TemporaryDirectory() as folder,
        killable(Path(folder), [commit], database_url=database_url, commands=_COMMANDS[:2], timing=timing) as bot,
    ):
        bot.chat.is_silent = True
        engine = open_engine(database_url)
        terms = Terms(CHANNELS[0], Repository.parse("o/n"), yesterday.time().replace(0, 0), zone, "en")
        Subscriptions(engine).keep(terms, yesterday)
        engine.dispose()
        bot.start_all()
        bot.wait_for(lambda: bot.chat.asked)
        return [_take_over(bot, random.uniform(0, timing.sweep.total_seconds())) for _ in range(kills)]


def _take_over(bot: Killable, after: float) -> float:
    """Kill the process that asked the model last, some seconds from now, and wait until another asks."""
    time.sleep(after)
    again = more(lambda: len(bot.chat.asked), 1)
    owner = bot.number_with(bot.chat.askers[-1])
    killed = time.monotonic()
    bot.kill(owner)
    bot.wait_for(again)
    seconds = time.monotonic() - killed
    bot.start_listening(owner)
    return seconds
