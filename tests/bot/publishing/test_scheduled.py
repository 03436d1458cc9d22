"""Publications after digests: once for all channels, again after a failure, and only what may be seen there."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.store import PublicationOutcomes, Subscriptions, Terms, open_engine
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault
from tests.servers.running import bot_database, bot_running, whole
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository

CHANNELS = ("C0DIGEST", "C0OTHER")
NOW = datetime(2026, 2, 6, 9, 30, tzinfo=UTC)
ADDED = "Add the digest of 2026-02-05 of o/n"


@contextmanager
def at_work(folder: Path, target: WritableRepository, *faults: Fault, **settings: Any) -> Iterator[LoopbackSlack]:
    """A bot with two channels that are due the digest of 2026-02-05, and that publishes to a repository."""
    source = RecordedRepository([recorded(1), recorded(2)])
    engine = open_engine(bot_database(folder))
    with LoopbackSlack() as slack, PublishingGitHub({"o/n": source}, target) as github:
        github.faults += faults
        slack.workspace.add_channel("other", CHANNELS[1], members={"U0BOT", "U0ADA"})
        for channel in CHANNELS:
            terms = Terms(channel, Repository.parse("o/n"), time(9), ZoneInfo("UTC"), "en")
            Subscriptions(engine).keep(terms, NOW - timedelta(hours=10))
        rules = {"digest_publish": NAME, "digest_publish_token": "writer", **settings}
        with bot_running(slack, github.url, folder, now=SettableClock(NOW, 20), **rules):
            yield slack
    engine.dispose()


def failed(folder: Path) -> list[str]:
    engine = open_engine(bot_database(folder))
    found = PublicationOutcomes(engine).failed(NOW - timedelta(days=1))
    engine.dispose()
    return found


def test_a_day_is_published_once_for_all_channels(tmp_path: Path) -> None:
    """Two channels get their digests; the repository gets one commit."""
    target = WritableRepository()
    with at_work(tmp_path, target) as slack:
        slack.wait_for(lambda: ADDED in target.messages() and all(slack.channel(each) for each in CHANNELS), 30)
    assert target.messages() == ["Begin", ADDED]
    assert "reports/2026/n/2026-02-05.md" in target.files()
    assert failed(tmp_path) == []


def test_a_publication_that_failed_is_tried_again(tmp_path: Path) -> None:
    """What GitHub does not answer is asked again later."""
    target = WritableRepository()
    with at_work(tmp_path, target, Fault(r"git/refs", 502, times=1), Fault(r"git/ref/", 502, times=6)) as slack:
        slack.wait_for(lambda: ADDED in target.messages() and not failed(tmp_path), 60)
    assert target.messages() == ["Begin", ADDED]


def test_a_lost_permission_is_shown(tmp_path: Path) -> None:
    """It is stored with its reason, and `status` counts it."""
    target = WritableRepository()
    target.may_push = False
    with at_work(tmp_path, target) as slack:
        slack.wait_for(lambda: failed(tmp_path), 30)
        slack.command("U0ADA", CHANNELS[0], "status")
        shown = slack.wait_for(lambda: slack.private("U0ADA", CHANNELS[0]), 30)
        assert "Reports not published in the last 7 days: 1" in whole(shown[-1])
    assert failed(tmp_path) == [
        "the token may not write to acme/reports; give DIGEST_PUBLISH_TOKEN write access to its contents"
    ]
    assert target.messages() == ["Begin"]


@pytest.mark.parametrize(
    ("rule", "private", "messages"),
    [
        (NAME, True, []),
        (f"o/n={NAME}", False, []),
        (f"o/n={NAME}", True, [ADDED]),
    ],
)
def test_a_private_repository_goes_where_it_is_named(
    tmp_path: Path, rule: str, private: bool, messages: list[str]
) -> None:
    """It needs both: its name in DIGEST_PUBLISH, and a private target."""
    target = WritableRepository()
    target.private = private
    hidden = {"digest_private": "o/n=C0DIGEST+C0OTHER"}
    with at_work(tmp_path, target, digest_publish=rule, **hidden) as slack:
        slack.wait_for(lambda: all(slack.channel(each) for each in CHANNELS), 30)
        slack.wait_for(lambda: ADDED in target.messages() or rule == NAME or failed(tmp_path), 30)
    assert target.messages()[1:] == messages
    assert len(failed(tmp_path)) == (rule != NAME and not private)
