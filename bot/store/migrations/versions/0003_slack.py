"""Requests, messages and threads of Slack, subscriptions, and send slots."""

import sqlalchemy as sa
from alembic import op

from bot.store.schema import Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("repository", sa.String(300), nullable=False),
        sa.Column("time", sa.String(5), nullable=False),
        sa.Column("timezone", sa.String(64), nullable=False),
        sa.Column("language", sa.String(2), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("started_to", sa.Date),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.UniqueConstraint("channel", "repository", name="uq_subscriptions_channel_repository"),
    )
    op.create_table(
        "inbox",
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("received_at", Instant, nullable=False),
        sa.Column("done_at", Instant),
    )
    op.create_index("ix_inbox_done_at", "inbox", ["done_at"])
    op.create_table(
        "outbox",
        sa.Column("key", sa.String(600), primary_key=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("thread_ts", sa.String(40)),
        sa.Column("root", sa.String(600)),
        sa.Column("about", sa.String(600), nullable=False, server_default=""),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("tried_at", Instant),
        sa.Column("ts", sa.String(40)),
        sa.Column("file_id", sa.String(40)),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
    )
    op.create_index("ix_outbox_channel_ts", "outbox", ["channel", "ts"])
    op.create_table(
        "threads",
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("ts", sa.String(40), primary_key=True),
        sa.Column("about", sa.String(600), nullable=False),
    )
    op.create_table(
        "turns",
        sa.Column("name", sa.String(60), primary_key=True),
        sa.Column("free_at", Instant, nullable=False),
    )
