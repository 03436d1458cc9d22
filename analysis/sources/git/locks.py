"""Locks between threads and processes (flock(2)): each call opens the file anew, so that threads exclude each other too."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[int]:
    """Hold the lock of a file, which is created, or of a folder; yield its descriptor.

    A child process that inherits the descriptor holds the lock until it ends, even if we are killed. Raises
    `FileNotFoundError` if a folder is gone.
    """
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            if not _is_at(descriptor, path):
                continue  # it was removed while we waited
            yield descriptor
            return
        finally:
            os.close(descriptor)


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
