"""Trees of a few objects with any number of paths, as a stranger's repository may have them: reading them has a bound."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.errors import MirrorUnavailable
from tests.conftest import Run
from tests.servers.bare import BareRepository, GitServer
from tests.servers.mirrored import REPOSITORY, Place, read_commits

FILE, FOLDER = "100644 blob", "040000 tree"


def tree(bare: BareRepository, rows: dict[str, tuple[str, str]]) -> str:
    lines = "".join(f"{kind} {sha}\t{name}\0" for name, (kind, sha) in rows.items())
    return bare.git("mktree", "-z", stdin=lines.encode())


def nested(bare: BareRepository, content: bytes | None, levels: int = 9) -> str:
    """Folders of ten folders that are the same object: a thousand million paths of ten objects, or without content none."""
    files = {} if content is None else {f"{number}.py": (FILE, bare.blob(content)) for number in range(10)}
    found = tree(bare, files)
    for _ in range(levels - 1):
        found = tree(bare, {f"{number}": (FOLDER, found) for number in range(10)})
    return found


def of_nothing(bare: BareRepository) -> str:
    return nested(bare, None)


def long_named(bare: BareRepository) -> str:
    return tree(bare, {"n" * 1_000_000: (FILE, bare.blob(b"x = 1\n"))})


def deep(bare: BareRepository) -> str:
    """Folders in folders, whose names make a path of ten thousand characters."""
    found = tree(bare, {"a.py": (FILE, bare.blob(b"x = 1\n"))})
    for _ in range(50):
        found = tree(bare, {"d" * 200: (FOLDER, found)})
    return found


def committed(bare: BareRepository, bomb: str, content: bytes, parent: str, message: str = "Change it") -> str:
    """Commit a bomb beside a file."""
    root = tree(bare, {"bomb": (FOLDER, bomb), "engine.py": (FILE, bare.blob(content))})
    head = (
        f"tree {root}\nparent {parent}\nauthor Ada <> 1770292800 +0000\ncommitter Ada <> 1770292800 +0000\n\n{message}"
    )
    sha = bare.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=head.encode())
    bare.git("update-ref", "refs/heads/main", sha)
    return sha


def test_of_too_many_files_the_first_are_listed(place: Place) -> None:
    """A commit that adds or changes a thousand million paths has 3,000 files without patches, and the next one has its own."""
    added = committed(place.bare, nested(place.bare, b"one\n"), b"x = 1\n", place.second)
    changed = committed(place.bare, nested(place.bare, b"two\n"), b"x = 1\n", added)
    usual = committed(place.bare, nested(place.bare, b"two\n"), b"x = 2\n", changed)
    mirror = place.cloned()
    mirror.fetch_blobs([added, changed, usual])
    for sha, status in ((added, "added"), (changed, "modified")):
        commit = mirror.read_commit(sha)
        assert commit.read
        assert commit.is_cut
        assert len(commit.files) == 3_000
        assert {file.patch for file in commit.files} == {None}
        assert commit.files[-1].status == status
    assert [file.patch for file in mirror.read_commit(usual).files] == ["@@ -1 +1 @@\n-x = 1\n+x = 2"]
    for refused in (lambda: mirror.list_files(usual), lambda: mirror.search(usual, "x")):
        with pytest.raises(MirrorUnavailable, match="too many or too long paths"):
            refused()


@pytest.mark.parametrize("bomb", [of_nothing, long_named, deep])
def test_paths_that_nobody_has_are_not_read(bomb: Callable[[BareRepository], str], place: Place) -> None:
    """The commit is told to be unreadable, the mirror is not taken for damaged, and the next commit is read."""
    odd = committed(place.bare, bomb(place.bare), b"x = 1\n", place.second)
    usual = committed(place.bare, bomb(place.bare), b"x = 2\n", odd)
    mirror = place.cloned()
    (_, failure), (_, commit) = read_commits(mirror, [odd, usual])
    assert isinstance(failure, MirrorUnavailable)
    assert "too many or too long paths" in str(failure)
    assert not isinstance(commit, Exception)
    assert [file.path for file in commit.files] == ["engine.py"]
    assert place.mirrors().existing(REPOSITORY)


def test_what_follows_an_endless_diff_has_its_patches(place: Place) -> None:
    """The rest of a diff that is too long to be read is not taken for the next commit's."""
    lines = {f"{number}.txt": b"%d\n" % number + b"x" * 9_000_000 + b"\n" for number in range(8)}
    long = place.bare.commit(lines, place.second)
    usual = place.bare.commit({**lines, "a.py": b"three\n"}, long)
    mirror = place.cloned()
    commit = mirror.read_commit(long)
    assert (len(commit.files), commit.additions) == (10, 16)
    assert not any(file.patch for file in commit.files)
    assert [file.patch for file in mirror.read_commit(usual).files] == ["@@ -0,0 +1 @@\n+three"]


def test_a_day_with_a_bomb_ends_and_says_what_it_left_out(tmp_path: Path, run: Run) -> None:
    """The command tells the day, with the bomb and the commit after it, and its coverage what was not read."""
    bare = BareRepository(tmp_path / "source.git")
    first = bare.commit({"engine.py": b"x = 0\n"}, at=1_769_000_000)
    bomb = committed(bare, nested(bare, b"one\n"), b"x = 0\n", first, "Add many files")
    committed(bare, nested(bare, b"one\n"), b"x = 1\n", bomb, "Fix the engine")
    with GitServer({"o/n": bare}) as server:
        day = ("digest", "2026-02-05", "--repo", "o/n", "--timezone", "UTC", "--lang", "en")
        settings = {"DIGEST_MIRRORS": "mirrors", "DIGEST_REPOS": "o/n"}
        assert run("impact", "2026-02-05", "--repo", "o/n", "--downstream", "o/n", server=server, **settings).code == 3
        ran = run(*day, "--format", "json", server=server, **settings)
    assert ran.code == 0
    report = json.loads(ran.out)
    assert [each["title"] for each in report["commits"]] == ["Fix the engine", "Add many files"]
    left_out = ["all patches, and all but the first 3,000 files"]
    assert report["coverage"]["shortened"] == [{"sha": bomb, "left_out": left_out}]
    assert "> 3,000 files changed (+? −?)" in report["commits"][1]["analysis"]["summary"]
