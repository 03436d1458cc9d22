"""Cloning, fetching, sharing and removing mirrors over HTTP."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from analysis.errors import DigestError, MirrorUnavailable, UnknownBranch
from analysis.models import Repository
from analysis.sources.git.folder import MirrorFolder
from tests.servers.github import Fault
from tests.servers.mirrored import REPOSITORY, Place, fake_git, read_commits


def test_a_clone_has_all_commits_and_no_files(place: Place) -> None:
    """The first clone asks the API once and has every commit; files come when they are asked for, in one request."""
    mirrors = place.mirrors()
    assert mirrors.existing(REPOSITORY) is None
    assert mirrors.updated(REPOSITORY, create=False) is None
    with place.cloned() as mirror:
        assert place.asked("api") == 1
        assert mirror.head() == place.second
        mirror.fetch_blobs([place.first, place.second])
        assert place.asked("git") == 2  # what the server can, and the objects
        assert mirror.read_commit(place.second).files[0].patch == "@@ -1 +1 @@\n-one\n+two"
        assert mirror.read_file(place.first, "b.py") == "b\n"
        assert place.asked("git") == 0


def test_a_fetch_brings_what_is_new(place: Place) -> None:
    """A later fetch asks git alone, and brings new commits."""
    place.cloned()
    third = place.bare.commit({}, place.second)
    place.asked("api")
    mirrors = place.mirrors()
    fetched = mirrors.updated(REPOSITORY, create=False)
    assert fetched
    assert fetched.head() == third
    assert place.server.asked("^/repos/") == 0
    existing = mirrors.existing(REPOSITORY)
    assert existing
    assert existing.head() == third


def test_a_force_push_moves_the_branch(place: Place) -> None:
    """After a force push the branch is the new one, and what it left can still be read and compared."""
    place.cloned()
    other = place.bare.commit({"a.py": b"three\n"}, place.first)
    mirror = place.cloned()
    assert mirror.head() == other
    assert not mirror.contains(place.second)
    assert mirror.read_commit(place.second).files
    compared = mirror.compare(place.second, other)
    assert compared.rewritten
    assert [each.sha for each in compared.commits] == [other]


def test_commits_off_the_branch_are_fetched_by_name(place: Place) -> None:
    """A tag, another branch and a SHA that the branch lacks are fetched when they are asked for."""
    side = place.bare.commit({"c.py": b"c\n"}, place.first, branch="side/x")
    lost = place.bare.commit({"d.py": b"d\n"}, place.first, branch=None)
    place.bare.git(
        "tag", "-a", "v1", "-m", "one", side, environment={"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a"}
    )
    mirror = place.cloned()
    assert mirror.resolve("v1") == mirror.resolve("side/x") == side
    assert mirror.merge_base("v1", place.second) == place.first
    assert mirror.read_commit(lost).paths == ("a.py", "b.py", "d.py")
    place.asked("git")
    assert mirror.resolve("v1") == side
    assert place.asked("git") == 0


def test_branches_share_a_mirror(place: Place) -> None:
    """Another branch is fetched into the same mirror; one that does not exist is unknown, and so is one that looks like an option."""
    place.bare.commit({"c.py": b"c\n"}, place.first, branch="dev/x")
    place.cloned()
    dev = Repository.parse("o/n@dev/x")
    assert place.mirrors().existing(dev) is None
    assert place.cloned(dev).branch == "dev/x"
    assert place.cloned().branch == "main"
    assert len(list(place.folder.glob("*.git"))) == 1
    for name in ("nothing", "--upload-pack=x", "../../x", "dev/x:y"):
        with pytest.raises((UnknownBranch, DigestError)):
            place.mirrors().updated(Repository(owner="o", name="n", branch=name), create=True)
        assert place.mirrors().existing(Repository(owner="o", name="n", branch=name)) is None


def test_another_default_branch_is_followed(place: Place) -> None:
    """When the default branch changes, or goes, the new one is read."""
    place.cloned()
    new = place.bare.commit({"c.py": b"c\n"}, place.second, branch="trunk")
    place.bare.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    place.server.said["default_branch"] = "trunk"
    assert place.cloned().head() == new
    place.bare.git("branch", "-m", "trunk", "next")
    place.server.said["default_branch"] = "next"
    assert place.cloned().branch == "next"


def test_threads_and_processes_take_turns(place: Place) -> None:
    """However many ask at once, in threads and in other processes, there is one clone, and all have it."""
    code = (
        "import sys; from pathlib import Path; from analysis.models import Repository; from analysis.sources.github import GitHub; "
        "from analysis.sources.mirrors import Mirrors; mirrors = Mirrors(Path(sys.argv[1]), GitHub(sys.argv[2]), None); "
        "print(mirrors.updated(Repository.parse('o/n'), create=True).head())"
    )
    command = [sys.executable, "-c", code, str(place.folder), place.server.url]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        heads = set(pool.map(lambda _: place.cloned().head(), range(4)))
    heads |= {other.communicate(timeout=60)[0].strip() for other in others}
    assert heads == {place.second}
    assert place.server.asked("^/repos/") == 1


def test_eight_threads_read_at_once(place: Place) -> None:
    """Commits and files read by eight threads are those that one reads; a fetch meanwhile disturbs nobody."""
    shas = [place.second]
    for number in range(30):
        shas.append(place.bare.commit({"a.py": b"x\n" * number, f"{number}.py": b"n"}, shas[-1]))
    mirror = place.cloned()
    alone = dict(read_commits(mirror, shas))

    def read(sha: str) -> tuple[object, str | None]:
        if sha == shas[7]:
            place.bare.commit({}, shas[-1])
            place.cloned()
        commit = mirror.read_commit(sha)
        return commit, mirror.trees(commit).after.read("a.py")

    with ThreadPoolExecutor(8) as pool:
        together = dict(zip(shas, pool.map(read, shas), strict=True))
    assert {sha: commit for sha, (commit, _) in together.items()} == alone
    assert [together[sha][1] for sha in shas[1:]] == ["x\n" * number for number in range(30)]


def test_removal_waits_for_readers(place: Place) -> None:
    """A mirror is removed when nobody reads it; what was removed is damaged for whoever reads on."""
    mirror = place.cloned()
    with ThreadPoolExecutor(1) as pool:
        with MirrorFolder(place.folder, "o/n").reading():
            removing = pool.submit(place.mirrors().remove_unless, lambda _: False)
            assert place.mirrors().existing(REPOSITORY)
            assert mirror.head() == place.second
            assert not removing.done()
        removing.result(timeout=30)
    assert list(place.folder.iterdir()) == []
    with pytest.raises(MirrorUnavailable, match="the mirror of o/n is damaged; the next fetch clones it again"):
        mirror.head()
    assert list(place.folder.iterdir()) == []


def test_who_waits_too_long_for_another_is_told(place: Place) -> None:
    """While another clones, the wait for it has a limit, after which one line says so; the clone goes on."""
    release = Event()
    place.server.faults = [Fault(r"\.git/git-upload-pack", until=release)]
    with ThreadPoolExecutor(1) as pool:
        cloning = pool.submit(place.cloned)
        try:
            while not place.server.asked("git-upload-pack$"):
                assert not cloning.done()
            with pytest.raises(MirrorUnavailable, match="o/n is still being cloned or fetched after 1 s; try again"):
                place.mirrors(lock=1).updated(REPOSITORY, create=True)
            assert place.mirrors(lock=0).remove_unless(lambda _: False) == []
        finally:
            release.set()
        assert cloning.result().head() == place.second


def test_mirrors_of_other_repositories_are_removed(place: Place) -> None:
    """Only the mirrors of the repositories that are kept stay; there may be none, and what is no mirror stays."""
    assert place.mirrors().remove_unless(lambda _: False) == []
    place.cloned()
    place.cloned(Repository.parse("o/other"))
    (place.folder / "a+b+c.git").mkdir()
    assert place.mirrors().remove_unless(lambda each: each.full_name == "o/n") == ["o/other"]
    assert sorted(path.name for path in place.folder.iterdir()) == ["a+b+c.git", "o+n.git", "o+n.lock"]


def test_many_packs_are_united(place: Place) -> None:
    """The packs of many fetches become few, and commits that a force push left can still be read."""
    for number in range(4):
        place.bare.commit({"a.py": f"{number}\n".encode()}, place.first)
        place.cloned(packs=2).read_commit(place.bare.git("rev-parse", "main"))
    assert len(list(place.mirror_path.glob("objects/pack/*.pack"))) < 5
    place.server.requests.clear()
    read = place.cloned().history("a.py")
    assert len(read) == 2
    assert place.cloned().resolve(place.second) == place.second


def test_progress_is_told(place: Place) -> None:
    """While git fetches, its progress is told in words for a terminal."""
    told: list[str] = []
    words = r"remote: Counting objects:  12%% (1/8)\rReceiving objects:  45%% (4/9)\r"
    script = f"case $* in *fetch*) printf '{words}' >&2; sleep 1;; esac; exec git \"$@\""
    place.cloned(git=fake_git(place.folder.parent, script), on_progress=told.append)
    assert told[0] == "receiving objects 45%"
