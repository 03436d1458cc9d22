"""Bots in processes of their own whose time is set from outside, so that days pass at speed, and what they need meanwhile."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

from bot.bootstrap import Start, running_bot
from bot.settings import Settings
from bot.slack.outbox import Pace
from loopback.slack import LoopbackSlack
from tests.bench.processes import processor_seconds
from tests.servers.clock import SettableClock

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = timedelta(seconds=0.5)


class ReplayedBot:
    """A bot in another process, by the loopback Slack's tokens."""

    def __init__(self, settings: dict[str, Any], now: datetime, pace: Pace, *, listens: bool) -> None:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_run, args=(theirs, settings, now, pace, listens), daemon=True)
        self._process.start()
        theirs.close()
        self._line.recv()

    def ask(self, *what: Any) -> float:
        """Set the time, or tidy up; return the seconds that took."""
        self._line.send(what)
        seconds: float = self._line.recv()
        return seconds

    @property
    def memory(self) -> int:
        """Resident memory in bytes."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]) * _PAGE

    @property
    def threads(self) -> int:
        return len(list(Path(f"/proc/{self._process.pid}/task").iterdir()))

    @property
    def used(self) -> float:
        """Processor time in seconds."""
        return processor_seconds(self._process.pid or 0)

    def end(self) -> None:
        self._process.kill()
        self._process.join()


@contextmanager
def replayed(
    slack: LoopbackSlack, github: str, url: str, now: datetime, pace: Pace, count: int = 1
) -> Iterator[Sequence[ReplayedBot]]:
    """So many bots on the database `url`, of which the first is connected, until the block ends: they are killed then."""
    settings = {
        "slack_bot_token": slack.bot_token,
        "slack_app_token": slack.app_token,
        "slack_api_url": slack.url,
        "github_api_url": github,
        "database_url": url,
        "digest_mirrors": None,
        "digest_timezone": "UTC",
        "digest_language": "en",
        "log_level": "error",
    }
    bots: list[ReplayedBot] = []
    try:
        bots.extend(ReplayedBot(settings, now, pace, listens=number == 0) for number in range(count))
        yield bots
    finally:
        for bot in bots:
            bot.end()


def _run(line: "Connection[Any, Any]", settings: dict[str, Any], now: datetime, pace: Pace, listens: bool) -> None:
    clock = SettableClock(now)
    start = Start(listens=listens, tick=_TICK, pace=pace)
    with running_bot(Settings(_env_file=None, **settings), clock, start) as flows:
        line.send(0.0)
        while True:
            what, *arguments = line.recv()
            began = perf_counter()
            if what == "set":
                clock.set(*arguments)
            else:
                flows.forget_old()
            line.send(perf_counter() - began)
