"""Transactions of a database: reads of one statement, and writes, which wait for each other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Row,
    Select,
    Table,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.dialects import sqlite as sqlite_dialect

from bot.store import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql as postgresql_dialect

_CHUNK = 500  # bound parameters per query
_T = TypeVar("_T")

Values = Mapping[str, Any]


class Database:
    """The transactions of an engine; thread-safe.

    On SQLite those that write take the write lock at once instead of failing to upgrade to it later, and the threads of a
    process queue for one lock: SQLite lets those that wait sleep up to 100 ms at a time, and whoever asks when the database
    happens to be free overtakes them, for seconds where eight threads store the commits of a day.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._writing = engine.execution_options(**(sqlite.WRITING if self.is_sqlite else postgresql.WRITING))
        self._lock: Lock | None = engine.get_execution_options().get(sqlite.WRITE_LOCK)

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
        with self._queued(), self._writing.begin() as connection:
            if alone and not self.is_sqlite:
                postgresql.hold(connection, alone)
            yield connection

    def execute(self, statement: Executable) -> int:
        """Execute a statement in a write transaction of its own, and return how many rows it changed."""
        with self.begin() as connection:
            return connection.execute(statement).rowcount

    def save(self, table: Table, key: Values, values: Values) -> None:
        """Insert a row, or set the `values` of the row that has this `key`, in a transaction of its own."""
        with self.begin() as connection:
            insert_or_update(connection, table, key, values)

    def truncate_log(self) -> None:
        """Empty SQLite's log, which keeps what was deleted, unless others read it. PostgreSQL has its own time for that."""
        if self.is_sqlite:
            with self._queued():
                sqlite.truncate_log(self.engine.url)

    @contextmanager
    def _queued(self) -> Iterator[None]:
        # Whoever waited too long tries the database itself, which tells if another program keeps it locked.
        queued = self._lock is not None and self._lock.acquire(timeout=sqlite.BUSY_MS / 1000)
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


def is_one_of(dialect: str, column: Column[Any], values: str) -> ColumnElement[bool]:
    """Return the condition that a column has one of the values in the list (texts or integers) that is the parameter `values`.

    They are bound together as one parameter: SQLAlchemy takes longer for each than the database does.
    """
    if dialect == "sqlite":
        each = func.json_each(bindparam(values, type_=JSON)).table_valued("value")
        return column.in_(select(each.c.value))
    from sqlalchemy.dialects.postgresql import ARRAY

    return column == any_(bindparam(values, type_=ARRAY(column.type)))


def _insert(connection: Connection, table: Table) -> "sqlite_dialect.Insert | postgresql_dialect.Insert":
    if connection.dialect.name == "sqlite":
        return sqlite_dialect.insert(table)
    from sqlalchemy.dialects import postgresql as dialect  # 25 ms that SQLite does not need

    return dialect.insert(table)
