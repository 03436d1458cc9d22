"""Several subscriptions of a channel, each with its own selection; people's corrections; spending by purpose."""

import sqlalchemy as sa
from alembic import op

from bot.store.schema import Instant

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_KEPT = "id, channel, repository, time, timezone, language, created_at, started_to, note"


def upgrade() -> None:
    # SQLite cannot change a constraint: recreate the table.
    _set_aside("subscriptions")
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("repository", sa.String(300), nullable=False),
        sa.Column("paths", sa.Text, nullable=False, server_default=""),
        sa.Column("least", sa.String(6), nullable=False, server_default="low"),
        sa.Column("user", sa.String(40), nullable=False, server_default=""),
        sa.Column("time", sa.String(5), nullable=False),
        sa.Column("timezone", sa.String(64), nullable=False),
        sa.Column("language", sa.String(2), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("started_to", sa.Date),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("ended_at", Instant),
        sa.UniqueConstraint("channel", "repository", "paths", name="uq_subscriptions_channel_repository_paths"),
        sqlite_autoincrement=True,
    )
    op.execute(f"INSERT INTO subscriptions ({_KEPT}) SELECT {_KEPT} FROM subscriptions_before")  # noqa: S608 (ours)
    op.drop_table("subscriptions_before")
    op.create_table(
        "labels",
        sa.Column("repository", sa.String(300), primary_key=True),
        sa.Column("sha", sa.String(64), primary_key=True),
        sa.Column("user", sa.String(40), primary_key=True),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("importance", sa.String(6), nullable=False),
        sa.Column("given_at", Instant, nullable=False),
    )
    _set_aside("spending")
    op.create_table(
        "spending",
        sa.Column("date", sa.Date, primary_key=True),
        sa.Column("purpose", sa.String(10), primary_key=True),
        sa.Column("reserved_usd", sa.Float, nullable=False),
        sa.Column("spent_usd", sa.Float, nullable=False),
    )
    op.execute(
        "INSERT INTO spending (date, purpose, reserved_usd, spent_usd) "
        "SELECT date, 'digest', reserved_usd, spent_usd FROM spending_before"
    )
    op.drop_table("spending_before")


def _set_aside(table: str) -> None:
    op.rename_table(table, f"{table}_before")
    if op.get_bind().dialect.name != "sqlite":  # where the names of keys are names of the schema
        op.execute(f"ALTER INDEX pk_{table} RENAME TO pk_{table}_before")
