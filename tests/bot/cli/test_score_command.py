"""`vllm-digest score`: how right the ranks of a release were, from a day that was reported before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.models import Importance
from analysis.models.release_scores import GivenVerdict
from bot.store import Verdicts, open_engine
from loopback.github import RecordedRepository
from tests.bot.services.test_release_scoring import NOW, RELEASES, REPOSITORY, TAGS, history
from tests.conftest import Run, recorded
from tests.servers.github import FaultyGitHub


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": RecordedRepository(history(), releases=RELEASES, tags=TAGS)}) as server:
        yield server


def test_the_newest_release_is_scored_in_every_format(github: FaultyGitHub, run: Run, tmp_path: Path) -> None:
    """The terminal, Markdown and JSON say the same figures, with what people corrected; Chinese on request."""
    assert run("digest", "2026-02-05", server=github).code == 0
    engine = open_engine(f"sqlite:///{tmp_path / 'data/digest.db'}")
    Verdicts(engine).save(REPOSITORY, GivenVerdict(recorded(9)["sha"], "too_low"), "U1", "C1", Importance.LOW, NOW)
    engine.dispose()
    ran = run("score", server=github)
    assert (ran.code, ran.err) == (0, "")
    assert "o/n · v2" in ran.out
    assert "Published on 2026-02-06: 8 commits, 8 of them ranked; the notes name 4" in ran.out
    assert "Commits whose rank people corrected: 1 (1 up, 0 down)" in ran.out
    assert "Commits ranked only after the release was published: 8" in ran.out
    found = json.loads(run("score", "v2", "--format", "json", server=github).out)
    assert (found["repo"], found["release"], found["ranked"], found["ranked_named"]) == ("o/n", "v2", 8, 4)
    assert sum(tier["named"] for tier in found["tiers"].values()) == 4
    assert f"ROC AUC {found['auc']:.3f}" in ran.out
    assert "发布说明提到 4 个" in run("score", "2", "--format", "markdown", "--lang", "zh", server=github).out


def test_what_was_not_ranked_is_read_on_request(github: FaultyGitHub, run: Run) -> None:
    """Without ranks one line says so, exit 2; with --read they are ranked now, and the report says when."""
    ran = run("score", server=github)
    assert (ran.code, ran.out) == (2, "")
    assert "none of the 8 commits of o/n v2 was ranked; score --read reads and ranks them now" in ran.err
    assert github.asked(r"/commits/\w{40}$") == 0
    read = run("score", "--read", server=github)
    assert (read.code, read.err) == (0, "")
    assert github.asked(r"/commits/\w{40}$") == 8
    assert "Commits ranked only after the release was published: 8" in read.out


def test_a_limit_ends_the_reading_and_keeps_what_was_read(github: FaultyGitHub, run: Run) -> None:
    """What was ranked is scored, one line says what is missing, exit 3, and the next run reads the rest."""
    github.limit = 6
    ran = run("score", "--read", server=github)
    assert ran.code == 3
    assert "Commits without a rank when the release was scored: " in ran.out
    assert "could not be read (" in ran.err
    assert "limit, resets" in ran.err
    assert ran.err.count("\n") == 1
    github.limit = None
    whole = run("score", "--read", server=github)
    assert (whole.code, whole.err) == (0, "")
    assert "8 commits, 8 of them ranked" in whole.out
    assert github.asked(r"/commits/\w{40}$") < 16


def test_several_repositories_need_a_choice(github: FaultyGitHub, run: Run) -> None:
    """One line, exit 2."""
    ran = run("score", server=github, DIGEST_REPOS="o/n,a/b")
    assert ran.code == 2
    assert "choose one: vllm-digest score --repo o/n" in ran.err
