"""Corrections of tiers know their channel, where they apply, and PostgreSQL makes tsvectors of the indexed texts itself.

The table of weights fitted to a repository goes, and a column that repeated the sum of the reservations.
"""

import sqlalchemy as sa
from alembic import op

from bot.store.search_index import create_index

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
readable_by = "0021"


def upgrade() -> None:
    op.drop_table("weights")
    op.drop_column("spending", "reserved_usd")
    if op.get_bind().dialect.name == "postgresql":
        columns = "rowid, title, message, paths, code, summary"
        op.execute(f"CREATE TEMPORARY TABLE earlier_search AS SELECT {columns} FROM commit_search")  # noqa: S608 (likewise)
        op.execute("DROP TABLE commit_search")
        create_index(op.get_bind())
        op.execute(f"INSERT INTO commit_search ({columns}) SELECT {columns} FROM earlier_search")  # noqa: S608 (the only insertions are ours)
        op.execute("DROP TABLE earlier_search")
        op.execute("DROP FUNCTION IF EXISTS add_search_scope")
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("labels", sa.Column("channel", text, nullable=False, server_default=""))
