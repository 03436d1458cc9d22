"""A move of the store to another database: every row once, compared, whatever interrupts it.

What is missing in the target or is different there is written, so that a move that was killed goes on, also after its
source has changed. Until it is finished, the target has a schema version that no program takes for its own.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, Text, insert, select, text, update
from sqlalchemy.engine import URL

from analysis.errors import Misuse, StoreUnusable
from bot.store.database import (
    HEAD,
    MOVING,
    Condition,
    Writer,
    address_of,
    condition,
    display_name,
    engine_as_it_is,
    open_engine,
    stored_version,
)
from bot.store.executors import TIMING, Executors, Timing
from bot.store.lease import held_alone
from bot.store.moved_rows import Digest, MovedTable, differing, moved_tables
from bot.store.schema import Instant, commits, executors, metadata
from bot.store.search_index import SearchIndex

# In the target alone: where its rows come from.
_moves = Table(
    "move",
    MetaData(),
    Column("source", Text, primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("finished_at", Instant),
)
LEFT_OUT = frozenset({"executors", "reservations"})  # of processes, of which none runs
_PORT = 5432  # of PostgreSQL
_INDEXED = {"commits", "files", "analyses"}  # what the search index is made of


class Progress(Protocol):
    """Shows how far a move is."""

    def stage(self, title: str) -> None: ...
    def expect(self, steps: int) -> None: ...
    def advance(self, steps: int = 1) -> None: ...


class ComparedTable(NamedTuple):
    """A table that is equal in both databases. PostgreSQL stores no NUL and indexes no long text: `replaced` counts such values."""

    name: str
    digest: Digest
    replaced: int


class State(Enum):
    """What was done of a move before."""

    NEW = "nothing"
    BEGUN = "a part, when it was interrupted"
    FINISHED = "all of it"


class Move:
    """A move under way. No other program writes to either database until it ends."""

    def __init__(self, source: Connection, target: Engine, state: State) -> None:
        self.state = state
        self._source = source
        self._target = target
        self._writing = Writer(target)
        self._tables = moved_tables(LEFT_OUT)

    def copy(self, progress: Progress) -> None:
        """Carry all rows. Raise `StoreUnusable` if a database fails, or the target does not store a row as it is."""
        if self.state is State.BEGUN:
            for table in reversed(self._tables):
                self._remove_surplus(table, progress)
        for table in self._tables:
            _begin_stage(progress, table.name, table.count(self._source))
            for batch in table.batches(self._source):
                rows = [table.stored(row, self._target.dialect) for row in batch]
                with self._writing.begin() as connection:
                    missing = differing(rows, table.find(connection, [table.key_of(row) for row in rows]), table)
                    if missing:
                        table.write(connection, missing)
                        self._mark_outdated(connection, table)
                progress.advance(len(batch))

    def index(self, progress: Progress) -> None:
        """Make the target's search index from what it stores; what an interrupted move indexed stays."""
        index = SearchIndex(self._target)
        _begin_stage(progress, "search index", index.outdated())
        for done in index.update(summaries=True):
            progress.advance(done)

    def compare(self, progress: Progress) -> list[ComparedTable]:
        """Compare the tables as a whole, each by its digest. Raise `StoreUnusable` for one that differs."""
        return [self._compare(table, progress) for table in self._tables]

    def finish(self, now: datetime) -> None:
        """Let new rows get new ids, and programs use the target."""
        with self._writing.begin() as connection:
            _continue_ids(connection)
            connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": HEAD})
            connection.execute(update(_moves).values(finished_at=now))

    def _remove_surplus(self, table: MovedTable, progress: Progress) -> None:
        """Delete the rows that an interrupted move carried and the source no longer has."""
        with self._target.connect() as connection:
            _begin_stage(progress, f"{table.name}, carried before", table.count(connection))
            for batch in table.batches(connection):
                keys = {table.key_of(row) for row in batch}
                if surplus := keys - table.find(self._source, keys).keys():
                    with self._writing.begin() as writing:
                        table.remove(writing, surplus)
                        self._mark_outdated(writing, table)
                progress.advance(len(batch))

    def _mark_outdated(self, connection: Connection, table: MovedTable) -> None:
        """Have the search index made anew if an interrupted move made it from other rows."""
        if self.state is State.BEGUN and table.name in _INDEXED:
            connection.execute(update(commits).where(commits.c.words_version > 0).values(words_version=0))

    def _compare(self, table: MovedTable, progress: Progress) -> ComparedTable:
        replaced = 0
        dialect = self._target.dialect

        def expected() -> Iterator[tuple[object, ...]]:
            nonlocal replaced
            _begin_stage(progress, f"{table.name}, checksum of the source", table.count(self._source))
            for batch in table.batches(self._source):
                for row in batch:
                    stored = table.stored(row, dialect)
                    replaced += sum(one != other for one, other in zip(row, stored, strict=True))
                    yield stored
                progress.advance(len(batch))

        def found() -> Iterator[tuple[object, ...]]:
            _begin_stage(progress, f"{table.name}, checksum of the target", table.count(connection))
            for batch in table.batches(connection):
                yield from batch
                progress.advance(len(batch))

        with self._target.connect() as connection:
            wanted, digest = table.digest(expected()), table.digest(found())
        if wanted != digest:
            raise StoreUnusable(
                f"{table.name} differs: {wanted.rows:,} rows with checksum {wanted.checksum} in the source,"
                f" {digest.rows:,} with {digest.checksum} in the target; please report it"
            )
        return ComparedTable(table.name, digest, replaced)


def _begin_stage(progress: Progress, title: str, steps: int) -> None:
    """Begin a stage of so many rows, if there are any."""
    if steps:
        progress.stage(title)
        progress.expect(steps)


@contextmanager
def moving(source_url: str, target_url: str, now: datetime, timing: Timing = TIMING) -> Iterator[Move]:
    """Begin a move, or go on with it, for the duration of the block.

    Raise `Misuse` for databases that cannot be moved from or to, `StoreUnusable` if a program uses one of them.
    """
    source_name = _check_source(source_url, target_url)
    with ExitStack() as stack:
        stack.enter_context(held_alone(source_url, "move"))
        stack.enter_context(held_alone(target_url, "move"))
        source = engine_as_it_is(source_url)
        stack.callback(source.dispose)
        held = stack.enter_context(_held(source, timing))  # first: a move that is refused leaves no mark in the target
        target = _open_target(target_url)
        stack.callback(target.dispose)
        yield Move(held, target, _begin(target, source_name, display_name(target_url), now))


def _check_source(source_url: str, target_url: str) -> str:
    """Return the source's name. Raise `Misuse` if there is nothing to move, or nowhere to."""
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
    return name


def _is_same_database(one: URL, other: URL) -> bool:
    """Return whether two URLs name one database. That a server has several names is found by its locks."""
    if one.get_backend_name() != other.get_backend_name():
        return False
    if one.get_backend_name() == "sqlite":
        return Path(one.database or "").resolve() == Path(other.database or "").resolve()
    return (one.host, one.port or _PORT, one.database) == (other.host, other.port or _PORT, other.database)


def _open_target(url: str) -> Engine:
    """Open a new database, with its tables created, or the target of a move. Raise `Misuse` for any other."""
    version, name = stored_version(url), display_name(url)
    if version is None:
        return open_engine(url)
    if version in {f"{HEAD}{MOVING}", HEAD}:
        return engine_as_it_is(url)
    if version.endswith(MOVING):
        raise Misuse(f"the move to {name} was begun by another version of vllm-digest; begin again with a new database")
    raise _has_data(name)


def _begin(target: Engine, source_name: str, target_name: str, now: datetime) -> State:
    """Note the move in its target and return what was done of it before. Raise `Misuse` if that holds other data."""
    with Writer(target).begin(alone="move") as connection:
        _moves.create(connection, checkfirst=True)
        before = connection.execute(select(_moves)).first()
        if before is None:
            if any(connection.execute(select(table.c[0]).limit(1)).first() for table in metadata.sorted_tables):
                raise _has_data(target_name)
            connection.execute(insert(_moves), {"source": source_name, "begun_at": now})
            connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": f"{HEAD}{MOVING}"})
            return State.NEW
        if before.source != source_name:
            raise (
                _has_data(target_name)
                if before.finished_at
                else Misuse(
                    f"{target_name} is the target of an unfinished move from {before.source}; choose a new database"
                )
            )
        return State.FINISHED if before.finished_at else State.BEGUN


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


def _has_data(name: str) -> Misuse:
    return Misuse(f"{name} holds data already, which a move would mix with the other; choose a new database")


def _continue_ids(connection: Connection) -> None:
    """Have PostgreSQL count on from the ids that were carried; SQLite does by itself."""
    if connection.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            statement = text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), greatest(max(id), 1), max(id) IS NOT NULL)"  # noqa: S608 (the only insertions are ours)
                f" FROM {table.name}"
            )
            connection.execute(statement)
