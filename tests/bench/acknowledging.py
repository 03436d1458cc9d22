"""How soon fifty commands at once are acknowledged: by an idle bot, and by one that analyses a day and streams ten answers."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.local.slack import LoopbackSlack
from tests.bench.bots import bot_at_work
from tests.bench.figures import Row, percentile, tails
from tests.bench.generated import Writer
from tests.bench.served import NAME, served
from tests.servers.chat import ScriptedChat

_AT_ONCE = 50
_ANSWERS = 10
_COMMITS = 150
_DAY = date(2026, 2, 5)
_ROUNDS = 4
_AIM = 0.250  # seconds
_LIMIT = 3.0  # seconds, after which Slack tells the person that the app failed
_PERSON, _CHANNEL = "U0ADA", "C0DIGEST"


def acknowledging() -> Iterator[Row]:
    """Acknowledgements in seconds, beside those of the same bot while it has nothing to do."""
    commits = Writer(1).days(_DAY, 1, _COMMITS)
    with (
        served({NAME: commits}, 0.05) as server,
        ScriptedChat(_slow, pause=1) as chat,
        LoopbackSlack() as slack,
        TemporaryDirectory() as folder,
        bot_at_work(slack, server.url, chat.url, Path(folder), DIGEST_REPOS=NAME),
    ):
        _burst(slack)  # what is used for the first time is imported
        idle = [seconds for _ in range(_ROUNDS) for seconds in _burst(slack)]
        slack.command(_PERSON, _CHANNEL, _DAY.isoformat())
        asked = [
            slack.say(_PERSON, _CHANNEL, f"<@U0BOT> what does {each['sha'][:10]} change?")
            for each in commits[:_ANSWERS]
        ]
        slack.wait_for(lambda: len(slack.asked("chat.startStream")) >= _ANSWERS, 120)
        busy = [seconds for _ in range(_ROUNDS) for seconds in _burst(slack)]
        streaming = len(asked) - len(slack.asked("chat.stopStream"))
    p99, alone = percentile(busy, 0.99), percentile(idle, 0.99)
    yield Row(f"{_AT_ONCE} commands at once, {_ROUNDS} times: idle bot", tails(idle), limit=f"{_LIMIT:.0f} s")
    yield Row(
        f"  while a day of {_COMMITS} is analysed and {_ANSWERS} answers stream ({streaming} still did at the end)",
        tails(busy),
        f"idle bot: x {p99 / alone:.1f}",
        f"{_LIMIT:.0f} s",
        f"p99 < {_AIM * 1000:.0f} ms",
        p99 < _AIM,
    )


def _burst(slack: LoopbackSlack) -> list[float]:
    with ThreadPoolExecutor(_AT_ONCE) as people:
        asked = list(people.map(lambda _: slack.command(_PERSON, _CHANNEL, "help"), range(_AT_ONCE)))
    lost = [each for each in asked if each.acked_after is None]
    if lost:
        raise RuntimeError(f"{len(lost)} commands were not acknowledged")
    return [each.acked_after or 0.0 for each in asked]


def _slow(request: dict[str, Any]) -> str:
    """Two seconds for an analysis; an answer that takes ten times as long, a piece of it each second."""
    if "response_format" in request:
        time.sleep(2)
    insight = dict.fromkeys(
        ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
    )
    form = {"summary": "Changes `work`.", "scope": [], "insight": insight, "risks": [], "advice": []}
    return (
        json.dumps({**form, "move": "keep", "move_reason": ""})
        if "response_format" in request
        else "It changes a function of the engine. " * 120
    )
