"""Work spread over the processors of this machine, where one would be busy for seconds."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

_MOST_PROCESSES = 8
_WORTHWHILE = 2  # batches; with fewer nothing is gained by several processes
_AHEAD = 2  # batches of each process that wait or are under way, so that what is read does not pile up


def mapped(work: Callable[[Given], Made], batches: Iterable[Given]) -> Iterator[Made]:
    """Yield `work(batch)` of each batch in their order, from one process a processor; of a single batch from this process.

    `work` is a function of a module. What it raises is raised here, in its turn.
    """
    remaining = iter(batches)
    first = list(islice(remaining, _WORTHWHILE))
    processes = min(_processors(), _MOST_PROCESSES)
    if len(first) < _WORTHWHILE or processes == 1:
        yield from map(work, chain(first, remaining))
        return
    with ProcessPoolExecutor(processes, initializer=_leave_interrupts) as pool:
        waiting: deque[Future[Made]] = deque()
        try:
            for batch in chain(first, remaining):
                waiting.append(pool.submit(work, batch))
                if len(waiting) >= processes * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _leave_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all of its processes, to the first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
