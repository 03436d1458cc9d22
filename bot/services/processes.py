"""Work spread over the processors of this machine, where one would be busy for seconds.

The executors of the standard library leave their processes behind when this one is killed, and read ahead without a bound.
"""

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

_MOST_PROCESSES = 8
_WORTHWHILE = 2  # batches; with fewer nothing is gained by several processes


def mapped(work: Callable[[Given], Made], batches: Iterable[Given]) -> Iterator[Made]:
    """Yield `work(batch)` of each batch in their order, from one process a processor; of a single batch from this process.

    What `work` raises is raised here, in its turn. The processes end with this one, however it ends.
    """
    remaining = iter(batches)
    first = list(islice(remaining, _WORTHWHILE))
    processes = min(_processors(), _MOST_PROCESSES)
    if len(first) < _WORTHWHILE or processes == 1:
        yield from map(work, chain(first, remaining))
        return
    with ExitStack() as running:
        idle: deque[_Worker[Given, Made]] = deque()
        for _ in range(processes):
            idle.append(_Worker(work, idle))
            running.callback(idle[-1].end)
        busy: deque[_Worker[Given, Made]] = deque()
        for batch in chain(first, remaining):
            if not idle:
                yield busy[0].made()
                idle.append(busy.popleft())
            busy.append(idle.popleft())
            busy[-1].give(batch)
        yield from (each.made() for each in busy)


class _Worker(Generic[Given, Made]):
    """A process that is given one batch at a time: neither side then waits at a full pipe for the other."""

    def __init__(self, work: Callable[[Given], Made], others: Iterable["_Worker[Given, Made]"]) -> None:
        self.connection, theirs = _FORKING.Pipe()
        inherited = [self.connection, *(each.connection for each in others)]
        self._process = _FORKING.Process(target=_work, args=(work, theirs, inherited), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, batch: Given) -> None:
        self.connection.send(batch)

    def made(self) -> Made:
        """Return what became of the batch that was given last."""
        raised, made = self.connection.recv()
        if raised:
            raise made
        return made  # type: ignore[no-any-return]

    def end(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.join()


_FORKING = get_context("fork") if sys.platform == "linux" else get_context()


def _work(
    work: Callable[[Any], Any], given: "Connection[Any, Any]", inherited: Sequence["Connection[Any, Any]"]
) -> None:
    """Work until the first process is gone, which its end of the pipe tells once nobody else holds it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all of its processes
    for each in inherited:
        each.close()
    with suppress(EOFError, OSError):
        while True:
            batch = given.recv()
            try:
                made = False, work(batch)
            except Exception as exc:  # noqa: BLE001 (it is raised by the first process)
                made = True, exc
            given.send(made)


def _processors() -> int:
    """Return how many processors this process may use; one where processes are not forked, and would import everything again."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
