"""`make release`: what it changes in a clone, and what it refuses."""

import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from tests.packaging.environments import ROOT
from tools.release import ReleaseRefused, release

DAY = date(2026, 3, 1)
GREEN, RED = ("true",), ("false",)
CHANGELOG = """# Changelog

What changed.

## 0.2.0 (not released yet)

### Added
- A thing.

## 0.1.0 (2026-01-01)

### Added
- The first thing.
"""
PROJECT = '[project]\nname = "thing"\nversion = "0.1.0"\n\n[tool.other]\nversion = "9"\n'


def git(clone: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=clone, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone on main with one commit, released as 0.1.0."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.com")
    (folder / "CHANGELOG.md").write_text(CHANGELOG, "utf-8")
    (folder / "pyproject.toml").write_text(PROJECT, "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Begin")
    git(folder, "tag", "v0.1.0")
    return folder


def test_a_release_is_a_commit_and_a_tag(clone: Path) -> None:
    """The changelog's section gets the version and the date, the project the version; both are one commit, tagged, and not pushed."""
    assert release(clone, "0.2.0", DAY, GREEN) == "git push --atomic origin main v0.2.0"
    changelog = (clone / "CHANGELOG.md").read_text("utf-8")
    assert changelog == CHANGELOG.replace("## 0.2.0 (not released yet)", "## 0.2.0 (2026-03-01)")
    project = (clone / "pyproject.toml").read_text("utf-8")
    assert project == PROJECT.replace('version = "0.1.0"', 'version = "0.2.0"')
    assert git(clone, "log", "-1", "--format=%s") == "Release 0.2.0"
    assert git(clone, "rev-parse", "v0.2.0^{commit}") == git(clone, "rev-parse", "HEAD")
    assert git(clone, "status", "--porcelain") == ""


def test_the_version_that_the_project_has_may_be_the_next(clone: Path) -> None:
    """Before the first tag the version of pyproject.toml itself can be released, whatever the heading calls it."""
    git(clone, "tag", "--delete", "v0.1.0")
    release(clone, "0.1.0", DAY, GREEN)
    assert "## 0.1.0 (2026-03-01)\n\n### Added\n- A thing." in (clone / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("version", ["", "0.1.0", "0.0.9", "0.2", "v0.2.0", "0.02.0", "1.0.0rc1", "0.2.0\n"])
def test_a_version_that_is_not_newer_is_refused(clone: Path, version: str) -> None:
    """What is no version, or not newer than the released ones, is refused."""
    assert_refused(clone, lambda: release(clone, version, DAY, GREEN))


def test_versions_are_compared_by_number(clone: Path) -> None:
    """0.10.0 is newer than 0.9.0."""
    git(clone, "tag", "v0.9.0")
    with pytest.raises(ReleaseRefused, match="is not newer than"):
        release(clone, "0.2.0", DAY, GREEN)
    release(clone, "0.10.0", DAY, GREEN)


@pytest.mark.parametrize(
    "changelog", [CHANGELOG.replace("- A thing.\n", ""), CHANGELOG.replace(" (not released yet)", " (2026-02-01)")]
)
def test_a_changelog_without_entries_is_refused(clone: Path, changelog: str) -> None:
    """A section without an entry, or no section of what is not released yet, is refused."""
    (clone / "CHANGELOG.md").write_text(changelog, "utf-8")
    git(clone, "commit", "--quiet", "--all", "--message", "Change the changelog")
    assert_refused(clone, lambda: release(clone, "0.2.0", DAY, GREEN))


def test_other_states_are_refused(clone: Path) -> None:
    """A file that git does not know, another branch and a check that fails are refused."""
    (clone / "new.py").touch()
    with pytest.raises(ReleaseRefused, match="not committed"):
        release(clone, "0.2.0", DAY, GREEN)
    (clone / "new.py").unlink()
    git(clone, "switch", "--quiet", "--create", "other")
    assert_refused(clone, lambda: release(clone, "0.2.0", DAY, GREEN))
    git(clone, "switch", "--quiet", "main")
    assert_refused(clone, lambda: release(clone, "0.2.0", DAY, RED))


def test_the_own_changelog_has_a_section_to_release() -> None:
    """Whoever changes this project has one place in its changelog to write in."""
    assert (ROOT / "CHANGELOG.md").read_text("utf-8").count("(not released yet)\n") <= 1


def assert_refused(clone: Path, attempt: Callable[[], object]) -> None:
    before = git(clone, "rev-parse", "HEAD")
    with pytest.raises(ReleaseRefused):
        attempt()
    assert git(clone, "rev-parse", "HEAD") == before
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "tag", "--list", "v0.2.0") == ""
