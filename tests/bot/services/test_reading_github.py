"""Reading a day from GitHub, and everything that can go wrong on the way."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from sqlite3 import connect
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.errors import AccessDenied, RateLimited, UnknownCommit, UnknownRepository, Unreachable
from analysis.models import DayReport, Importance, Remark, Repository
from analysis.window import Window
from bot.models.reference import parse_reference
from bot.models.subjects import DayRef
from bot.services.factory import Services
from tests.conftest import NOON, recorded
from tests.servers.github import Fault, FaultyGitHub

Serve = Callable[..., FaultyGitHub]
At = Callable[..., Services]

REPOSITORY = Repository(owner="o", name="n")
DAY = date(2026, 2, 5)
NEXT_MORNING = datetime(2026, 2, 6, 9, tzinfo=UTC)


def read(
    services: Services,
    day: date = DAY,
    tz: str = "UTC",
    now: datetime = NEXT_MORNING,
    repository: Repository = REPOSITORY,
) -> DayReport:
    return services.digests.report(DayRef(repository, day, tz, "en"), now)


def test_a_day_is_asked_for_once(serve: Serve, services: At) -> None:
    """Without a token GitHub is asked once for the list and once a commit, and not at all the second time."""
    server = serve(*(recorded(n) for n in range(1, 46)))
    first = read(services(server, token=None))
    assert len(server.requests) == 46
    assert server.asked(r"/commits$") == 1
    assert server.asked(r"/pulls") == 0
    assert read(services(server, token=None)) == first
    assert len(server.requests) == 46
    assert first.coverage.listed == first.coverage.by_rules == 45


def test_a_token_brings_the_pull_request(serve: Serve, services: At) -> None:
    """With a token each commit is asked for twice, and the pull request's purpose is in the analysis."""
    server = serve(recorded(1), recorded(2))
    report = read(services(server))
    assert len(server.requests) == 1 + 2 * 2
    assert all(token == "token token" for _, _, token in server.requests)
    assert [entry.commit.pull.number for entry in report.entries if entry.commit.pull] == [2, 1]
    assert report.entries[0].analysis
    assert "Part 2 was slow" in report.entries[0].analysis.summary


def test_lists_are_paged_by_a_hundred(serve: Serve, services: At) -> None:
    """A day of 110 commits takes two list requests and is complete."""
    server = serve(*(recorded(n, sha=f"{n:040x}", parents=[f"{n - 1:040x}"]) for n in range(1, 111)))
    assert read(services(server, token=None)).stats.total == 110
    assert server.asked(r"/commits$") == 2
    assert {query["per_page"] for path, query, _ in server.requests if path.endswith("/commits")} == {"100"}


def test_files_over_three_hundred_are_paged(serve: Serve, services: At) -> None:
    """A commit of 650 files is read in three requests with every file in it."""
    files = [
        {
            "filename": f"pkg/m{n}.py",
            "status": "modified",
            "additions": 1,
            "deletions": 0,
            "patch": "@@ -0,0 +1 @@\n+x = 1",
        }
        for n in range(650)
    ]
    server = serve(recorded(1, files=files, stats={"additions": 650, "deletions": 0, "total": 650}))
    report = read(services(server, token=None))
    assert len(report.entries[0].commit.files) == 650
    assert server.asked(r"/commits/") == 3


def test_an_enterprise_address_with_a_path_is_understood(serve: Serve, services: At) -> None:
    """An address such as https://HOST/api/v3 keeps its path in every request."""
    server = serve(recorded(1))
    original = server.answer
    server.answer = lambda path, query: original(path.removeprefix("/api/v3"), query)  # type: ignore[method-assign]
    report = read(services(server, token=None, url=f"{server.url}/api/v3/"))
    assert report.stats.total == 1
    assert all(path.startswith("/api/v3/repos/o/n") for path, _, _ in server.requests)


def test_another_branch_is_kept_apart(serve: Serve, services: At) -> None:
    """`owner/name@branch` reads that branch, and the store keeps the two apart."""
    commits = [recorded(1), recorded(2), recorded(9, parents=["01" * 20])]
    server = serve(*commits, branches={"main": "02" * 20, "dev/x": "09" * 20})
    on_dev = read(services(server), repository=Repository.parse("o/n@dev/x"))
    on_main = read(services(server))
    assert [entry.commit.sha[:2] for entry in on_dev.entries] == ["09", "01"]
    assert [entry.commit.sha[:2] for entry in on_main.entries] == ["02", "01"]


@pytest.mark.parametrize(
    "faults",
    [
        [Fault(r"/commits/0", 502, times=2)],
        [Fault(r"/commits$", 502, times=2)],
        [
            Fault(
                r"/commits/0",
                403,
                headers={"Retry-After": "1"},
                body={"message": "You have exceeded a secondary rate limit."},
            )
        ],
        [Fault(r"/commits/0", 429, headers={"Retry-After": "1"})],
        [Fault(r"/commits$", drop=True)],
        [Fault(r"/commits/0", drop=True), Fault(r"/commits$", 503)],
    ],
)
def test_passing_faults_leave_no_trace(faults: list[Fault], serve: Serve, services: At) -> None:
    """Two 502s, a secondary rate limit with Retry-After, a dropped connection: the day is complete."""
    server = serve(recorded(1), recorded(2))
    server.faults = faults
    report = read(services(server, token=None))
    assert report.coverage.by_rules == 2
    assert not report.failed
    assert not server.faults


def test_a_commit_that_always_fails_stays_in_the_report(serve: Serve, services: At) -> None:
    """What cannot be read is ranked by its title, named in the coverage and counted in failed alone; the others arrive."""
    server = serve(recorded(1), recorded(2, message="[Feature] Support tensor sharing (#2)"), recorded(3))
    server.faults = [Fault("/commits/02", 502, times=1000)]
    report = read(services(server, token=None, retries=0))
    coverage = report.coverage
    assert [failure.sha[:2] for failure in coverage.failed] == ["02"]
    assert (coverage.listed, coverage.ranked, coverage.by_rules) == (3, 3, 2)
    broken = report.entries[1]
    assert broken.commit.title == "[Feature] Support tensor sharing (#2)"
    assert broken.ranked.reasons
    assert broken.analysis is None
    server.faults = []
    before = len(server.requests)
    assert not read(services(server, token=None)).failed
    assert len(server.requests) == before + 1


def test_the_limit_without_a_token_is_respected(serve: Serve, services: At) -> None:
    """When the limit is used up nobody asks on; what was read is kept, the rest wait, and a rerun completes the day."""
    server = serve(*(recorded(n) for n in range(1, 41)), limit=21)
    report = read(services(server, token=None), tz="Asia/Shanghai")
    assert len(report.entries) == 40
    assert len(report.failed) == 20
    assert {failure.translated("en").split(",")[0] for failure in report.failed} == {"limit"}
    resets = (datetime.now(UTC) + timedelta(seconds=3600)).astimezone(ZoneInfo("Asia/Shanghai"))
    assert report.failed[0].translated("en") in {f"limit, resets {resets - timedelta(minutes=m):%H:%M}" for m in (0, 1)}
    assert len(server.requests) <= 21 + 8, "every reader may meet the limit once, and no more"
    server.limit = None
    server.requests.clear()
    assert not read(services(server, token=None), tz="Asia/Shanghai").failed
    assert len(server.requests) == 20


def test_a_short_wait_is_waited(serve: Serve, services: At) -> None:
    """A limit that resets within the patience of a command is waited out."""
    server = serve(recorded(1), limit=1, reset_in=0)
    waits: list[float] = []

    def lift(seconds: float) -> None:
        waits.append(seconds)
        server.limit = None

    assert not read(services(server, token=None, max_wait=5, on_wait=lift)).failed
    assert waits
    assert max(waits) <= 5


@pytest.mark.parametrize("status", [403, 429, 503])
def test_a_long_retry_after_is_not_waited(status: int, serve: Serve, services: At) -> None:
    """Whoever asks for more patience than a command has is told so at once, with the time at which to come back."""
    server = serve(recorded(1))
    server.faults = [Fault("/commits$", status, times=5, headers={"Retry-After": "600"})]
    with pytest.raises(RateLimited) as told:
        read(services(server))
    assert len(server.requests) == 1
    assert told.value.resets_at
    assert timedelta(minutes=9) < told.value.resets_at - datetime.now(UTC) < timedelta(minutes=11)


def test_a_merge_stands_for_what_it_merged(serve: Serve, services: At) -> None:
    """A merge commit of the day is read against its first parent, and is titled by its pull request."""
    old = (NOON - timedelta(days=4)).isoformat()
    side = recorded(2, parents=["01" * 20], date=old)
    merge = recorded(
        3,
        parents=["01" * 20, "02" * 20],
        message="Merge pull request #7 from o/side\n\nSupport tensor sharing",
        pull=None,
    )
    report = read(services(serve(recorded(1, date=old), side, merge)))
    (entry,) = report.entries
    assert entry.commit.is_merge
    assert entry.commit.subject == "Support tensor sharing"
    assert entry.commit.pr == 7
    assert entry.analysis
    assert "first parent" in entry.analysis.summary


def test_what_landed_late_has_its_own_section(serve: Serve, services: At) -> None:
    """A branch merged after its day was reported is told once, in the next report, apart from that day's commits."""
    server = serve(recorded(1), recorded(2))
    assert read(services(server)).stats.total == 2
    morning = NOON + timedelta(days=1)
    late = recorded(3, parents=["01" * 20], date=(NOON + timedelta(hours=1)).isoformat())
    merge = recorded(4, parents=["02" * 20, "03" * 20], date=morning.isoformat())
    grown = serve(recorded(1), recorded(2), late, merge)
    report = read(services(grown), DAY + timedelta(days=1), now=NEXT_MORNING + timedelta(days=1))
    assert [entry.commit.sha[:2] for entry in report.entries] == ["04"]
    assert [entry.commit.sha[:2] for entry in report.late] == ["03"]
    assert report.coverage.listed == 2
    assert not report.remarks
    again = serve(recorded(1), recorded(2), late, merge, recorded(5, date=(morning + timedelta(days=1)).isoformat()))
    assert not read(services(again), DAY + timedelta(days=2), now=NEXT_MORNING + timedelta(days=2)).late


def test_a_day_that_is_listed_again_keeps_what_landed_late(serve: Serve, services: At) -> None:
    """What landed late stays in the report of a day that was not over when it was listed, and is listed again."""
    read(services(serve(recorded(1), recorded(2))))
    morning = NOON + timedelta(days=1)
    late = recorded(3, parents=["02" * 20], date=(NOON + timedelta(hours=1)).isoformat())
    grown = services(serve(recorded(1), recorded(2), late, recorded(4, date=morning.isoformat())))
    for now in (morning + timedelta(hours=1), NEXT_MORNING + timedelta(days=1)):
        report = read(grown, DAY + timedelta(days=1), now=now)
        assert [entry.commit.sha[:2] for entry in report.late] == ["03"]


def test_a_force_push_is_said(serve: Serve, services: At) -> None:
    """When the head that was reported is no longer on the branch, the next report says that the branch was rewritten."""
    read(services(serve(recorded(1), recorded(2))))
    morning = (NOON + timedelta(days=1)).isoformat()
    rewritten = serve(recorded(1), recorded(2), recorded(3, parents=["01" * 20], date=morning))
    report = read(services(rewritten), DAY + timedelta(days=1), now=NEXT_MORNING + timedelta(days=1))
    assert report.remarks == (Remark.REWRITTEN,)


def test_a_failed_look_for_late_commits_is_said_and_made_up_for(serve: Serve, services: At) -> None:
    """When GitHub cannot be asked what landed late, the report says so, and a rerun asks again."""
    read(services(serve(recorded(1))))
    server = serve(recorded(1), recorded(2, date=(NOON + timedelta(days=1)).isoformat()))
    server.faults = [Fault("/compare/", 500, times=1000)]

    def follow() -> DayReport:
        return read(services(server, retries=0), DAY + timedelta(days=1), now=NEXT_MORNING + timedelta(days=1))

    assert follow().remarks == (Remark.LATE_UNKNOWN,)
    server.faults = []
    assert not follow().remarks


def test_an_old_day_is_not_followed(serve: Serve, services: At) -> None:
    """Old days read one after the other ask GitHub nothing beyond their lists and commits."""
    server = serve(recorded(1), recorded(2, date=(NOON + timedelta(days=1)).isoformat()))
    long_after = NEXT_MORNING + timedelta(days=100)
    read(services(server, token=None), now=long_after)
    read(services(server, token=None), DAY + timedelta(days=1), now=long_after)
    assert len(server.requests) == 4


def test_a_day_that_is_not_over_is_listed_again(serve: Serve, services: At) -> None:
    """Today's report says that the day was not over, and the next reading lists it anew without reading a commit twice."""
    server = serve(recorded(1))
    report = read(services(server, token=None), now=NOON + timedelta(hours=1))
    assert report.remarks == (Remark.NOT_OVER,)
    grown = serve(recorded(1), recorded(2))
    report = read(services(grown, token=None))
    assert report.stats.total == 2
    assert not report.remarks
    assert grown.asked("/commits/01") == 0


@pytest.mark.parametrize(
    ("day", "tz", "expected"),
    [
        (date(2026, 2, 5), "Asia/Shanghai", ["2026-02-04T16:00:00+00:00", "2026-02-05T15:59:59+00:00"]),
        (date(2026, 2, 5), "UTC", ["2026-02-05T00:00:00+00:00", "2026-02-05T23:59:59+00:00"]),
        (date(2026, 3, 8), "America/New_York", ["2026-03-08T05:00:00+00:00", "2026-03-09T03:59:59+00:00"]),
        (date(2026, 11, 1), "America/New_York", ["2026-11-01T04:00:00+00:00", "2026-11-02T04:59:59+00:00"]),
    ],
)
def test_days_are_right_to_the_second(day: date, tz: str, expected: list[str], serve: Serve, services: At) -> None:
    """The first and the last second of a local day are in it, those beside it are not, whatever the author's date says."""
    first, last = (datetime.fromisoformat(instant) for instant in expected)
    instants = [first - timedelta(seconds=1), first, last, last + timedelta(seconds=1)]
    commits = [recorded(n, date=instant.isoformat()) for n, instant in enumerate(instants, 1)]
    for commit in commits:
        commit["author"] = {"name": "Core Team", "date": (first - timedelta(days=9)).isoformat()}
    report = read(services(serve(*commits)), day, tz, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert [entry.commit.sha[:2] for entry in report.entries] == ["03", "02"]
    assert report.window == Window(first, last + timedelta(seconds=1))


def test_odd_commits_are_read(serve: Serve, services: At) -> None:
    """Empty commits, binaries, pure renames, patches left out, lone surrogates and names in any script come through."""
    files = [
        {"filename": "a.png", "status": "added", "additions": 0, "deletions": 0},
        {"filename": "新/имя.py", "previous_filename": "old.py", "status": "renamed", "additions": 0, "deletions": 0},
        {"filename": "big.py", "status": "modified", "additions": 90_000, "deletions": 1},
    ]
    odd = recorded(
        2,
        message="修复 \ud800 \x00 مرحبا\u2028x",
        author={"name": "", "date": NOON.isoformat()},
        files=files,
        pull=None,
    )
    empty = recorded(1, files=[], stats={"additions": 0, "deletions": 0, "total": 0}, pull=None)
    report = read(services(serve(empty, odd)))
    assert not report.failed
    assert report.entries[0].commit.title == "修复 \ufffd \x00 مرحبا\u2028x"
    assert report.entries[0].commit.author == "GitHub"
    assert [file.patch for file in report.entries[0].commit.files] == [None, None, None]
    assert report.entries[1].analysis
    assert "no file" in report.entries[1].analysis.summary


def test_an_empty_repository_has_empty_days(serve: Serve, services: At) -> None:
    """A repository without a commit, to which GitHub answers 409, has days without commits."""
    server = serve(recorded(1))
    server.faults = [Fault("/commits$", 409, body={"message": "Git Repository is empty."})]
    assert read(services(server)).stats.total == 0


@pytest.mark.parametrize(
    ("fault", "expected", "words"),
    [
        (Fault("/commits$", 404, body={"message": "Not Found"}), UnknownRepository, "no repository o/n"),
        (Fault("/commits$", 401, body={"message": "Bad credentials"}), AccessDenied, "GITHUB_TOKEN"),
        (
            Fault("/commits$", 403, body={"message": "Resource not accessible by personal access token"}),
            AccessDenied,
            "GITHUB_TOKEN",
        ),
        (Fault("/commits$", 500, times=99), Unreachable, "server errors"),
        (Fault("/commits$", 418, body={"message": "I'm a teapot"}), Unreachable, "418"),
        (Fault("/commits$", 200, body={"hello": "world"}), Unreachable, "like GitHub's REST API"),
        (Fault("/commits$", 200, body="<html>"), Unreachable, "like GitHub's REST API"),
    ],
)
def test_failures_are_told_in_words(
    fault: Fault, expected: type[Exception], words: str, serve: Serve, services: At
) -> None:
    """Each way in which a list can fail is an error of ours that says what and what to do."""
    server = serve(recorded(1))
    server.faults = [fault]
    with pytest.raises(expected, match=words):
        read(services(server, retries=0))


def test_a_commit_asked_for_by_hand_is_checked_to_be_on_the_branch(serve: Serve, services: At) -> None:
    """A commit of a fork, which GitHub serves under the upstream's name, is marked as not on main."""
    server = serve(recorded(1), recorded(2), recorded(9, parents=["01" * 20]), branches={"main": "02" * 20})
    _, foreign = services(server).commits.look_up(parse_reference("0909090"), [REPOSITORY], "en")
    _, ours = services(server).commits.look_up(parse_reference("0202020"), [REPOSITORY], "en")
    assert (foreign.commit.not_on, ours.commit.not_on) == ("main", None)


@pytest.mark.parametrize(
    "reference",
    ["0202", "02" * 20, "#2", "2", "https://github.com/o/n/pull/2", "https://github.com/O/N/commit/0202020"],
)
def test_a_commit_answers_to_many_names(reference: str, serve: Serve, services: At) -> None:
    """A prefix, a SHA, a pull request's number and both addresses lead to the commit, the second time asking for nothing but releases."""
    server = serve(recorded(1), recorded(2))
    reader = services(server)
    _, entry = reader.commits.look_up(parse_reference(reference), [REPOSITORY], "en")
    assert entry.commit.sha == "02" * 20
    before = len(server.requests)
    assert reader.commits.look_up(parse_reference(reference), [REPOSITORY], "en")[1] == entry
    assert [path for path, *_ in server.requests[before:]] == ["/repos/o/n/releases"]


@pytest.mark.parametrize("reference", ["ffff", "#77", "01ab"])
def test_an_unknown_commit_is_said_to_be_unknown(reference: str, serve: Serve, services: At) -> None:
    """Whoever asks for what is not there, or for what several begin like, is told to give more."""
    twins: list[dict[str, Any]] = [
        recorded(1, sha="01ab" + "0" * 36),
        recorded(2, sha="01ab" + "1" * 36, parents=["01ab" + "0" * 36]),
    ]
    reader = services(serve(*twins))
    with pytest.raises(UnknownCommit):
        reader.commits.look_up(parse_reference(reference), [REPOSITORY], "en")
    read(reader)
    with pytest.raises(UnknownCommit):
        reader.commits.look_up(parse_reference(reference), [REPOSITORY], "en")


def test_reverts_series_and_fixes_are_linked(serve: Serve, services: At) -> None:
    """A revert, the parts of a series and a later fix know the commits that they are tied to."""
    commits = [
        recorded(1, message="[Perf] Faster cache (#11)", pull=None),
        recorded(2, message="[XPU][1/3] Begin (#12)", pull=None),
        recorded(3, message="[XPU][2/3] Go on (#13)", pull=None),
        recorded(
            4, message='Revert "[Perf] Faster cache (#11)" (#14)\n\nThis reverts commit ' + "01" * 20 + ".", pull=None
        ),
        recorded(5, message="[Bugfix] Mend the beginning (#15)\n\nFixes a regression introduced in #12", pull=None),
        recorded(6, message="[Bugfix] Mend it again (#16)\n\nFixes: " + "02" * 8, pull=None),
    ]
    again, fix, revert, second, first, reverted = read(services(serve(*commits))).entries
    assert (revert.links.reverts, reverted.links.reverted_by) == ("01" * 20, "04" * 20)
    assert first.links.series
    assert second.links.series
    assert (first.links.series.part, second.links.series.of) == (1, 3)
    assert second.links.series.commits == ("02" * 20, "03" * 20)
    assert again.links.fixes == fix.links.fixes == ("02" * 20,)
    assert first.links.fixed_by == ("05" * 20, "06" * 20)


def test_facts_are_found_anew_when_the_rules_change(serve: Serve, services: At) -> None:
    """A stored commit whose facts older rules found is looked at again, from its stored patches, without asking GitHub."""
    patch = '@@ -1 +0,0 @@\n-    "APP_OLD_WAY": lambda: os.getenv("APP_OLD_WAY"),'
    file = {"filename": "app/envs.py", "status": "modified", "additions": 0, "deletions": 1, "patch": patch}
    server = serve(recorded(1, files=[file]))
    reader = services(server)
    read(reader)
    with closing(connect(str(reader.store.database.engine.url.database))) as store, store:
        store.execute("UPDATE commits SET facts = '[]', facts_version = 0")
    before = len(server.requests)
    (entry,) = read(reader).entries
    assert [fact.name for fact in entry.facts] == ["APP_OLD_WAY"]
    assert entry.ranked.importance is not Importance.LOW
    assert len(server.requests) == before
