"""Histories written for the purpose: merges, odd dates, odd names and odd files, read as GitHub's API would give them."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.errors import DigestError, Misuse
from analysis.models import Commit, FileChange, Repository
from analysis.sources.git.history import MAX_PATCH
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from tests.servers.bare import BareRepository, Entry, GitServer

NOON = 1_770_000_000
ODD_NAME = 'a "b"\t\\c\nd é.txt'
LINES = [f"line {number}\n" for number in range(40)]
TEXT = "".join(LINES).encode()
FIRST: dict[str, bytes | Entry] = {
    "a.py": b"one\ntwo\n",
    "windows.txt": b"one\r\ntwo\r\n",
    "no-newline": b"one",
    "latin-1": b"caf\xe9\n",
    "picture": b"\0\1\2",
    "long.txt": TEXT,
    "program": b"#!/bin/sh\n",
    "link": Entry(b"a.py", "link"),
    "module": Entry(b"1" * 40, "submodule"),
    "folder/gone.py": b"gone\n",
}
SECOND: dict[str, bytes | Entry] = {
    "a.py": b"one\n2\n",
    "windows.txt": b"one\r\n2\r\n",
    "no-newline": b"two",
    "latin-1": b"caf\xe9s\n",
    "picture": b"\0\1\3",
    "folder/moved.txt": TEXT.replace(b"line 7\n", b"line seven\n"),
    "program": Entry(b"#!/bin/sh\n", "program"),
    "link": b"no link\n",
    "module": Entry(b"2" * 40, "submodule"),
    ODD_NAME: b"odd\n",
    "empty": b"",
}


class Shas(NamedTuple):
    first: str
    second: str
    side: str
    merge: str
    nothing: str
    large: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("history")


@pytest.fixture(scope="module")
def bare(folder: Path) -> BareRepository:
    return BareRepository(folder / "source.git")


@pytest.fixture(scope="module")
def shas(bare: BareRepository) -> Shas:
    first = bare.commit(FIRST, message=b"\nFirst\r\n\r\nBody  \n\n", at=NOON)
    second = bare.commit(SECOND, first, at=NOON + 600, author="Zoë", message=b"caf\xe9")
    side = bare.commit({**FIRST, "side.py": b"side\n"}, first, at=NOON - 86_400 * 9, branch=None)  # an older date
    merge = bare.commit({**SECOND, "side.py": b"side\n"}, second, side, at=NOON + 600)
    nothing = bare.commit({**SECOND, "side.py": b"side\n"}, merge, at=NOON + 600)
    return Shas(
        first, second, side, merge, nothing, bare.commit({"large": b"x\n" * MAX_PATCH}, nothing, at=NOON + 1200)
    )


@pytest.fixture(scope="module")
def mirror(bare: BareRepository, shas: Shas, folder: Path) -> Iterator[Mirror]:
    with GitServer({"O/n": bare}) as server:
        source = GitHub(server.url)
        made = Mirrors(folder / "mirrors", source, None).updated(Repository.parse("o/N"), create=True)
        assert made
        with made:
            yield made
        source.close()


def files(commit: Commit) -> dict[str, FileChange]:
    assert len({file.path for file in commit.files}) == len(commit.files)
    return {file.path: file for file in commit.files}


def test_all_that_is_reachable_is_listed_by_date(mirror: Mirror, shas: Shas) -> None:
    """An older date hides nothing behind it, the start counts and the end does not, equal dates keep git's order."""
    at = datetime.fromtimestamp(NOON, UTC)
    day = mirror.list_commits(Window(at, at + timedelta(minutes=20)))
    assert [commit.sha for commit in day] == [shas.nothing, shas.merge, shas.second, shas.first]
    before = mirror.list_commits(Window(at - timedelta(days=30), at))
    assert [commit.sha for commit in before] == [shas.side]
    assert not any(commit.read or commit.files for commit in day)


def test_headers_are_those_of_the_api(mirror: Mirror, shas: Shas) -> None:
    """Times are UTC, messages lose their outer line breaks, addresses are for people, odd bytes are replaced."""
    first, second, merge = (mirror.read_commit(sha) for sha in (shas.first, shas.second[:9], shas.merge))
    assert first.message == "First\r\n\r\nBody  "
    assert (first.author, second.author) == ("Ada", "Zoë")
    assert second.message == "caf\ufffd"
    assert second.authored_at == datetime.fromtimestamp(NOON, UTC)
    assert second.committed_at == datetime.fromtimestamp(NOON + 600, UTC)
    assert second.committed_at.utcoffset() == timedelta(0)
    assert second.url == f"https://github.example/O/n/commit/{shas.second}"
    assert (first.parents, merge.parents) == ((), (shas.second, shas.side))


def test_a_first_commit_adds_everything(mirror: Mirror, shas: Shas) -> None:
    """The first commit is compared with nothing."""
    commit = mirror.read_commit(shas.first)
    assert {file.status for file in commit.files} == {"added"}
    assert set(files(commit)) == set(FIRST)
    assert files(commit)["link"].patch == "@@ -0,0 +1 @@\n+a.py\n\\ No newline at end of file"
    assert files(commit)["module"].patch == f"@@ -0,0 +1 @@\n+Subproject commit {'1' * 40}"
    assert commit.additions == sum(file.additions for file in commit.files) == 50


def test_changes_are_those_of_the_api(mirror: Mirror, shas: Shas) -> None:
    """Each sort of change has GitHub's status, counts and patch, whatever the file is called."""
    found = files(mirror.read_commit(shas.second))
    assert found["a.py"] == FileChange(path="a.py", additions=1, deletions=1, patch="@@ -1,2 +1,2 @@\n one\n-two\n+2")
    assert found["windows.txt"].patch == "@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r"
    end = "\\ No newline at end of file"
    assert found["no-newline"].patch == f"@@ -1 +1 @@\n-one\n{end}\n+two\n{end}"
    assert found["latin-1"].patch == "@@ -1 +1 @@\n-caf\ufffd\n+caf\ufffds"
    assert found["picture"] == FileChange(path="picture")
    moved = found["folder/moved.txt"]
    assert (moved.status, moved.previous_path, moved.size) == ("renamed", "long.txt", 2)
    assert moved.patch
    assert "+line seven" in moved.patch
    assert found["program"] == FileChange(path="program")
    assert found["link"].status == "changed"
    assert found["link"].patch == "@@ -0,0 +1 @@\n+no link"
    assert found["module"].patch == f"@@ -1 +1 @@\n-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}"
    assert found[ODD_NAME] == FileChange(path=ODD_NAME, status="added", additions=1, patch="@@ -0,0 +1 @@\n+odd")
    assert found["empty"] == FileChange(path="empty", status="added")
    assert found["folder/gone.py"].status == "removed"
    assert set(found) == {*SECOND, "folder/gone.py"}


def test_a_merge_is_compared_with_its_first_parent(mirror: Mirror, shas: Shas) -> None:
    """A merge has what it brings to the branch; a commit that changes nothing has no files."""
    assert set(files(mirror.read_commit(shas.merge))) == {"side.py"}
    assert mirror.read_commit(shas.nothing).files == ()


def test_large_commits_are_cut_as_by_the_api(mirror: Mirror, shas: Shas) -> None:
    """A patch that is too large is left out."""
    large = files(mirror.read_commit(shas.large))["large"]
    assert (large.additions, large.patch) == (MAX_PATCH, None)


def test_files_are_read_as_of_a_commit(mirror: Mirror, shas: Shas) -> None:
    """A file's text is as of that commit; a binary, a link, a folder, a submodule and what is not there have none."""
    assert mirror.read_file(shas.first, "a.py") == "one\ntwo\n"
    assert mirror.read_file(shas.second, ODD_NAME) == "odd\n"
    assert mirror.read_file(shas.second, "latin-1") == "caf\ufffds\n"
    for path in ("picture", "module", "folder", "nothing", "a.py/b", "", "/", "../a.py", "folder//gone.py"):
        assert mirror.read_file(shas.first, path) is None
    assert mirror.read_file(shas.first, "link") is None


def test_trees_are_before_and_after_a_commit(mirror: Mirror, shas: Shas) -> None:
    """The files before a merge are those of its first parent; before the first commit there are none."""
    trees = mirror.trees(mirror.read_commit(shas.merge))
    assert (trees.before.read("side.py"), trees.after.read("side.py")) == (None, "side\n")
    assert trees.before.read("a.py") == trees.after.read("a.py") == "one\n2\n"
    first = mirror.trees(mirror.read_commit(shas.first))
    assert (first.before.read("a.py"), first.after.read("a.py")) == (None, "one\ntwo\n")


def test_a_tree_is_searched(mirror: Mirror, shas: Shas) -> None:
    """A text or an expression is found with path and line, in the folders and files asked for, as often as asked for."""
    found = mirror.search(shas.second, "line 3")
    assert [(each.path, each.line) for each in found] == [("folder/moved.txt", n) for n in (4, *range(31, 41))]
    assert found[0].text == "line 3"
    assert len(mirror.search(shas.second, "line 3", limit=3)) == 3
    assert [
        each.path for each in mirror.search(shas.first, "^(one|gone)$", regex=True, folders=["a.py", "folder"])
    ] == [
        "a.py",
        "folder/gone.py",
    ]
    assert mirror.search(shas.first, "-e.*") == mirror.search(shas.first, "one", folders=["fold*"]) == ()
    assert mirror.search(shas.second, "odd")[0].path == ODD_NAME
    with pytest.raises(Misuse, match="is not a valid regular expression"):
        mirror.search(shas.first, "(", regex=True)


@pytest.mark.parametrize("odd", ["\0", "\ud800", "-x", "--output=/tmp/x", ":(exclude)*", "*", "a\nb"])
def test_odd_words_are_no_options(odd: str, mirror: Mirror, shas: Shas) -> None:
    """Whatever is searched for, or named as a path or a symbol, is found or not; it is an error of ours at most."""
    asked = (
        lambda: mirror.read_file(shas.first, odd),
        lambda: mirror.search(shas.first, odd, folders=[odd]),
        lambda: mirror.history(odd),
        lambda: mirror.history("a.py", symbol=odd),
    )
    for ask in asked:
        if odd in ("\0", "\ud800"):
            with suppress(DigestError):
                assert not ask()
        else:
            assert not ask()


def test_a_path_has_a_history(mirror: Mirror, shas: Shas) -> None:
    """The commits that changed a path, or whose diff of it shows a symbol, are listed newest first."""
    assert [each.sha for each in mirror.history("a.py", at=shas.nothing)] == [shas.second, shas.first]
    assert [each.sha for each in mirror.history("a.py", symbol="two", at=shas.second)] == [shas.second, shas.first]
    assert mirror.history("nothing") == mirror.history("a.py", symbol="three") == ()


def test_the_titles_of_a_branch_are_listed(mirror: Mirror, shas: Shas) -> None:
    """Each with its SHA, newest first, off no other branch."""
    listed = mirror.titles()
    assert [sha for sha, _ in listed if sha in (shas.first, shas.second)] == [shas.second, shas.first]
    assert dict(listed)[shas.first] == mirror.read_commit(shas.first).title
