"""Locks by name that hold over all threads of a process and, on PostgreSQL, over all processes of the bot."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from threading import BoundedSemaphore, Event, Lock
from typing import NamedTuple

from sqlalchemy import Engine

from analysis.errors import StoreUnusable
from bot.store.advisory_locks import AdvisoryLocks

_FIRST_INTERVAL, _LONGEST_INTERVAL = 0.05, 0.25  # seconds between two attempts while another process holds a lock


class OtherProcesses(NamedTuple):
    """Processes, by their ids, that are known to run, and those that are known to have ended."""

    running: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()


class ProcessLocks:
    """Locks by name, each with one place or several; whoever finds them taken waits. Thread-safe.

    On SQLite, and without an engine, they hold within the process. On PostgreSQL each place is also an advisory lock of one
    session, which a process that is killed, vanishes or is paused for a minute loses. If the session is lost otherwise, for
    example because the server restarted, whoever holds a lock goes on: it is taken again as soon as the server answers, so
    that at worst another process holds it too until either is done. Raise `StoreUnusable` while the server does not answer.

    A thread must not take a lock that it holds already. Within a process a name has the same number of places everywhere.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self.process = token_hex(8)  # the id of this process among those that use the database
        self._threads = _ThreadLocks()
        self._closed = Event()
        shared = engine is not None and engine.url.get_backend_name() == "postgresql"
        self._database = AdvisoryLocks(engine.url, f"process {self.process}") if engine and shared else None

    @property
    def over_processes(self) -> bool:
        """Whether other processes share these locks."""
        return self._database is not None

    def close(self) -> None:
        """Release what is held. Whoever still waits on PostgreSQL gets `StoreUnusable`."""
        self._closed.set()
        if self._database:
            self._database.close()

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Hold a lock that has one place, for the duration of the block."""
        with self.slots(name, 1):
            yield

    @contextmanager
    def slots(self, name: str, count: int) -> Iterator[None]:
        """Hold one of the `count` places of a lock, for the duration of the block."""
        with self._threads.place(name, count) as lock:
            if self._database is None or lock is None:
                yield
                return
            with lock.asking:
                key = self._wait_for(self._database, name, count)
            try:
                yield
            finally:
                self._database.release(key)

    @contextmanager
    def try_alone(self, name: str) -> Iterator[bool]:
        """Hold a lock that has one place, if it is free, for the duration of the block; yield whether it was."""
        with self._threads.place(name, 1, wait=False) as lock:
            if lock is None or self._database is None:
                yield lock is not None
                return
            key = self._database.take([_key(name, 0)])
            try:
                yield key is not None
            finally:
                if key is not None:
                    self._database.release(key)

    def look_up(self, processes: Collection[str]) -> OtherProcesses:
        """Return which of these processes run and which have ended, except this one. On SQLite neither is known of any."""
        others = frozenset(processes) - {self.process}
        if self._database is None or not others:
            return OtherProcesses()
        free = self._database.free([f"process {each}" for each in others])
        ended = frozenset(each for each in others if f"process {each}" in free)
        return OtherProcesses(others - ended, ended)

    def _wait_for(self, database: AdvisoryLocks, name: str, count: int) -> str:
        """Take a free place in the database and return its key. Whoever comes later lets those go first who wait already."""
        keys, queue = [_key(name, number) for number in range(count)], f"waiting for {name}"
        key = database.take(keys, unless_shared=queue)
        if key is None:
            with database.sharing(queue):
                key = self._poll(database, keys)
        return key

    def _poll(self, database: AdvisoryLocks, keys: Sequence[str]) -> str:
        interval = _FIRST_INTERVAL
        while not self._closed.wait(interval):
            key = database.take(keys)
            if key is not None:
                return key
            interval = min(1.5 * interval, _LONGEST_INTERVAL)
        raise StoreUnusable("the database was closed")


class _ThreadLock:
    """A lock within the process. One thread at a time asks the database for a place of it."""

    def __init__(self, count: int) -> None:
        self.places = BoundedSemaphore(count)
        self.asking = Lock()
        self.users = 0  # threads that hold a place or wait for one


class _ThreadLocks:
    """Locks between the threads of a process, each kept while it is held or waited for."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[str, _ThreadLock] = {}

    @contextmanager
    def place(self, name: str, count: int, *, wait: bool = True) -> Iterator[_ThreadLock | None]:
        """Hold a place of a lock; yield None if none is free and the caller does not `wait`."""
        with self._guard:
            lock = self._locks.get(name) or self._locks.setdefault(name, _ThreadLock(count))
            lock.users += 1
        try:
            if not lock.places.acquire(blocking=wait):
                yield None
                return
            try:
                yield lock
            finally:
                lock.places.release()
        finally:
            with self._guard:
                lock.users -= 1
                if not lock.users:
                    del self._locks[name]


def _key(name: str, number: int) -> str:
    return f"lock {name} {number}"
