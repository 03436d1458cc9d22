"""Weights of the ranking that were fitted to a repository's own releases."""

import sqlalchemy as sa
from alembic import op

from bot.store.schema import Instant

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "weights",
        sa.Column("repository", sa.String(300), primary_key=True),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("fitted_at", Instant, nullable=False),
    )
