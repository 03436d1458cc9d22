"""The repository and the era of a commit among its indexed words on PostgreSQL, so that a search reads only those that it is about.

A trigger adds them, so that they are there of commits that an older program indexes too.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
readable_by = "0015"

_COLUMNS = ("words", "title_words")
_FUNCTION = """
CREATE FUNCTION add_search_scope() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE scope tsvector;
BEGIN
    SELECT CAST('/r' || repository_id || ' /e' || id / 16384 AS tsvector) INTO scope FROM commits WHERE id = NEW.rowid;
    NEW.words = NEW.words || scope;
    NEW.title_words = NEW.title_words || scope;
    RETURN NEW;
END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for column in _COLUMNS:  # built anew, which is much quicker than changing all of it
        op.execute(f"DROP INDEX ix_commit_search_{column}")
    op.execute(_FUNCTION)
    op.execute(
        "CREATE TRIGGER add_search_scope BEFORE INSERT OR UPDATE ON commit_search"
        " FOR EACH ROW EXECUTE FUNCTION add_search_scope()"
    )
    op.execute("UPDATE commit_search SET rowid = rowid")
    for column in _COLUMNS:
        op.execute(f"CREATE INDEX ix_commit_search_{column} ON commit_search USING gin ({column})")
