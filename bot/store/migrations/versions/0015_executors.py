"""The processes of a bot, and messages that Slack has twice."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
readable_by = "0015"


def upgrade() -> None:
    op.create_table(
        "executors",
        sa.Column("id", sa.String(300), primary_key=True),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("command", sa.String(20), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("schema_version", sa.String(32), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "duplicates",
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("ts", sa.String(40), primary_key=True),
        sa.Column("key", sa.String(600), nullable=False),
    )
