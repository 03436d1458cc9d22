"""Tables of what processes tell each other: the answers under way, and the latest failure of a model."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
readable_by = "0015"


def upgrade() -> None:
    op.create_table(
        "ongoing_answers",
        sa.Column("request", sa.String(200), primary_key=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("thread_ts", sa.String(40), nullable=False),
        sa.Column("attempt", sa.String(32)),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_stopped", sa.Boolean, nullable=False),
    )
    op.create_table(
        "model_failures",
        sa.Column("model", sa.String(200), primary_key=True),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
    )
