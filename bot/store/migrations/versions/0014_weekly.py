"""Weekly digests of a subscription."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("subscriptions", sa.Column("weekly", sa.String(3), nullable=False, server_default=""))
    op.add_column("subscriptions", sa.Column("weekly_to", sa.Date))
