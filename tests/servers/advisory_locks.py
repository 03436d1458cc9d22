"""A view of the locks that processes hold and wait for on a PostgreSQL server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

_PATIENCE = 30  # seconds
_HELD = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
    " WHERE locktype = 'advisory' AND datname = current_database() AND mode = :mode"
)


@contextmanager
def monitoring(url: str) -> Iterator[Connection]:
    """A connection to look at the server with."""
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection


def held(server: Connection, mode: str = "ExclusiveLock") -> int:
    """How many advisory locks are held in the database; those of mode ShareLock are held by whoever waits."""
    return int(server.execute(_HELD, {"mode": mode}).scalar_one())


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks again and again until a condition of the server holds."""
    end = monotonic() + _PATIENCE
    while not condition():
        assert monotonic() < end, "in vain"
