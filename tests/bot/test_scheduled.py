"""Digests that come by themselves: when, to whom, and after what went wrong meanwhile. Only the clock is ours."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest

from analysis.errors import BadSetting
from analysis.models import Repository
from bot.store import Subscription, Subscriptions, Terms, open_engine
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import BOT, OTHER, two_channels
from tests.servers.running import bot_database, bot_running, stored, whole

ADA, DIGEST = "U0ADA", "C0DIGEST"
Serve = Callable[..., FaultyGitHub]
T = TypeVar("T")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def subscribe(folder: Path, since: datetime, *channels: str) -> None:
    """Subscriptions that an earlier run left: o/n at nine, in UTC."""
    engine = open_engine(bot_database(folder))
    for channel in channels:
        terms = Terms(channel, Repository(owner="o", name="n"), time(9), ZoneInfo("UTC"), "en")
        Subscriptions(engine).keep(terms, since)
    engine.dispose()


def subscriptions(folder: Path) -> list[Subscription]:
    engine = open_engine(bot_database(folder))
    found = Subscriptions(engine).all()
    engine.dispose()
    return found


@pytest.fixture
def clock() -> SettableClock:
    """Ten times as fast as others, so that nobody waits for the bot's pace."""
    return SettableClock(utc("2026-02-06 08:30"), speed=10)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    """A workspace with a second channel, whose clock is the bot's."""
    with two_channels(clock) as server:
        yield server


def told(slack: LoopbackSlack, channel: str) -> list[str]:
    """What stands in a channel itself, in short."""
    return [message.text for message in slack.channel(channel)]


def days(slack: LoopbackSlack, channel: str) -> list[str]:
    """The days of the digests in a channel, in their order."""
    return [re.findall(r"\d{4}-\d\d-\d\d", text)[0] for text in told(slack, channel)]


def filed(slack: LoopbackSlack, channel: str) -> list[str]:
    """The names of the files in a channel: the last that comes of a digest."""
    return [slack.workspace.files[each].name for message in slack.workspace.visible(channel) for each in message.files]


def test_each_day_comes_once_to_each_channel(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """The first digest comes at the next due time; a day of downtime is made up for at the start, and nothing comes twice."""
    github = serve(recorded(1))
    channels = [DIGEST, OTHER]
    with bot_running(slack, github.url, tmp_path, now=clock, digest_channel=channels):
        slack.command(ADA, DIGEST, "help")
        slack.wait_for(lambda: slack.private(ADA, DIGEST))
        assert told(slack, DIGEST) == told(slack, OTHER) == []
        clock.set(utc("2026-02-06 09:00"))
        slack.wait_for(lambda: all(filed(slack, channel) for channel in channels))
    for channel in channels:
        [root] = slack.channel(channel)
        assert "2026-02-05" in root.text
        assert "Change part 1" in "".join(map(whole, slack.thread(channel, root.ts)))
        assert filed(slack, channel) == ["n-2026-02-05.md"]

    clock.set(utc("2026-02-07 12:00"))
    with bot_running(slack, github.url, tmp_path, now=clock, digest_channel=channels):
        slack.wait_for(lambda: all(len(slack.channel(channel)) > 1 for channel in channels))
    for channel in channels:
        assert days(slack, channel) == ["2026-02-05", "2026-02-06"]
        empty = slack.channel(channel)[1]
        assert "no commits" in empty.text.lower()
        assert slack.thread(channel, empty.ts) == [empty]
        assert filed(slack, channel) == ["n-2026-02-05.md"]
    assert github.asked(r"/commits/01\w+$") == 1


def test_three_days_are_made_up_for_oldest_first(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """After ten days without the bot its channel gets the last three, in their order, and only those."""
    clock.set(utc("2026-02-10 10:00"))
    subscribe(tmp_path, utc("2026-01-31 10:00"), DIGEST)
    with bot_running(slack, serve().url, tmp_path, now=clock):
        slack.wait_for(lambda: len(told(slack, DIGEST)) >= 3)
    assert days(slack, DIGEST) == ["2026-02-07", "2026-02-08", "2026-02-09"]
    assert subscriptions(tmp_path)[0].started_to == utc("2026-02-09").date()


def test_a_token_that_slack_does_not_take_is_named(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A stale token ends the start with the setting's name; the digest that was due comes once both are right."""
    clock.set(utc("2026-02-06 10:00"))
    subscribe(tmp_path, utc("2026-02-05 10:00"), DIGEST)
    github = serve()
    for setting, value in (("slack_bot_token", "xoxb-stale"), ("slack_app_token", "xapp-stale")):
        with pytest.raises(BadSetting, match=f"{setting.upper()}.*invalid_auth"):
            bot_running(slack, github.url, tmp_path, now=clock, **{setting: value}).__enter__()
        assert [call.response["error"] for call in slack.refusals] == ["invalid_auth"]
        slack.refusals.clear()
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: told(slack, DIGEST))
    assert days(slack, DIGEST) == ["2026-02-05"]


def test_a_channel_that_is_closed_does_not_keep_the_others_waiting(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Of three channels an archived one and one without the bot get nothing and a note why, until they are open again."""
    slack.workspace.channels[OTHER].archived = True
    clock.set(utc("2026-02-06 10:00"))
    subscribe(tmp_path, utc("2026-02-05 10:00"), OTHER, "C0QUIET", DIGEST)
    with bot_running(slack, serve().url, tmp_path, now=clock):
        slack.wait_for(lambda: told(slack, DIGEST))
        archived, quiet, fine = slack.wait_for(
            lambda: notes if sum(map(bool, notes := [each.note for each in subscriptions(tmp_path)])) == 2 else None
        )
        assert "is_archived" in archived
        assert "not_in_channel" in quiet
        assert fine == ""
        assert {call.response["error"] for call in slack.refusals} == {"is_archived", "not_in_channel"}
        slack.refusals.clear()
        slack.workspace.channels[OTHER].archived = False
        slack.workspace.channels["C0QUIET"].members.add(BOT)
        clock.set(utc("2026-02-07 10:00"))
        slack.wait_for(lambda: not any(each.note for each in subscriptions(tmp_path)))
        assert days(slack, OTHER) == ["2026-02-06"]
        assert days(slack, "C0QUIET") == ["2026-02-06"]


def test_a_bug_is_a_line_with_its_number(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A digest that meets what none of us thought of is a line in its channel, with the number under which it is logged."""
    github = serve(recorded(1))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.command(ADA, DIGEST, "2026-02-05")
        slack.wait_for(lambda: slack.private(ADA, DIGEST))
    stored(tmp_path, "UPDATE analyses SET body = '7'")
    subscribe(tmp_path, utc("2026-02-05 10:00"), DIGEST)
    clock.set(utc("2026-02-06 09:00"))
    with bot_running(slack, github.url, tmp_path, now=clock):
        [line] = slack.wait_for(lambda: told(slack, DIGEST))
        assert "Something went wrong" in line
        assert "s1-2026-02-05" in line


def while_time_flies(clock: SettableClock, looked_for: Callable[[], T]) -> Callable[[], T]:
    """The predicate, asked with ten minutes between two looks."""

    def look() -> T:
        clock.advance(timedelta(minutes=10))
        return looked_for()

    return look


# GitHub fails. Its limit is lifted by real time, of which the bot's clock here is years ahead.

LATER = "2036-02-06 09:00"


def later_commits() -> list[dict[str, Any]]:
    return [recorded(number, date=f"2036-02-05T12:0{number}:00Z") for number in (1, 2)]


def limited(serve: Serve, clock: SettableClock, requests: int) -> FaultyGitHub:
    """A GitHub that answers so many requests until an hour from the clock's time."""
    ahead = (clock() - datetime.now(UTC)).total_seconds()
    # Both this and GitHub's clock are cut to seconds: two more, lest the hour be a second short.
    return serve(*later_commits(), limit=requests, reset_in=int(ahead) + 3602)


def test_a_digest_waits_for_githubs_limit(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Where GitHub's limit is used up, even twice, the channel reads once when the digest follows, and gets it whole."""
    clock.set(utc(LATER))
    subscribe(tmp_path, utc("2036-02-05 10:00"), DIGEST)
    github = limited(serve, clock, 0)
    with bot_running(slack, github.url, tmp_path, now=clock):
        [notice] = slack.wait_for(lambda: told(slack, DIGEST))
        assert "o/n · 2036-02-05" in notice
        assert "10:00" in notice
    github.limit, github.reset_in = len(github.requests) + 3, github.reset_in + 3600
    clock.set(utc("2036-02-06 10:01"))
    with bot_running(slack, github.url, tmp_path, now=clock):
        # Three requests are whether the repository is public, the day's list and no more than one of its commits.
        slack.wait_for(lambda: github.limit and len(github.requests) > github.limit)
        with pytest.raises(TimeoutError):  # nothing comes while it lasts
            slack.wait_for(lambda: len(told(slack, DIGEST)) > 1, timeout=2)
        github.limit = None
        slack.wait_for(while_time_flies(clock, lambda: filed(slack, DIGEST)))
    _, root = slack.channel(DIGEST)
    digest = "".join(map(whole, slack.thread(DIGEST, root.ts)))
    assert "Change part 1" in digest
    assert "Change part 2" in digest
    assert "could not be read" not in digest
    assert github.asked(r"/commits$") == 1


def test_a_command_waits_for_githubs_limit(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Who asks for a day beyond GitHub's limit gets what was read, reads when the rest follows, and then gets it."""
    clock.set(utc(LATER))
    github = limited(serve, clock, 3)
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.command(ADA, DIGEST, "2036-02-05")
        slack.wait_for(lambda: [each for each in slack.private(ADA, DIGEST) if "continuing at 10:00" in whole(each)])
        partial = whole(slack.private(ADA, DIGEST)[0])
        assert "Commits: 2" in partial
        assert "could not be read: limit, resets 10:00" in partial
        github.limit = None
        slack.wait_for(while_time_flies(clock, lambda: "Commits: 2" in whole(slack.private(ADA, DIGEST)[-1])))
        assert "could not be read" not in whole(slack.private(ADA, DIGEST)[-1])
    # Meanwhile the address of the command had expired.
    assert [call.response["error"] for call in slack.refusals] == ["expired_url"]
    slack.refusals.clear()


def test_a_digest_survives_that_github_is_down(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """While GitHub does not answer the digest is tried again and again, and who asks meanwhile reads why."""
    clock.set(utc(LATER))
    subscribe(tmp_path, utc("2036-02-05 10:00"), DIGEST)
    github = serve(*later_commits())
    github.faults.append(Fault("/", status=418, times=1000))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.command(ADA, DIGEST, "2036-02-05")
        [trouble] = slack.wait_for(lambda: slack.private(ADA, DIGEST))
        assert "127.0.0.1" in whole(trouble)
        assert "try again later" in whole(trouble)
        slack.wait_for(while_time_flies(clock, lambda: len(github.requests) >= 5))
        assert told(slack, DIGEST) == []
        github.faults.clear()
        [root] = slack.wait_for(while_time_flies(clock, lambda: slack.channel(DIGEST)))
        assert "Commits: 2" in whole(root)
        assert "could not be read" not in whole(root)
