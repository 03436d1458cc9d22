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
    if op.get_bind().dialect.name == "sqlite":
        _widen_fts5()
    else:
        _create_tsvectors()
    op.add_column("commits", sa.Column("words_version", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_commits_words_version", "commits", ["words_version"])
    op.create_index("ix_commits_repository_id_committed_at", "commits", ["repository_id", "committed_at"])


def _widen_fts5() -> None:
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


def _create_tsvectors() -> None:
    # The words of the columns are indexed together; those of titles alone too, for words that very many commits hold.
    texts = ", ".join(f"{name} text NOT NULL" for name in ("title", "message", "paths", "code", "summary"))
    op.execute(
        "CREATE TABLE commit_search (rowid bigint PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,"
        f" {texts}, words tsvector NOT NULL, title_words tsvector NOT NULL, length integer NOT NULL)"
    )
    for column in ("words", "title_words"):
        op.execute(f"CREATE INDEX ix_commit_search_{column} ON commit_search USING gin ({column})")
