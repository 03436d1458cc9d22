"""How soon many commands at once are acknowledged: by an idle bot, and by one that analyses a day and streams answers."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from loopback.slack import Interaction, LoopbackSlack
from tests.bench.bots import bot_at_work, true_reply
from tests.bench.figures import Row, percentile, tails
from tests.bench.real_diffs import real_day
from tests.bench.served import NAME, served
from tests.servers.chat import ScriptedChat

_DAY = date(2026, 2, 5)
_CALL = 2  # seconds an analysis
_PAUSE = 4  # seconds between two pieces of an answer, which has about five
_SHARE = 4  # one model call in so many is kept for answers
_AIM = 0.100  # seconds
_LIMIT = 3.0  # seconds, after which Slack tells the person that the app failed
_PATIENCE = 120  # seconds


def acknowledging(*, at_once: int = 50, rounds: int = 4, commits: int = 150, answers: int = 10) -> Iterator[Row]:
    """Acknowledgements in seconds, beside those of the same bot while it has nothing to do."""
    day = real_day(_DAY, commits, {}).commits
    with (
        served({NAME: day}, 0.05) as server,
        ScriptedChat(true_reply, pause=_PAUSE, latency=_CALL) as chat,
        LoopbackSlack() as slack,
        TemporaryDirectory() as folder,
        bot_at_work(
            slack, server.url, chat.url, Path(folder), DIGEST_REPOS=NAME, DIGEST_CONCURRENCY=str(answers * _SHARE)
        ),
    ):
        people = [_person(slack, f"c{number}") for number in range(at_once)]
        _burst(slack, people)  # what is used for the first time is imported
        in_turn = [seconds for _ in range(rounds) for each in people for seconds in _burst(slack, [each])]
        idle = [seconds for _ in range(rounds) for seconds in _burst(slack, people)]
        reader, channel = _person(slack, "reader")
        slack.command(reader, channel, _DAY.isoformat())
        for commit in day[:answers]:
            person, channel = _person(slack, f"a{commit['sha'][:10]}")
            slack.say(person, channel, f"<@U0BOT> what does {commit['sha'][:10]} change?")
        slack.wait_for(lambda: _begun(chat) >= answers, _PATIENCE)
        busy = [seconds for _ in range(rounds) for seconds in _burst(slack, people, wait=False)]
        still = answers - len(slack.asked("chat.stopStream"))
    yield _within(f"{len(in_turn)} commands one by one, each when the one before is answered", in_turn)
    p99, alone = percentile(busy, 0.99), percentile(idle, 0.99)
    yield Row(f"{at_once} commands at once, {rounds} times: idle bot", tails(idle), limit=f"{_LIMIT:.0f} s")
    yield _within(
        f"  while a day of {commits} is analysed and {answers} answers are written ({still} still were at the end)",
        busy,
        f"idle bot: x {p99 / alone:.1f}",
    )
    late = sum(map(math.isinf, in_turn + idle + busy))
    yield Row(
        f"  not acknowledged within {_LIMIT:.0f} s",
        f"{late} of {len(in_turn + idle + busy)}",
        aim="0",
        met=not late,
        measured=True,
    )


def _within(name: str, seconds: Sequence[float], compared: str = "") -> Row:
    met = percentile(seconds, 0.99) < _AIM
    return Row(name, tails(seconds), compared, f"{_LIMIT:.0f} s", f"p99 < {_AIM * 1000:.0f} ms", met, measured=True)


def _person(slack: LoopbackSlack, name: str) -> tuple[str, str]:
    """Add a person with a channel of their own, in which nobody else waits for the pace of Slack. Gives both ids."""
    person = slack.workspace.add_user(name)
    return person, slack.workspace.add_channel(f"with-{name}", members=[person, "U0BOT"])


def _begun(chat: ScriptedChat) -> int:
    """The answers that the model has begun to write."""
    return sum("response_format" not in each for each in chat.requests)


def _burst(slack: LoopbackSlack, people: Sequence[tuple[str, str]], *, wait: bool = True) -> list[float]:
    """Let everybody type at once. Gives the seconds until each was acknowledged, infinite where it was not; `wait` for the answers."""
    with ThreadPoolExecutor(len(people)) as typing:
        typed = list(typing.map(lambda each: slack.command(each[0], each[1], "help"), people))
    if wait:
        slack.wait_for(lambda: all(each.responses for each in typed), _PATIENCE)
    return _acknowledged(typed)


def _acknowledged(typed: Sequence[Interaction]) -> list[float]:
    return [math.inf if each.acked_after is None else each.acked_after for each in typed]
