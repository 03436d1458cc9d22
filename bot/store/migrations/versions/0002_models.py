"""Usage of a model's analysis, and the budget of a day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("move_reason", sa.Text, nullable=False, server_default=""),
        sa.Column("left_out", sa.JSON, nullable=False, server_default="[]"),
        sa.Column("removed_claims", sa.Integer, nullable=False, server_default="0"),
        sa.Column("calls", sa.Integer, nullable=False, server_default="0"),
        sa.Column("input_tokens", sa.Integer),
        sa.Column("output_tokens", sa.Integer),
        sa.Column("cached_tokens", sa.Integer),
        sa.Column("cost_usd", sa.Float),
    ):
        op.add_column("analyses", column)
    op.create_table(
        "spending",
        sa.Column("date", sa.Date, primary_key=True),
        sa.Column("reserved_usd", sa.Float, nullable=False),
        sa.Column("spent_usd", sa.Float, nullable=False),
    )
