"""A day of real diffs analysed by a model that takes two seconds a call, beside the least that can take; and what it reads."""

import math
import resource
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from analysis.diff import excerpt, tokens
from analysis.llm import ChatModel
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.models.subjects import DayRef
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.services.limits import MeteredModel
from bot.store import Store, open_engine
from tests.bench.figures import MB, Row, duration
from tests.bench.git_source import git_source
from tests.bench.real_diffs import real_day
from tests.bench.replies import true_reply
from tests.bench.served import NAME, Served, served
from tests.servers.chat import ScriptedChat

_LATENCY = 0.08  # seconds a GitHub request
_AT_ONCE = 8
_AIM = 1.05
_READING = 1.0  # second, until the first commits are read
_DAY = date(2026, 2, 5)
_MIRRORED_DAY = date(2026, 7, 1)  # after all of the history that it is added to
_NOW = datetime(2026, 8, 1, tzinfo=UTC)
_REPOSITORY = Repository.parse(NAME)
_ROOM = 900  # tokens of reply a commit, as measured for the reference's depth
_PRICED = "gpt-4o-mini"


def asking_a_model(*, commits: int = 45, call: float = 2.0, runs: int = 3) -> Iterator[Row]:
    """Eight calls at once beside one after the other; calls, second readings among them, tokens, price and memory."""
    day = real_day(_DAY, commits)
    with (
        served({NAME: day.commits}, _LATENCY) as server,
        ScriptedChat(true_reply, latency=call) as chat,
    ):
        _day(server, commits, None)  # the secret scanner compiles its rules when it is first used
        seconds = median(_day(server, commits, chat) for _ in range(runs))
        readings, calls = len(chat.others["SecondReading"]) / runs, len(chat.calls) / runs
        limit = math.ceil(calls / _AT_ONCE) * call
        yield Row(
            f"{commits} commits, {call:g} s a call, {_AT_ONCE} at once; {day.told}",
            f"{duration(seconds)} = {seconds / limit:.2f} x limit",
            f"one call after the other: {duration(commits * call)} and more, x {commits * call / seconds:.1f}",
            f"{duration(limit)}: ceil({calls:g} calls/{_AT_ONCE}) x {call:g} s",
            f"<= {_AIM} x (limit + {_READING:g} s)",
            seconds <= _AIM * (limit + _READING),
            measured=True,
        )
        least = 2 * readings + bool(chat.others["_Edit"])
        told = f"{least:g}: {readings:g} texts twice, those of low importance as one, and the edit of the day"
        yield Row("  model calls a day", f"{calls:g}", limit=told, aim=f"{least:g}", met=calls == least)
        sent = sum(tokens(str(message["content"])) for request in chat.calls for message in request["messages"]) // runs
        yield _price(server, commits, sent)
        yield _from_mirror(chat, commits, limit, runs)
    yield Row(
        "  peak memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB:.0f} MB"
    )


def _from_mirror(chat: ScriptedChat, commits: int, limit: float, runs: int) -> Row:
    """The same with the day fetched and read by git."""
    with TemporaryDirectory() as name, git_source(Path(name)) as source:
        before, last = source.write_day(_MIRRORED_DAY, commits)
        found = []
        for run in range(runs):
            github, asked = GitHub(source.server.url, None), 0
            mirrors = Mirrors(Path(name, f"mirrors-{run}"), github, None)
            source.publish(before)
            mirrors.updated(_REPOSITORY, create=True)
            source.publish(last)
            asked = len(source.server.requests)
            found.append(_report(github, _MIRRORED_DAY, commits, chat, CommitSources(github, mirrors)))
            asked = sum(".git/" not in path for path, *_ in source.server.requests[asked:])
    seconds = median(found)
    return Row(
        f"  from the mirror; {source.told}",
        f"{duration(seconds)} = {seconds / limit:.2f} x limit",
        f"{asked} requests of the API",
        duration(limit),
        f"<= {_AIM} x (limit + {_READING:g} s)",
        seconds <= _AIM * (limit + _READING),
        measured=True,
    )


def _price(server: Served, commits: int, sent: int) -> Row:
    """The day's prompts with our excerpts, and at equal depth with whole diffs."""
    with TemporaryDirectory() as folder:
        store = Store(open_engine(f"sqlite:///{Path(folder, 'digest.db')}"))
        services = Services(GitHub(server.url, None), store)
        report = services.digests.report(DayRef(_REPOSITORY, _DAY, "UTC", "zh"), _NOW)
        ids = [commit_id for entry in report.entries for _, commit_id in store.with_sha(entry.commit.sha)]
        stored = store.commits(ids, patches=True)
        whole = sum(excerpt(each.commit, 10_000_000).tokens for each in stored)
        budgets = {"high": 12_000, "medium": 6_000, "low": 2_000}
        shown = sum(
            excerpt(each.commit, budgets[entry.ranked.importance]).tokens
            for each, entry in zip(stored, report.entries, strict=True)
        )
        store.close()
        services.github.close()
    model = ChatModel(_PRICED, api_key="none")
    ours, all_of_it = (model.cost(read, commits * _ROOM) for read in (sent, sent - shown + whole))
    model.close()
    return Row(
        f"  tokens in, estimated; price with {_PRICED}",
        f"{sent:,}; ${ours:.4f}",
        f"whole diffs: {sent - shown + whole:,}; ${all_of_it:.4f}; x {(all_of_it or 0) / (ours or 1):.2f}",
    )


def _day(server: Served, commits: int, chat: ScriptedChat | None) -> float:
    """Seconds from an empty store to the report, through the API."""
    return _report(GitHub(server.url, None), _DAY, commits, chat)


def _report(
    github: GitHub, day: date, commits: int, chat: ScriptedChat | None, sources: CommitSources | None = None
) -> float:
    """Seconds from an empty store to the report."""
    model = ChatModel("scripted", base_url=chat.url, api_key="none") if chat else None
    with TemporaryDirectory() as folder:
        store = Store(open_engine(f"sqlite:///{Path(folder, 'digest.db')}"))
        metered = MeteredModel(model, store.spending, lambda: _NOW, at_once=_AT_ONCE, daily_usd=2.0) if model else None
        services = Services(github, store, metered, sources)
        began = perf_counter()
        report = services.digests.report(DayRef(_REPOSITORY, day, "UTC", "zh"), _NOW)
        seconds = perf_counter() - began
        store.close()
        github.close()
    if model:
        model.close()
        if report.coverage.analysed != commits:
            reasons = {each.translated("en") for each in report.coverage.replaced}
            raise RuntimeError(f"{report.coverage.analysed} commits analysed by the model ({'; '.join(reasons)})")
    return seconds
