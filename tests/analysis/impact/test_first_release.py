"""The first release that has a commit, by the tags of a mirror."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.impact.first_release import first_releases
from analysis.models import Commit, Released, ReleaseState, Repository
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from tests.servers.bare import BareRepository, GitServer

REPOSITORY = Repository.parse("acme/lantern")


class Upstream:
    """A repository that can be given commits and tags, and the mirror of it."""

    def __init__(self, folder: Path) -> None:
        self.bare = BareRepository(folder / "upstream")
        self.server = GitServer({"acme/lantern": self.bare})
        self.mirrors = Mirrors(folder / "mirrors", GitHub(self.server.url), None)
        self.count = 0

    def commit(self, title: str, *parents: str, branch: str = "main") -> str:
        self.count += 1
        return self.bare.commit({"a.py": f"{self.count}".encode()}, *parents, message=title.encode(), branch=branch)

    def tag(self, name: str, sha: str, *options: str) -> None:
        people = {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": "1770003600 +0000"}
        self.bare.git("tag", "--force", *options, name, sha, environment=people)

    def fetched(self) -> Mirror:
        mirror = self.mirrors.updated(REPOSITORY, create=True)
        assert mirror
        return mirror

    def releases(self, *shas: str) -> list[str | None]:
        """The first release of each commit, as of the mirror's next fetch; "?" where it is unknown."""
        with self.fetched() as mirror:
            commits: list[Commit] = [mirror.read_commit(sha) for sha in shas]
            found = first_releases(mirror, commits)
        return [found[sha].tag if sha in found else "?" for sha in shas]


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    made = Upstream(tmp_path)
    with made.server:
        yield made


def test_the_first_release_with_a_commit_or_its_pick_is_found(upstream: Upstream) -> None:
    """Annotated and light tags count, and picks on release branches, by the tags' dates; candidates do not."""
    first = upstream.commit("Begin")
    assert upstream.releases(first) == ["?"]
    upstream.tag("v1.0", first)
    second = upstream.commit("Work (#2)", first)
    upstream.tag("v1.1rc1", second)
    picked = upstream.commit("Fix it (#3)", second)
    left = upstream.commit("Work on (#4)", picked)
    branch = upstream.commit("Fix it (#3)", second, branch="releases/v1.1")
    undone = upstream.commit("Work on (#4)", branch, branch="releases/v1.1")
    taken_back = upstream.commit('Revert "Work on (#4)"', undone, branch="releases/v1.1")
    upstream.tag("v1.1", taken_back)
    assert upstream.releases(first, second, picked, left) == ["v1.0", "v1.1", "v1.1", None]
    upstream.tag("v2.0", left, "--annotate", "--message=Two")
    assert upstream.releases(picked, left, branch) == ["v1.1", "v2.0", "v1.1"]


def test_picks_without_a_number_are_found(upstream: Upstream) -> None:
    """A pick that makes the same change, or names what it backports, is one; a change of the same file alone is none."""
    first = upstream.commit("Begin")
    second = upstream.commit("Fix the pool (#2)", first)
    third = upstream.commit("Fix the cache (#3)", second)
    fourth = upstream.commit("Fix the lock (#4)", third)
    same = upstream.bare.commit({"a.py": b"2"}, first, message=b"Mend the pool", branch="v1")
    told = upstream.commit("Mend the cache\n\nBackport of: #3", same, branch="v1")
    other = upstream.commit("Mend the lock", told, branch="v1")
    upstream.tag("v1.0", first)
    upstream.tag("v1.0.1", other)
    assert upstream.releases(second, third, fourth) == ["v1.0.1", "v1.0.1", None]
    undone = upstream.commit(f'Revert "Mend the pool"\n\nThis reverts commit {same}.', other, branch="v1")
    upstream.tag("v1.0.1", undone)
    assert upstream.releases(second, third) == [None, "v1.0.1"]


def test_all_releases_with_a_commit_are_told(upstream: Upstream) -> None:
    """Tags that have it are told apart from those that do not, candidates among them; a prefix chooses the package."""
    first = upstream.commit("Begin")
    second = upstream.commit("Work (#2)", first)
    for name, sha in (("v1.0", first), ("v1.1rc1", second), ("v1.1", second), ("sdk-v7.0", first)):
        upstream.tag(name, sha)
    with upstream.fetched() as mirror:
        commits = [mirror.read_commit(second)]
        [found] = first_releases(mirror, commits).values()
        [chosen] = first_releases(mirror, commits, "sdk-v").values()
    assert (found.tag, found.having, found.lacking) == ("v1.1", ("v1.1rc1", "v1.1"), ("v1.0",))
    assert (chosen.state, chosen.lacking) == (ReleaseState.UNRELEASED, ("sdk-v7.0",))


def test_tags_that_move_or_go_are_followed(upstream: Upstream) -> None:
    """A tag that was moved or deleted upstream is where it is now at the next fetch."""
    first = upstream.commit("Begin")
    second = upstream.commit("Work", first)
    upstream.tag("v1.0", first)
    assert upstream.releases(first, second) == ["v1.0", None]
    upstream.tag("v1.0", second)
    assert upstream.releases(second) == ["v1.0"]
    upstream.tag("v2.0", second)
    upstream.bare.git("tag", "--delete", "v1.0")
    assert upstream.releases(first, second) == ["v2.0", "v2.0"]


def test_a_tag_with_a_secret_is_no_release(upstream: Upstream) -> None:
    """A tag whose name has a secret is left out, as is one of something else than a commit."""
    first = upstream.commit("Begin")
    upstream.tag("v1.0-AKIA" + "2E0A8F3B244C9986", first)
    upstream.tag("v1.1", upstream.bare.blob(b"a key"))
    with upstream.fetched() as mirror:
        assert mirror.release_tags() == ()
    assert Released.by([], []).state is ReleaseState.UNRELEASED
