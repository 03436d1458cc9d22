"""The loopback GitHub's repositories, cloned with git."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from loopback.github import LoopbackGitHub, RecordedRepository
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.sample.__main__ import rewrite
from tests.conftest import recorded

_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed"}


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackGitHub]:
    repositories = {SAMPLE_REPOSITORY: sample_repository(), "o/n": RecordedRepository([recorded(1), recorded(2)])}
    with LoopbackGitHub(repositories) as running:
        yield running


@pytest.fixture(scope="module")
def clone(server: LoopbackGitHub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    with urlopen(f"{server.url}/repos/{SAMPLE_REPOSITORY}") as answer:
        address = json.load(answer)["clone_url"]
    git(folder, "clone", "--quiet", "--bare", address, ".")
    return folder


def git(folder: Path, *arguments: str, fails: bool = False) -> str:
    """What git prints, with nobody's configuration."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.quotepath=off", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return (done.stdout + done.stderr).decode()


def test_the_clone_has_the_commits_of_the_api(clone: Path) -> None:
    """Every SHA, message and date that the API gives is in the clone, in one line that ends at the branch's head."""
    commits = list(sample_repository().commits.values())
    told = git(clone, "log", "--reverse", "--format=%H %cI%x00%B%x01", "main").split("\x01\n")
    assert len(told) == len(commits) + 2  # what came before, and nothing after the last
    for commit, text in zip(commits, told[1:], strict=False):
        head, _, message = text.partition("\0")
        sha, date = head.split()
        assert (sha, message.rstrip("\n")) == (commit["sha"], commit["message"].rstrip("\n"))
        assert datetime.fromisoformat(date) == datetime.fromisoformat(commit["committer"]["date"])
    assert git(clone, "fsck", "--strict", "--no-progress") == ""


def test_the_clone_has_the_patches_of_the_api(clone: Path) -> None:
    """What git says that a commit changes is what the API says, file by file and line by line."""
    for commit in sample_repository().commits.values():
        names = git(clone, "diff-tree", "-r", "-M", "--no-commit-id", "--name-status", commit["sha"]).splitlines()
        rows = [line.split("\t") for line in names]
        found = {row[-1]: (_STATUS[row[0][0]], row[1] if len(row) > 2 else None) for row in rows}
        files = {file["filename"]: file for file in commit["files"]}
        assert found == {name: (file["status"], file.get("previous_filename")) for name, file in files.items()}
        text = git(clone, "diff-tree", "-r", "-M", "-p", "--no-commit-id", commit["sha"])
        parts = [part.partition("\n@@ ")[2] for part in re.split(r"(?m)^diff --git ", text)[1:]]
        patches = [f"@@ {patch}".rstrip("\n") for patch in parts if patch]
        assert sorted(patches) == sorted(file["patch"] for file in files.values() if file.get("patch"))


def test_a_part_of_it_can_be_fetched(server: LoopbackGitHub, tmp_path: Path) -> None:
    """A clone without blobs has none, and fetches those that are asked for, a single one by its SHA."""
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"{server.url}/{SAMPLE_REPOSITORY}.git", ".")
    missing = git(tmp_path, "rev-list", "--objects", "--missing=print", "main").split()
    blobs = [sha[1:] for sha in missing if sha.startswith("?")]
    assert len(blobs) > 100
    git(tmp_path, "fetch", "--quiet", "--filter=blob:none", "origin", blobs[0])
    assert git(tmp_path, "cat-file", "-t", blobs[0]) == "blob\n"
    assert "CHANGELOG.md" in git(tmp_path, "ls-tree", "--name-only", "main")


@pytest.mark.parametrize("name", ["o/unknown", "o/n"])
def test_an_unknown_repository_is_not_found(name: str, server: LoopbackGitHub, tmp_path: Path) -> None:
    """A repository that is not served, and one whose SHAs are made up, are 404 to git."""
    with pytest.raises(HTTPError) as told:
        urlopen(f"{server.url}/{name}.git/info/refs?service=git-upload-pack")
    told.value.close()
    assert told.value.code == 404
    assert "not found" in git(tmp_path, "clone", f"{server.url}/{name}.git", fails=True)


def test_nobody_pushes(clone: Path) -> None:
    """A push is refused, and so is a page of another origin."""
    origin = git(clone, "remote", "get-url", "origin").strip()
    git(clone, "push", "--quiet", "origin", "main:other", fails=True)
    foreign = Request(f"{origin}/info/refs?service=git-upload-pack", headers={"Origin": "http://evil.example"})
    with pytest.raises(HTTPError) as told:
        urlopen(foreign)
    told.value.close()
    assert told.value.code == 403


def test_the_sample_is_as_its_script_makes_it() -> None:
    """The SHAs of the sample's file are those that git computes."""
    commits = sample_repository().commits.values()
    text = "".join(f"{json.dumps(commit, ensure_ascii=False)}\n" for commit in commits)
    assert rewrite(text) == text
