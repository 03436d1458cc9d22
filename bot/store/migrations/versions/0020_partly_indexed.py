"""Which commits have words that the search index leaves out: a denial must look into them."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
readable_by = "0015"


def upgrade() -> None:
    op.add_column("commits", sa.Column("words_are_all", sa.Boolean))
    op.create_index("ix_commits_repository_id_words_are_all", "commits", ["repository_id", "words_are_all"])
