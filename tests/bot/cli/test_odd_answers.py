"""Servers, files and streams that are not what they should be: told in one line, nothing destroyed, nothing stored as true."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from analysis.errors import NotGitHub, Unreachable
from analysis.models import DayReport, Repository
from bot.models.subjects import DayRef
from bot.services.factory import Services
from tests.conftest import Run, recorded
from tests.servers.github import Fault, FaultyGitHub

Serve = Callable[..., FaultyGitHub]
At = Callable[..., Services]

REPOSITORY = Repository(owner="o", name="n")
ROOT = str(Path(__file__).resolve().parents[3])


def read(services: Services) -> DayReport:
    return services.digests.report(
        DayRef(REPOSITORY, date(2026, 2, 5), "UTC", "en"), datetime(2026, 2, 6, 9, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    "fault",
    [Fault("/commits$", 200, body=None), Fault("/commits$", 204, body=None), Fault("/commits$", 200, body={"a": 1})],
)
def test_an_answer_that_is_no_list_is_no_empty_day(fault: Fault, serve: Serve, services: At) -> None:
    """Nothing is stored of a day whose list made no sense; asked again, the day is there."""
    server = serve(recorded(1))
    server.faults = [fault]
    reader = services(server)
    with pytest.raises(Unreachable):
        read(reader)
    assert reader.store.day(REPOSITORY, date(2026, 2, 5), "UTC") is None
    assert len(read(reader).entries) == 1


@pytest.mark.parametrize("body", [None, [], [1], {}, {"status": 1}, "text", [{"sha": "01"}], {"resources": []}])
def test_a_body_of_another_form_is_not_githubs(body: object, serve: Serve, services: At) -> None:
    """Whatever GitHub is asked for, a body that it would not send is an error about GitHub, not a bug of ours."""
    server = serve(recorded(1))
    github, sha = services(server).github, "01" * 20
    questions: list[Callable[[], object]] = [
        lambda: github.read_commit(REPOSITORY, sha),
        lambda: github.pull_state(REPOSITORY, 1),
        github.allowance,
        lambda: github.is_public(REPOSITORY),
        lambda: github.canonical_name(REPOSITORY),
        lambda: github.compare(REPOSITORY, sha, "main"),
        lambda: github.branch_without(REPOSITORY, sha),
    ]
    for question in questions:
        server.faults = [Fault("", 200, body=body)]
        with pytest.raises(NotGitHub):
            question()


def test_a_list_that_never_ends_is_given_up(serve: Serve, services: At) -> None:
    """A server whose every page names a next one does not keep a command for ever."""
    server = serve(recorded(1))
    original = server.answer
    server.answer = lambda path, query: original(path, {**query, "page": "1"})._replace(next_page=2)  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        read(services(server))
    assert len(server.requests) <= 100


def test_a_commit_listed_twice_is_reported_once(serve: Serve, services: At) -> None:
    """A push between two pages shifts the list: a commit that is on both is one commit."""
    server = serve(recorded(1), recorded(2))
    original = server.answer

    def doubled(path: str, query: dict[str, str]) -> object:
        reply = original(path, query)
        return reply._replace(body=reply.body * 2) if path.endswith("/commits") else reply

    server.answer = doubled  # type: ignore[assignment, method-assign]
    reader = services(server)
    report = read(reader)
    assert [entry.commit.sha[:2] for entry in report.entries] == ["02", "01"]


def test_an_answer_about_another_commit_is_a_failure(serve: Serve, services: At) -> None:
    """A server that serves one commit under another's SHA is not believed, and the coverage adds up."""
    server = serve(recorded(1), recorded(2))
    original = server.answer

    def other(path: str, query: dict[str, str]) -> object:
        return original(path.replace("0202", "0101"), query)

    server.answer = other  # type: ignore[assignment, method-assign]
    report = read(services(server))
    coverage = report.coverage
    assert coverage.listed == coverage.by_rules + len(coverage.failed) == 2
    assert [failure.sha[:2] for failure in coverage.failed] == ["02"]


def test_a_link_stays_a_link(run: Run, tmp_path: Path) -> None:
    """`--out` writes through a link into its target."""
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    link.symlink_to(target)
    assert run("digest", "--sample", "--format", "markdown", "--out", str(link)).code == 0
    assert link.is_symlink()
    assert target.read_text("utf-8").startswith("# Daily update")


@pytest.mark.parametrize("out", [".", "", "x" * 300, "no/such/folder.md"])
def test_an_impossible_file_is_one_line(out: str, run: Run) -> None:
    """A folder, no name, a name too long, a folder that is not there: exit 2 and one line."""
    ran = run("digest", "--sample", "--out", out)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err


def test_closed_streams_are_no_bug(tmp_path: Path) -> None:
    """A command whose standard output or input is closed does not fall over."""
    env = {**os.environ, "PYTHONPATH": ROOT}
    for line in (f"{sys.executable} -m bot --help >&-", f"{sys.executable} -m bot rank - <&-"):
        done = subprocess.run(line, shell=True, capture_output=True, cwd=tmp_path, env=env, check=False)
        assert b"Traceback" not in done.stderr


def test_a_foreign_database_is_left_alone(run: Run, tmp_path: Path) -> None:
    """A SQLite file with other tables of the same names is told, not changed."""
    import sqlite3

    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE commits (x)")
    connection.close()
    ran = run("search", "x", DATABASE_URL=f"sqlite:///{tmp_path}/other.db")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "cannot be used" in ran.err


def test_repositories_that_share_commits_keep_their_anchors_apart(run: Run, serve: Serve) -> None:
    """In one document each commit of each repository has an address of its own."""
    server = serve(recorded(1))
    server.repositories["o/m"] = server.repositories["o/n"]
    out = run("digest", "2026-02-05", "--format", "markdown", server=server, DIGEST_REPOS="o/n,o/m").out
    assert out.count('<a id="0101010"></a>') == 1
    assert out.count('<a id="0101010-"></a>') == 1
    assert "](#0101010-)" in out
