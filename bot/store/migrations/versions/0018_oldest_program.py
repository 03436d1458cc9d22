"""The oldest program that works with the database, beside its version."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
readable_by = "0015"


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("oldest_program", sa.String(32)))
