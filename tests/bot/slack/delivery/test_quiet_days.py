"""Digests on chosen weekdays, which cover the days between, and days without a message, which the next one counts."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import DayReport, Importance, Language, Repository
from analysis.window import window
from bot.models.downstream import UNASKED, DownstreamCheck, Unchecked
from bot.models.subjects import WeekRef, days_told, parse_value, value_of
from bot.slack.messages.head import is_quiet
from bot.store import Subscription, Subscriptions, Terms, Weekday, open_engine
from loopback.slack import Fault, LoopbackSlack
from tests.conftest import recorded
from tests.factories import commit, entry
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import bot_database, bot_running, posted, stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, Talk

Serve = Callable[..., FaultyGitHub]
ENGINE = Repository.parse("o/n")
WORKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri")
FLAG = '@@ -1,3 +1,2 @@\n def add(parser):\n-    parser.add_argument("--part-{}", type=int)\n     return parser'


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def commits(*days: int) -> list[dict[str, Any]]:
    """A commit on each of these days of February; one of a day below zero says nothing to anybody, the others remove a flag."""
    made = []
    for number, day in enumerate(days, 1):
        file = {"filename": "engine/args.py", "status": "modified", "additions": 0, "deletions": 1, "changes": 1}
        files = {"files": [{**file, "patch": FLAG.format(number)}]} if day > 0 else {}
        made.append(recorded(number, date=f"2026-02-{abs(day):02}T12:00:00Z", **files))
    return made


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(utc("2026-02-09 08:59:50"), speed=20)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with LoopbackSlack(now=clock.timestamp, pace=False) as server:
        server.workspace.add_channel("zh", "C0ZH", members={"U0BOT", ADA})
        yield server
        assert server.breaches == []


def subscribe(folder: Path, channel: str, language: Language, told_to: int, **terms: Any) -> int:
    """Subscribe a channel that was told the days of February up to this one."""
    engine = open_engine(bot_database(folder))
    held = Terms(channel, ENGINE, time(9), ZoneInfo("UTC"), language, **terms)
    kept = Subscriptions(engine).keep(held, utc("2026-01-05 10:00"), ADA)
    Subscriptions(engine).started(kept.id, date(2026, 2, told_to))
    engine.dispose()
    return kept.id


def subscription(folder: Path, number: int) -> Subscription | None:
    engine = open_engine(bot_database(folder))
    found = Subscriptions(engine).get(number)
    engine.dispose()
    return found


def day_of(*tiers: Importance, **fields: Any) -> DayReport:
    made = [entry(commit(f"Tidy {n}", sha=f"{n:040x}")) for n in range(len(tiers))]
    ranked = [each.ranked.model_copy(update={"importance": tier}) for each, tier in zip(made, tiers, strict=True)]
    entries = tuple(each.model_copy(update={"ranked": rank}) for each, rank in zip(made, ranked, strict=True))
    day = date(2026, 2, 5)
    whole_day = window(day, ZoneInfo("UTC"))
    return DayReport(
        repository=ENGINE, date=day, timezone="UTC", language="en", window=whole_day, entries=entries, **fields
    )


@pytest.mark.parametrize(
    ("tiers", "check", "quiet"),
    [
        ((), UNASKED, True),
        ((Importance.LOW, Importance.MEDIUM), UNASKED, True),
        ((Importance.LOW, Importance.HIGH), UNASKED, False),
        ((Importance.LOW,), DownstreamCheck(unchecked=(Unchecked(ENGINE, "away"),)), False),
    ],
)
def test_a_day_is_quiet_if_nothing_follows_from_it(
    tiers: tuple[Importance, ...], check: DownstreamCheck, *, quiet: bool
) -> None:
    """A day is quiet with commits that tell nobody anything; not with a high one, or while own code could not be compared."""
    assert is_quiet(day_of(*tiers), check) is quiet


def test_a_digest_of_several_days_tells_of_each_first() -> None:
    """Its days are published and looked through for reverts as those of daily digests are; the weekly digest repeats what was told."""
    monday = WeekRef(ENGINE, date(2026, 2, 6), "UTC", "en", 7, covered=3)
    assert value_of(monday) == "3days|o/n|2026-02-06|UTC|en|s7"
    assert parse_value(value_of(monday)) == monday
    assert [each.day.day for each in days_told(monday)] == [6, 7, 8]
    assert days_told(monday._replace(covered=0)) == ()


def test_mondays_digest_covers_the_weekend(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """One message has the commits of the days since Friday's, counted together and a day, in the channel's language; then it is daily again.

    A question in its thread is about all its days, and the revert of a commit of one of them is told there.
    """
    revert = 'Revert "[Core] Change part 3 (#3)" (#5)\n\nThis reverts commit ' + "03" * 20 + "."
    taken_back = recorded(5, date="2026-02-09T12:00:00Z", message=revert, pull=None, files=recorded(3)["files"])
    places: dict[str, Language] = {DIGEST: "en", "C0ZH": "zh"}
    for channel, language in places.items():
        subscribe(tmp_path, channel, language, 5, days=WORKDAYS)
    with Talk(slack, serve(*commits(5, 6, -7, 8), taken_back).url, tmp_path, now=clock) as talk:
        slack.wait_for(lambda: posted(slack, "C0ZH") and posted(slack, DIGEST) and len(slack.workspace.files) == 2)
        talk.settle()
        [english], [chinese] = posted(slack, DIGEST), posted(slack, "C0ZH")
        assert "o/n · 2026-02-06 – 2026-02-08" in whole(english)
        assert "Commits: 3 | 🔴 High 0 | 🟡 Medium 2" in whole(english)
        assert "Fri 1 · Sat 1 · Sun 1" in whole(english)
        assert "--part-2" in whole(english)
        assert "--part-1" not in whole(english)
        assert "\n共 3 个提交 | 🔴高 0 | 🟡中 2 | 🟢低 1" in whole(chinese)
        assert {each.name for each in slack.workspace.files.values()} == {"n-2026-02-06-2026-02-08.md"}
        assert "--part-4" in whole(talk.reply(ADA, f"{BOT} was a flag removed?", thread=english.ts))
        clock.set(utc("2026-02-10 09:00"))
        slack.wait_for(lambda: len(posted(slack, DIGEST)) > 1)
        assert "o/n · 2026-02-09 (Mon)" in whole(posted(slack, DIGEST)[1])
        slack.wait_for(lambda: any(each.text.startswith("⏪") for each in slack.thread(DIGEST, english.ts)))


def test_quiet_days_are_counted_by_the_next_message(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Nothing comes for days without consequences, the list says so meanwhile, and the next message tells how many there were."""
    quiet = subscribe(tmp_path, "C0ZH", "zh", 6, quiet=True)
    subscribe(tmp_path, DIGEST, "en", 6, quiet=True, days=("mon", "wed"))
    with Talk(slack, serve(*commits(-7, 10)).url, tmp_path, now=clock) as talk:
        slack.wait_for(lambda: (found := subscription(tmp_path, quiet)) and found.quiet_days == 2)
        assert posted(slack, "C0ZH") == []
        assert "最近 2 天没有影响，未发消息" in whole(talk.type(ADA, "订阅列表", "C0ZH"))
        clock.set(utc("2026-02-10 09:00"))
        slack.wait_for(lambda: (found := subscription(tmp_path, quiet)) and found.quiet_days == 3)
        clock.set(utc("2026-02-11 09:00"))
        slack.wait_for(lambda: posted(slack, "C0ZH") and posted(slack, DIGEST))
        slack.wait_for(lambda: (found := subscription(tmp_path, quiet)) and found.quiet_days == 0)
    [chinese], [english] = posted(slack, "C0ZH"), posted(slack, DIGEST)
    assert "此前 3 天没有影响，未发消息" in whole(chinese)
    assert "🔕 2 quiet days before" in whole(english)
    assert "o/n · 2026-02-09 – 2026-02-10" in whole(english)


def test_a_day_that_cannot_be_read_is_not_quiet(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """A channel that asked for quiet is told of a repository that is gone, and quiet days end only with a message that arrives."""
    number = subscribe(tmp_path, DIGEST, "en", 7, quiet=True)
    engine = open_engine(bot_database(tmp_path))
    for _ in range(2):  # a step that runs again
        Subscriptions(engine).kept_quiet(number, date(2026, 2, 6), date(2026, 2, 7))
    engine.dispose()
    slack.faults.append(Fault("chat.postMessage", "error", error="not_in_channel"))
    github = serve()
    github.repositories.clear()
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: (found := subscription(tmp_path, number)) and found.note)
        assert [found for found in [subscription(tmp_path, number)] if found and found.quiet_days == 2]
        clock.advance(timedelta(days=1))
        slack.wait_for(lambda: posted(slack, DIGEST))
    assert "could not be read" in whole(posted(slack, DIGEST)[0])
    assert stored(tmp_path, "select count(*) from outbox where state = 'refused'") == [(1,)]
