"""Migrations of the tables that earlier programs left. A new store gets those of `bot.store.schema` at once."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    Float,
    Integer,
    Text,
    UniqueConstraint,
    false,
    select,
)

from bot.store.column_types import Instant
from bot.store.schema import alembic_version
from bot.store.search_index import create_index

if TYPE_CHECKING:
    from alembic.operations import Operations


_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


class Migration(NamedTuple):
    """A change of the tables, and the oldest program that works with them then: one is known by its latest migration.

    That is the program of the migration before if this one only adds (a new column needs a server default).
    """

    apply: Callable[["Operations"], None]
    readable_by: str


def _corrections(operations: "Operations") -> None:
    """Have corrections of tiers know their channel, where they apply, and PostgreSQL make tsvectors of the indexed texts.

    The table of weights fitted to a repository goes, and a column that repeated the sum of the reservations.
    """
    operations.drop_table("weights")
    operations.drop_column("spending", "reserved_usd")
    connection = operations.get_bind()
    if connection.dialect.name == "postgresql":
        columns = "rowid, title, message, paths, code, summary"
        operations.execute(f"CREATE TEMPORARY TABLE earlier_search AS SELECT {columns} FROM commit_search")  # noqa: S608 (likewise)
        operations.execute("DROP TABLE commit_search")
        create_index(connection)
        operations.execute(f"INSERT INTO commit_search ({columns}) SELECT {columns} FROM earlier_search")  # noqa: S608 (the only insertions are ours)
        operations.execute("DROP TABLE earlier_search")
        operations.execute("DROP FUNCTION IF EXISTS add_search_scope")
    operations.add_column("labels", Column("channel", _TEXT, nullable=False, server_default=""))


def _reservations(operations: "Operations") -> None:
    """Have reservations know when they were made, in place of the process that made them. None outlives its call."""
    operations.drop_table("reservations")
    operations.create_table(
        "reservations",
        Column("id", _TEXT, primary_key=True),
        Column("date", Date, nullable=False),
        Column("purpose", _TEXT, nullable=False),
        Column("usd", Float, nullable=False),
        Column("made_at", Instant, nullable=False),
    )


def _releases(operations: "Operations") -> None:
    """Have subscriptions to releases, and know which tags there were before."""
    operations.add_column("subscriptions", Column("releases", _TEXT, nullable=False, server_default=""))
    operations.add_column("subscriptions", Column("releases_since", Instant))
    operations.add_column("subscriptions", Column("released_to", _TEXT, nullable=False, server_default=""))
    operations.create_table(
        "seen_releases",
        Column("repository", _TEXT, primary_key=True),
        Column("tag", _TEXT, primary_key=True),
        Column("seen_at", Instant),
    )


def _alerts(operations: "Operations") -> None:
    """Add what people asked to be told once."""
    operations.create_table(
        "alerts",
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        *(Column(name, _TEXT, nullable=False) for name in ("user", "channel", "repository", "event")),
        *(Column(name, _TEXT, nullable=False) for name in ("subject", "title", "url")),
        Column("sha", _TEXT),
        Column("message", JSON),
        Column("asked_at", Instant, nullable=False),
        Column("checked_at", Instant, nullable=False),
        Column("ended_at", Instant),
        UniqueConstraint("user", "repository", "subject", "event", name="uq_alerts_user_repository_subject_event"),
        sqlite_autoincrement=True,
    )


def _quiet_days(operations: "Operations") -> None:
    """Let subscriptions choose weekdays, and keep quiet on days without consequences."""
    for column in (
        Column("days", _TEXT, nullable=False, server_default=""),
        Column("quiet", Boolean, nullable=False, server_default=false()),
        Column("quiet_days", Integer, nullable=False, server_default="0"),
        Column("quiet_to", Date),
    ):
        operations.add_column("subscriptions", column)


def _breaks(operations: "Operations") -> None:
    """Have what breaks a channel's downstream code its life, and the first message of a digest what was put into it."""
    keys = ("channel", "repository", "sha", "downstream", "name")
    operations.create_table(
        "breaks",
        *(Column(each, _TEXT, primary_key=True) for each in keys),
        Column("paths", JSON, nullable=False),
        Column("head", _TEXT, nullable=False),
        Column("state", _TEXT, nullable=False),
        Column("who", _TEXT, nullable=False, server_default=""),
        Column("until", Date),
        Column("by_commit", _TEXT, nullable=False, server_default=""),
        Column("updated_at", Instant, nullable=False),
    )
    operations.add_column("outbox", Column("edits", JSON))


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


OLDEST = "0020"  # the first schema whose stores are kept
MIGRATIONS: Mapping[str, Migration] = {  # in this order
    "0021": Migration(_corrections, readable_by="0021"),
    "0022": Migration(_reservations, readable_by="0022"),
    "0023": Migration(_releases, readable_by="0022"),
    "0024": Migration(_alerts, readable_by="0022"),
    "0025": Migration(_quiet_days, readable_by="0022"),
    "0026": Migration(_breaks, readable_by="0022"),
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
