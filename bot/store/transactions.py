"""Transactions of a database: reads of one statement, and writes, which wait for each other; and its pool of connections."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Executable, Row, Select, Table, exc, text
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from analysis.errors import StoreAway

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql as postgresql_dialect

BUSY_SECONDS = 30  # that a transaction of SQLite waits for others
# The options of an engine: those of its transactions that write, and the lock for which they queue.
WRITING, WRITE_LOCK = "writing", "write_lock"
_CHUNK = 500  # bound parameters per query
_T = TypeVar("_T")

Values = Mapping[str, Any]


class _PassingFailures:
    """The number of failures so far after which trying again may help, such as a restart of the server; thread-safe."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()

    def add(self) -> None:
        with self._lock:
            self.count += 1


_failures = _PassingFailures()  # of all connections of this process, those that hold locks included


def passing_failures() -> int:
    """Return how many uses of the database by this process failed so far for a reason that passes, such as a restart of the server."""
    return _failures.count


def count_failure() -> None:
    """Count a use of the database that failed for a reason that passes."""
    _failures.add()


class ClosingPool(QueuePool):
    """A pool that keeps no connection once it was disposed of: what a thread returns later nobody else would close."""

    __module__ = QueuePool.__module__  # by which SQLAlchemy names the logger: it is not one of ours
    _is_disposed = False

    def dispose(self) -> None:
        self._is_disposed = True  # before those that are here are closed: none is returned unseen in between
        super().dispose()

    def recreate(self) -> QueuePool:
        """Return the pool that takes this one's place, as closed as this one, for threads that still run."""
        pool = super().recreate()
        pool.dispose()
        return pool

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        if self._is_disposed:
            super().dispose()


class CountingPool(ClosingPool):
    """A pool in which a wait in vain for a connection is a transient failure, as those of the database are."""

    __module__ = QueuePool.__module__

    def _do_get(self) -> ConnectionPoolEntry:
        try:
            return super()._do_get()
        except exc.TimeoutError as error:
            count_failure()
            raise StoreAway("every connection to the database is in use; try again in a moment") from error


class Database:
    """The transactions of an engine; thread-safe.

    On SQLite those that write take the write lock at once instead of failing to upgrade to it later, and the threads of a
    process queue for one lock: SQLite lets those that wait sleep up to 100 ms at a time, and whoever asks when the database
    happens to be free overtakes them, for seconds where eight threads store the commits of a day.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        options = engine.get_execution_options()
        self._writing = engine.execution_options(**options.get(WRITING, {}))
        self._lock: Lock | None = options.get(WRITE_LOCK)

    def rows(self, query: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return the rows that a query finds."""
        with self.engine.connect() as connection:
            return connection.execute(query).all()

    def rows_among(
        self, query: Select[*tuple[Any, ...]], column: ColumnElement[Any], values: Sequence[Any]
    ) -> list[Row[*tuple[Any, ...]]]:
        """Return the rows that a query finds in which a column has one of the values, however many those are."""
        return [row for chunk in chunks(values) for row in self.rows(query.where(column.in_(chunk)))]

    def first(self, query: Executable) -> Row[*tuple[Any, ...]] | None:
        """Return the first row that a query finds, or None."""
        with self.engine.connect() as connection:
            return connection.execute(query).first()

    def column(self, query: Executable) -> list[Any]:
        """Return the first column of the rows that a query finds."""
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def value(self, query: Executable) -> Any | None:
        """Return the first column of the first row that a query finds, or None."""
        with self.engine.connect() as connection:
            return connection.execute(query).scalar()

    @contextmanager
    def begin(self, alone: str = "") -> Iterator[Connection]:
        """Hold a write transaction, committed at the end of the block and rolled back on an error.

        `alone` names what one transaction at a time may read and then write. On SQLite every transaction is alone.
        """
        with self.queued(), self._writing.begin() as connection:
            if alone and not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key(alone)})
            yield connection

    def execute(self, statement: Executable) -> int:
        """Execute a statement in a write transaction of its own, and return how many rows it changed."""
        with self.begin() as connection:
            return connection.execute(statement).rowcount

    def save(self, table: Table, key: Values, values: Values) -> None:
        """Insert a row, or set the `values` of the row that has this `key`, in a transaction of its own."""
        with self.begin() as connection:
            insert_or_update(connection, table, key, values)

    @contextmanager
    def queued(self) -> Iterator[None]:
        """Wait for the transactions of other threads that write to SQLite, for the duration of the block."""
        # Whoever waited too long tries the database itself, which tells if another program keeps it locked.
        queued = self._lock is not None and self._lock.acquire(timeout=BUSY_SECONDS)
        try:
            yield
        finally:
            if self._lock is not None and queued:
                self._lock.release()


class Records:
    """The rows of some tables, read and written on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.database = Database(engine)


def chunks(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    """Divide items into sequences short enough for the parameters of one query."""
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))


def insert_missing(connection: Connection, table: Table, rows: Values | Sequence[Values]) -> int:
    """Insert the rows whose keys are not there yet, leave the others unchanged, and return how many were inserted."""
    if not rows:
        return 0
    inserted = _insert(connection, table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return connection.execute(inserted, rows).rowcount


def insert_or_update(
    connection: Connection, table: Table, key: Values, values: Values, *, only_new: Values | None = None
) -> None:
    """Insert a row, or set the `values` of the row that has this `key`. A new row has the values of `only_new` too."""
    inserted = _insert(connection, table).values({**key, **values, **(only_new or {})})
    connection.execute(inserted.on_conflict_do_update(index_elements=list(key), set_=dict(values)))


def lock_key(name: str) -> int:
    """Return the number of an advisory lock of PostgreSQL (64 bits, signed)."""
    return int.from_bytes(sha256(f"vllm-digest {name}".encode()).digest()[:8], signed=True)


def without_password(url: URL) -> str:
    """Return a URL as people may read it: without the password and the query, which may hold one."""
    backend = url.get_backend_name()
    return URL.create(backend, url.username, None, url.host, url.port, url.database).render_as_string()


def _insert(connection: Connection, table: Table) -> "sqlite_dialect.Insert | postgresql_dialect.Insert":
    if connection.dialect.name == "sqlite":
        return sqlite_dialect.insert(table)
    from sqlalchemy.dialects import postgresql as dialect  # 25 ms that SQLite does not need

    return dialect.insert(table)
