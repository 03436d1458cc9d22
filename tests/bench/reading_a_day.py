"""A day of 45 commits read over a slow line, beside the fewest rounds of requests that it can be read in."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import local
from time import perf_counter
from typing import NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.store import Store, open_engine
from tests.bench.figures import Row, duration, timed
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


def reading_a_day(*, commits: int = 45, pairs: int = 5) -> Iterator[Row]:
    """Pairs of a plain client, which throws away what it is sent, and our reader with an empty store."""
    day = Writer(1).days(_DAY, 1, commits)
    shas = [commit["sha"] for commit in day]
    with served({NAME: day}, _LATENCY) as server:
        _read(server, len(shas), None)  # the secret scanner compiles its rules when it is first used
        for token in (None, "token"):
            yield from _compared(server, shas, pairs, token)


def _compared(server: Served, shas: list[str], pairs: int, token: str | None) -> Iterator[Row]:
    plain, ours = [], []
    for _ in range(pairs):
        plain.append(timed(lambda: _plain(server, shas, _PARALLEL, pulls=bool(token))))
        ours.append(_read(server, len(shas), token))
    alone = timed(lambda: _plain(server, shas, 1, pulls=bool(token)))
    each = 2 if token else 1
    rounds = 1 + math.ceil(len(shas) / _PARALLEL) * each
    limit, read, wanted = rounds * _LATENCY, median(run.read for run in ours), 1 + len(shas) * each
    ratio = median(run.read / seconds for run, seconds in zip(ours, plain, strict=True))
    name = f"{len(shas)} commits at {_LATENCY * 1000:.0f} ms, {'with' if token else 'no'} token"
    yield Row(
        f"{name}: the report",
        f"{duration(read)} = {read / limit:.2f} x limit",
        f"plain client {duration(median(plain))}: x {ratio:.2f} (median of {pairs} pairs)",
        f"{duration(limit)}: {rounds} rounds of {_PARALLEL} requests",
    )
    yield Row(
        "  against one after the other",
        f"x {alone / read:.1f} faster",
        f"plain client, one connection: {duration(alone)}",
        f"x {alone / limit:.1f}",
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


def _plain(server: Served, shas: list[str], parallel: int, *, pulls: bool) -> None:
    """The same requests, as many at once, a connection a thread; what comes is read and thrown away."""
    here = local()
    opened: list[HTTPConnection] = []

    def get(path: str) -> None:
        if not hasattr(here, "connection"):
            here.connection = HTTPConnection(urlsplit(server.url).netloc)
            opened.append(here.connection)
        here.connection.request("GET", f"/repos/{NAME}{path}")
        here.connection.getresponse().read()

    def commit(sha: str) -> None:
        get(f"/commits/{sha}")
        if pulls:
            get(f"/commits/{sha}/pulls")

    get(f"/commits?per_page=100&since={_DAY}T00:00:00Z&until={_DAY}T23:59:59Z")
    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(commit, shas))
    for connection in opened:
        connection.close()
