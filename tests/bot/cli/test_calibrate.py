"""The ranking fitted to a repository's releases, read from a loopback GitHub; and what keeps it from being fitted."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Importance, Repository
from analysis.ranking import general_weights
from bot.store import Store, Subscriptions, open_engine
from loopback.github import RecordedRepository
from tests.conftest import Run, recorded
from tests.servers.github import FaultyGitHub

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
REPOSITORY = Repository(owner="o", name="n")
COMMITS = 240
CUT = 120  # commits in the first release


def history(count: int = COMMITS) -> list[dict[str, Any]]:
    """Features, fixes of typos, tests and renamings in turn, an hour apart."""
    titles = ("[Feature] Support part", "Fix a typo in part", "[CI] Test part", "Rename part")
    return [
        recorded(
            number,
            sha=f"{number:04x}" * 10,
            parents=[f"{number - 1:04x}" * 10] if number > 1 else [],
            date=(FIRST + timedelta(hours=number)).isoformat(),
            message=f"{titles[number % 4]} {number} (#{number})",
        )
        for number in range(1, count + 1)
    ]


FEATURES, TYPOS, TESTS, RENAMES = range(4)  # the numbers of such commits, modulo 4


def releases(count: int = COMMITS, cut: int = CUT, older: int = RENAMES, newer: int = RENAMES) -> list[dict[str, Any]]:
    """Two releases whose notes name all commits of one kind, and call the first of them breaking."""

    def release(tag: str, first: int, last: int, kind: int) -> dict[str, Any]:
        named = [number for number in range(first, last + 1) if number % 4 == kind]
        lines = "\n".join(f"* Part (#{number})" for number in named)
        published = FIRST + timedelta(hours=last + 1)
        notes = f"## Highlights\n{lines}\n## Breaking\n* gone (#{named[0]})"
        return {"tag_name": tag, "body": notes, "published_at": f"{published:%Y-%m-%dT%H:%M:%SZ}"}

    return [release("v2", cut + 1, count, newer), release("v1", 1, cut, older)]


TAGS = {"v1": f"{CUT:04x}" * 10, "v2": f"{COMMITS:04x}" * 10}
Serve = Callable[..., FaultyGitHub]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[FaultyGitHub] = []

    def start(
        commits: Sequence[dict[str, Any]],
        notes: Sequence[dict[str, Any]],
        tags: dict[str, str] | None = None,
        **rest: Any,
    ) -> FaultyGitHub:
        repository = RecordedRepository(commits, releases=notes, tags=tags)
        running.append(FaultyGitHub({"o/n": repository}, **rest).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


def stored(tmp_path: Path) -> Store:
    return Store(open_engine(f"sqlite:///{tmp_path / 'data/digest.db'}"))


@pytest.mark.parametrize("tags", [TAGS, None])
def test_weights_are_fitted_shown_and_ranked_by(
    tags: dict[str, str] | None, tmp_path: Path, serve: Serve, run: Run
) -> None:
    """Figures beside the baseline's and changed lines', weights with their provenance in the store, and `rank` uses them."""
    server = serve(history(), releases(), tags)
    ran = run("calibrate", server=server, GITHUB_TOKEN="token")
    assert (ran.code, ran.err) == (0, "")
    assert "commits of v1, v2; 60 named, 2 of them as breaking; 0 corrected" in ran.out
    assert f"the commits of {'v1' if tags else 'v1, v2'} were taken by dates" in ran.out
    assert "on v2, kept out: ROC AUC 1.000, the packaged weights 0." in ran.out
    assert "stored: the next digest ranks by it" in ran.out
    for words in ("the baseline's formula 0.", "changed lines          0.5", "calibration error", "breaking changes"):
        assert words in ran.out
    with closing(stored(tmp_path)) as store:
        weights = store.weights.get(Repository(owner="O", name="n", branch="next"))
    assert weights is not None
    assert weights.points["words: tidying"] > 0 > general_weights().points["words: tidying"]
    assert weights.provenance["releases"] == ["v1", "v2"]
    assert weights.provenance["held_out_auc"] == 1
    lines = "\n".join(json.dumps(each) for each in history(8)).encode()
    ranked = [json.loads(line) for line in run("rank", "-", stdin=lines).out.splitlines()]
    others = [json.loads(line) for line in run("rank", "-", "--repo", "a/b", stdin=lines).out.splitlines()]
    assert ranked[2]["score"] - others[2]["score"] > 0.5
    assert ranked[2]["score"] == max(each["score"] for each in ranked)


def test_weights_that_are_no_better_on_releases_kept_out_are_not_stored(tmp_path: Path, serve: Serve, run: Run) -> None:
    """Notes that named tests first and features later teach nothing: it says so, and the packaged weights rank again."""
    (tmp_path / "data").mkdir()
    with closing(stored(tmp_path)) as store:
        store.weights.save(REPOSITORY, general_weights(), FIRST)
    ran = run("calibrate", server=serve(history(), releases(older=TESTS, newer=FEATURES), TAGS))
    assert (ran.code, ran.err) == (0, "")
    assert "on v2, kept out: ROC AUC 0." in ran.out
    assert "not stored, because it is no better there" in ran.out
    with closing(stored(tmp_path)) as store:
        assert store.weights.get(REPOSITORY) is None


@pytest.mark.parametrize(
    ("commits", "notes", "words"),
    [
        (8, [], "needs 2 releases whose notes name pull requests (#123), 3 each; 0 of its 0 releases have such notes"),
        (
            8,
            [{"tag_name": "v1", "body": "#1 #2 #3", "published_at": "2026-01-02T00:00:00Z"}],
            "1 of its 1 releases have such notes",
        ),
        (
            24,
            releases(24, 12),
            "needs 200 commits, 40 of them named in release notes; its releases v1, v2 cover 21, with 6 named",
        ),
    ],
)
def test_too_little_is_refused_with_what_it_takes(
    commits: int, notes: list[dict[str, Any]], words: str, serve: Serve, run: Run
) -> None:
    """One line says how much it needs and has, exit 2; no commit is read in vain."""
    server = serve(history(commits), notes)
    ran = run("calibrate", server=server)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert not server.asked(r"/commits/\w{40}$")


def test_a_run_that_the_limit_ended_goes_on(serve: Serve, run: Run) -> None:
    """What was read is kept: the second run asks for the rest alone, and finishes."""
    limited = serve(history(), releases(), TAGS, limit=100)
    ran = run("calibrate", server=limited)
    assert ran.code == 3
    assert "could not be read (first: limit, resets" in ran.err
    assert ran.err.count("\n") == 1
    whole = serve(history(), releases(), TAGS)
    assert run("calibrate", server=whole).code == 0
    assert 100 < whole.asked(r"/commits/\w{40}$") < 200


def test_people_are_believed(tmp_path: Path, serve: Serve, run: Run) -> None:
    """A correction outweighs the notes: too low makes a commit important, too high does not."""
    (tmp_path / "data").mkdir()
    engine = open_engine(f"sqlite:///{tmp_path / 'data/digest.db'}")
    said = Subscriptions(engine)
    for number in range(1, COMMITS + 1):
        if number % 4 == 2:
            said.label(REPOSITORY, f"{number:04x}" * 10, "U1", "too_low", Importance.LOW, FIRST)
    engine.dispose()
    ran = run("calibrate", server=serve(history(), releases(), TAGS))
    assert (ran.code, ran.err) == (0, "")
    assert "119 named" in ran.out
    assert "59 corrected by people" in ran.out
    with closing(stored(tmp_path)) as store:
        weights = store.weights.get(REPOSITORY)
    assert weights is not None
    assert weights.points["tag: tests or CI"] > 0
