"""Corrections of tiers know their channel, where they apply; without the table of weights fitted to a repository."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
readable_by = "0021"


def upgrade() -> None:
    op.drop_table("weights")
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("labels", sa.Column("channel", text, nullable=False, server_default=""))
