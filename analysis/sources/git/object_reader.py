"""A long-running `git cat-file` that answers many requests for objects."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import NamedTuple

from analysis.sources.git.errors import MirrorDamaged
from analysis.sources.git.program import Process, kill

_MISSING = b"missing"


class Answer(NamedTuple):
    """An object: its type (blob, tree, commit, tag) and content, which is None if it is longer than was asked for."""

    kind: bytes
    content: bytes | None


class ObjectReader:
    """`git cat-file --batch-command`: one process that is asked for objects by their full SHA; threads take turns.

    It is started when it is asked first, fetches nothing by itself, and is ended by a failure: the rest of an answer would
    be taken for the next one.
    """

    def __init__(self, start: Callable[..., Process]) -> None:
        self._start = start
        self._process: Process | None = None
        self._lock = Lock()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def size(self, sha: str) -> int | None:
        """Return the bytes of an object; None if it is missing."""
        with self._asking() as process:
            found = _ask(process, "info", sha)
        return found and found[1]

    def read(self, sha: str, limit: int) -> Answer | None:
        """Return an object, its content if that has at most `limit` bytes; None if it is missing."""
        with self._asking() as process:
            found = _ask(process, "info", sha)
            if found is None or found[1] > limit:
                return found and Answer(found[0], None)
            kind, size = _ask(process, "contents", sha) or found
            content = process.stdout.read(size + 1) if process.stdout else b""
            if len(content) <= size:
                raise MirrorDamaged
        return Answer(kind, content[:-1])

    @contextmanager
    def _asking(self) -> Iterator[Process]:
        with self._lock:
            self._process = self._process or self._start("cat-file", "--batch-command")
            try:
                yield self._process
            except BaseException:
                self._end()
                raise

    def _end(self) -> None:
        if self._process:
            kill(self._process)
        self._process = None


def _ask(process: Process, command: str, sha: str) -> tuple[bytes, int] | None:
    """Return the type (blob, tree, commit, tag) and the size of an object; None if it is missing."""
    assert process.stdin
    assert process.stdout
    with suppress(BrokenPipeError):
        process.stdin.write(f"{command} {sha}\n".encode())
        process.stdin.flush()
    line = process.stdout.readline().split()
    if line[-1:] == [_MISSING]:
        return None
    if len(line) != len(("sha", "kind", "size")):
        raise MirrorDamaged
    return line[1], int(line[2])
