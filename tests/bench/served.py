"""The loopback GitHub in a process of its own, so that its work is not counted as ours: slow on purpose, and counting."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from loopback.github import LoopbackGitHub, RecordedRepository, Reply

NAME = "lantern/lantern-serve"
Histories = Mapping[str, Sequence[dict[str, Any]]]


class _Slow(LoopbackGitHub):
    """Answers every request `latency` seconds after it came."""

    def __init__(self, histories: Histories, latency: float) -> None:
        super().__init__({name: RecordedRepository(commits) for name, commits in histories.items()})
        # Small packets are sent at once: else the kernel keeps an answer's body back 40 ms, as no server on the web does.
        self._server.RequestHandlerClass.disable_nagle_algorithm = True  # type: ignore[attr-defined]
        self._latency = latency
        self._numbers = count()

    def answer(self, path: str, query: Any) -> Reply:
        next(self._numbers)
        time.sleep(self._latency)
        return super().answer(path, query)

    @property
    def asked(self) -> int:
        """The requests that came; the question counts as none."""
        asked = next(self._numbers)
        self._numbers = count(asked)
        return asked


class Served:
    """A running server: its address, and how often it was asked."""

    def __init__(self, url: str, line: "Connection[Any, Any]") -> None:
        self.url = url
        self._line = line

    @property
    def asked(self) -> int:
        self._line.send("asked")
        asked: int = self._line.recv()
        return asked


@contextmanager
def served(histories: Histories, latency: float = 0.0) -> Iterator[Served]:
    """A server of the commits of each repository, in another process, until the block ends."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, histories, latency), daemon=True)
    process.start()
    theirs.close()  # ours alone is left, so that a server that fails is noticed
    try:
        yield Served(ours.recv(), ours)
    finally:
        ours.send("end")
        process.join()


def _serve(line: "Connection[Any, Any]", histories: Histories, latency: float) -> None:
    with _Slow(histories, latency) as server:
        line.send(server.url)
        while line.recv() == "asked":
            line.send(server.asked)
