"""`publish`: days as files in a folder or on GitHub, with one line a day."""

from pathlib import Path

from loopback.github import RecordedRepository
from tests.conftest import Run, recorded
from tests.servers.github import Fault
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository

COMMITS = RecordedRepository([recorded(1), recorded(2)])


def test_days_are_published_to_a_folder(run: Run, tmp_path: Path) -> None:
    """Each day has a line, and the Markdown is that of `digest`; the second time nothing changes."""
    (tmp_path / "public").mkdir()
    with PublishingGitHub({"o/n": COMMITS}, WritableRepository()) as server:
        first = run("publish", "2026-02-04..2026-02-05", "--to", "./public", server=server)
        again = run("publish", "2026-02-05", "--to", "public", server=server)
        shown = run("digest", "2026-02-05", "--format", "markdown", server=server)
    folder = tmp_path / "public"
    assert first.out == f"o/n 2026-02-04: published to {folder}\no/n 2026-02-05: published to {folder}\n"
    assert (again.code, again.out) == (0, f"o/n 2026-02-05: unchanged in {folder}\n")
    assert (folder / "reports/2026/n/2026-02-05.md").read_text() == shown.out


def test_a_day_is_published_to_github(run: Run) -> None:
    """The token is DIGEST_PUBLISH_TOKEN's where there is one, else GITHUB_TOKEN's."""
    target = WritableRepository()
    with PublishingGitHub({"o/n": COMMITS}, target) as server:
        tokens = {"GITHUB_TOKEN": "reader", "DIGEST_PUBLISH_TOKEN": "writer"}
        assert run("publish", "2026-02-05", server=server, DIGEST_PUBLISH=NAME, **tokens).code == 0
        asked = {token for path, _, token in server.requests if NAME in path}
        assert run("publish", "2026-02-05", "--to", NAME, server=server, GITHUB_TOKEN="reader").code == 0
        later = {token for path, _, token in server.requests if NAME in path} - asked
    assert target.messages() == ["Begin", "Add the digest of 2026-02-05 of o/n"]
    assert [{each.rpartition(" ")[2] for each in tokens if each} for tokens in (asked, later)] == [
        {"writer"},
        {"reader"},
    ]


def test_a_private_repository_is_not_published_by_chance(run: Run, tmp_path: Path) -> None:
    """It must be named in DIGEST_PUBLISH, with that target."""
    (tmp_path / "public").mkdir()
    with PublishingGitHub({"o/n": COMMITS}, WritableRepository()) as server:
        private = {"DIGEST_PRIVATE": "o/n=C0123456789"}
        refused = run("publish", "2026-02-05", "--to", "./public", server=server, **private)
        named = run("publish", "2026-02-05", server=server, DIGEST_PUBLISH="o/n=./public", **private)
    folder = tmp_path / "public"
    assert (refused.code, refused.err) == (
        2,
        f"vllm-digest: o/n is private; to publish it there, name it: DIGEST_PUBLISH=o/n={folder}\n",
    )
    assert named.code == 0


def test_a_published_day_is_not_replaced_by_a_poorer_one(run: Run, tmp_path: Path) -> None:
    """A line says so, and the exit code asks to try again."""
    (tmp_path / "public").mkdir()
    with PublishingGitHub({"o/n": COMMITS}, WritableRepository()) as server:
        run("publish", "2026-02-05", "--to", "./public", server=server)
        page = tmp_path / "public/reports/2026/n/2026-02-05.html"
        before = page.read_text()
        server.faults.append(Fault("commits/" + "01" * 20, 422, times=20))
        fresh = {"DATABASE_URL": f"sqlite:///{tmp_path / 'other.db'}"}
        poorer = run("publish", "2026-02-05", "--to", "./public", server=server, **fresh)
    assert poorer.code == 3
    assert poorer.out == f"o/n 2026-02-05: left unchanged in {tmp_path / 'public'}, where it is more complete\n"
    assert "2026-02-05: 1 of 2 commits could not be read (" in poorer.err
    assert page.read_text() == before


def test_an_unknown_repository_is_not_called_private(run: Run, tmp_path: Path) -> None:
    """The error says that it does not exist, whether the target is given or set."""
    (tmp_path / "public").mkdir()
    with PublishingGitHub({"o/n": COMMITS}, WritableRepository()) as server:
        given = run("publish", "2026-02-05", "--repo", "nobody/nothing", "--to", "./public", server=server)
        by_rule = run("publish", "2026-02-05", "--repo", "nobody/nothing", server=server, DIGEST_PUBLISH="./public")
    for each in (given, by_rule):
        assert each.code == 2
        assert "GitHub has no repository nobody/nothing" in each.err
        assert "nothing is private" not in each.err


def test_errors_are_one_line_with_their_codes(run: Run) -> None:
    """2 for what one must change, 3 for what can be tried again."""
    with PublishingGitHub({"o/n": COMMITS}, WritableRepository()) as server:
        nowhere = run("publish", "2026-02-05", server=server)
        missing = run("publish", "2026-02-05", "--to", "./nowhere", server=server)
        server.faults.append(Fault("git/ref/", 418, times=20))
        down = run("publish", "2026-02-05", "--to", NAME, server=server)
    assert [each.code for each in (nowhere, missing, down)] == [2, 2, 3]
    assert "use --to owner/name or --to ./folder, or set DIGEST_PUBLISH" in nowhere.err
    assert "is not a folder; create it" in missing.err
    assert "run it again to complete the result" in down.err
    assert all(each.err.count("\n") == 1 for each in (nowhere, missing, down))
