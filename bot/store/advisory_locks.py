"""Advisory locks of PostgreSQL, all on one session, which ends with the process.

https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS: a session may take a lock that it holds again,
so locks between threads are another matter; the server frees what a session held when it ends.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any

import structlog
from sqlalchemy import Connection, TextClause, exc, text
from sqlalchemy.engine import URL

from analysis.errors import StoreUnusable
from bot.store.postgresql import IDLE_SECONDS, lock_key, watched_session

_PING = IDLE_SECONDS / 4  # seconds between two signs of life
# Rows are tried one after the other until one is free; CASE keeps the order of its conditions.
_TAKE = text("SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE pg_try_advisory_lock(key) LIMIT 1")
_TAKE_UNLESS_SHARED = text(
    "SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE CASE"
    " WHEN pg_try_advisory_xact_lock(:shared) THEN pg_try_advisory_lock(key) ELSE false END LIMIT 1"
)
_TAKE_ALL = text("SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE pg_try_advisory_lock(key)")
_FREE = text("SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key WHERE pg_try_advisory_xact_lock(key)")
_RELEASE = text("SELECT pg_advisory_unlock(:key)")
_SHARE = text("SELECT pg_try_advisory_lock_shared(:key)")
_UNSHARE = text("SELECT pg_advisory_unlock_shared(:key)")
_FAILURES = (StoreUnusable, exc.DBAPIError)

log = structlog.get_logger(__name__)


class AdvisoryLocks:
    """Locks by name on one session, opened for the first of them and then kept; thread-safe. No statement waits for a lock.

    `own` is a lock that the session always holds. A session that was lost is replaced, and takes what the lost one held as
    far as nobody else took it. The server ends one without a sign of life, for example of a paused process, after
    `IDLE_SECONDS`. Raise `StoreUnusable` if no session can be opened.
    """

    def __init__(self, url: URL, own: str) -> None:
        self._url = url
        self._guard = Lock()
        self._session: Connection | None = None
        self._wanted = {lock_key(own)}  # what threads hold
        self._taken: set[int] = set()  # what the session holds of it
        self._closed = Event()
        self._pinging: Thread | None = None

    def take(self, names: Sequence[str], *, unless_shared: str | None = None) -> str | None:
        """Take the first of these locks that is free, and return its name; None if none is.

        Also None if another session shares the lock `unless_shared`. The locks that this session holds are passed over.
        """
        with self._guard:
            keys = {lock_key(name): name for name in names}
            values: dict[str, Any] = {"keys": [key for key in keys if key not in self._wanted]}
            if unless_shared is None:
                taken = self._ask(_TAKE, values)
            else:
                taken = self._ask(_TAKE_UNLESS_SHARED, values | {"shared": lock_key(unless_shared)})
            self._wanted.update(taken)
            self._taken.update(taken)
            return keys[taken[0]] if taken else None

    def release(self, name: str) -> None:
        """Release a lock that `take` returned. If the session is lost, it is free already."""
        key = lock_key(name)
        with self._guard:
            self._wanted.discard(key)
            if key in self._taken and self._session:
                self._taken.discard(key)
                with suppress(*_FAILURES), self._in_session() as session:
                    session.execute(_RELEASE, {"key": key})

    @contextmanager
    def sharing(self, name: str) -> Iterator[None]:
        """Share a lock with other sessions for the duration of the block, unless one holds it alone."""
        value = {"key": lock_key(name)}
        with self._guard:
            [shared] = self._ask(_SHARE, value)
            session = self._session
        try:
            yield
        finally:
            with self._guard:
                if shared and session and session is self._session:
                    with suppress(*_FAILURES), self._in_session():
                        session.execute(_UNSHARE, value)

    def free(self, names: Collection[str]) -> set[str]:
        """Return those of these locks that no session holds; those of this session count as free."""
        keys = {lock_key(name): name for name in names}
        with self._guard:
            return {keys[key] for key in self._ask(_FREE, {"keys": list(keys)})}

    def close(self) -> None:
        """Close the session, and with it release all locks."""
        self._closed.set()
        with self._guard:
            self._drop()
        if self._pinging:
            self._pinging.join()

    # All below need the guard

    def _ask(self, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
        """Return the column that a statement selects; ask again in a new session if the present one turns out to be lost."""
        if self._session:
            with suppress(*_FAILURES), self._in_session() as session:
                return session.execute(statement, values).scalars().all()
        with self._in_session() as session:
            return session.execute(statement, values).scalars().all()

    @contextmanager
    def _in_session(self) -> Iterator[Connection]:
        """Yield the session. One in which a statement fails is lost: SQLAlchemy would refuse all that follow, for no reason that passes."""
        try:
            yield self._opened()
        except _FAILURES as error:
            self._lose(error)
            raise

    def _opened(self) -> Connection:
        if self._closed.is_set():
            raise StoreUnusable("the database was closed")
        if self._session is None:
            self._session = watched_session(self._url)
            if self._pinging is None:
                self._pinging = Thread(target=self._ping, name="advisory-locks", daemon=True)
                self._pinging.start()
            self._take_missing(self._session)
        return self._session

    def _take_missing(self, session: Connection) -> None:
        """Take what threads hold and the session does not, as far as it is free."""
        values = {"keys": list(self._wanted - self._taken)}
        self._taken.update(session.execute(_TAKE_ALL, values).scalars())

    def _ping(self) -> None:
        while not self._closed.wait(_PING):
            with self._guard, suppress(*_FAILURES), self._in_session() as session:
                self._take_missing(session)

    def _lose(self, error: Exception) -> None:
        if self._session:
            log.warning("session of the locks lost, which other processes may take meanwhile", why=str(error))
        self._drop()

    def _drop(self) -> None:
        session, self._session = self._session, None
        self._taken.clear()
        if session:
            with suppress(StoreUnusable, exc.SQLAlchemyError):
                session.invalidate()
                session.close()
