"""The repository and the era of a commit among its indexed words on PostgreSQL, so that a search reads only those that it is about."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
# On PostgreSQL a search within a repository finds no commit that an older program indexed.
readable_by = "0019"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        columns = ("words", "title_words")
        for column in columns:  # built anew, which is much quicker than changing all of it
            op.execute(f"DROP INDEX ix_commit_search_{column}")
        scope = "CAST('/r' || c.repository_id || ' /e' || c.id / 16384 AS tsvector)"
        changes = ", ".join(f"{column} = s.{column} || {scope}" for column in columns)
        op.execute(f"UPDATE commit_search s SET {changes} FROM commits c WHERE c.id = s.rowid")  # noqa: S608 (the only insertions are ours)
        for column in columns:
            op.execute(f"CREATE INDEX ix_commit_search_{column} ON commit_search USING gin ({column})")
