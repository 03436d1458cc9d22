"""Watched terms of a subscription; references of a commit to others that it fixes or reverts, for lookups from their side.

A commit that was read before is not read again for it: what it names is not known from the other side.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("subscriptions", sa.Column("watch", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "named",
        sa.Column(
            "commit_id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            sa.ForeignKey("commits.id", name="fk_named_commit_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("tie", sa.String(8), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
    )
    op.create_index("ix_named_name", "named", ["name"])
