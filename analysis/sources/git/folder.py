"""The folder of one mirror: a bare repository, what is known about it, and its locks.

Whoever writes holds the lock beside it, one at a time. Whoever reads holds a shared lock of the folder itself, which whoever
removes or replaces it waits for, with the lock beside it already held. Reading goes on while something is fetched.
"""

import fcntl
import math
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from analysis.models import Frozen
from analysis.sources.git.errors import GitTooLarge, LockTimedOut, MirrorDamaged
from analysis.sources.git.program import is_ref_name

_STATE = "mirror.json"
_DAMAGED = "damaged"
_LEFT_BY_KILLED = ("*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/??/tmp_obj_*")
_MB = 1_000_000
_POLL_INTERVAL = 0.05  # seconds between two tries to get a lock
_SUFFIXES = (".git", ".new", ".old")  # a mirror, one that is being cloned, one that is being removed


class MirrorState(Frozen):
    """What GitHub said about a repository when it was cloned. `hidden` is True if it no longer shows it."""

    api_url: str
    full_name: str
    clone_url: str
    web_url: str
    default_branch: str
    hidden: bool = False


class MirrorFolder:
    """A folder `owner+name.git`; there may be nothing in it yet."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name.lower().replace('/', '+')}.git"  # names have no plus
        self._lock = self.path.with_suffix(".lock")
        self._draft = self.path.with_suffix(".new")

    @classmethod
    def all_in(cls, folder: Path) -> dict[str, Self]:
        """Return owner/name, in lower case, -> the folder of each mirror, finished or not."""
        paths = [path for path in folder.glob("*+*") if path.suffix in _SUFFIXES and path.stem.count("+") == 1]
        names = {path.stem.replace("+", "/") for path in paths}
        return {name: cls(folder, name) for name in sorted(names)}

    @contextmanager
    def writing(self, timeout: float = math.inf) -> Iterator[int]:
        """Hold the lock for writing, and remove what a killed git left; yield the lock's descriptor.

        Raise `LockTimedOut` if others write for longer than `timeout` seconds.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._lock, timeout=timeout) as descriptor:
            for pattern in _LEFT_BY_KILLED:
                for left in self.path.rglob(pattern) if "/" not in pattern else self.path.glob(pattern):
                    left.unlink(missing_ok=True)
            yield descriptor

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the mirror from being removed or replaced. Raise `MirrorDamaged` if it is gone."""
        try:
            with _locked(self.path, shared=True):
                yield
        except FileNotFoundError as exc:
            if self.path.exists():
                raise
            raise MirrorDamaged from exc

    def state(self) -> MirrorState | None:
        """Return what is known about the repository; None if there is no usable mirror."""
        try:
            text = (self.path / _STATE).read_text(encoding="utf-8")
            state = MirrorState.model_validate_json(text)
        except (OSError, ValidationError, UnicodeDecodeError):
            return None
        return None if self.damaged else state

    @property
    def is_there(self) -> bool:
        """Whether there is a mirror, or what is left of one."""
        return os.access(self.path, os.F_OK)

    @property
    def damaged(self) -> bool:
        """Whether there is something that is no mirror, or was found to be damaged."""
        return self.is_there and ((self.path / _DAMAGED).exists() or not (self.path / _STATE).exists())

    @property
    def size(self) -> int:
        """The size of the mirror in bytes."""
        return sum(_sizes(self.path))

    def mark_damaged(self) -> None:
        """Have the mirror cloned anew by the next fetch."""
        with suppress(OSError):
            (self.path / _DAMAGED).touch()

    def has(self, branch: str) -> bool:
        """Return whether the branch was fetched."""
        return is_ref_name(branch) and ref(self.path, f"refs/heads/{branch}") is not None

    @contextmanager
    def drafting(self) -> Iterator[Path]:
        """Yield an empty folder for a clone, which takes the mirror's place if the block succeeds; the lock is held."""
        shutil.rmtree(self._draft, ignore_errors=True)
        self._draft.mkdir(mode=0o700)
        try:
            yield self._draft
            self._clear()
            self._draft.rename(self.path)
        finally:
            shutil.rmtree(self._draft, ignore_errors=True)

    def remove(self) -> None:
        """Remove the mirror, and what is left of a clone, when nobody reads it; the lock is held."""
        shutil.rmtree(self._draft, ignore_errors=True)
        self._clear()

    def _clear(self) -> None:
        gone = self.path.with_suffix(".old")
        shutil.rmtree(gone, ignore_errors=True)
        with suppress(FileNotFoundError), _locked(self.path):
            self.path.rename(gone)  # at once: half a mirror never looks like one
        shutil.rmtree(gone, ignore_errors=True)

    def forget_lock(self) -> None:
        """Remove the lock itself, which is held."""
        self._lock.unlink(missing_ok=True)


def check_size(folder: Path, limit: int) -> None:
    """Raise `GitTooLarge` if a folder has more than `limit` megabytes."""
    if sum(_sizes(folder)) > limit * _MB:
        raise GitTooLarge(limit=limit)


def _sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # it may be renamed meanwhile
                yield os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 (os.walk gives strings)


def ref(folder: Path, name: str) -> str | None:
    """Return the SHA that a ref of a repository is at; None if there is no such ref."""
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return (folder / name).read_text(encoding="utf-8", errors="replace").strip()
    with suppress(FileNotFoundError):
        for line in (folder / "packed-refs").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.partition(" ")[2] == name:
                return line.partition(" ")[0]
    return None


def save_state(folder: Path, state: MirrorState) -> None:
    """Save what is known about a repository in the folder of its clone."""
    written = folder / f"{_STATE}.new"
    written.write_text(state.model_dump_json(), encoding="utf-8")
    written.replace(folder / _STATE)


@contextmanager
def _locked(path: Path, *, shared: bool = False, timeout: float = math.inf) -> Iterator[int]:
    """Hold the lock (flock(2)) of a file, which is created, or of a folder; yield its descriptor.

    Each call opens the file anew, so that threads exclude each other as processes do. A child process that inherits the descriptor holds the lock until it ends, even if we are killed. Raises
    `FileNotFoundError` if a folder is gone, and `LockTimedOut` after `timeout` seconds.
    """
    while True:
        descriptor = _opened(path)
        try:
            _acquire(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, timeout)
            if not _is_at(descriptor, path):
                continue  # it was removed while we waited
            yield descriptor
            return
        finally:
            os.close(descriptor)


def _acquire(descriptor: int, kind: int, timeout: float) -> None:
    """Get a lock. Since flock(2) knows no timeout, it is tried again and again if there is one."""
    if timeout == math.inf:
        fcntl.flock(descriptor, kind)
        return
    waited = 0.0
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if waited >= timeout:
                raise LockTimedOut(seconds=timeout) from exc
            time.sleep(_POLL_INTERVAL)
            waited += _POLL_INTERVAL
        else:
            return


def _opened(path: Path) -> int:
    if path.is_dir():
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    return os.open(path, os.O_RDWR | (os.O_CREAT if path.suffix == ".lock" else 0), 0o600)


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether the open file is still the one at its path."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), found)
