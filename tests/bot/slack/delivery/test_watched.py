"""A watch and a revert, as channels live them: what is raised for one alone, and what an old thread is told, once."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Importance, Language, Repository
from bot.store import Subscriptions, Terms, open_engine
from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.place import OTHER, two_channels
from tests.servers.running import bot_database, bot_running, buttons, whole
from tests.servers.talk import ADA, LIN

DIGEST, HIGH = "C0DIGEST", "C0HIGH"
REPOSITORY = Repository(owner="o", name="n")
Serve = Callable[..., FaultyGitHub]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(utc("2026-02-06 09:30"), speed=20)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with two_channels(clock) as server:
        yield server


def subscribe(
    folder: Path, channel: str, language: Language = "en", repository: Repository = REPOSITORY, **selected: Any
) -> int:
    """A subscription that an earlier run left: at nine, in UTC."""
    engine = open_engine(bot_database(folder))
    terms = Terms(channel, repository, time(9), ZoneInfo("UTC"), language, **selected)
    kept = Subscriptions(engine).keep(terms, utc("2026-02-05 10:00"))
    engine.dispose()
    return kept.id


def unsubscribe(folder: Path, subscription: int) -> None:
    engine = open_engine(bot_database(folder))
    Subscriptions(engine).end(subscription, utc("2026-02-06 12:00"))
    engine.dispose()


def threads(slack: LoopbackSlack, channel: str) -> list[list[Message]]:
    """The digests of a channel, each with all that stands in its thread."""
    return [slack.thread(channel, root.ts) for root in slack.channel(channel)]


def is_whole(slack: LoopbackSlack, channel: str, digests: int) -> bool:
    """Whether so many digests have come, each up to its file."""
    found = threads(slack, channel)
    return len(found) >= digests and all(any(each.files for each in thread) for thread in found)


def statistics(message: Message) -> str:
    return str(re.findall(r"Commits: .*", whole(message))[0])


# A watch


def low(number: int, path: str) -> dict[str, Any]:
    """A commit of low importance: a line of a log."""
    patch = f'@@ -4,2 +4,2 @@ def work():\n     begin()\n-    log("{number}")\n+    log("{number}", os.environ["ENGINE_LOG"])'
    file = {"filename": path, "status": "modified", "additions": 1, "deletions": 1, "changes": 2, "patch": patch}
    return recorded(number, message=f"[Misc] Tidy log {number} (#{number})", files=[file], pull=None)


def test_what_is_watched_is_raised_for_one_channel_alone(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A low commit that touches what one channel watches is high there, with the line as a link, and low in the other.

    A channel that wants only high commits of other paths gets what touches its watch, and nothing else.
    """
    subscribe(tmp_path, DIGEST, watch=("pkg/part2.py", "--nowhere"))
    subscribe(tmp_path, OTHER)
    slack.workspace.add_channel("high", HIGH, members={"U0BOT", ADA})
    subscribe(tmp_path, HIGH, "zh", least=Importance.HIGH, paths=("csrc/",), watch=("pkg/part2.py",))
    with bot_running(slack, serve(low(1, "pkg/part1.py"), low(2, "pkg/part2.py")).url, tmp_path, now=clock):
        slack.wait_for(lambda: all(is_whole(slack, each, 1) for each in (DIGEST, OTHER, HIGH)))
    ((root, raised, *rest),) = threads(slack, DIGEST)
    assert statistics(root) == "Commits: 2 | 🔴 High 1 | 🟡 Medium 0 | 🟢 Low 1"
    assert "👁 Watches: pkg/part2.py, --nowhere" in whole(root)
    assert "#2\n · 👁 \npkg/part2.py" in whole(root)
    assert "👁 Touches watched terms: \npkg/part2.py\n \npkg/part2.py:5" in whole(raised)
    assert f"/commit/{'02' * 20}#diff-" in str(raised.blocks)
    assert "too_high" not in buttons(raised)
    assert "2 commits analysed by rules" in "".join(map(whole, rest))
    (other,) = threads(slack, OTHER)
    assert statistics(other[0]) == "Commits: 2 | 🔴 High 0 | 🟡 Medium 0 | 🟢 Low 2"
    assert "watch" not in "".join(map(whole, other)).lower()
    reports = [(file.content or b"").decode() for file in slack.workspace.files.values()]
    assert sum("Touches watched terms" in each for each in reports) == 1
    ((root, raised, *_),) = threads(slack, HIGH)
    assert "本日 2 个提交，选出 1 个 | 🔴高 1" in whole(root)
    assert "👁 触及关注项：\npkg/part2.py\n \npkg/part2.py:5" in whole(raised)


# A revert


def later(number: int, **changes: Any) -> dict[str, Any]:
    """A commit of the next day."""
    return recorded(number, date=f"2026-02-06T12:0{number}:00Z", **changes)


REVERT = {
    "message": 'Revert "[Core] Change part 1 (#1)" (#3)\n\nThis reverts commit ' + "01" * 20 + ".",
    "pull": None,
    "files": recorded(1)["files"],
}


def reverts_told(slack: LoopbackSlack, channel: str) -> list[tuple[int, str]]:
    """What was told of reverts: (which digest's thread, the words)."""
    return [
        (place, each.text)
        for place, thread in enumerate(threads(slack, channel))
        for each in thread
        if each.text.startswith("⏪")
    ]


def let_a_day_pass(slack: LoopbackSlack, clock: SettableClock, channel: str = OTHER) -> None:
    """Until a channel has its third digest, which comes after all that was begun before."""
    clock.set(utc("2026-02-08 09:30"))
    slack.wait_for(lambda: len(slack.channel(channel)) > 2)


def test_the_thread_of_a_reverted_commit_is_told_once(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Each channel whose digest told of the commit reads of its revert in that thread, once: however many subscriptions
    it has, whether it still has one, and however often the bot starts or the day is posted again.
    """
    subscribe(tmp_path, DIGEST)
    subscribe(tmp_path, DIGEST, paths=("pkg/",))
    gone = subscribe(tmp_path, OTHER, "zh")
    github = serve(recorded(1), recorded(2), later(3, **REVERT))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: is_whole(slack, DIGEST, 2) and is_whole(slack, OTHER, 1))
    assert reverts_told(slack, DIGEST) == reverts_told(slack, OTHER) == []
    unsubscribe(tmp_path, gone)
    clock.set(utc("2026-02-07 09:30"))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(
            lambda: is_whole(slack, DIGEST, 4) and reverts_told(slack, DIGEST) and reverts_told(slack, OTHER)
        )
        slack.command(ADA, DIGEST, "2026-02-06")
        [reply] = slack.wait_for(
            lambda: [each for each in slack.private(ADA, DIGEST) if "post_to_channel" in buttons(each)]
        )
        slack.press(ADA, DIGEST, reply.ts, "post_to_channel")
        [link] = slack.wait_for(lambda: [each for each in slack.private(ADA, DIGEST) if "post_again" in buttons(each)])
        slack.press(ADA, DIGEST, link.ts, "post_again")
        slack.wait_for(lambda: is_whole(slack, DIGEST, 5))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.command(LIN, DIGEST, "status")
        slack.wait_for(lambda: slack.private(LIN, DIGEST))
    [(place, told)] = reverts_told(slack, DIGEST)
    assert place in (0, 1)
    assert told == '⏪ [Core] Change part 1 (#1) was reverted on 2026-02-06 by Revert "[Core] Change part 1 (#1)" (#3)'
    [(place, told)] = reverts_told(slack, OTHER)
    assert place == 0
    assert "已于 2026-02-06 被回退" in told
    [blocks] = [each.blocks for each in slack.thread(OTHER, slack.channel(OTHER)[0].ts) if each.text.startswith("⏪")]
    assert all(f"/commit/{sha * 20}" in str(blocks) for sha in ("01", "03"))


def test_a_thread_is_told_once_though_the_bot_ends_meanwhile(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A bot that ends before Slack has answered looks for the message when it is started again, and does not repeat it."""
    subscribe(tmp_path, DIGEST)
    github = serve(recorded(1), recorded(2), later(3, **REVERT))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: is_whole(slack, DIGEST, 1))
        slack.faults.append(
            Fault("chat.postMessage$", "accept_and_drop", where=lambda params: "⏪" in params.get("text", ""))
        )
        clock.set(utc("2026-02-07 09:30"))
        slack.wait_for(lambda: not slack.faults)
    with bot_running(slack, github.url, tmp_path, now=clock):
        clock.set(utc("2026-02-08 09:30"))
        slack.wait_for(lambda: len(slack.channel(DIGEST)) > 2)
    assert [place for place, _ in reverts_told(slack, DIGEST)] == [0]
    assert slack.asked("conversations.replies")


def test_each_commit_that_one_revert_names_is_told_and_a_thread_that_knows_is_not(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Of several commits that one revert names by number, each is told, those that were in no digest nowhere.

    A revert of the same day's commit, of one that the channel's digest left out, or in words alone is told nowhere.
    """
    slack.workspace.add_channel("several", HIGH, members={"U0BOT", ADA})
    subscribe(tmp_path, DIGEST)
    subscribe(tmp_path, OTHER, paths=("pkg/part2.py",))
    subscribe(tmp_path, HIGH, repository=Repository.parse("o/several"))
    same_day = {"message": 'Revert "[Core] Change part 2 (#2)" (#3)', "pull": None}
    in_words = {"message": "Revert #2 (#5)", "pull": None}
    github = serve(recorded(1), recorded(2), recorded(3, **same_day), later(4, **REVERT), later(5, **in_words))
    files = [*recorded(1)["files"], *recorded(2)["files"]]
    several = later(3, message="Revert #1, #2 and #9 (#3)", pull=None, files=files)
    github.repositories["o/several"] = RecordedRepository([recorded(1), recorded(2), several])
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: all(is_whole(slack, each, 1) for each in (DIGEST, OTHER, HIGH)))
        clock.set(utc("2026-02-07 09:30"))
        slack.wait_for(lambda: is_whole(slack, DIGEST, 2) and reverts_told(slack, DIGEST))
        slack.wait_for(lambda: len(reverts_told(slack, HIGH)) == 2)
        let_a_day_pass(slack, clock)
    assert [place for place, _ in reverts_told(slack, DIGEST)] == [0]
    assert reverts_told(slack, OTHER) == []
    told = sorted(reverts_told(slack, HIGH))
    assert [(place, re.findall(r"\(#(\d)\)", text)) for place, text in told] == [(0, ["1", "3"]), (0, ["2", "3"])]


def test_a_private_commits_thread_is_told_only_while_the_channel_may_see_it(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A channel that may not see the repository any more reads nothing of the revert."""
    subscribe(tmp_path, DIGEST)
    subscribe(tmp_path, OTHER)
    github = serve(recorded(1), later(2, **REVERT))
    with bot_running(slack, github.url, tmp_path, now=clock, digest_private=f"o/n={DIGEST}+{OTHER}"):
        slack.wait_for(lambda: is_whole(slack, DIGEST, 1) and is_whole(slack, OTHER, 1))
    clock.set(utc("2026-02-07 09:30"))
    with bot_running(slack, github.url, tmp_path, now=clock, digest_private=f"o/n={DIGEST}"):
        slack.wait_for(lambda: is_whole(slack, DIGEST, 2) and reverts_told(slack, DIGEST))
        let_a_day_pass(slack, clock, DIGEST)
    assert reverts_told(slack, OTHER) == []
