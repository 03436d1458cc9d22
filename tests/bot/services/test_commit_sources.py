"""Days from a mirror: the same as through GitHub's API, with fewer requests, and the API wherever the mirror fails."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Commit, DayReport, Proof, ReadFrom, Released, Remark, Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.models.subjects import DayRef
from bot.services.commit_reader import current_commits
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.store import Store, open_engine
from loopback.git.history import with_git_shas
from loopback.github import RecordedRepository
from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_repository
from tests.conftest import NOON, recorded
from tests.servers.databases import empty_database
from tests.servers.github import Fault, FaultyGitHub

DAY = NOON.date()
NEXT_MORNING = NOON + timedelta(days=1)
REPOSITORY = Repository(owner="o", name="n")
SAMPLE = Repository.parse(SAMPLE_REPOSITORY)
GIT = r"\.git/"


def history(*dates: datetime, pushed: str = "") -> list[dict[str, Any]]:
    """Commits with these dates that each add a file, with the SHAs that git computes; those `pushed` otherwise differ."""
    commits = []
    for number, instant in enumerate(dates, 1):
        patch = f"@@ -0,0 +1,2 @@\n+def work():\n+    return {number}"
        file = {"filename": f"pkg/{pushed}part{number}.py", "status": "added", "additions": 2, "deletions": 0}
        commits.append(recorded(number, date=instant.isoformat(), files=[{**file, "changes": 2, "patch": patch}]))
    return with_git_shas(commits)


class Desk:
    """The services on a GitHub, with mirrors in a folder or, if `mirrors` is None, without."""

    def __init__(self, server: FaultyGitHub, folder: Path, mirrors: Path | None, token: str | None) -> None:
        self.server = server
        self.github = GitHub(server.url, token, max_wait=1)
        self.store = Store(open_engine(empty_database(folder / "desk.db")))
        found = Mirrors(mirrors, self.github, token) if mirrors else None
        self.sources = CommitSources(self.github, found, lambda _: True)
        self.services: Services = Services(self.github, self.store, None, self.sources)

    def read(self, day: date = DAY, now: datetime | None = None, repository: Repository = REPOSITORY) -> DayReport:
        now = now or datetime.combine(day, NEXT_MORNING.timetz()) + timedelta(days=1)
        return self.services.digests.report(DayRef(repository, day, "UTC", "en"), now)

    def whole(self, sha: str) -> Commit:
        """A stored commit with its patches; without the characters in its author's name that git leaves out."""
        [(_, commit_id)] = self.store.with_sha(sha)
        commit = self.store.commits([commit_id], patches=True)[0].commit
        return commit.model_copy(update={"author": re.sub("[<>]", "", commit.author)})

    def close(self) -> None:
        self.store.close()
        self.github.close()


At = Callable[..., Desk]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[At]:
    """Opens desks that share the folder of mirrors, each with a store of its own."""
    opened: list[Desk] = []

    def at(server: FaultyGitHub, *, token: str | None = "token", mirrored: bool = True) -> Desk:
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        opened.append(Desk(server, folder, tmp_path / "mirrors" if mirrored else None, token))
        return opened[-1]

    yield at
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def sample() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({SAMPLE_REPOSITORY: sample_repository()}) as server:
        yield server


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    """A repository with two commits on the day."""
    commits = history(NOON, NOON + timedelta(hours=1))
    with FaultyGitHub({"o/n": RecordedRepository(commits)}) as server:
        yield server


def test_a_release_is_told_by_a_mirror_or_by_the_api(desk: At) -> None:
    """The first release, those that have a commit and a pick of it are the same; GitHub is asked few questions, and the list once.

    Where it fails nothing is known.
    """
    commits = history(*(NOON + timedelta(hours=hour) for hour in range(4)))
    branch = [
        {
            **commits[2],
            "sha": "09" * 20,
            "parents": [commits[1]["sha"]],
            "message": "Pick it (#3)",
            "pull": None,
            "committer": {"name": "GitHub", "date": (NOON + timedelta(hours=5)).isoformat()},
        }
    ]
    *_, picked = with_git_shas([*commits, *branch])
    tags = {"v1.0": commits[0]["sha"], "v1.1": commits[1]["sha"], "v1.1.1": picked["sha"], "v1.2rc1": commits[3]["sha"]}
    dates = {name: (NOON + timedelta(hours=hour)).isoformat() for name, hour in zip(tags, (0, 1, 5, 6), strict=True)}
    releases = [{"tag_name": each, "body": "", "published_at": dates[each]} for each in reversed(tags)]
    served = RecordedRepository([*commits, picked], {"main": commits[3]["sha"]}, tags=tags, releases=releases)
    with FaultyGitHub({"o/n": served}) as github:
        found = {}
        for mirrored in (True, False):
            opened = desk(github, mirrored=mirrored)
            report = opened.read()
            source, before = opened.sources.stored(REPOSITORY), len(github.requests)
            read = [each.commit for each in report.entries]
            found[mirrored] = [source.first_release(commit) for commit in sorted(read, key=attrgetter("committed_at"))]
        assert found[True] == found[False]
        assert [(each.tag, each.having[:1]) for each in found[False]] == [
            ("v1.0", ("v1.0",)),
            ("v1.1", ("v1.1",)),
            ("v1.1.1", ("v1.1.1",)),
            (None, ("v1.2rc1",)),
        ]
        assert len(github.requests) - before <= 4 * 4
        github.faults.append(Fault("/compare/", status=404))
        assert source.first_release(read[0]) == Released()


def test_a_day_from_the_mirror_is_that_of_the_api(sample: FaultyGitHub, desk: At) -> None:
    """Commits, files, patches, pull requests and order are the same either way."""
    both = [desk(sample, mirrored=each) for each in (True, False)]
    reports = [each.read(SAMPLE_DAY, repository=SAMPLE) for each in both]
    assert [each.read_from for each in reports] == [ReadFrom.MIRROR, ReadFrom.API]
    assert len(reports[0].entries) > 10
    by_mirror, by_api = (
        [one.whole(entry.commit.sha) for entry in report.entries] for one, report in zip(both, reports, strict=True)
    )
    assert by_mirror == by_api


def test_github_is_asked_for_pull_requests_alone(github: FaultyGitHub, desk: At) -> None:
    """Once there is a mirror, a day takes one request a commit with a token, and none without."""
    desk(github).read()
    github.requests.clear()
    desk(github).read()
    assert [path.rpartition("/")[2] for path, _, _ in github.requests if ".git/" not in path] == ["pulls", "pulls"]
    github.requests.clear()
    assert desk(github, token=None).read().stats.total == 2
    assert not github.asked("^/repos/")


def test_a_month_is_read_without_a_token(github: FaultyGitHub, desk: At) -> None:
    """Sixty requests an hour are enough for any number of commits, and the mirror is not fetched for each day."""
    github.push("o/n", *history(*(NOON + timedelta(hours=number) for number in range(100))))
    github.limit = 60
    at = desk(github, token=None)
    reports = [at.read(DAY + timedelta(days=number), NOON + timedelta(days=30)) for number in range(5)]
    assert sum(each.stats.total for each in reports) == 100
    assert not any(each.failed for each in reports)
    assert github.asked("^/repos/") == 1
    assert github.asked(GIT) < 20


def test_a_backfill_asks_git_for_all_days_at_once(github: FaultyGitHub, desk: At) -> None:
    """The files of many days are fetched together, and a second run asks nobody."""
    github.push("o/n", *history(*(NOON + timedelta(days=number) for number in range(20))))
    at = desk(github, token=None)
    days = [DAY + timedelta(days=number) for number in range(20)]

    def read() -> list[tuple[int, int]]:
        done = at.services.digests.reports(REPOSITORY, days, ZoneInfo("UTC"), "en", now=NOON + timedelta(days=30))
        return [(each.report.stats.total, len(each.report.failed)) for each in done if each.report]

    assert read() == [(1, 0)] * 20
    assert github.asked(GIT) <= 6  # the clone, and what the commits change
    github.requests.clear()
    assert read() == [(1, 0)] * 20
    assert not github.requests


def test_a_mirror_that_fails_after_the_listing_is_told(github: FaultyGitHub, desk: At) -> None:
    """Where git does not give the files of a day that the mirror listed, the API does, and the coverage says so."""
    at = desk(github)
    now = NEXT_MORNING + timedelta(days=1)
    at.sources.current(REPOSITORY, now, NEXT_MORNING)
    github.faults = [Fault(GIT, 503, times=100)]
    report = at.read(now=now)
    assert not report.failed
    assert report.read_from is ReadFrom.API_INSTEAD
    again = at.services.digests.stored_report(DayRef(REPOSITORY, DAY, "UTC", "en"))
    assert again
    assert again.coverage.read_from is ReadFrom.API_INSTEAD


def test_a_mirror_that_is_removed_meanwhile_is_told(github: FaultyGitHub, desk: At, tmp_path: Path) -> None:
    """Where the mirror goes while its commits are read, the API takes its place, and the coverage says so."""
    at = desk(github)
    release = Event()
    github.faults = [Fault("/pulls", times=2, until=release)]
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(at.read)
        try:
            while github.asked("/pulls") < 2:
                assert not reading.done()
            Mirrors(tmp_path / "mirrors", at.github, None).remove_unless(lambda _: False)
        finally:
            release.set()
        report = reading.result()
    assert not report.failed
    assert all(each.commit.files for each in report.entries)
    assert report.read_from is ReadFrom.API_INSTEAD


def test_what_landed_late_and_a_force_push_are_read_from_git(github: FaultyGitHub, desk: At) -> None:
    """A commit dated on a day that was reported has its section, and a rewritten branch its remark, without a request."""
    at = desk(github, token=None)
    at.read()
    morning, late = NOON + timedelta(days=1), NOON + timedelta(hours=2)
    github.push("o/n", *history(NOON, NOON + timedelta(hours=1), late, morning))
    github.requests.clear()
    grown = at.read(DAY + timedelta(days=1))
    assert [len(grown.entries), len(grown.late)] == [1, 1]
    assert not grown.remarks
    github.push("o/n", *history(NOON, morning + timedelta(days=1), pushed="other/"))
    assert at.read(DAY + timedelta(days=2)).remarks == (Remark.REWRITTEN,)
    assert not github.asked("^/repos/")


def test_where_git_fails_the_api_takes_its_place(github: FaultyGitHub, desk: At) -> None:
    """A server that cannot be cloned from is read through the API, and the coverage says so."""
    github.faults = [Fault(GIT, 503, times=100)]
    at = desk(github)
    now = NEXT_MORNING + timedelta(days=1)
    report = at.read(now=now)
    assert report.read_from is ReadFrom.API_INSTEAD
    assert report.stats.total == 2
    assert not report.failed
    tried = github.asked(GIT)
    at.read(DAY + timedelta(days=1), now)
    assert github.asked(GIT) == tried  # a broken server is not tried for each of many days
    github.faults = []
    assert at.read(DAY - timedelta(days=1), now + timedelta(minutes=11)).read_from is ReadFrom.MIRROR


def test_facts_of_older_rules_are_found_anew_in_the_files(github: FaultyGitHub, desk: At, tmp_path: Path) -> None:
    """After an upgrade a stored day's facts are proved by whole files again, and kept while there is no mirror."""
    at = desk(github)
    at.read()
    with closing(sqlite3.connect(tmp_path / "0" / "desk.db")) as database, database:
        database.execute("update commits set facts_version = 0")
    ids = [at.store.with_sha(commit["sha"])[0][1] for commit in github.repositories["o/n"].commits.values()]
    assert [each.stale for each in current_commits(at.store, ids)] == [True, True]
    at.read()
    assert [(each.stale, each.proof) for each in at.store.commits(ids)] == [(False, Proof.FILES)] * 2


def test_a_day_of_the_api_gains_the_facts_of_files_with_the_mirror(
    github: FaultyGitHub, desk: At, tmp_path: Path
) -> None:
    """Commits that were stored before there was a mirror have their facts proved by files when their day is read again."""
    at = desk(github, mirrored=False)
    at.read()
    ids = [at.store.with_sha(commit["sha"])[0][1] for commit in github.repositories["o/n"].commits.values()]
    assert [each.proof for each in at.store.commits(ids)] == [Proof.PATCH] * 2
    mirrored = Services(
        at.github, at.store, None, CommitSources(at.github, Mirrors(tmp_path / "mirrors", at.github, None))
    )
    Mirrors(tmp_path / "mirrors", at.github, None).updated(REPOSITORY, create=True)
    mirrored.digests.report(DayRef(REPOSITORY, DAY, "UTC", "en"), NEXT_MORNING + timedelta(days=1))
    assert [each.proof for each in at.store.commits(ids)] == [Proof.FILES] * 2


def test_a_commit_without_its_pull_request_is_read(github: FaultyGitHub, desk: At) -> None:
    """If GitHub cannot be asked for a pull request, the commit is read from the mirror without it."""
    github.faults = [Fault("/pulls", 418, times=100)]
    report = desk(github).read()
    assert not report.failed
    assert [each.commit.pull for each in report.entries] == [None, None]
    assert all(each.commit.files for each in report.entries)


def test_the_mirror_of_a_repository_that_nobody_follows_is_removed(github: FaultyGitHub, tmp_path: Path) -> None:
    """Mirrors are removed with the last subscription, and the others stay."""
    followed = {"o/n"}
    with closing(GitHub(github.url, None)) as api:
        sources = CommitSources(api, Mirrors(tmp_path / "mirrors", api, None), lambda each: each.key in followed)
        assert sources.current(REPOSITORY, NEXT_MORNING, NEXT_MORNING).read_from is ReadFrom.MIRROR
        sources.remove_unused_mirrors()
        assert sources.stored(REPOSITORY).read_from is ReadFrom.MIRROR
        followed.clear()
        sources.remove_unused_mirrors()
        assert sources.stored(REPOSITORY).read_from is ReadFrom.API


def test_no_mirror_is_made_of_a_repository_that_nobody_follows(github: FaultyGitHub, tmp_path: Path) -> None:
    """Whoever asks about some repository has it read through the API; nothing is cloned for it."""
    with closing(GitHub(github.url, None)) as api:
        sources = CommitSources(api, Mirrors(tmp_path / "mirrors", api, None))
        assert sources.current(REPOSITORY, NEXT_MORNING, NEXT_MORNING).read_from is ReadFrom.API
    assert not github.asked(GIT)
