"""The same nine o'clock for two hundred subscriptions: how long until the last message is there, beside what Slack allows."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.local.slack import LoopbackSlack
from bot.schedule import due
from bot.store import Subscriptions, Terms, open_engine
from tests.bench.bots import bot_at_work
from tests.bench.figures import Row, duration
from tests.bench.generated import Writer
from tests.bench.served import Served, served
from tests.servers.chat import ScriptedChat

_REPOSITORIES, _CHANNELS, _SUBSCRIPTIONS = 10, 40, 200
_COMMITS = 8  # a repository
_A_CHANNEL = 1.0  # seconds between two messages of a channel
_THE_WORKSPACE = 0.06  # seconds between any two messages
_CALL = 1.0  # seconds that a model takes
_PATIENCE = 600  # seconds
_ZONE = ZoneInfo("UTC")


def morning() -> Iterator[Row]:
    """Two hundred digests that are due at once, from a store and a bot that know nothing yet."""
    names = [f"lantern/part-{number}" for number in range(_REPOSITORIES)]
    channels = [f"C0TEAM{number:02}" for number in range(_CHANNELS)]
    now = datetime.now(UTC)
    with TemporaryDirectory() as folder, LoopbackSlack() as slack, ScriptedChat(_say) as chat:
        for channel in channels:
            slack.workspace.add_channel(channel.lower(), channel, members=["U0ADA", "U0BOT"])
        day = _subscribe(Path(folder), names, channels, now)
        histories = {name: Writer(seed).days(day, 1, _COMMITS) for seed, name in enumerate(names)}
        with served(histories, 0.05) as github:
            began = time.perf_counter()
            with bot_at_work(slack, github.url, chat.url, Path(folder), DIGEST_REPOS=names[0]):
                slack.wait_for(lambda: _files(slack, channels) == _SUBSCRIPTIONS, _PATIENCE)
            seconds = time.perf_counter() - began
            yield from _rows(slack, channels, github, chat, seconds)


def _rows(
    slack: LoopbackSlack, channels: list[str], github: Served, chat: ScriptedChat, seconds: float
) -> Iterator[Row]:
    messages = Counter({channel: len(slack.workspace.visible(channel)) for channel in channels})
    limits = max(messages.values()) * _A_CHANNEL, messages.total() * _THE_WORKSPACE
    yield Row(
        f"{_SUBSCRIPTIONS} digests at once, {messages.total()} messages in {_CHANNELS} channels",
        duration(seconds),
        f"x {seconds / max(limits):.2f} the limit",
        f"{limits[0]:.0f} s a channel, {limits[1]:.0f} s the workspace",
    )
    commits = _REPOSITORIES * _COMMITS
    calls = len(chat.requests)
    yield Row("  each commit analysed once", f"{calls} calls", aim=f"{commits}", met=calls == commits)
    # Without a token: whether it is public, the list of its day, and each commit.
    once = _REPOSITORIES * (2 + _COMMITS)
    asked = github.asked
    apart = _SUBSCRIPTIONS // _REPOSITORIES * once
    yield Row(
        "  each repository read once",
        f"{asked} requests",
        f"each digest by itself: {apart}",
        f"{once}",
        f"< {2 * once}",
        asked < 2 * once,
    )
    wrong = len(slack.refusals) + len(slack.breaches)
    yield Row("  refusals, breaches of Slack's limits", str(wrong), aim="0", met=not wrong)


def _subscribe(folder: Path, names: list[str], channels: list[str], now: datetime) -> date:
    """Every channel's subscriptions to some of the repositories, all due this minute. Gives the day that they are about."""
    (folder / "data").mkdir()
    engine = open_engine(f"sqlite:///{folder / 'data/digest.db'}")
    subscriptions = Subscriptions(engine)
    each = _SUBSCRIPTIONS // _CHANNELS
    for place, channel in enumerate(channels):
        for offset in range(each):
            repository = Repository.parse(names[(place * each + offset) % len(names)])
            terms = Terms(channel, repository, (now - timedelta(minutes=1)).time(), _ZONE, "en")
            subscriptions.keep(terms, now - timedelta(days=5))
    day = due(subscriptions.all()[0], now)[-1]
    for subscription in subscriptions.all():
        subscriptions.started(subscription.id, day - timedelta(days=1))
    engine.dispose()
    return day


def _files(slack: LoopbackSlack, channels: list[str]) -> int:
    """The reports that are there: a digest's last message."""
    found = sum(len(message.files) for channel in channels for message in slack.workspace.visible(channel))
    sys.stderr.write(f"\r{found} of {_SUBSCRIPTIONS} digests " if sys.stderr.isatty() else "")
    return found


def _say(request: dict[str, Any]) -> str:
    time.sleep(_CALL)
    told = request["messages"][-1]["content"]
    insight = dict.fromkeys(
        ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
    )
    # The title's own words: what does not speak of its commit is asked for again.
    title = next(line for line in told.splitlines() if "(#" in line)
    form = {"summary": f"Changes {title}.", "scope": [], "insight": insight, "risks": [], "advice": []}
    return json.dumps({**form, "move": "keep", "move_reason": ""})
