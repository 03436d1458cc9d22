"""A day of 45 commits analysed by a model that takes two seconds a call, beside the least that can take; and what it reads."""

import json
import math
import resource
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

from analysis.diff import excerpt, tokens
from analysis.github import GitHub
from analysis.llm import ChatModel
from analysis.models import Repository
from bot.analysing import Modelling
from bot.digest import Desk, digest
from bot.store import Store, open_engine
from tests.bench.figures import MB, Row, duration
from tests.bench.generated import Writer
from tests.bench.served import NAME, Served, served
from tests.servers.chat import ScriptedChat

_COMMITS = 45
_LATENCY = 0.08  # seconds a GitHub request
_CALL = 2.0  # seconds a model call
_AT_ONCE = 8
_PAIRS = 3
_AIM = 1.05
_DAY = date(2026, 2, 5)
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_REPOSITORY = Repository.parse(NAME)
_ROOM = 900  # tokens of reply a commit, as measured for the reference's depth
_PRICED = "gpt-4o-mini"


def asking_a_model() -> Iterator[Row]:
    """Eight calls at once against one after the other, as the baseline has them; calls, tokens, price and memory."""
    commits = Writer(1).days(_DAY, 1, _COMMITS)
    limit = math.ceil(_COMMITS / _AT_ONCE) * _CALL + 1
    with served({NAME: commits}, _LATENCY) as server, ScriptedChat(_slow) as chat:
        _day(server, None, 1)  # the secret scanner compiles its rules when it is first used
        runs = [_day(server, chat, _AT_ONCE) for _ in range(_PAIRS)]
        calls = len(chat.requests) / _PAIRS
        alone = _day(server, chat, 1)
        seconds = median(runs)
        yield Row(
            f"{_COMMITS} commits, {_CALL:.0f} s a call, {_AT_ONCE} at once",
            f"{duration(seconds)} = {seconds / limit:.3f} x limit",
            f"one call after the other: {duration(alone)}, x {alone / seconds:.1f}",
            f"{duration(limit)}: ceil({_COMMITS}/{_AT_ONCE}) x {_CALL:.0f} s + 1 s",
            f"<= {_AIM}",
            seconds / limit <= _AIM,
        )
        yield Row("  model calls", f"{calls:g}", limit=str(_COMMITS), aim=str(_COMMITS), met=calls == _COMMITS)
        sent = sum(
            tokens(str(message["content"])) for request in chat.requests[:_COMMITS] for message in request["messages"]
        )
        yield from _prices(server, sent)
    yield Row(
        "  peak memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB:.0f} MB"
    )


def _prices(server: Served, sent: int) -> Iterator[Row]:
    """The day's prompts with our excerpts, and at equal depth with whole diffs."""
    with TemporaryDirectory() as folder:
        store = Store(open_engine(f"sqlite:///{Path(folder, 'digest.db')}"))
        desk = Desk(GitHub(server.url, None), store)
        report = digest(desk, _REPOSITORY, _DAY, ZoneInfo("UTC"), "zh", now=_NOW)
        ids = [commit_id for entry in report.entries for _, commit_id in store.with_sha(entry.commit.sha)]
        stored = store.commits(ids, patches=True)
        whole = sum(excerpt(each.commit, 10_000_000).tokens for each in stored)
        budgets = {"high": 12_000, "medium": 6_000, "low": 2_000}
        shown = sum(
            excerpt(each.commit, budgets[entry.ranked.importance]).tokens
            for each, entry in zip(stored, report.entries, strict=True)
        )
        store.close()
        desk.github.close()
    model = ChatModel(_PRICED, api_key="none")
    ours, all_of_it = (model.cost(read, _COMMITS * _ROOM) for read in (sent, sent - shown + whole))
    model.close()
    yield Row(
        f"  tokens in, estimated; price with {_PRICED}",
        f"{sent:,}; ${ours:.4f}",
        f"whole diffs: {sent - shown + whole:,}; ${all_of_it:.4f}; x {(all_of_it or 0) / (ours or 1):.2f}",
    )


def _slow(request: dict[str, Any]) -> str:
    time.sleep(_CALL)
    insight = dict.fromkeys(
        ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
    )
    reply = {
        "summary": "改动了一处实现。",
        "scope": [],
        "insight": insight,
        "risks": [],
        "advice": [],
        "move": "keep",
        "move_reason": "",
    }
    return json.dumps(reply, ensure_ascii=False)


def _day(server: Served, chat: ScriptedChat | None, at_once: int) -> float:
    """Seconds from an empty store to the report."""
    model = ChatModel("scripted", base_url=chat.url, api_key="none") if chat else None
    with TemporaryDirectory() as folder:
        store = Store(open_engine(f"sqlite:///{Path(folder, 'digest.db')}"))
        desk = Desk(GitHub(server.url, None), store, Modelling(model, at_once, 2.0, lambda: _NOW) if model else None)
        began = perf_counter()
        report = digest(desk, _REPOSITORY, _DAY, ZoneInfo("UTC"), "zh", now=_NOW)
        seconds = perf_counter() - began
        store.close()
        desk.github.close()
    if model:
        model.close()
        if report.coverage.analysed != _COMMITS:
            raise RuntimeError(f"{report.coverage.analysed} commits analysed by the model")
    return seconds
