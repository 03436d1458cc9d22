"""The look for news of alerts: how often GitHub is asked, of what first, and what comes of its failures. On both databases."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine

from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.services.factory import Services
from bot.services.reader import Access, Channels, Reader
from bot.slack.delivery.alerts import AlertNews
from bot.slack.web import Web
from bot.store import Alert, Alerts, Mailbox, Store, Subscriptions, open_engine
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.bot.cli.test_upgrade_command import Releases
from tests.bot.slack.delivery.test_releases import settings, wait_for_tags
from tests.bot.slack.delivery.test_watched import subscribe
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.downstream import UPSTREAM
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk

REPOSITORY = Repository(owner="o", name="n")
START = datetime.now(UTC)  # by which the client of GitHub knows when a limit ends
HOUR = timedelta(hours=1)


class Desk(NamedTuple):
    """The alerts of a database, and a GitHub on which every pull request is open until it is merged."""

    alerts: Alerts
    engine: Engine
    github: FaultyGitHub
    clock: list[datetime]

    def process(self, hourly: int) -> AlertNews:
        """What one process looks with."""
        services = Services(GitHub(self.github.url, "token", max_wait=0), Store(self.engine))
        access = Access({}, lambda _: True, self.now)
        reader = Reader(services.digests, services.commits, list, access)
        channels = Channels(reader, Subscriptions(self.engine), "en", ZoneInfo("UTC"))
        directory = Web("x", "http://127.0.0.1:9/").directory  # of which nothing is asked
        news = self.alerts, services.commits, channels, Mailbox(self.engine), directory
        return AlertNews(*news, HOUR / hourly, self.now)

    def now(self) -> datetime:
        return self.clock[0]

    def ask(self, number: int, user: str = "U1") -> bool:
        name = f"#{number}"
        alert = Alert(
            user, "C1", REPOSITORY, "merged", name, f"Do it ({name})", f"https://github.example/o/n/pull/{number}"
        )
        return self.alerts.keep(alert, self.now() - HOUR + timedelta(seconds=number), 100)

    def look(self, *processes: AlertNews, during: timedelta = HOUR, every: timedelta = HOUR / 50) -> list[int]:
        """Have each process look at intervals, and return of which pull requests GitHub was asked."""
        before, end = len(self.github.requests), self.now() + during
        while self.now() < end:
            for each in processes:
                each.settle()
            self.clock[0] += every
        return [int(path.rpartition("/")[2]) for path, *_ in self.github.requests[before:]]

    def merge(self, number: int) -> None:
        body = {"number": number, "merged": True, "merge_commit_sha": "a" * 40, "state": "closed"}
        self.github.faults.insert(0, Fault(rf"/pulls/{number}$", 200, 100, body=body))


@pytest.fixture
def desk(database_url: str) -> Iterator[Desk]:
    engine = open_engine(database_url)
    with FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github:
        github.faults.append(Fault("/pulls/", 200, 10_000, body={"number": 1, "state": "open"}))
        yield Desk(Alerts(engine), engine, github, [START])
    engine.dispose()


def test_github_is_asked_so_often_in_an_hour_by_all_processes(desk: Desk) -> None:
    """Whatever is waited for, and however many processes look: of the oldest question first, then in turn, one request for all who ask."""
    hourly = 10
    for number in range(hourly + 2):
        desk.ask(hourly + 2 - number)
    desk.ask(1, "U2")
    processes = [desk.process(hourly) for _ in range(2)]
    assert desk.look(*processes, every=HOUR / hourly / 2) == list(range(1, hourly + 1))
    assert desk.look(*processes, during=HOUR / hourly * 3) == [hourly + 1, hourly + 2, 1]


def test_a_failure_loses_nothing(desk: Desk) -> None:
    """A pull request that GitHub does not show keeps no other from its turn, and after a rate limit the look goes on when it ends."""
    for number in (1, 2, 3):
        desk.ask(number)
    news = desk.process(50)
    desk.github.faults.insert(0, Fault("/pulls/1$", 404, 2, body={"message": "Not Found"}))
    assert desk.look(news, during=timedelta(minutes=6))[:4] == [1, 2, 3, 1]
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int((desk.now() + HOUR).timestamp()))}
    desk.github.faults.insert(0, Fault("/pulls/", 403, 1, headers=reset, body={"message": "API rate limit exceeded"}))
    assert len(desk.look(news, during=HOUR - timedelta(minutes=3))) == 1
    desk.merge(1)
    desk.merge(3)
    assert Counter(desk.look(news, during=timedelta(minutes=10))).keys() == {1, 2, 3}
    told = {each.subject: each.message for each in desk.alerts.settled()}
    assert set(told) == {"#1", "#3"}
    assert "Do it (#1) (o/n) is merged as aaaaaaa" in str(told["#1"])
    for each in desk.alerts.settled():
        assert desk.alerts.end(each.id, desk.now())
        assert not desk.alerts.end(each.id, desk.now())
    assert [each.subject for each in desk.alerts.of("U1")] == ["#2"]


def test_a_person_has_each_alert_once_and_so_many(desk: Desk) -> None:
    """The same question twice is one; one that is over may be asked anew, under another number; more than the most are refused."""
    alert = Alert("U1", "C1", REPOSITORY, "merged", "#1", "Do it", "")
    assert desk.alerts.keep(alert, START, 2)
    assert desk.alerts.keep(alert, START, 2)
    [first] = desk.alerts.of("U1")
    assert desk.alerts.keep(alert._replace(event="released"), START, 2)
    assert not desk.alerts.keep(alert._replace(event="reverted"), START, 2)
    assert desk.alerts.keep(alert, START, 2)
    assert desk.alerts.keep(alert._replace(user="U2"), START, 2)
    assert desk.alerts.end(first.id, START)
    assert desk.alerts.keep(alert, START, 2)
    assert [each.event for each in desk.alerts.of("U1")] == ["released", "merged"]
    assert first.id not in [each.id for each in desk.alerts.of("U1")]
    desk.alerts.end(desk.alerts.of("U2")[0].id, START)
    desk.alerts.forget(START + HOUR)
    with desk.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM alerts").scalar() == 2


def test_a_release_is_told_when_its_tag_is_fetched(tmp_path: Path) -> None:
    """A stored commit is told with the tag of the first release that has it; one that a release has already is answered at once."""
    clock = SettableClock(datetime(2026, 2, 6, 7, tzinfo=UTC), 100)
    subscribe(tmp_path, DIGEST, repository=UPSTREAM, releases="on")
    with ExitStack() as ending, faultless(LoopbackSlack(pace=False)) as slack:
        pair = Releases(tmp_path / "served", ending)
        with Talk(slack, pair.server.url, tmp_path, **settings(pair, tmp_path, clock)) as talk:
            wait_for_tags(slack, tmp_path, clock, 2)
            for sha, reply in (
                (pair.option, "is released in v1.1"),
                (pair.worker, "direct message when it is released"),
            ):
                shown = whole(talk.type(ADA, f"tell me when {sha} is released"))
                assert reply in shown
                assert "I know no release tags" not in shown
            pair.upstream.git("update-ref", "refs/tags/v1.2", pair.worker)
            clock.advance(HOUR)
            direct = talk.direct(ADA)
            [told] = slack.wait_for(lambda: [each for each in slack.workspace.visible(direct) if each.by_bot])
            assert "Pass the cache (#15) (o/engine) is released in v1.2" in told.text
