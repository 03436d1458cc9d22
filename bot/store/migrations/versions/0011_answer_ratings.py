"""People's ratings of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "answer_ratings",
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("ts", sa.String(40), primary_key=True),
        sa.Column("user", sa.String(40), primary_key=True),
        sa.Column("about", sa.String(600), nullable=False),
        sa.Column("rating", sa.String(10), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
    )
