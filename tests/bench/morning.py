"""The same nine o'clock for two hundred subscriptions: how long until the last message is there, beside what Slack allows."""

import math
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.services.schedule import due
from bot.store import Subscriptions, Terms, open_engine
from loopback.slack import LoopbackSlack
from tests.bench.bots import bot_at_work
from tests.bench.figures import Row, duration
from tests.bench.generated import Writer
from tests.bench.replies import after
from tests.bench.served import Served, served
from tests.servers.chat import ScriptedChat

_A_CHANNEL = 1.0  # seconds between two messages of a channel
_THE_WORKSPACE = 0.06  # seconds between any two messages
_CALL = 1.0  # seconds that a model takes
_PATIENCE = 600  # seconds
_ZONE = ZoneInfo("UTC")


def morning(*, repositories: int = 10, commits: int = 8, channels: int = 40, subscriptions: int = 5) -> Iterator[Row]:
    """Digests that are due at once, `subscriptions` a channel, from a store and a bot that know nothing yet."""
    names = [f"lantern/part-{number}" for number in range(repositories)]
    teams = [f"C0TEAM{number:02}" for number in range(channels)]
    now = datetime.now(UTC)
    with TemporaryDirectory() as folder, LoopbackSlack() as slack, ScriptedChat(after(_CALL)) as chat:
        for team in teams:
            slack.workspace.add_channel(team.lower(), team, members=["U0ADA", "U0BOT"])
        (Path(folder) / "data").mkdir()
        day = subscribe(f"sqlite:///{folder}/data/digest.db", names, teams, channels * subscriptions, now)
        histories = {name: Writer(seed).days(day, 1, commits) for seed, name in enumerate(names)}
        due_now = channels * subscriptions
        with served(histories, 0.05) as github:
            began = time.perf_counter()
            with bot_at_work(slack, github.url, chat.url, Path(folder), DIGEST_REPOS=names[0]):
                slack.wait_for(lambda: reports(slack, teams) == due_now, _PATIENCE)
            seconds = time.perf_counter() - began
            yield arrived(slack, teams, due_now, seconds)
            calls, wanted = len(chat.requests), repositories * commits
            yield Row("  each commit analysed once", f"{calls} calls", aim=f"{wanted}", met=calls == wanted)
            # Without a token: whether it is public, the list of its day, and each commit.
            yield _asked(github, due_now, repositories, 2 + commits)
    wrong = len(slack.refusals) + len(slack.breaches)
    yield Row("  refusals, breaches of Slack's limits", str(wrong), aim="0", met=not wrong)


def arrived(slack: LoopbackSlack, channels: list[str], digests: int, seconds: float, by: str = "") -> Row:
    """How long the digests took, beside what Slack allows for their messages."""
    messages = Counter({channel: len(slack.workspace.visible(channel)) for channel in channels})
    limits = max(messages.values()) * _A_CHANNEL, messages.total() * _THE_WORKSPACE
    return Row(
        f"{digests} digests at once, {messages.total()} messages in {len(channels)} channels{by}",
        duration(seconds),
        f"x {seconds / max(limits):.2f} the limit",
        f"{limits[0]:.0f} s a channel, {limits[1]:.0f} s the workspace",
    )


def _asked(github: Served, digests: int, repositories: int, requests: int) -> Row:
    """The requests that came, beside so many a repository."""
    asked, once = github.asked, repositories * requests
    apart = f"each digest by itself: {digests * requests}"
    return Row("  each repository read once", f"{asked} requests", apart, f"{once}", f"< {2 * once}", asked < 2 * once)


def subscribe(database_url: str, names: list[str], channels: list[str], count: int, now: datetime) -> date:
    """So many subscriptions to some of the repositories, all due this minute. Gives the day that they are about."""
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
        subscription = subscriptions.keep(terms, subscribed)
    engine.dispose()
    (day,) = due(subscription, now)
    return day


def reports(slack: LoopbackSlack, channels: list[str]) -> int:
    """The reports that are there: a digest's last message."""
    return sum(len(message.files) for channel in channels for message in slack.workspace.visible(channel))
