"""Migrations of the tables that earlier programs left. A new store gets those of `bot.store.schema` at once."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import JSON, Column, Connection, Date, Text, select

from bot.store.schema import alembic_version

if TYPE_CHECKING:
    from alembic.operations import Operations


_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


class Migration(NamedTuple):
    """A change of the tables, and the oldest program that works with them then: one is known by its latest migration.

    That is the program of the migration before if this one only adds (a new column needs a server default).
    """

    apply: Callable[["Operations"], None]
    readable_by: str


def _day_edits(operations: "Operations") -> None:
    """Add how a model edited days."""
    keys = ("timezone", "language", "model", "prompt")
    operations.create_table(
        "day_edits",
        Column("repository", _TEXT, primary_key=True),
        Column("date", Date, primary_key=True),
        *(Column(each, _TEXT, primary_key=True) for each in keys),
        Column("body", JSON, nullable=False),
    )


OLDEST = "0026"  # the first schema whose stores are kept
MIGRATIONS: Mapping[str, Migration] = {  # in this order
    "0027": Migration(_day_edits, readable_by="0022"),
}
HEAD = max(MIGRATIONS)
READABLE_BY = MIGRATIONS[HEAD].readable_by


def migrate(connection: Connection) -> None:
    """Apply the migrations that a store lacks, in its transaction."""
    from alembic.migration import MigrationContext  # 0.1 s that an up-to-date store does not need
    from alembic.operations import Operations

    latest: str = connection.execute(select(alembic_version.c.version_num)).scalar_one()
    operations = Operations(MigrationContext.configure(connection))
    for version, migration in MIGRATIONS.items():
        if version > latest:
            migration.apply(operations)
