"""Full-text search over messages and names in changed lines too; the version of the words that a commit is indexed by.

Titles, paths and summaries are copied. The rest is made of what is stored, after the migration and in parts
(`SearchIndex.update`), since that takes minutes for a large store.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE commit_search RENAME TO earlier_search")
    op.execute(
        "CREATE VIRTUAL TABLE commit_search USING fts5(title, message, paths, code, summary,"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )
    op.execute(
        "INSERT INTO commit_search (rowid, title, message, paths, code, summary)"
        " SELECT rowid, title, '', paths, '', summary FROM earlier_search"
    )
    op.execute("DROP TABLE earlier_search")
    op.add_column("commits", sa.Column("words_version", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_commits_words_version", "commits", ["words_version"])
    op.create_index("ix_commits_repository_id_committed_at", "commits", ["repository_id", "committed_at"])
