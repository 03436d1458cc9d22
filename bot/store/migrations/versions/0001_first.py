"""The first schema: repositories, commits, files, analyses, days, and the full-text index."""

import sqlalchemy as sa
from alembic import op

from bot.store.schema import Compressed, Instant

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_repositories()
    _create_commits()
    _create_files()
    _create_analyses()
    _create_days()
    _create_search_index()


def _create_repositories() -> None:
    op.create_table(
        "repositories",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("key", sa.String(300), nullable=False),
        sa.UniqueConstraint("key", name="uq_repositories_key"),
    )


def _create_commits() -> None:
    op.create_table(
        "commits",
        sa.Column("id", _ID, primary_key=True),
        sa.Column(
            "repository_id", _ID, sa.ForeignKey("repositories.id", name="fk_commits_repository_id"), nullable=False
        ),
        sa.Column("sha", sa.String(64), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("parents", sa.JSON, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("authored_at", Instant, nullable=False),
        sa.Column("committed_at", Instant, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("additions", sa.Integer, nullable=False),
        sa.Column("deletions", sa.Integer, nullable=False),
        sa.Column("not_on", sa.Text),
        sa.Column("read", sa.Boolean, nullable=False),
        sa.Column("pr", sa.Integer),
        sa.Column("pull", sa.JSON),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("facts_version", sa.Integer, nullable=False),
        sa.Column("series", sa.Text),
        sa.Column("reverts_sha", sa.String(64)),
        sa.Column("reverts_title", sa.Text),
        sa.UniqueConstraint("repository_id", "sha", name="uq_commits_repository_id_sha"),
    )
    op.create_index("ix_commits_sha", "commits", ["sha"])
    for column in ("pr", "title", "series", "reverts_sha", "reverts_title"):
        op.create_index(f"ix_commits_repository_id_{column}", "commits", ["repository_id", column])


def _create_files() -> None:
    op.create_table(
        "files",
        sa.Column(
            "commit_id",
            _ID,
            sa.ForeignKey("commits.id", name="fk_files_commit_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("previous_path", sa.Text),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("additions", sa.Integer, nullable=False),
        sa.Column("deletions", sa.Integer, nullable=False),
        sa.Column("patch", Compressed),
    )


def _create_analyses() -> None:
    op.create_table(
        "analyses",
        sa.Column(
            "commit_id",
            _ID,
            sa.ForeignKey("commits.id", name="fk_analyses_commit_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("language", sa.String(2), primary_key=True),
        sa.Column("model", sa.String(200), primary_key=True),
        sa.Column("prompt", sa.String(40), primary_key=True),
        sa.Column("importance", sa.String(6), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
    )


def _create_days() -> None:
    op.create_table(
        "days",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("repository_id", _ID, sa.ForeignKey("repositories.id", name="fk_days_repository_id"), nullable=False),
        sa.Column("date", sa.Date, nullable=False),
        sa.Column("timezone", sa.String(64), nullable=False),
        sa.Column("listed_at", Instant, nullable=False),
        sa.Column("remarks", sa.JSON, nullable=False),
        sa.UniqueConstraint("repository_id", "date", "timezone", name="uq_days_repository_id_date_timezone"),
    )
    op.create_table(
        "day_commits",
        sa.Column(
            "day_id", _ID, sa.ForeignKey("days.id", name="fk_day_commits_day_id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("commit_id", _ID, sa.ForeignKey("commits.id", name="fk_day_commits_commit_id"), nullable=False),
        sa.Column("late", sa.Boolean, nullable=False),
    )
    op.create_index("ix_day_commits_commit_id", "day_commits", ["commit_id"])


def _create_search_index() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return  # it begins with a later migration
    op.execute(
        "CREATE VIRTUAL TABLE commit_search USING fts5(title, paths, summary, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )
