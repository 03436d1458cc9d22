"""The last outcome of each day's publication."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column("day", sa.String(600), primary_key=True),
        sa.Column("target", sa.String(600), primary_key=True),
        sa.Column("failure", sa.Text, nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=False),
    )
