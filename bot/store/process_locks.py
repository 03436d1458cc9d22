"""Locks by name that hold over all threads of a process and, on PostgreSQL, over all processes of the bot."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Condition, Event, Lock, Thread
from weakref import WeakValueDictionary

import structlog
from sqlalchemy import Connection, Engine, TextClause, exc, text

from analysis.errors import StoreUnusable
from bot.store.postgresql import IDLE_SECONDS, watched_session
from bot.store.transactions import lock_key

_POLL_INTERVAL = 0.05  # seconds between two attempts of a thread while another process holds a lock
_PING_INTERVAL = IDLE_SECONDS / 4  # seconds between two signs of life
# https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS: a session may take a lock that it holds again,
# and the server frees what a session held when it ends. Rows are tried one after the other until one is free.
_TAKE_ALL = text("SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE pg_try_advisory_lock(key)")
_TAKE_FIRST = text(f"{_TAKE_ALL} LIMIT 1")
_RELEASE = text("SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE pg_advisory_unlock(key)")
_FAILURES = (StoreUnusable, exc.DBAPIError)

log = structlog.get_logger(__name__)


class ProcessLocks:
    """Locks by name, each with one place or several; whoever finds them taken waits. Thread-safe.

    On SQLite, and without an engine, they hold within the process. On PostgreSQL each place is also an advisory lock of one
    session, which the server ends with a process that is killed, vanishes or is paused for a minute. If the session is lost
    otherwise, for example because the server restarted, whoever holds a lock goes on: the next session takes it again, so that
    at worst another process holds it too until either is done. Raise `StoreUnusable` while the server does not answer.

    A thread must not take a lock that it holds already. Within a process a name has the same number of places everywhere.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self._url = engine.url if engine is not None and engine.dialect.name == "postgresql" else None
        self._held: dict[str, int] = {}  # place -> its key, of those that threads of this process hold
        self._changed = Condition()  # of what is held; it guards the session too
        # Name -> what threads of this process queue for: one at a time asks, or hundreds would poll for a model's slots.
        self._asking = WeakValueDictionary[str, Lock]()
        self._session: Connection | None = None
        self._pinging: Thread | None = None
        self._closed = Event()

    @property
    def over_processes(self) -> bool:
        """Whether other processes share these locks."""
        return self._url is not None

    def close(self) -> None:
        """Release what is held. Whoever still waits on PostgreSQL gets `StoreUnusable`."""
        self._closed.set()
        with self._changed:
            self._drop()
            self._changed.notify_all()
        if self._pinging:
            self._pinging.join()

    def alone(self, name: str) -> AbstractContextManager[None]:
        """Hold a lock that has one place, for the duration of the block."""
        return self.slots(name, 1)

    @contextmanager
    def slots(self, name: str, count: int) -> Iterator[None]:
        """Hold one of the `count` places of a lock, for the duration of the block."""
        with self._changed:
            asking = self._asking.setdefault(name, Lock())
        with asking:
            # By the queue, a process that comes later lets the one go first that waits already.
            queue = self._wait_for([f"queue {name}"])
            try:
                place = self._wait_for([f"lock {name} {number}" for number in range(count)])
            finally:
                self._release(queue)
        try:
            yield
        finally:
            self._release(place)

    @contextmanager
    def try_alone(self, name: str) -> Iterator[bool]:
        """Hold a lock that has one place, if it is free, for the duration of the block; yield whether it was."""
        place = self._take([f"lock {name} 0"])
        try:
            yield place is not None
        finally:
            if place is not None:
                self._release(place)

    def _wait_for(self, places: Sequence[str]) -> str:
        """Take one of the places, as soon as one is free, and return it."""
        with self._changed:
            while (place := self._take(places)) is None:
                self._changed.wait(_POLL_INTERVAL if self.over_processes else None)
            return place

    def _take(self, places: Sequence[str]) -> str | None:
        """Take the first place that is free, and return it; None if none is."""
        with self._changed:
            free = {lock_key(each): each for each in places if each not in self._held}
            keys = self._ask(_TAKE_FIRST, list(free)) if free and self.over_processes else list(free)
            if not keys:
                return None
            place = free[keys[0]]
            self._held[place] = keys[0]
            return place

    def _release(self, place: str) -> None:
        with self._changed:
            key = self._held.pop(place)
            if self._session:  # otherwise it is free already
                with suppress(*_FAILURES):
                    self._ask(_RELEASE, [key])
            self._changed.notify_all()

    # All below need the guard

    def _ask(self, statement: TextClause, keys: Sequence[int]) -> Sequence[int]:
        """Return the keys that a statement selects; ask again in a new session if the present one turns out to be lost."""
        was_open = self._session is not None
        try:
            return self._opened().execute(statement, {"keys": keys}).scalars().all()
        except _FAILURES as error:
            self._drop()
            if not was_open:
                raise
            log.warning("session of the locks lost, which other processes may take meanwhile", why=str(error))
        return self._ask(statement, keys)

    def _opened(self) -> Connection:
        """Return the session. A new one takes what threads hold, as far as it is free."""
        if self._closed.is_set() or self._url is None:
            raise StoreUnusable("the database was closed")
        if self._session is None:
            self._session = watched_session(self._url)
            self._session.execute(_TAKE_ALL, {"keys": list(self._held.values())})
            if self._pinging is None:
                self._pinging = Thread(target=self._ping, name="process-locks", daemon=True)
                self._pinging.start()
        return self._session

    def _ping(self) -> None:
        while not self._closed.wait(_PING_INTERVAL):
            with self._changed, suppress(*_FAILURES):
                self._ask(_RELEASE, [])

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session:
            with suppress(StoreUnusable, exc.SQLAlchemyError):
                session.invalidate()
                session.close()
