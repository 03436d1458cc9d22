"""What a mirror gives is what GitHub's API gives."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from analysis.errors import UnknownCommit
from analysis.models import Commit, Repository
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from loopback.github import LoopbackGitHub
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from tests.servers.mirrored import read_commits

SAMPLE = Repository.parse(SAMPLE_REPOSITORY)
DAYS = Window(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def github() -> Iterator[GitHub]:
    with LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as server:
        source = GitHub(server.url)
        yield source
        source.close()


@pytest.fixture(scope="module")
def mirror(github: GitHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    made = Mirrors(tmp_path_factory.mktemp("mirrors"), github, None).updated(SAMPLE, create=True)
    assert made
    with made:
        yield made


def as_git_writes(commit: Commit) -> Commit:
    """The commit with an author's name that git can write: without angle brackets."""
    return commit.model_copy(update={"author": re.sub("[<>]", "", commit.author)})


def test_the_same_commits_are_listed(github: GitHub, mirror: Mirror) -> None:
    """A window lists the same commits, in the same order and with the same words, by git and by the API."""
    listed = mirror.list_commits(DAYS)
    assert len(listed) > 20
    # git also knows what came before the recorded commits
    assert listed[:-1] == tuple(as_git_writes(each) for each in github.list_commits(SAMPLE, DAYS))
    edge = listed[3].committed_at
    assert listed[3] in mirror.list_commits(Window(edge, edge + timedelta(seconds=1)))
    assert listed[3] not in mirror.list_commits(Window(edge - timedelta(hours=9), edge))


def test_the_same_commits_are_read(github: GitHub, mirror: Mirror) -> None:
    """Every commit has the same message, people, times, addresses, files, counts and patches, secrets redacted."""
    shas = [commit.sha for commit in github.list_commits(SAMPLE, DAYS)]
    read = dict(read_commits(mirror, shas))
    assert read == {sha: as_git_writes(github.read_commit(SAMPLE, sha)) for sha in shas}
    assert "[REDACTED:1]" in str(read)


def test_the_same_comparisons_are_made(github: GitHub, mirror: Mirror) -> None:
    """What was added since an older head is the same, and so is whether the branch still contains it."""
    shas = [commit.sha for commit in github.list_commits(SAMPLE, DAYS)]
    assert mirror.head() == github.head(SAMPLE) == shas[0]
    for base, head in ((shas[5], shas[0]), (shas[0], shas[5]), (shas[0], shas[0]), ("1" * 40, shas[0])):
        made, expected = mirror.compare(base, head), github.compare(SAMPLE, base, head)
        assert made.rewritten == expected.rewritten
        assert made.commits == tuple(as_git_writes(each) for each in expected.commits)
    assert mirror.contains(shas[5])
    assert not mirror.contains("1" * 40)
    assert mirror.merge_base(shas[0], shas[7]) == shas[7]


def test_a_commit_is_found_by_a_prefix(mirror: Mirror) -> None:
    """A prefix, a branch and a whole SHA name a commit; what git would take for something else names none."""
    head = mirror.head()
    assert mirror.resolve(head[:9]) == mirror.resolve("main") == mirror.resolve(head) == head
    for name in ("HEAD~1", "--all", "main..main", ":/Fix", "@{1}", "", "feedfacefeed", "1" * 40, "no-such-tag"):
        with pytest.raises(UnknownCommit) as told:
            mirror.resolve(name)
        assert ("several start with it" in str(told.value)) == (name != "1" * 40)
    with pytest.raises(UnknownCommit, match=r"the mirror of .* lacks commit 1{40}, as does its server"):
        mirror.resolve("1" * 40)
