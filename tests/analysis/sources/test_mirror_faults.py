"""Mirrors when the server, the disk, git or the mirror itself fails."""

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event

import pytest

from analysis.errors import DigestError, MirrorUnavailable, UnknownCommit
from analysis.models import Commit
from analysis.sources.git.program import Git
from tests.servers.bare import GitServer
from tests.servers.github import Fault
from tests.servers.mirrored import REPOSITORY, Place, fake_git, read_commits


def corrupt_pack(path: Path) -> None:
    for pack in path.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:20] + b"x" * 400)


BREAKAGES: Mapping[str, Callable[[Path], object]] = {
    "HEAD": lambda path: (path / "HEAD").unlink(),
    "config": lambda path: (path / "config").write_text("[core\n"),
    "state": lambda path: (path / "mirror.json").write_text("{"),
    "packs": lambda path: (path / "objects/pack").rename(path / "gone"),
    "pack": corrupt_pack,
    "branch": lambda path: (path / "refs/heads/main").write_text("1" * 40 + "\n"),
    "objects": lambda path: (path / "objects").rename(path / "gone"),
}


@pytest.mark.parametrize("what", BREAKAGES)
def test_a_damaged_mirror_is_cloned_anew(what: str, place: Place) -> None:
    """Whatever of a mirror is damaged, reading it is an error of ours, and the next fetch but one at most makes it whole."""
    place.cloned()
    place.bare.commit({"new.py": b"new\n"}, place.second)
    BREAKAGES[what](place.mirror_path)
    try:
        mirror = place.cloned()
        mirror.read_commit(place.second)
    except DigestError:
        mirror = place.cloned()
    assert mirror.read_commit(place.second).files[0].patch
    assert mirror.read_commit(mirror.head()).paths
    place.asked("api")
    place.cloned()
    assert place.asked("api") == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(r"\.git/info/refs", 500),
        Fault(r"\.git/info/refs", drop=True),
        Fault(r"\.git/git-upload-pack", 500),
        Fault(r"\.git/git-upload-pack", times=9, drop=True),
        Fault(r"\.git/git-upload-pack", 200, body="not a pack"),
        Fault(r"\.git/info/refs", 403),
        Fault(r"\.git/info/refs", 404),
    ],
    ids=lambda fault: f"{fault.match[6:10]}-{fault.status}-{fault.drop}",
)
def test_a_clone_that_fails_leaves_nothing(fault: Fault, place: Place) -> None:
    """A failure is one line, nothing that looks like a mirror is left, and the next clone succeeds."""
    place.server.faults = [fault]
    with pytest.raises(MirrorUnavailable) as told:
        place.mirrors().updated(REPOSITORY, create=True)
    assert str(told.value).endswith("; try again later")
    assert "\n" not in str(told.value)
    assert sorted(path.suffix for path in place.folder.iterdir()) == [".lock"]
    place.server.faults = []
    assert place.cloned().head() == place.second


def test_a_fetch_that_fails_leaves_the_mirror(place: Place) -> None:
    """A server that does not answer is told in one line; what was there can be read, without waiting for each file."""
    mirror = place.cloned()
    commit = mirror.read_commit(place.second)
    place.server.__exit__()
    with pytest.raises(MirrorUnavailable, match="no connection"):
        place.mirrors().updated(REPOSITORY, create=False)
    existing = place.mirrors().existing(REPOSITORY)
    assert existing
    assert existing.read_commit(place.second) == commit
    trees = existing.trees(commit)
    assert (trees.before.read("a.py"), trees.after.read("a.py"), trees.after.read("b.py")) == ("one\n", "two\n", None)
    place.server = GitServer({})  # which ends with the test instead
    place._ending.enter_context(place.server)


def test_what_cannot_be_read_is_not_denied(place: Place) -> None:
    """A search in files of which the server lacks one fails instead of telling that nothing matches; a picture has no lines."""
    pictured = place.bare.commit({"read.py": b"read\n", "lacking.png": b"\0"}, place.second)
    lacking = place.bare.commit({"read.py": b"read\n", "lacking.py": b"sought\n"}, pictured)
    mirror = place.cloned()
    for content in (b"\0", b"sought\n"):
        place.bare.lose(place.bare.blob(content))
    assert mirror.search(pictured, "sought") == ()
    with pytest.raises(MirrorUnavailable, match="objects are missing in the mirror"):
        mirror.search(lacking, "sought")


def test_what_the_server_lacks_fails_alone(place: Place) -> None:
    """A commit whose files the server lacks cannot be read, and nor can one that it lacks itself; all others can."""
    lost = place.bare.commit({"a.py": b"lost\n", "b.py": b"b\n", "c.py": b"c\n"}, place.second)
    last = place.bare.commit({"a.py": b"two\n", "b.py": b"b\n", "d.py": b"d\n"}, lost)
    after = place.bare.commit({"a.py": b"two\n", "b.py": b"b2\n", "d.py": b"d\n"}, last)
    mirror = place.cloned()
    place.bare.lose(place.bare.blob(b"lost\n"))
    read = dict(read_commits(mirror, [place.first, place.second, lost, last, after, "1" * 40]))
    failed = {sha: type(each) for sha, each in read.items() if not isinstance(each, Commit)}
    assert failed == {lost: MirrorUnavailable, last: MirrorUnavailable, "1" * 40: UnknownCommit}
    assert str(read[lost]).endswith(f"does not serve the files of {lost[:7]}; try again later")
    assert place.mirrors().existing(REPOSITORY)
    assert mirror.trees(mirror.read_commit(after)).before.read("d.py") == "d\n"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "echo 'fatal: write error: No space left on device' >&2; exit 128",
            "no disk space is left for the mirror of o/n",
        ),
        ("echo 'fatal: secret words' >&2; exit 3", r"git cannot read o/n \(git failed with status 3\)"),
        (
            "echo 'fatal: unable to read tree' >&2; exit 128",
            r"git cannot read o/n \(objects are missing in the mirror\)",
        ),
        ("kill -9 $$", r"git cannot read o/n \(git failed with status -9\)"),
    ],
)
def test_a_failure_of_git_is_one_line(script: str, told: str, place: Place, tmp_path: Path) -> None:
    """A full disk, a failure that nobody foresaw and a killed git are told in our words."""
    with pytest.raises(MirrorUnavailable, match=told):
        place.mirrors(git=fake_git(tmp_path, script)).updated(REPOSITORY, create=True)


def test_git_must_be_there_and_new_enough(place: Place, tmp_path: Path) -> None:
    """Without git, or with an old one, there is no mirror, and the line says which git is needed."""
    with pytest.raises(MirrorUnavailable, match=r"git is not installed; install git 2\.38 or newer"):
        place.mirrors(git=str(tmp_path / "nothing")).updated(REPOSITORY, create=True)
    old = tmp_path / "old-git"
    old.write_text("#!/bin/sh\necho git version 2.30.1\n")
    old.chmod(0o755)
    with pytest.raises(MirrorUnavailable, match=r"git 2\.30 is too old"):
        place.mirrors(git=str(old)).updated(REPOSITORY, create=True)


def test_a_folder_that_cannot_be_used_is_told(place: Place) -> None:
    """Where the folder of mirrors is a file, the line names the setting."""
    place.folder.write_text("")
    with pytest.raises(MirrorUnavailable, match="check DIGEST_MIRRORS"):
        place.mirrors().updated(REPOSITORY, create=True)


def test_a_git_that_takes_too_long_is_ended(place: Place, tmp_path: Path) -> None:
    """When the time is up git and all that it started are ended."""
    started = tmp_path / "started"
    script = f'case $* in *fetch*) sleep 60 & echo $! > {started}; sleep 60;; *) exec git "$@";; esac'
    with pytest.raises(MirrorUnavailable, match="git took longer than 5 s for o/n"):
        place.mirrors(git=fake_git(tmp_path, script), clone=5).updated(REPOSITORY, create=True)
    state = subprocess.run(["ps", "-o", "stat=", "-p", started.read_text().strip()], capture_output=True, check=False)
    assert state.stdout.strip()[:1] in (b"", b"Z")  # another letter follows where the suite runs at a lower priority


def test_a_killed_clone_is_begun_again(place: Place) -> None:
    """A process killed while it clones leaves nothing that looks like a mirror; the next one removes the rest."""
    release = Event()
    place.server.faults = [Fault(r"\.git/git-upload-pack", until=release)]
    code = (
        "import sys; from pathlib import Path; from analysis.models import Repository; from analysis.sources.github import GitHub; "
        "from analysis.sources.mirrors import Mirrors; mirrors = Mirrors(Path(sys.argv[1]), GitHub(sys.argv[2]), None); "
        "mirrors.updated(Repository.parse('o/n'), create=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(place.folder), place.server.url])
    try:
        while not place.server.asked("git-upload-pack$"):
            assert process.poll() is None
        assert place.mirrors().existing(REPOSITORY) is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        release.set()
    left = place.folder / "o+n.new"
    assert left.exists()
    assert place.cloned().head() == place.second
    assert not left.exists()


def test_locks_of_a_killed_git_are_removed(place: Place) -> None:
    """Locks and halves of packs that a killed git left do not keep the next one from fetching."""
    place.cloned()
    third = place.bare.commit({}, place.second)
    left = [
        place.mirror_path / name for name in ("refs/heads/main.lock", "packed-refs.lock", "objects/pack/tmp_pack_x")
    ]
    for path in left:
        path.touch()
    assert place.cloned().head() == third
    assert not any(path.exists() for path in left)


def test_a_git_that_reads_late_is_given_all_of_its_input(tmp_path: Path) -> None:
    """More than a pipe holds, read by a git that begins after the first look at it."""
    git = Git(fake_git(tmp_path, "sleep 0.5; wc -c"))
    assert git.run(tmp_path, "count", stdin=b"x" * 300_000, timeout=20).strip() == b"300000"
