"""Weeks in Slack: those that come by themselves, and those that people ask for."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.store import Store, Subscriptions, Terms, Weekday, open_engine
from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import bot_database, bot_running, buttons, posted, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk

Serve = Callable[..., FaultyGitHub]
REPOSITORY = Repository(owner="o", name="n")
MONDAY = date(2026, 2, 9)  # the week before it is that of 2026-02-02


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(utc("2026-02-09 08:59:50"), speed=20)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with LoopbackSlack(now=clock.timestamp, pace=False) as server:
        yield server
        assert server.breaches == []


def commits(*days: int) -> list[dict[str, Any]]:
    """A commit on each of these days of February, of which every second one removes a flag."""
    made = []
    for number, day in enumerate(days, 1):
        flag = f'@@ -1,3 +1,2 @@\n def add(parser):\n-    parser.add_argument("--part-{number}", type=int)\n     return parser'
        file = {"filename": "engine/args.py", "status": "modified", "additions": 0, "deletions": 1, "changes": 1}
        files = {} if number % 2 else {"files": [{**file, "patch": flag}]}
        made.append(recorded(number, date=f"2026-02-{day:02}T12:00:00Z", **files))
    return made


def prepare(
    folder: Path,
    channel: str = DIGEST,
    repository: str = "o/n",
    *,
    since: date | None = date(2026, 2, 2),
    weekly: Weekday | None = "mon",
    tz: str = "UTC",
    started_to: date = MONDAY - timedelta(days=1),
    **terms: Any,
) -> None:
    """A subscription whose last weekly digest came a week ago, and the first day that its repository has in the store."""
    engine = open_engine(bot_database(folder))
    subscriptions = Subscriptions(engine)
    named, language = Repository.parse(repository), terms.pop("language", "en")
    held = Terms(channel, named, time(9), ZoneInfo(tz), language, weekly=weekly, **terms)
    kept = subscriptions.keep(held, utc("2026-01-05 10:00"))
    subscriptions.started(kept.id, started_to)
    subscriptions.started_week(kept.id, MONDAY - timedelta(days=7))
    if since:
        store_day(Store(engine), since, tz, named)
    engine.dispose()


def store_day(store: Store, day: date, tz: str = "UTC", repository: Repository = REPOSITORY) -> None:
    """A day without commits."""
    at = datetime.combine(day + timedelta(days=2), time(), UTC)
    store.save_day(repository, day, tz, listed=[], late=[], remarks=[], listed_at=at)


def files(slack: LoopbackSlack, root: Message) -> list[str]:
    """The files in a message's thread."""
    return [slack.workspace.files[each].name for message in slack.thread(DIGEST, root.ts) for each in message.files]


def weekly(slack: LoopbackSlack, channel: str = DIGEST) -> list[Message]:
    """The weekly digests in a channel."""
    return [each for each in slack.channel(channel) if key(each).startswith("week:")]


def key(message: Message) -> str:
    return str((message.metadata or {}).get("event_payload", {}).get("key", ""))


def test_a_week_comes_once_on_its_day_with_its_chart(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """At the subscription's time, with the seven days before; in the thread are the chart, with its words, and the whole week."""
    prepare(tmp_path, since=date(2026, 2, 1))
    github = serve(*commits(1, 2, 4, 4, 8))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: weekly(slack) and len(files(slack, weekly(slack)[0])) > 1)
        clock.set(utc("2026-02-09 23:00"))
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: slack.connected)
    [root] = weekly(slack)
    assert "o/n · 2026-02-02 – 2026-02-08" in whole(root)
    assert "Commits: 4" in whole(root)
    assert "--part-2" in whole(root)
    assert "not stored" not in whole(root).lower()
    assert files(slack, root) == ["n-2026-02-02-2026-02-08.png", "n-2026-02-02-2026-02-08.md"]
    chart = next(each for each in slack.workspace.files.values() if each.name.endswith(".png"))
    assert (chart.content or b"").startswith(b"\x89PNG")
    assert "02-04 2 (high" in chart.alt
    [shared] = [each for each in slack.thread(DIGEST, root.ts) if chart.id in each.files]
    assert "🔴 high" in whole(shared)
    assert slack.refusals == []


def test_weeks_say_what_they_leave_out(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """What was before an installation's first day is neither read nor claimed, and a hole after it is read.

    A week without commits is one sentence in the subscription's language, without a thread; one that is filtered by paths,
    as its days are, says so, and how many there are in all.
    """
    names = ("young", "empty", "paths")
    places = {name: (slack.workspace.add_channel(name, members={"U0BOT", ADA}), f"o/{name}") for name in names}
    prepare(tmp_path, *places["young"], since=date(2026, 2, 7))
    prepare(tmp_path, *places["empty"], language="zh")
    prepare(tmp_path, *places["paths"], paths=("engine/",))
    github = serve()
    days = {"young": (3, 7, 8), "empty": (1,), "paths": (3, 4, 5)}
    github.repositories |= {f"o/{name}": RecordedRepository(commits(*days[name])) for name in names}
    with bot_running(slack, github.url, tmp_path, now=clock):
        slack.wait_for(lambda: all(weekly(slack, channel) for channel, _ in places.values()))
        clock.advance(timedelta(hours=1))
    [young], [empty], [paths] = (weekly(slack, channel) for channel, _ in places.values())
    assert "Only since 2026-02-07 (Sat): the days before are not stored" in whole(young)
    assert "Commits: 1 " in whole(young)
    assert "这几天无提交" in empty.text
    assert len(empty.blocks) == 1
    assert slack.thread(empty.channel, empty.ts) == [empty]
    assert "Commits: 1 of 3" in whole(paths)
    assert "Filter: engine/" in whole(paths)
    assert "Change part 1" not in whole(paths)


def test_a_week_stands_without_the_chart_that_slack_refuses(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """The thread says why it is missing, the whole week comes, and the failure is counted."""
    prepare(tmp_path)
    slack.faults.append(Fault("files.getUploadURLExternal", "error", error="storage_limit_reached"))
    with bot_running(slack, serve(*commits(3)).url, tmp_path, now=clock):
        [root] = slack.wait_for(lambda: weekly(slack))
        slack.wait_for(lambda: files(slack, root))
        engine = open_engine(bot_database(tmp_path))
        slack.wait_for(lambda: Subscriptions(engine).all()[0].note)
        engine.dispose()
    assert files(slack, root) == ["n-2026-02-02-2026-02-08.md"]
    assert "The chart could not be attached" in "".join(map(whole, slack.thread(DIGEST, root.ts)))


def test_a_week_is_asked_for_and_posted_once(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """The private reply has the chart's figures; what it posts has the chart, and a question there is about the week."""
    prepare(tmp_path, weekly=None)
    with Talk(slack, serve(*commits(2, 3, 4)).url, tmp_path, now=clock) as talk:
        reply = talk.type(ADA, "week 2026-02-05")
        assert "o/n · 2026-02-02 – 2026-02-08" in whole(reply)
        assert "Tue 1 · Wed 1" in whole(reply)
        talk.finish(slack.press(ADA, DIGEST, reply.ts, "post_to_channel"))
        slack.wait_for(lambda: weekly(slack) and len(files(slack, weekly(slack)[0])) > 1)
        again = talk.type(ADA, "n week 2026-02-05")
        assert "Already in this channel" in whole(again)
        talk.finish(slack.press(ADA, DIGEST, again.ts, "post_to_channel"))
        [root] = weekly(slack)
        answer = talk.reply(ADA, f"{BOT} was a flag removed?", thread=root.ts)
        assert "--part-2" in whole(answer)
        mentioned = talk.say(ADA, f"{BOT} week -1")
        shown, *_ = talk.replies(mentioned)
        assert "2026-02-02 – 2026-02-08" in whole(shown)
        assert any(
            name.endswith(".png") for name in files(slack, next(m for m in slack.channel(DIGEST) if m.ts == mentioned))
        )


def test_a_private_repository_has_no_weeks_elsewhere(
    slack: LoopbackSlack, serve: Serve, clock: SettableClock, tmp_path: Path
) -> None:
    """Neither by a command nor by a subscription that was there before it became private."""
    prepare(tmp_path)
    with Talk(slack, serve(*commits(3)).url, tmp_path, now=clock, digest_private="o/n=C0SECRET") as talk:
        told = whole(talk.type(ADA, "o/n week"))
        assert "o/n, or this bot has no access to it" in told
        assert "Change part" not in told
        clock.advance(timedelta(hours=1))
        talk.type(LIN, "status")
    assert posted(slack, DIGEST) == []


def test_weeks_are_chosen_and_ended(serve: Serve, tmp_path: Path) -> None:
    """By an option of `subscribe`, and in the form; the replies say when the next one comes."""
    clock = SettableClock(utc("2026-02-09 08:59:50"))  # as fast as the real time: a trigger lives 3 s
    with (
        faultless(LoopbackSlack(now=clock.timestamp, pace=False)) as slack,
        Talk(slack, serve().url, tmp_path, now=clock) as talk,
    ):
        told = whole(talk.type(ADA, "subscribe weekly mon at 09:00"))
        assert "Weekly: Mon" in told
        assert re.search(r"Next weekly digest: 2026-02-(09|16) \(Mon\) 09:00 UTC", told)
        assert "Next weekly digest" in whole(talk.type(ADA, "status"))
        assert "weekly digest Mon → Fri" in whole(talk.type(ADA, "subscribe weekly fri"))
        listed = talk.type(ADA, "subscriptions")
        assert "Weekly: Fri" in whole(listed)
        slack.press(ADA, DIGEST, listed.ts, "edit_subscription")
        view = slack.wait_for(lambda: slack.modal(ADA))
        chosen = next(each["element"]["initial_option"] for each in view.body["blocks"] if each["block_id"] == "weekly")
        assert chosen["value"] == "fri"
        ended = talk.type(ADA, "subscribe weekly off")
        assert ended.text == "✅ Subscription changed o/n · Changed: weekly digest Fri → off"
        assert "✅ Subscribed" not in whole(ended)
        assert "is not a day of the week" in whole(talk.type(ADA, "subscribe weekly 13"))
        assert "edit_subscription" in buttons(listed)
