"""A day of 45 commits read over a slow line, beside the fewest rounds of requests that it can be read in."""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.store import Store, open_engine
from tests.bench.figures import Row, duration
from tests.bench.generated import Writer
from tests.bench.served import NAME, Served, served

_LATENCY = 0.08  # seconds a request
_PARALLEL = 8  # as bot.services.digest reads
_DAY = date(2026, 2, 5)
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_TZ = ZoneInfo("UTC")
_REPOSITORY = Repository.parse(NAME)


class _Ours(NamedTuple):
    """Seconds until the day was read, kept, ranked and analysed by rules; requests made."""

    read: float
    requests: int


def reading_a_day(*, commits: int = 45, runs: int = 5) -> Iterator[Row]:
    """Runs of our reader, each with an empty store."""
    day = Writer(1).days(_DAY, 1, commits)
    shas = [commit["sha"] for commit in day]
    with served({NAME: day}, _LATENCY) as server:
        _read(server, len(shas), None)  # the secret scanner compiles its rules when it is first used
        for token in (None, "token"):
            yield from _measured(server, shas, runs, token)


def _measured(server: Served, shas: list[str], runs: int, token: str | None) -> Iterator[Row]:
    ours = [_read(server, len(shas), token) for _ in range(runs)]
    each = 2 if token else 1
    rounds = 1 + math.ceil(len(shas) / _PARALLEL) * each
    limit, read, wanted = rounds * _LATENCY, median(run.read for run in ours), 1 + len(shas) * each
    yield Row(
        f"{len(shas)} commits at {_LATENCY * 1000:.0f} ms, {'with' if token else 'no'} token: the report",
        f"{duration(read)} = {read / limit:.2f} x limit",
        f"median of {runs}",
        f"{duration(limit)}: {rounds} rounds of {_PARALLEL} requests",
    )
    requests = max(run.requests for run in ours)
    yield Row("  requests", str(requests), limit=str(wanted), aim=str(wanted), met=requests == wanted)


def _read(server: Served, commits: int, token: str | None) -> _Ours:
    """Reads the day into an empty store."""
    before = server.asked
    with TemporaryDirectory() as folder:
        store = Store(open_engine(f"sqlite:///{Path(folder, 'digest.db')}"))
        services = Services(GitHub(server.url, token), store)
        began = perf_counter()
        report = services.digests.report(DayRef(_REPOSITORY, _DAY, _TZ.key, "zh"), _NOW)
        read = perf_counter() - began
        store.close()
        services.github.close()
    if report.coverage.by_rules != commits:
        raise RuntimeError(f"{report.coverage.by_rules} commits analysed")
    return _Ours(read, server.asked - before)
