"""Proof of a commit's facts (its patch, as for all so far, or whole files) and source of a day (the API, or a mirror)."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("commits", sa.Column("facts_proof", sa.String(8), nullable=False, server_default="patch"))
    op.add_column("days", sa.Column("read_from", sa.String(24), nullable=False, server_default="api"))
