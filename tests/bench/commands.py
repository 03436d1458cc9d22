"""Two thousand texts that people might type in Slack, a hundred at once: how many a second, and how many go wrong."""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from loopback.github import RecordedRepository
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack
from tests.bench.figures import Row, duration, percentile
from tests.bot.slack.delivery.test_slack_days import delivered, removals
from tests.conftest import recorded
from tests.servers.clock import SettableClock, noon_clock
from tests.servers.crowd import Crowd, invented
from tests.servers.github import FaultyGitHub
from tests.servers.talk import MORNING, Talk

_SPEED = 4  # of the clock: a channel may have four messages a second
_TOLD = 10  # failures that are written out
_SEED = 5


def commands(*, texts: int = 2_000, at_once: int = 100, high: int = 40) -> Iterator[Row]:
    """Commands, mentions, direct messages and threads of `at_once` people; and a day of `high` commits that all matter."""
    random, wrong, seconds = Random(_SEED), list[str](), list[float]()
    small = [recorded(number, sha=f"abcdef{number}" * 6 + "0000", parents=[]) for number in (1, 2)]
    repositories = {SAMPLE_REPOSITORY: sample_repository(), "o/small": RecordedRepository(small)}
    with (
        TemporaryDirectory() as folder,
        LoopbackSlack(pace=False, command_timeout=30) as slack,  # how soon it acknowledges is measured elsewhere
        FaultyGitHub(repositories) as github,
        Talk(
            slack,
            github.url,
            Path(folder),
            now=SettableClock(MORNING, _SPEED),
            digest_repos=SAMPLE_REPOSITORY,
            log_level="error",
        ) as talk,
    ):
        crowd = Crowd(talk, at_once)
        for _ in range(texts // at_once):
            said = [invented(random) for _ in range(at_once)]
            began = perf_counter()
            wrong += crowd.says(said)
            seconds.append(perf_counter() - began)
    for each in wrong[:_TOLD]:
        sys.stderr.write(f"{each[:500]}\n")
    yield Row(f"{texts:,} texts, {at_once} at once", f"{texts / sum(seconds):.0f} a second")
    yield Row(f"  all {at_once} answered, median", duration(percentile(seconds, 0.5)))
    yield Row("  unanswered, refused, or a bug", f"{len(wrong)}", aim="0", met=not wrong)
    yield _posting(high)


def _posting(high: int) -> Row:
    """A day on which everything matters, posted at the pace that Slack asks for."""
    clock = noon_clock()
    with (
        TemporaryDirectory() as folder,
        LoopbackSlack(now=clock.timestamp) as slack,
        FaultyGitHub({"o/n": RecordedRepository(removals(high))}) as github,
        Talk(slack, github.url, Path(folder), now=clock, log_level="error") as talk,
    ):
        began = perf_counter()
        messages = delivered(talk, "2026-02-05")
        seconds = perf_counter() - began
    limit = len(messages) - 1
    wrong = len(slack.refusals) + len(slack.breaches)
    return Row(
        f"{high} commits of high importance posted, {len(messages)} messages",
        f"{duration(seconds)} = {seconds / limit:.2f} x limit, {wrong} refused or too soon",
        limit=f"{limit} s: one a second",
        aim="0 refused",
        met=not wrong,
    )
