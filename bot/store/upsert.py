"""Inserts that meet rows with the same key, on either database: each has a form of its own, which SQLAlchemy spells alike."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

Row = Mapping[str, Any]


def insert_missing(connection: Connection, table: Table, rows: Row | Sequence[Row]) -> int:
    """Insert the rows whose keys are not there yet, leave the others unchanged, and return how many were inserted."""
    if not rows:
        return 0
    inserted = _insert(connection, table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return connection.execute(inserted, rows).rowcount


def insert_or_update(
    connection: Connection, table: Table, key: Row, values: Row, *, only_new: Row | None = None
) -> None:
    """Insert a row, or set the `values` of the row that has this `key`. A new row has the values of `only_new` too."""
    inserted = _insert(connection, table).values({**key, **values, **(only_new or {})})
    connection.execute(inserted.on_conflict_do_update(index_elements=list(key), set_=dict(values)))


def _insert(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # 25 ms that SQLite does not need

    return postgresql.insert(table)
