"""Releases of followed repositories are scored once each, by the ranks that were given before anything else changed them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from analysis.errors import Misuse
from analysis.models import Importance, Repository
from analysis.models.release_scores import ReleaseScore, TierCount
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.releases import ReleaseScoring
from bot.store import Store
from loopback.github import RecordedRepository
from tests.conftest import recorded
from tests.servers.github import Fault, FaultyGitHub

REPOSITORY = Repository(owner="o", name="n")
DAY, FOLLOWED, PUBLISHED = date(2026, 2, 5), datetime(2026, 2, 1, tzinfo=UTC), "2026-02-06T09:00:00Z"
NOW, LATER = datetime(2026, 2, 6, 8, tzinfo=UTC), datetime(2026, 2, 7, 9, tzinfo=UTC)
TITLES = ("[Feature] Support part", "Fix a typo in part", "[CI] Test part", "Rename part")
TAGS = {"v1": recorded(4)["sha"], "v2": recorded(12)["sha"]}
NOTES = "## Highlights\n* parts (#6, #8, #12)\n* a test (#9)\n"
Serve = Callable[..., FaultyGitHub]
At = Callable[..., Services]


def history() -> list[dict[str, Any]]:
    """Features (#4, #8, #12), fixes of typos, tests and renamings in turn."""
    return [
        recorded(number, message=f"{TITLES[number % 4]} {number} (#{number})", pull=None) for number in range(1, 13)
    ]


def release(tag: str, published: str = PUBLISHED, notes: str = NOTES, **more: Any) -> dict[str, Any]:
    return {"tag_name": tag, "body": notes, "published_at": published, **more}


RELEASES = (release("v2"), release("v1", "2026-01-20T09:00:00Z", "* #1 #2 #3"))


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[FaultyGitHub] = []

    def start(
        releases: Sequence[Mapping[str, Any]] = RELEASES,
        commits: Sequence[Mapping[str, Any]] = (),
        tags: Mapping[str, str] = TAGS,
    ) -> FaultyGitHub:
        repository = RecordedRepository(commits or history(), releases=releases, tags=tags)
        running.append(FaultyGitHub({"o/n": repository}).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


def report_day(services: Services, now: datetime = NOW) -> None:
    services.digests.report(DayRef(REPOSITORY, DAY, "UTC", "en"), now)


def test_a_new_release_is_scored_once(serve: Serve, services: At, store: Store) -> None:
    """A release published since the repository was followed gets a score; the next day asks GitHub one question, for free."""
    server = serve()
    desk = services(server)
    report_day(desk)
    daily = desk.releases
    daily.score_new({REPOSITORY: FOLLOWED}, LATER)
    score = store.release_scores.latest(REPOSITORY)
    assert score is not None
    assert (score.release, score.commits, score.ranked, score.ranked_named, score.afterwards) == ("v2", 8, 8, 4, 0)
    assert score.auc is not None
    assert store.release_scores.scored(REPOSITORY) == {"v2"}
    before = len(server.requests)
    daily.score_new({REPOSITORY: FOLLOWED}, LATER)
    assert [path for path, *_ in server.requests[before:]] == ["/repos/o/n/releases"]
    ReleaseScoring(desk.github, desk.sources, desk.store).score_new({REPOSITORY: FOLLOWED}, LATER)
    assert server.asked("/compare/") == 1, "another process compares nothing anew"
    assert [each.tag for each in desk.github.releases(REPOSITORY)] == ["v2", "v1"], (
        "also of a list that has not changed"
    )


def test_a_release_settles_for_a_day(serve: Serve, services: At, store: Store) -> None:
    """Until its last commits are reported and its notes are whole there is no score; then there is."""
    desk = services(serve())
    report_day(desk)
    daily = desk.releases
    daily.score_new({REPOSITORY: FOLLOWED}, LATER - timedelta(minutes=1))
    assert store.release_scores.latest(REPOSITORY) is None
    daily.score_new({REPOSITORY: FOLLOWED}, LATER)
    assert store.release_scores.scored(REPOSITORY) == {"v2"}


@pytest.mark.parametrize(
    ("releases", "since"),
    [
        (RELEASES, datetime(2026, 2, 6, 10, tzinfo=UTC)),
        ((release("v2rc1", prerelease=True), RELEASES[1]), FOLLOWED),
        ((release("v2", notes="Bug fixes."), RELEASES[1]), FOLLOWED),
        ((release("v2", draft=True), RELEASES[1]), FOLLOWED),
        ((release("v1"),), FOLLOWED),
        ((), FOLLOWED),
    ],
    ids=["published before", "pre-release", "no usable notes", "draft", "first release", "none"],
)
def test_what_cannot_be_scored_is_no_failure(
    releases: Sequence[Mapping[str, Any]], since: datetime, serve: Serve, services: At, store: Store
) -> None:
    """It is left alone, and no commit is compared."""
    server = serve(releases)
    desk = services(server)
    report_day(desk)
    desk.releases.score_new({REPOSITORY: since}, LATER)
    assert (store.release_scores.latest(REPOSITORY), server.asked("/compare/")) == (None, 0)


def test_notes_that_name_no_commit_of_the_release_score_nothing(serve: Serve, services: At, store: Store) -> None:
    """The command says so in a sentence; the daily job stores no score of 0 of 0."""
    desk = services(serve((release("v2", notes="* parts (#101, #102, #103)"), RELEASES[1])))
    report_day(desk)
    with pytest.raises(
        Misuse, match="none of the 3 pull requests that the notes name is among the 8 commits of o/n v2"
    ):
        desk.releases.score(REPOSITORY, None, NOW)
    desk.releases.score_new({REPOSITORY: FOLLOWED}, LATER)
    assert store.release_scores.scored(REPOSITORY) == set()


def test_a_stored_score_that_compares_nothing_is_not_shown(store: Store) -> None:
    """Neither a status nor a week says 0 of 0."""
    tiers = {tier: TierCount(commits=2) for tier in Importance}
    store.release_scores.save(
        ReleaseScore(repository=REPOSITORY, release="v2", published_at=NOW, commits=6, named=0, tiers=tiers), NOW
    )
    assert store.release_scores.latest(REPOSITORY) is None


@pytest.mark.parametrize("path", ["/releases", "/compare/"])
def test_a_failure_is_tried_again(path: str, serve: Serve, services: At, store: Store) -> None:
    """What GitHub did not answer is asked the next day; the other repositories go on."""
    server = serve()
    desk = services(server, retries=0)
    report_day(desk)
    server.faults.append(Fault(path, status=404 if path == "/releases" else 500))
    daily = desk.releases
    followed = {Repository(owner="gone", name="gone"): FOLLOWED, REPOSITORY: FOLLOWED}
    daily.score_new(followed, LATER)
    assert store.release_scores.scored(REPOSITORY) == ({"v2"} if path == "/releases" else set())
    daily.score_new(followed, LATER)
    assert store.release_scores.scored(REPOSITORY) == {"v2"}


def test_picked_commits_have_the_rank_of_their_pull_request(serve: Serve, services: At, store: Store) -> None:
    """A release branch's commit has another SHA: the commit of the branch with the same pull request was ranked."""
    commits = history()
    commits[10]["message"] = "[Feature][Deprecation] Fix a crash of part 11 (#11)"
    picked = [
        {**each, "sha": f"{number:02x}" * 20, "parents": [TAGS["v1"]]} for number, each in enumerate(commits[8:], 100)
    ]
    picked[1:] = [{**each, "parents": [before["sha"]]} for before, each in pairwise(picked)]
    tags = {**TAGS, "v2": picked[-1]["sha"]}
    server = serve(commits=[*picked, *commits], tags=tags)
    desk = services(server)
    report_day(desk)
    score = desk.releases.score(REPOSITORY, "2", NOW).score
    assert (score.commits, score.ranked, score.ranked_named) == (4, 4, 2)
    assert recorded(11)["sha"] in {each.sha for each in score.missed}


def test_a_release_follows_the_version_before_it(serve: Serve, services: At) -> None:
    """A patch of an older version that was published in between does not cut the release short."""
    releases = (release("v2"), release("v1.0.1", "2026-02-06T08:00:00Z"), release("v1", "2026-01-20T09:00:00Z"))
    tags = {**TAGS, "v1.0.1": recorded(6)["sha"], "v3": recorded(11)["sha"]}
    server = serve((release("v3", "2026-02-06T08:30:00Z"), *releases), tags=tags)
    desk = services(server)
    report_day(desk)
    assert desk.releases.score(REPOSITORY, "v2", NOW).score.commits == 6
    assert server.asked(r"/compare/v1\.0\.1\.\.\.v2$") == 1


@pytest.mark.parametrize(
    ("releases", "tag", "words"),
    [
        ((), None, "o/n has no releases on GitHub"),
        (RELEASES, "v22", "o/n has no release 'v22' among its newest 2, such as v2, v1"),
        ((*RELEASES, release("v3rc1", prerelease=True)), "v3rc1", "v3rc1 of o/n is a pre-release"),
        ((release("v2", notes="See #5."), RELEASES[1]), "v2", "the notes of o/n v2 name 1 pull requests"),
        (RELEASES, "v1", "v1 is the first release of o/n"),
        (RELEASES, "v2", "none of the 8 commits of o/n v2 was ranked; score --read"),
    ],
)
def test_what_cannot_be_scored_is_said(
    releases: Sequence[Mapping[str, Any]], tag: str | None, words: str, serve: Serve, services: At
) -> None:
    """Each in one sentence of its own."""
    with pytest.raises(Misuse, match="^" + words.replace("(", r"\(").split(";")[0]):
        services(serve(releases)).releases.score(REPOSITORY, tag, NOW)


def test_without_a_tag_the_dates_count(serve: Serve, services: At) -> None:
    """The commits between the dates of two releases, from the first to the last that the notes name."""
    desk = services(serve(tags={"v1": TAGS["v1"]}))
    report_day(desk)
    score = desk.releases.score(REPOSITORY, None, NOW).score
    assert score.by_date
    assert (score.commits, score.ranked_named) == (7, 4)
