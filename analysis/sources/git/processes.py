"""Long-running processes of git that answer many requests, kept in pools that threads share.

A process serves one thread at a time. It fetches nothing by itself: what is not there is told to be missing.
"""

import secrets
import select
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, LifoQueue
from typing import Generic, NamedTuple, TypeVar

from analysis.sources.git.errors import GitTimedOut, MirrorDamaged
from analysis.sources.git.program import Git, kill

_CHUNK = 1 << 16
_PATIENCE = 60  # seconds without a byte
_MISSING = b"missing"
_LIMIT = 64_000_000  # bytes of one answer; a commit with a longer diff is read without patches

_COMPARED = ("diff-tree", "--stdin", "--root", "--diff-merges=first-parent", "-r", "-z", "--raw")
_AS_WRITTEN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
)  # `--unified` would imply patches
COUNTS = (*_COMPARED, *_AS_WRITTEN, "-M50%", "--always", "--numstat")
PATCHES = (*COUNTS, "--patch")
PATCHES_OF_PATH = (*_COMPARED[:-2], *_AS_WRITTEN, "--no-renames", "--patch", "--format=%x00%H%x00")


class ProcessEnded(Exception):
    """A process of git ended in the middle of an answer."""


class AnswerTooLong(Exception):
    """An answer is longer than is read; the rest of it would be taken for the next one."""


class Answer(NamedTuple):
    """An object: its type (blob, tree, commit, tag) and content, which is None if it is longer than was asked for."""

    kind: bytes
    content: bytes | None


class _Process:
    """A process that is written lines and answers each."""

    def __init__(self, git: Git, folder: Path, *arguments: str) -> None:
        self._process: subprocess.Popen[bytes] = git.start(folder, *arguments)
        self._buffer = bytearray()
        self._poll = select.poll()
        assert self._process.stdin  # both are pipes
        assert self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._poll.register(self._stdout, select.POLLIN)

    def close(self) -> None:
        """End the process."""
        kill(self._process)

    def _ask(self, *lines: bytes) -> None:
        try:
            self._stdin.write(b"".join(line + b"\n" for line in lines))
            self._stdin.flush()
        except OSError as exc:
            raise ProcessEnded from exc

    def _more(self) -> None:
        if not self._poll.poll(_PATIENCE * 1000):
            raise GitTimedOut(_PATIENCE)
        chunk = self._stdout.read1(_CHUNK)  # type: ignore[attr-defined]  # typeshed calls it an IO
        if not chunk:
            raise ProcessEnded
        self._buffer += chunk

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._more()
        taken = bytes(memoryview(self._buffer)[:count])
        del self._buffer[:count]
        return taken

    def _skip(self, count: int) -> None:
        while count:
            count -= len(self._take(min(count, _CHUNK)))

    def _until(self, end: bytes, limit: int) -> bytes:
        """Return what comes before `end`. Raise `AnswerTooLong` if that is longer than `limit`."""
        searched = 0
        while (place := self._buffer.find(end, searched)) < 0:
            searched = max(0, len(self._buffer) - len(end))
            if searched > limit:
                raise AnswerTooLong
            self._more()
        return self._take(place + len(end))[: -len(end)]


class ObjectReader(_Process):
    """`git cat-file --batch`: objects by their full SHA."""

    def __init__(self, git: Git, folder: Path) -> None:
        super().__init__(git, folder, "cat-file", "--batch")

    def read(self, sha: str, limit: int) -> Answer | None:
        """Return an object, its content if that has at most `limit` bytes; None if it is missing."""
        self._ask(sha.encode())
        head = self._until(b"\n", _CHUNK).split()
        if head[-1:] == [_MISSING]:
            return None
        if len(head) != len(("sha", "kind", "size")):
            raise MirrorDamaged
        size = int(head[2])
        if size > limit:
            self._skip(size + 1)
            return Answer(head[1], None)
        return Answer(head[1], self._take(size + 1)[:-1])


class DiffReader(_Process):
    """`git diff-tree --stdin`: commits with what they change, against their first parent."""

    def __init__(self, git: Git, folder: Path, form: str) -> None:
        super().__init__(git, folder, *PATCHES, f"--format={form}")
        self._end = f"end-{secrets.token_hex(16)}".encode()  # git repeats, and flushes, a line that is no SHA

    def read(self, sha: str) -> bytes:
        """Return git's record of a commit, empty if there is no such commit. Raise `AnswerTooLong`."""
        self._ask(sha.encode(), self._end)
        return self._until(self._end + b"\n", _LIMIT)


P = TypeVar("P", bound=_Process)


class Pool(Generic[P]):
    """Idle processes of one sort, each started when none is idle; at most `idle` of them wait for the next request."""

    def __init__(self, start: Callable[[], P], idle: int = 8) -> None:
        self._start = start
        self._idle: LifoQueue[P] = LifoQueue(idle)

    @contextmanager
    def process(self) -> Iterator[P]:
        """Lend a process; one that failed is ended, and not lent again."""
        try:
            process = self._idle.get_nowait()
        except Empty:
            process = self._start()
        healthy = False
        try:
            yield process
            healthy = True
        finally:
            if not healthy or not self._put(process):
                process.close()

    def close(self) -> None:
        """End the idle processes."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    def _put(self, process: P) -> bool:
        try:
            self._idle.put_nowait(process)
        except Full:
            return False
        return True
