"""Conditions on one of many values, bound together as one parameter: SQLAlchemy takes longer for each than the database does."""

from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, any_, bindparam, func, select


def is_one_of(dialect: str, column: Column[Any], values: str) -> ColumnElement[bool]:
    """Return the condition that a column has one of the values in the list (texts or integers) that is the parameter `values`."""
    if dialect == "sqlite":
        each = func.json_each(bindparam(values, type_=JSON)).table_valued("value")
        return column.in_(select(each.c.value))
    from sqlalchemy.dialects.postgresql import ARRAY  # as for `upsert`

    return column == any_(bindparam(values, type_=ARRAY(column.type)))
