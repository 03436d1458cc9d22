"""A move of the store to another database of either kind: every row once, and the flows that were not finished.

A carried flow has the id and the arguments that it had, and none of its steps: it begins again, and as after a kill the
store and the outbox make each step that was done before a repetition without effect. Requests need no flow here: at the
start each that waits in the inbox is answered. A day is read again by the delivery that waits for it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dbos import DBOS, DBOSClient, EnqueueOptions, WorkflowStatus
from sqlalchemy import URL, Connection, Engine, Integer, TableClause, exc, func, insert, make_url, select, text

from analysis.errors import Misuse, StoreUnusable
from bot.models.progress import Progress
from bot.store.database import Condition, address_of, condition, display_name, engine_as_it_is, open_engine
from bot.store.executors import TIMING, Executors, Timing
from bot.store.flow_tables import FLOWS_SCHEMA, FLOWS_VERSION
from bot.store.lease import flows_url, held_alone
from bot.store.schema import metadata
from bot.store.search_index import commit_search
from bot.store.sqlite import supply_subseconds
from bot.store.transactions import Database

_LEFT_OUT = ("executors", "reservations")  # of processes, of which none runs
TABLES: tuple[TableClause, ...] = (
    *(table for table in metadata.sorted_tables if table.name not in _LEFT_OUT),
    commit_search,
)
_AT_ONCE = 50  # rows: few, since one may hold megabytes of patches
_CARRIED = ["deliver", "retract", "publish"]  # the flows that wait in a queue
_REFUSED = {
    Condition.NEW: "has nothing to move: vllm-digest never used it",
    Condition.BEHIND: "was written by an earlier vllm-digest; start the bot on it once, which upgrades it",
    Condition.NEWER: "was written by a newer vllm-digest, of whose tables this one knows only a part; move it by that one",
}


def move_store(
    source_url: str, target_url: str, progress: Progress, timing: Timing = TIMING
) -> tuple[dict[str, int], int]:
    """Copy everything stored, and enqueue the open flows; return table -> number of rows, and the number of flows.

    No other program writes to either database meanwhile. The target stays empty until all of it is there. Raise `Misuse` for
    databases that cannot be moved from or to, `StoreUnusable` if one fails or a program uses it.
    """
    _check_source(source_url, target_url)
    with ExitStack() as stack:
        for url in (source_url, target_url):
            stack.enter_context(held_alone(url))
        flows = _open_flows(source_url)
        engine = engine_as_it_is(source_url)
        stack.callback(engine.dispose)
        source = stack.enter_context(_held(engine, timing))
        target = open_engine(target_url)
        stack.callback(target.dispose)
        _check_empty(target)
        # Before the transaction, as its migrations wait for the ends of all that were begun.
        client = stack.enter_context(_client(target_url))
        with Database(target).begin() as writing:
            copied = {table.name: _copy(table, source, writing, progress) for table in TABLES}
            _continue_ids(writing)
            for flow in flows:
                _enqueue(flow, client)
    return copied, len(flows)


def _check_source(source_url: str, target_url: str) -> None:
    """Raise `Misuse` if there is nothing to move, or nowhere to. That a server has several names is found by its locks."""
    name, found = display_name(source_url), condition(source_url)
    if _place(source_url) == _place(target_url):
        raise Misuse(f"{name} is both ends of the move; name another database as the second")
    if found in _REFUSED:
        raise Misuse(f"{name} {_REFUSED[found]}")


def _place(database_url: str) -> URL:
    url = address_of(database_url)
    is_file = url.get_backend_name() == "sqlite"
    return url.set(database=str(Path(url.database or "").resolve())) if is_file else url


def _check_empty(target: Engine) -> None:
    with target.connect() as connection:
        if any(_count(connection, each) for each in metadata.sorted_tables):
            name = display_name(target.url.render_as_string(hide_password=False))
            raise Misuse(f"{name} holds data already, which a move would mix with the other; choose a new database")


@contextmanager
def _held(source: Engine, timing: Timing) -> Iterator[Connection]:
    """Yield a connection that sees one state of the database, to which nobody writes meanwhile.

    Raise `StoreUnusable` if a bot uses it.
    """
    executors = Executors(source, timing)
    executors.dead_among(())  # which marks those that were killed
    with source.connect() as connection:
        if source.dialect.name == "sqlite":
            connection.execution_options(write=True)
        else:
            quote = source.dialect.identifier_preparer.quote
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.exec_driver_sql(f"LOCK TABLE {', '.join(map(quote, metadata.tables))} IN SHARE MODE")
        _count(connection, commit_search)  # begins the transaction on SQLite
        if executors.living():
            name = display_name(source.url.render_as_string(hide_password=False))
            raise StoreUnusable(f"a bot is using {name}; stop all of its processes first")
        yield connection


def _copy(table: TableClause, source: Connection, target: Connection, progress: Progress) -> int:
    """Copy the rows of a table, and return their number."""
    progress.stage(table.name)
    progress.expect(_count(source, table))
    copied = 0
    query = select(table).order_by(*(table.primary_key or table.c[:1]))
    for batch in source.execute(query, execution_options={"yield_per": _AT_ONCE}).mappings().partitions():
        target.execute(insert(table), [dict(row) for row in batch])
        copied += len(batch)
        progress.advance(len(batch))
    return copied


def _count(connection: Connection, table: TableClause) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _continue_ids(connection: Connection) -> None:
    """Have PostgreSQL count on from the ids that were copied; SQLite does by itself."""
    for table in metadata.sorted_tables:
        if connection.dialect.name == "postgresql" and "id" in table.c and isinstance(table.c.id.type, Integer):
            values = f"pg_get_serial_sequence('{table.name}', 'id'), greatest(max(id), 1), max(id) IS NOT NULL"
            connection.execute(text(f"SELECT setval({values}) FROM {table.name}"))  # noqa: S608 (the only insertions are ours)


def _enqueue(flow: WorkflowStatus, client: DBOSClient) -> None:
    """Enqueue a flow, unless it is there already."""
    assert flow.input
    options: EnqueueOptions = {
        "workflow_name": flow.name,
        "queue_name": flow.queue_name or "",
        "workflow_id": flow.workflow_id,
        "queue_partition_key": flow.queue_partition_key or "",
        "app_version": FLOWS_VERSION,
    }
    client.enqueue(options, *flow.input["args"])


def _open_flows(database_url: str) -> list[WorkflowStatus]:
    """Return the open flows, the oldest first; none if no bot ran on the database."""
    url = make_url(flows_url(database_url))
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return []
    with _client(database_url) as source:
        return source.list_workflows(status=["ENQUEUED", "PENDING"], name=_CARRIED, load_output=False)


@contextmanager
def _client(database_url: str) -> Iterator[DBOSClient]:
    """Open the engine's tables, migrated as at a bot's start, without running anything. Raise `StoreUnusable` if that fails."""
    url = flows_url(database_url)
    supply_subseconds()
    try:
        DBOS.migrate(url, schema=FLOWS_SCHEMA)
        client = DBOSClient(system_database_url=url, dbos_system_schema=FLOWS_SCHEMA, retry_connection_errors=False)
    except exc.DBAPIError as error:
        raise StoreUnusable(f"the flows of {display_name(database_url)} cannot be used ({error.orig})") from error
    try:
        yield client
    finally:
        client.destroy()
