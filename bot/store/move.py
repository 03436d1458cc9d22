"""A move of the store to another database of either kind: every row once.

Until it is finished the target has a schema version that no program takes for its own; a move that was interrupted begins again there.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, Integer, Table, exc, func, insert, select, text, update
from sqlalchemy.engine import URL

from analysis.errors import Misuse, StoreUnusable
from analysis.text import one_line
from bot.store.database import (
    HEAD,
    MOVING,
    Condition,
    address_of,
    condition,
    display_name,
    engine_as_it_is,
    open_engine,
    stored_version,
)
from bot.store.executors import TIMING, Executors, Timing
from bot.store.lease import held_alone
from bot.store.schema import alembic_version, executors, metadata
from bot.store.search_index import SearchIndex
from bot.store.transactions import Database

# Of processes, of which none runs.
LEFT_OUT = frozenset({"executors", "reservations"})
# The target's search index is made anew.
_NOT_INDEXED = {"commits": {"words_version": 0, "words_are_all": None}}
_AT_ONCE = 50  # rows: few, since one may hold megabytes of patches
_PORT = 5432  # of PostgreSQL


class MoveProgress(Protocol):
    """Shows how far a move is."""

    def stage(self, title: str) -> None: ...
    def expect(self, steps: int) -> None: ...
    def advance(self, steps: int = 1) -> None: ...


class Move:
    """A move under way. No other program writes to either database until it ends."""

    def __init__(self, source: Connection, target: Engine) -> None:
        self._source = source
        self._target = target
        self._writing = Database(target)
        self._tables = [each for each in metadata.sorted_tables if each.name not in LEFT_OUT]

    def copy(self, progress: MoveProgress) -> dict[str, int]:
        """Copy all rows, and return table -> number. Raise `StoreUnusable` if a database fails or takes a row of the other not."""
        with self._writing.begin() as connection:
            for table in reversed(metadata.sorted_tables):  # what an interrupted move left
                connection.execute(table.delete())
            connection.exec_driver_sql("DELETE FROM commit_search")
            connection.execute(update(alembic_version).values(version_num=f"{HEAD}{MOVING}"))
        return {table.name: self._copy_table(table, progress) for table in self._tables}

    def index(self, progress: MoveProgress) -> None:
        """Make the target's search index from what it stores."""
        index = SearchIndex(self._target)
        progress.stage("search index")
        progress.expect(index.outdated())
        for done in index.update(summaries=True):
            progress.advance(done)

    def finish(self) -> None:
        """Let new rows get new ids, and programs use the target."""
        with self._writing.begin() as connection:
            _continue_ids(connection)
            connection.execute(update(alembic_version).values(version_num=HEAD))

    def _copy_table(self, table: Table, progress: MoveProgress) -> int:
        progress.stage(table.name)
        progress.expect(_count(self._source, table))
        changed = _NOT_INDEXED.get(table.name, {})
        query = select(table).order_by(*table.primary_key)
        for batch in self._source.execute(query, execution_options={"yield_per": _AT_ONCE}).mappings().partitions():
            self._write(table, [{**row, **changed} for row in batch])
            progress.advance(len(batch))
        with self._target.connect() as connection:
            rows, copied = _count(self._source, table), _count(connection, table)
        if rows != copied:
            raise StoreUnusable(f"{table.name} has {rows:,} rows, of which {copied:,} were moved; please report it")
        return copied

    def _write(self, table: Table, rows: list[Mapping[str, Any]]) -> None:
        try:
            with self._writing.begin() as connection:
                connection.execute(insert(table), rows)
        except (exc.IntegrityError, exc.DataError) as error:
            raise StoreUnusable(
                f"{table.name} does not take a row of the other database ({one_line(str(error.orig))}); please report it"
            ) from error


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


@contextmanager
def moving(source_url: str, target_url: str, timing: Timing = TIMING) -> Iterator[Move]:
    """Hold both databases for a move for the duration of the block.

    Raise `Misuse` for databases that cannot be moved from or to, `StoreUnusable` if a program uses one of them.
    """
    _check_source(source_url, target_url)
    with ExitStack() as stack:
        stack.enter_context(held_alone(source_url, "move"))
        stack.enter_context(held_alone(target_url, "move"))
        source = engine_as_it_is(source_url)
        stack.callback(source.dispose)
        held = stack.enter_context(_held(source, timing))  # first: a move that is refused leaves no mark in the target
        target = _open_target(target_url)
        stack.callback(target.dispose)
        yield Move(held, target)


def _check_source(source_url: str, target_url: str) -> None:
    """Raise `Misuse` if there is nothing to move, or nowhere to."""
    found, name = condition(source_url), display_name(source_url)
    if _is_same_database(address_of(source_url), address_of(target_url)):
        raise Misuse(f"{name} is both ends of the move; name another database as the second")
    if found is Condition.NEW:
        raise Misuse(f"{name} has nothing to move: vllm-digest never used it")
    if found is Condition.BEHIND:
        raise Misuse(f"{name} was written by an earlier vllm-digest; start the bot on it once, which upgrades it")
    if found is Condition.NEWER:
        raise Misuse(
            f"{name} was written by a newer vllm-digest, of whose tables this one knows only a part; move it by that one"
        )


def _is_same_database(one: URL, other: URL) -> bool:
    """Return whether two URLs name one database. That a server has several names is found by its locks."""
    if one.get_backend_name() != other.get_backend_name():
        return False
    if one.get_backend_name() == "sqlite":
        return Path(one.database or "").resolve() == Path(other.database or "").resolve()
    return (one.host, one.port or _PORT, one.database) == (other.host, other.port or _PORT, other.database)


def _open_target(url: str) -> Engine:
    """Open a new database, with its tables created, or the target of an interrupted move. Raise `Misuse` for any other."""
    version, name = stored_version(url), display_name(url)
    if version == f"{HEAD}{MOVING}":
        return engine_as_it_is(url)
    if version and version.endswith(MOVING):
        raise Misuse(f"the move to {name} was begun by another version of vllm-digest; begin again with a new database")
    target = open_engine(url)
    with target.connect() as connection:
        if any(_count(connection, each) for each in metadata.sorted_tables):
            target.dispose()
            raise Misuse(f"{name} holds data already, which a move would mix with the other; choose a new database")
    return target


@contextmanager
def _held(source: Engine, timing: Timing) -> Iterator[Connection]:
    """Yield a connection that sees one state of the database, to which nobody writes meanwhile.

    Raise `StoreUnusable` if a bot uses it.
    """
    Executors(source, timing).dead_among(())  # which marks those that were killed
    with source.connect() as connection:
        if source.dialect.name == "sqlite":
            connection.execution_options(write=True)
        else:
            quote = source.dialect.identifier_preparer.quote
            tables = ", ".join(quote(each) for each in metadata.tables)
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.exec_driver_sql(f"LOCK TABLE {tables} IN SHARE MODE")
        if connection.execute(select(executors.c.id).where(executors.c.ended_at.is_(None))).first():
            name = display_name(source.url.render_as_string(hide_password=False))
            raise StoreUnusable(f"a bot is using {name}; stop all of its processes first")
        yield connection


def _continue_ids(connection: Connection) -> None:
    """Have PostgreSQL count on from the ids that were copied; SQLite does by itself."""
    if connection.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            statement = text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), greatest(max(id), 1), max(id) IS NOT NULL)"  # noqa: S608 (the only insertions are ours)
                f" FROM {table.name}"
            )
            connection.execute(statement)
