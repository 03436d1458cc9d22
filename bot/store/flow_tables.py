"""The durable engine's tables, read only: which flows wait, run and failed, over all processes of a bot.

The engine's own functions list flows one by one, with all their columns, and would run in `doctor`, which must not start it.
These statements count in the database, by the engine's partial indexes of flows in flight and of failed ones, so that they
cost what is under way, not what was ever done. Ages are by the database's clock, since the machines' clocks may differ.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import Engine, exc, inspect, text

from analysis.errors import StoreUnusable
from bot.store import postgresql
from bot.store.database import address_of, engine_as_it_is

FLOWS_SCHEMA = "vllm_digest_flows"  # of the engine's tables on PostgreSQL
# Flows of another version are not resumed: where the order of steps changes, use `DBOS.patch` instead of increasing it.
FLOWS_VERSION = "1"
FLOWS_POOL = 10  # the engine's connections to PostgreSQL, beside one that listens for notifications
ENQUEUED = "enqueued"  # the status of a flow that waits in a queue
_TABLE = "workflow_status"
# Literals: SQLite uses a partial index only where the condition repeats its own. `+created_at` is not looked up by its index,
# which holds what succeeded, too. Times are in milliseconds since 1970.
_IN_FLIGHT = """
SELECT name, lower(status), coalesce(queue_name, ''), count(*), CAST({now} - min(created_at) AS bigint) FROM {table}
WHERE status IN ('ENQUEUED', 'PENDING') GROUP BY name, status, queue_name ORDER BY name, status, queue_name"""
_PARTITIONS = """
SELECT count(DISTINCT queue_partition_key) FROM {table} WHERE status IN ('ENQUEUED', 'PENDING') AND queue_name = :queue"""
_FAILED = """
SELECT name, count(*) FROM {table} WHERE status IN ('ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
AND +created_at >= CAST({now} - :within AS bigint) GROUP BY name ORDER BY name"""
_NOW = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400000",
    "postgresql": "extract(epoch FROM clock_timestamp()) * 1000",
}


def flows_engine(database_url: str) -> Engine | None:
    """Return the engine of SQLAlchemy for the durable engine; None on SQLite, for which it makes its own."""
    url = address_of(database_url)
    return postgresql.flows_engine(url, FLOWS_POOL) if url.get_backend_name() == "postgresql" else None


class FlowCount(NamedTuple):
    """The flows of a name, in a queue ("" for none), by status (ENQUEUED, or "pending" once begun); the age of the oldest."""

    name: str
    status: str
    queue: str
    number: int
    oldest: timedelta


class FlowTables:
    """The engine's tables of one database."""

    def __init__(self, engine: Engine) -> None:
        """Read by an engine of PostgreSQL, or of the flows' own file of SQLite."""
        self._engine = engine

    def in_flight(self) -> list[FlowCount]:
        """Return the flows that wait or run, by name, status and queue. Raise `StoreUnusable` if that cannot be read."""
        return [
            FlowCount(name, status, queue, number, timedelta(milliseconds=max(0, age)))
            for name, status, queue, number, age in self._rows(_IN_FLIGHT)
        ]

    def open_partitions(self, queue: str) -> int:
        """Return the number of partitions of a queue in which a flow waits or runs. Raise `StoreUnusable`."""
        return sum(number for (number,) in self._rows(_PARTITIONS, queue=queue))

    def failed(self, within: timedelta) -> dict[str, int]:
        """Return name -> number of flows begun `within` the time before now that failed for good. Raise `StoreUnusable`."""
        return dict(self._rows(_FAILED, within=int(within.total_seconds() * 1000)))

    def _rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if the engine has no tables yet: no bot has run on this database."""
        dialect = self._engine.dialect.name
        schema = FLOWS_SCHEMA if dialect == "postgresql" else None
        statement = text(query.format(table=f"{schema}.{_TABLE}" if schema else _TABLE, now=_NOW[dialect]))
        try:
            with self._engine.connect() as connection:
                is_there = inspect(connection).has_table(_TABLE, schema)
                return [tuple(row) for row in connection.execute(statement, values)] if is_there else []
        except exc.DBAPIError as error:
            why = f"cannot be read by this version of vllm-digest ({error.orig})"
            raise StoreUnusable(f"the tables of the durable engine {why}") from error


@contextmanager
def flow_tables(flows_url: str, opened: Engine | None = None) -> Iterator[FlowTables]:
    """Open the engine's tables at a URL (`bot.store.lease.flows_url`) to read them. Nothing is created.

    On PostgreSQL they are in the database of the store, whose engine they use if it is `opened`.
    """
    if opened is not None and opened.dialect.name == "postgresql":
        yield FlowTables(opened)
        return
    engine = engine_as_it_is(flows_url, read_only=True)
    try:
        yield FlowTables(engine)
    finally:
        engine.dispose()
