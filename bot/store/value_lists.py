"""Conditions on one of many values, bound together as one parameter: SQLAlchemy takes longer for each than the database does."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, Connection, any_, bindparam, func, select


def is_one_of(connection: Connection, column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """Return the condition that a column has one of the values, which are texts or integers."""
    if connection.dialect.name == "sqlite":
        each = func.json_each(bindparam(None, list(values), type_=JSON)).table_valued("value")
        return column.in_(select(each.c.value))
    from sqlalchemy.dialects.postgresql import ARRAY  # as for `upsert`

    return column == any_(bindparam(None, list(values), type_=ARRAY(column.type)))
