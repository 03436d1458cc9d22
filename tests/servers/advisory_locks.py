"""A view of the locks that processes hold and wait for on a PostgreSQL server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from bot.store.postgresql import LOCK_HOLDERS
from bot.store.transactions import lock_key

_PATIENCE = 30  # seconds
_HELD = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
    " WHERE locktype = 'advisory' AND datname = current_database()"
)


@contextmanager
def monitoring(url: str) -> Iterator[Connection]:
    """A connection to look at the server with."""
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection


def held(server: Connection) -> int:
    """How many advisory locks are held in the database."""
    return int(server.execute(_HELD).scalar_one())


def is_queued(server: Connection, name: str) -> bool:
    """Whether somebody waits for a lock of that name, or is just taking it."""
    key = {"key": lock_key(f"queue {name}")}
    return bool(server.execute(text(f"SELECT count(*) {LOCK_HOLDERS}"), key).scalar_one())


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks again and again until a condition of the server holds."""
    end = monotonic() + _PATIENCE
    while not condition():
        assert monotonic() < end, "in vain"
