"""The tables. Each has a natural key, so that storing a row twice changes nothing. Tests compare them with migrated ones."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn
from sqlalchemy.sql.compiler import DDLCompiler

from bot.store.column_types import Compressed, IndexedText, Instant

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


@compiles(CreateColumn, "postgresql")
def _create_column(creation: CreateColumn, compiler: DDLCompiler, **options: Any) -> str:
    """Have our columns of text compare by code points on PostgreSQL, as on SQLite."""
    column: str = compiler.visit_create_column(creation, **options)  # type: ignore[no-untyped-call]
    ours = creation.element.table.metadata is metadata
    return column.replace(" TEXT", ' TEXT COLLATE "C"', 1) if ours else column


# The latest migration, and the oldest program that works with the database.
alembic_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), primary_key=True),
    Column("oldest_program", String(32)),
)

_ID = BigInteger().with_variant(Integer, "sqlite")

repositories = Table(
    "repositories",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
)

commits = Table(
    "commits",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository_id", ForeignKey("repositories.id"), nullable=False),
    Column("sha", Text, nullable=False, index=True),
    Column("url", Text, nullable=False),
    Column("parents", JSON, nullable=False),
    Column("author", Text, nullable=False),
    Column("authored_at", Instant, nullable=False),
    Column("committed_at", Instant, nullable=False),
    Column("message", Text, nullable=False),
    Column("title", IndexedText, nullable=False),
    Column("additions", Integer, nullable=False),
    Column("deletions", Integer, nullable=False),
    Column("not_on", Text),
    Column("read", Boolean, nullable=False),
    Column("pr", Integer),
    Column("pull", JSON(none_as_null=True)),
    Column("facts", JSON, nullable=False),
    Column("facts_version", Integer, nullable=False),
    Column("facts_proof", Text, nullable=False, server_default="patch"),
    Column("series", IndexedText),
    Column("reverts_sha", Text),
    Column("reverts_title", IndexedText),
    Column("words_version", Integer, nullable=False, server_default="0", index=True),
    Column("words_are_all", Boolean),  # whether the search index has all of its words; null if that is not known
    UniqueConstraint("repository_id", "sha"),
    Index("ix_commits_repository_id_committed_at", "repository_id", "committed_at"),
    Index("ix_commits_repository_id_pr", "repository_id", "pr"),
    Index("ix_commits_repository_id_words_are_all", "repository_id", "words_are_all"),
    Index("ix_commits_repository_id_title", "repository_id", "title"),
    Index("ix_commits_repository_id_series", "repository_id", "series"),
    Index("ix_commits_repository_id_reverts_sha", "repository_id", "reverts_sha"),
    Index("ix_commits_repository_id_reverts_title", "repository_id", "reverts_title"),
)

named = Table(
    "named",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("tie", Text, primary_key=True),
    Column("name", Text, primary_key=True, index=True),
)

files = Table(
    "files",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("previous_path", Text),
    Column("status", Text, nullable=False),
    Column("additions", Integer, nullable=False),
    Column("deletions", Integer, nullable=False),
    Column("patch", Compressed),
)

analyses = Table(
    "analyses",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("language", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("prompt", Text, primary_key=True),
    Column("importance", Text, nullable=False),
    Column("body", JSON, nullable=False),
    Column("move_reason", Text, nullable=False, server_default=""),
    Column("left_out", JSON, nullable=False, server_default="[]"),
    Column("removed_claims", Integer, nullable=False, server_default="0"),
    Column("calls", Integer, nullable=False, server_default="0"),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cost_usd", Float),
)

day_edits = Table(
    "day_edits",
    metadata,
    Column("repository", Text, primary_key=True),
    Column("date", Date, primary_key=True),
    *(Column(each, Text, primary_key=True) for each in ("timezone", "language", "model", "prompt")),
    Column("body", JSON, nullable=False),
)

ranks = Table(
    "ranks",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("importance", Text, nullable=False),
    Column("score", Float),
    Column("given_at", Instant),
)

release_scores = Table(
    "release_scores",
    metadata,
    Column("repository", Text, primary_key=True),
    Column("release", Text, primary_key=True),
    Column("published_at", Instant, nullable=False),
    Column("body", JSON, nullable=False),
    Column("scored_at", Instant, nullable=False),
)

spending = Table(
    "spending",
    metadata,
    Column("date", Date, primary_key=True),
    Column("purpose", Text, primary_key=True),
    Column("spent_usd", Float, nullable=False),
)

# Of calls under way: each is deleted when what the call cost is known, and counts for some minutes.
reservations = Table(
    "reservations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("date", Date, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("usd", Float, nullable=False),
    Column("made_at", Instant, nullable=False),
)

days = Table(
    "days",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository_id", ForeignKey("repositories.id"), nullable=False),
    Column("date", Date, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("listed_at", Instant, nullable=False),
    Column("remarks", JSON, nullable=False),
    Column("read_from", Text, nullable=False, server_default="api"),
    UniqueConstraint("repository_id", "date", "timezone"),
)

day_commits = Table(
    "day_commits",
    metadata,
    Column("day_id", ForeignKey("days.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("commit_id", ForeignKey("commits.id"), nullable=False, index=True),
    Column("late", Boolean, nullable=False),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("channel", Text, nullable=False),
    Column("repository", Text, nullable=False),
    Column("paths", Text, nullable=False, server_default=""),
    Column("least", Text, nullable=False, server_default="low"),
    Column("user", Text, nullable=False, server_default=""),
    Column("time", Text, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_to", Date),
    Column("note", Text, nullable=False, server_default=""),
    Column("ended_at", Instant),
    Column("watch", Text, nullable=False, server_default=""),
    Column("downstream", Text, nullable=False, server_default=""),
    Column("weekly", Text, nullable=False, server_default=""),
    Column("weekly_to", Date),
    Column("releases", Text, nullable=False, server_default=""),
    Column("releases_since", Instant),
    Column("released_to", Text, nullable=False, server_default=""),
    Column("days", Text, nullable=False, server_default=""),
    Column("quiet", Boolean, nullable=False, server_default=false()),
    Column("quiet_days", Integer, nullable=False, server_default="0"),
    Column("quiet_to", Date),
    UniqueConstraint("channel", "repository", "paths"),
    sqlite_autoincrement=True,  # the id of one that ended stays its own
)

# The tags of releases that were met, those of the first look with no instant.
seen_releases = Table(
    "seen_releases",
    metadata,
    Column("repository", Text, primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("seen_at", Instant),
)

# What people asked to be told once: `subject` is a SHA, or `#123` until `sha` is known; `message` is what is to be told.
alerts = Table(
    "alerts",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("user", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("repository", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("sha", Text),
    Column("message", JSON(none_as_null=True)),
    Column("asked_at", Instant, nullable=False),
    Column("checked_at", Instant, nullable=False),  # when GitHub was last asked
    Column("ended_at", Instant),
    UniqueConstraint("user", "repository", "subject", "event"),
    sqlite_autoincrement=True,  # the outbox and the engine know one that ended by its id
)

labels = Table(
    "labels",
    metadata,
    Column("repository", Text, primary_key=True),
    Column("sha", Text, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    Column("importance", Text, nullable=False),
    Column("given_at", Instant, nullable=False),
    Column("channel", Text, nullable=False, server_default=""),
)

answer_ratings = Table(
    "answer_ratings",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("ts", Text, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("about", Text, nullable=False),
    Column("rating", Text, nullable=False),
    Column("given_at", Instant, nullable=False),
)

model_failures = Table(
    "model_failures",
    metadata,
    Column("model", Text, primary_key=True),
    Column("reasons", JSON, nullable=False),
    Column("failed_at", Instant, nullable=False),
)

surfaces = Table(
    "surfaces",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository", Text, nullable=False),
    Column("tree", Text, nullable=False),
    Column("packages", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Compressed, nullable=False),
    Column("read_at", Instant, nullable=False),
    UniqueConstraint("repository", "tree", "packages", "version"),
)

breaks = Table(
    "breaks",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("repository", Text, primary_key=True),
    Column("sha", Text, primary_key=True),
    Column("downstream", Text, primary_key=True),  # as the subscription names it
    Column("name", IndexedText, primary_key=True),  # of upstream
    Column("paths", JSON, nullable=False),  # of the downstream files that it breaks
    Column("head", Text, nullable=False),  # the downstream commit at which they were compared last
    Column("state", Text, nullable=False),
    Column("who", Text, nullable=False, server_default=""),
    Column("until", Date),
    Column("by_commit", Text, nullable=False, server_default=""),
    Column("updated_at", Instant, nullable=False),
)

inbox = Table(
    "inbox",
    metadata,
    Column("key", Text, primary_key=True),
    Column("body", JSON, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("done_at", Instant, index=True),
)

ongoing_answers = Table(
    "ongoing_answers",
    metadata,
    Column("request", Text, primary_key=True),  # the key in the inbox
    Column("channel", Text, nullable=False),
    Column("thread_ts", Text, nullable=False),
    Column("attempt", Text),  # none while the answer waits to be tried again
    Column("begun_at", Instant, nullable=False),
    Column("is_stopped", Boolean, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("key", Text, primary_key=True),
    Column("channel", Text, nullable=False),
    Column("thread_ts", Text),
    Column("root", Text),  # the key of the message that starts this one's thread, while its ts is unknown
    Column("about", Text, nullable=False, server_default=""),
    Column("content", JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("tried_at", Instant),
    Column("ts", Text),
    Column("file_id", Text),
    Column("note", Text, nullable=False, server_default=""),
    Column("edits", JSON),  # what was put into a digest's first message since it was sent
    Index("ix_outbox_channel_ts", "channel", "ts"),
)

duplicates = Table(
    "duplicates",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("ts", Text, primary_key=True),
    Column("key", Text, nullable=False),  # of the message in the outbox
)

threads = Table(
    "threads",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("ts", Text, primary_key=True),
    Column("about", Text, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("name", Text, primary_key=True),
    Column("free_at", Instant, nullable=False),
)

publications = Table(
    "publications",
    metadata,
    Column("day", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("failure", Text, nullable=False),
    Column("tried_at", Instant, nullable=False),
)

executors = Table(
    "executors",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("command", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("schema_version", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("ended_at", Instant),
)
