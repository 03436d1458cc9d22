"""Digests of releases: once for each new tag, with what it breaks of the channel's code since its pin."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loopback.slack import LoopbackSlack, Message
from tests.bot.cli.test_upgrade_command import Releases
from tests.bot.slack.delivery.test_watched import subscribe
from tests.bot.slack.delivery.test_weekly import files, key
from tests.servers.clock import SettableClock
from tests.servers.downstream import PLUGIN, UPSTREAM
from tests.servers.place import OTHER, two_channels
from tests.servers.running import bot_running, stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, Talk, markdown

NOTES = "## Breaking\n* Pass the cache (#15)\n## Highlights\n* Images, see #16, and #999 that nobody knows\n"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 2, 6, 7, tzinfo=UTC), speed=20)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with two_channels(clock) as server:
        yield server


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Releases]:
    with ExitStack() as ending:
        yield Releases(tmp_path / "served", ending)


def releases(slack: LoopbackSlack, channel: str, count: int = 1) -> list[Message]:
    """The digests of releases in a channel, once there are so many with their files."""

    def found() -> list[Message] | None:
        roots = [each for each in slack.channel(channel) if key(each).startswith("release:")]
        whole_ones = [root for root in roots if any(each.files for each in slack.thread(channel, root.ts))]
        return roots if len(whole_ones) >= count else None

    return slack.wait_for(found)


def wait_for_tags(slack: LoopbackSlack, folder: Path, clock: SettableClock, tags: int) -> None:
    """Let the time between two looks pass, and wait until so many tags are known; the first look stores one row more."""
    clock.advance(timedelta(minutes=11))
    slack.wait_for(lambda: len(stored(folder, "SELECT tag FROM seen_releases")) > tags)


def settings(pair: Releases, folder: Path, clock: SettableClock) -> dict[str, Any]:
    return {"now": clock, "digest_repos": "o/engine", "digest_mirrors": folder / "mirrors"}


def test_a_release_comes_once_when_its_tag_appears(
    slack: LoopbackSlack, pair: Releases, clock: SettableClock, tmp_path: Path
) -> None:
    """Tags that were there before are not told, nor one that moves; a release has what it breaks since the pin, what it
    brings since the one before, and what its notes name. Candidates come where they are wanted, and two tags at once in order.
    """
    subscribe(tmp_path, DIGEST, repository=UPSTREAM, releases="on", downstream=(PLUGIN,))
    subscribe(tmp_path, OTHER, "zh", repository=UPSTREAM, releases="rc")
    served = pair.server.repositories["o/engine"]
    with bot_running(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)):
        wait_for_tags(slack, tmp_path, clock, 2)
        served.releases = [{"tag_name": "v1.2", "body": NOTES, "published_at": "2026-02-06T07:10:00Z"}]
        pair.upstream.git("update-ref", "refs/tags/v1.2rc1", pair.worker)
        pair.upstream.git("update-ref", "refs/tags/v1.2", "refs/heads/main")
        wait_for_tags(slack, tmp_path, clock, 4)
        [root] = releases(slack, DIGEST)
        candidate, chinese = releases(slack, OTHER, 2)
    assert "o/engine v1.2 · 2026-02-" in whole(root)
    assert "💥 1 commit since v1.0 breaks your code · 4 commits" in whole(root)
    assert "v1.0 is pinned in Dockerfile:2" in whole(root)
    assert "Compared with v1.1, the release before" in whole(root)
    thread = "".join(map(whole, slack.thread(DIGEST, root.ts)))
    assert "📝" not in thread  # what breaks the code or is new is told above
    assert "Raise the default size" not in thread  # v1.1 had it
    assert files(slack, root) == ["engine-v1.1-v1.2.md"]
    assert "v1.2rc1" in whole(candidate)
    assert "与上一个版本 v1.2rc1 相比" in whole(chinese)
    with bot_running(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)):
        pair.upstream.git("update-ref", "refs/tags/v1.2", pair.worker)  # it moves, and another goes
        pair.upstream.git("update-ref", "-d", "refs/tags/v1.1")
        pair.upstream.git("update-ref", "refs/tags/v1.0.1", "refs/tags/v1.0")
        wait_for_tags(slack, tmp_path, clock, 5)
        assert [whole(each).count("v1.0.1") > 0 for each in releases(slack, DIGEST, 2)] == [False, True]
    assert slack.refusals == []


def test_the_first_release_ever_is_told(
    slack: LoopbackSlack, pair: Releases, clock: SettableClock, tmp_path: Path
) -> None:
    """It is compared with the first commit; without notes it comes as well, with the fixes that no group tells."""
    for tag in ("v1.0", "v1.1"):
        pair.upstream.git("update-ref", "-d", f"refs/tags/{tag}")
    subscribe(tmp_path, DIGEST, repository=UPSTREAM, releases="on")
    with bot_running(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)):
        wait_for_tags(slack, tmp_path, clock, 0)
        pair.upstream.git("update-ref", "refs/tags/v0.1", pair.option)
        wait_for_tags(slack, tmp_path, clock, 1)
        [root] = releases(slack, DIGEST)
    assert "The first release: everything since the first commit" in whole(root)
    assert "🩹 Fixes and other changes (1)" in "".join(map(whole, slack.thread(DIGEST, root.ts)))


def test_whether_a_release_has_a_commit_is_answered(
    slack: LoopbackSlack, pair: Releases, clock: SettableClock, tmp_path: Path
) -> None:
    """A mention and a thread get yes or no, in the language of the question, by the tags of the mirror."""
    subscribe(tmp_path, DIGEST, repository=UPSTREAM, releases="on")
    with Talk(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)) as talk:
        wait_for_tags(slack, tmp_path, clock, 2)
        sha, ts = pair.option[:8], talk.say(ADA, f"{BOT} is {pair.option[:8]} in v1.1?")
        assert "Yes, `v1.1` has it." in markdown(talk.replies(ts)[0])
        root = talk.open(f"o/engine {sha}")
        assert "没有，`v1.0` 不包含它。最早包含在 `v1.1` 中" in markdown(talk.reply(ADA, "在 v1.0 里吗？", root))


def test_releases_are_chosen_and_told_in_the_shells_words(
    slack: LoopbackSlack, pair: Releases, clock: SettableClock, tmp_path: Path
) -> None:
    """By an option of `subscribe` and in the form; the list says so, and another value is refused with those that there are."""
    with Talk(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)) as talk:
        assert "Releases: with candidates" in whole(talk.type(ADA, "subscribe releases rc"))
        assert "releases with candidates → off" in whole(talk.type(ADA, "subscribe releases off"))
        assert "use on, rc or off" in whole(talk.type(ADA, "subscribe releases maybe"))
