"""The same nine o'clock for many subscriptions: how long until the last message is there, beside what Slack allows.

On SQLite by one process; on PostgreSQL by several, and what a second one gains.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine
from bot.store.executors import Executors
from loopback.slack import LoopbackSlack
from tests.bench.bots import bot_at_work, true_reply
from tests.bench.figures import Row, duration
from tests.bench.processes import processor_seconds
from tests.bench.real_diffs import real_day
from tests.bench.served import served
from tests.servers.chat import ScriptedChat
from tests.servers.postgresql import new_postgresql_database

_DAY = timedelta(days=1)
_A_CHANNEL = 1.0  # seconds between two messages of a channel
_THE_WORKSPACE = 0.06  # seconds between any two messages
_PATIENCE = 3600  # seconds
_AIM = 1.1  # of Slack's limit
_SECOND = 1.7  # times what one process does
_ZONE = ZoneInfo("UTC")


class _Load(NamedTuple):
    """Repositories with so many commits each, channels, their subscriptions, and model calls at once over all processes."""

    repositories: int
    commits: int
    channels: int
    subscriptions: int
    at_once: int
    call: float  # seconds that the model takes


class _Done(NamedTuple):
    """The rows of a morning, the seconds until its last analysis, and the processor time of each process until then."""

    rows: list[Row]
    analysed: float
    used: list[float]


def morning(*, repositories: int = 10, commits: int = 8, channels: int = 40, subscriptions: int = 200) -> Iterator[Row]:
    """Deliver digests that are due at once from a store of SQLite and a bot that know nothing yet."""
    yield from _morning(_Load(repositories, commits, channels, subscriptions, 8, 1.0), 0).rows


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
    """Deliver digests due at once by so many processes on PostgreSQL; then days of `analysed` commits, if any, by one and two."""
    load = _Load(repositories, commits, channels, subscriptions, at_once, call)
    for count in processes:
        yield from _morning(load, count).rows
    if not analysed:
        return
    few = _Load(repositories, analysed, repositories, repositories, at_once, call)
    one, two = (_morning(few, count) for count in (1, 2))
    yield from _second_process(one, two, few)


def _second_process(one: _Done, two: _Done, load: _Load) -> Iterator[Row]:
    """Compare a morning by one process with the same by two: on this machine, and by what the busier of the two computed.

    Two on machines of their own would gain what the second says; here they share processors with Slack, GitHub and the model.
    """
    calls = load.repositories * load.commits
    limit = calls / max(1, load.at_once - load.at_once // 4) * load.call
    yield Row(
        f"{calls} analyses by two processes",
        f"{duration(two.analysed)} (x {one.analysed / two.analysed:.2f})",
        f"by one: {duration(one.analysed)}",
        f"the model alone: about {duration(limit)}",
    )
    gain = sum(one.used) / max(two.used)
    yield Row(
        "  processor time of the busier one",
        f"{duration(max(two.used))} (x {gain:.2f}); both {duration(sum(two.used))}",
        f"of one alone: {duration(sum(one.used))}",
        "x 2",
        f"x {_SECOND}",
        gain >= _SECOND,
        measured=True,
    )


def _morning(load: _Load, processes: int) -> _Done:
    """Deliver a morning by so many processes on PostgreSQL, or for 0 by one on SQLite."""
    names = [f"lantern/part-{number}" for number in range(load.repositories)]
    teams = [f"C0TEAM{number:03}" for number in range(load.channels)]
    now = datetime.now(UTC)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "data").mkdir()
        url = stack.enter_context(new_postgresql_database()) if processes else f"sqlite:///{folder}/data/digest.db"
        slack = stack.enter_context(LoopbackSlack())
        chat = stack.enter_context(ScriptedChat(true_reply, latency=load.call))
        for team in teams:
            slack.workspace.add_channel(team.lower(), team, members=["U0ADA", "U0BOT"])
        histories = {name: real_day(now.date() - _DAY, load.commits, {}).commits for name in names}
        settings = {"DATABASE_URL": url, "DIGEST_REPOS": names[0], "DIGEST_CONCURRENCY": str(load.at_once)}
        github = stack.enter_context(served(histories, 0.05))
        wanted = load.repositories * load.commits
        with bot_at_work(slack, github.url, chat.url, folder, workers=max(0, processes - 1), **settings) as bots:
            if processes:
                slack.wait_for(lambda: _living(url) == processes, _PATIENCE)
            idle, began = [processor_seconds(bot.pid) for bot in bots], time.perf_counter()
            _subscribe(url, names, teams, load.subscriptions, now)
            slack.wait_for(lambda: len(chat.requests) >= wanted, _PATIENCE)
            analysed = time.perf_counter() - began + load.call
            used = [processor_seconds(bot.pid) - before for bot, before in zip(bots, idle, strict=True)]
            slack.wait_for(lambda: _reports(slack, teams) == load.subscriptions, _PATIENCE)
            seconds = time.perf_counter() - began
        calls, asked, once = len(chat.requests), github.asked, load.repositories * (2 + load.commits)
        wrong = len(slack.refusals) + len(slack.breaches)
        rows = [
            _arrived(slack, teams, load.subscriptions, seconds, processes),
            Row("  each commit analysed once", f"{calls} calls", aim=f"{wanted}", met=calls == wanted),
            # Without a token: whether it is public, the list of its day, and each commit.
            Row("  each repository read once", f"{asked} requests", "", f"{once}", f"< {2 * once}", asked < 2 * once),
            Row("  refusals, breaches of Slack's limits", str(wrong), aim="0", met=not wrong),
        ]
    return _Done(rows, analysed, used)


def _arrived(slack: LoopbackSlack, channels: list[str], digests: int, seconds: float, processes: int) -> Row:
    """How long the digests took, beside what Slack allows for their messages."""
    messages = Counter({channel: len(slack.workspace.visible(channel)) for channel in channels})
    limits = max(messages.values()) * _A_CHANNEL, messages.total() * _THE_WORKSPACE
    by = f", {processes} process{'es' if processes > 1 else ''}" if processes else ""
    return Row(
        f"{digests} digests at once, {messages.total()} messages in {len(channels)} channels{by}",
        duration(seconds),
        f"x {seconds / max(limits):.2f} the limit",
        f"{limits[0]:.0f} s a channel, {limits[1]:.0f} s the workspace",
        f"<= {_AIM} x the limit",
        seconds <= _AIM * max(limits),
        measured=True,
    )


def _subscribe(database_url: str, names: list[str], channels: list[str], count: int, now: datetime) -> None:
    """So many subscriptions to some of the repositories, all due this minute."""
    engine = open_engine(database_url)
    subscriptions = Subscriptions(engine)
    a_channel = math.ceil(count / len(channels))
    subscribed = now - timedelta(
        hours=1
    )  # since when one digest alone is due: a bot that looks meanwhile begins no other
    for number in range(count):
        turn, place = divmod(number, len(channels))
        repository = Repository.parse(names[(place * a_channel + turn) % len(names)])
        terms = Terms(channels[place], repository, (now - timedelta(minutes=1)).time(), _ZONE, "en")
        subscriptions.keep(terms, subscribed)
    engine.dispose()


def _reports(slack: LoopbackSlack, channels: list[str]) -> int:
    """The reports that are there: a digest's last message."""
    return sum(len(message.files) for channel in channels for message in slack.workspace.visible(channel))


def _living(url: str) -> int:
    engine = open_engine(url)
    try:
        return len(Executors(engine).living())
    finally:
        engine.dispose()
