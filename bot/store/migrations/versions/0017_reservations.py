"""Reservations of calls under way, each with its process, so that those of one that was killed are given back."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
readable_by = "0015"


def upgrade() -> None:
    op.create_table(
        "reservations",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("date", sa.Date, nullable=False),
        sa.Column("purpose", sa.String(10), nullable=False),
        sa.Column("usd", sa.Float, nullable=False),
        sa.Column("process", sa.String(40), nullable=False),
    )
