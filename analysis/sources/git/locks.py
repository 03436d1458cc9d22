"""Locks between threads and processes (flock(2)): each call opens the file anew, so that threads exclude each other too."""

import fcntl
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLLING = 0.05  # seconds between two tries to get a lock


class LockTimedOut(Exception):
    """Somebody else held a lock for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@contextmanager
def locked(path: Path, *, shared: bool = False, timeout: float = math.inf) -> Iterator[int]:
    """Hold the lock of a file, which is created, or of a folder; yield its descriptor.

    A child process that inherits the descriptor holds the lock until it ends, even if we are killed. Raises
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
                raise LockTimedOut(timeout) from exc
            time.sleep(_POLLING)
            waited += _POLLING
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
