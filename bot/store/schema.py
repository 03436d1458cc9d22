"""The tables. Each has a natural key, so that storing a row twice changes nothing. A test compares them with the migrations."""

import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

_INDEXED = 600  # characters, of at most 4 bytes


class Instant(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        instant = value.astimezone(UTC)
        return instant.replace(tzinfo=None) if dialect.name == "sqlite" else instant

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class IndexedText(TypeDecorator[str]):
    """Text from outside in an index, where PostgreSQL takes 2.7 kB: there only its beginning is stored and compared."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value[:_INDEXED] if value is not None and dialect.name == "postgresql" else value


class Compressed(TypeDecorator[str]):
    """Text stored compressed: patches make up most of the store."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        del dialect
        return zlib.compress(value.encode()) if value is not None else None

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        del dialect
        return zlib.decompress(value).decode() if value is not None else None


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_ID = BigInteger().with_variant(Integer, "sqlite")

repositories = Table(
    "repositories",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", String(300), nullable=False, unique=True),
)

commits = Table(
    "commits",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository_id", ForeignKey("repositories.id"), nullable=False),
    Column("sha", String(64), nullable=False, index=True),
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
    Column("facts_proof", String(8), nullable=False, server_default="patch"),
    Column("series", IndexedText),
    Column("reverts_sha", String(64)),
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
    Column("tie", String(8), primary_key=True),
    Column("name", String(64), primary_key=True, index=True),
)

files = Table(
    "files",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("previous_path", Text),
    Column("status", String(20), nullable=False),
    Column("additions", Integer, nullable=False),
    Column("deletions", Integer, nullable=False),
    Column("patch", Compressed),
)

analyses = Table(
    "analyses",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("language", String(2), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("prompt", String(40), primary_key=True),
    Column("importance", String(6), nullable=False),
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

ranks = Table(
    "ranks",
    metadata,
    Column("commit_id", ForeignKey("commits.id", ondelete="CASCADE"), primary_key=True),
    Column("importance", String(6), nullable=False),
    Column("score", Float),
    Column("given_at", Instant),
)

release_scores = Table(
    "release_scores",
    metadata,
    Column("repository", String(300), primary_key=True),
    Column("release", String(300), primary_key=True),
    Column("published_at", Instant, nullable=False),
    Column("body", JSON, nullable=False),
    Column("scored_at", Instant, nullable=False),
)

spending = Table(
    "spending",
    metadata,
    Column("date", Date, primary_key=True),
    Column("purpose", String(10), primary_key=True),
    Column("reserved_usd", Float, nullable=False),
    Column("spent_usd", Float, nullable=False),
)

# Calls under way: `spending.reserved_usd` is what these reserve, and what those reserved that an earlier program made.
reservations = Table(
    "reservations",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("date", Date, nullable=False),
    Column("purpose", String(10), nullable=False),
    Column("usd", Float, nullable=False),
    Column("process", String(40), nullable=False),
)

days = Table(
    "days",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository_id", ForeignKey("repositories.id"), nullable=False),
    Column("date", Date, nullable=False),
    Column("timezone", String(64), nullable=False),
    Column("listed_at", Instant, nullable=False),
    Column("remarks", JSON, nullable=False),
    Column("read_from", String(24), nullable=False, server_default="api"),
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
    Column("channel", String(40), nullable=False),
    Column("repository", String(300), nullable=False),
    Column("paths", Text, nullable=False, server_default=""),
    Column("least", String(6), nullable=False, server_default="low"),
    Column("user", String(40), nullable=False, server_default=""),
    Column("time", String(5), nullable=False),
    Column("timezone", String(64), nullable=False),
    Column("language", String(2), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_to", Date),
    Column("note", Text, nullable=False, server_default=""),
    Column("ended_at", Instant),
    Column("watch", Text, nullable=False, server_default=""),
    Column("downstream", Text, nullable=False, server_default=""),
    Column("weekly", String(3), nullable=False, server_default=""),
    Column("weekly_to", Date),
    UniqueConstraint("channel", "repository", "paths"),
)

labels = Table(
    "labels",
    metadata,
    Column("repository", String(300), primary_key=True),
    Column("sha", String(64), primary_key=True),
    Column("user", String(40), primary_key=True),
    Column("verdict", String(8), nullable=False),
    Column("importance", String(6), nullable=False),
    Column("given_at", Instant, nullable=False),
)

answer_ratings = Table(
    "answer_ratings",
    metadata,
    Column("channel", String(40), primary_key=True),
    Column("ts", String(40), primary_key=True),
    Column("user", String(40), primary_key=True),
    Column("about", String(600), nullable=False),
    Column("rating", String(10), nullable=False),
    Column("given_at", Instant, nullable=False),
)

model_failures = Table(
    "model_failures",
    metadata,
    Column("model", String(200), primary_key=True),
    Column("reasons", JSON, nullable=False),
    Column("failed_at", Instant, nullable=False),
)

surfaces = Table(
    "surfaces",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("repository", String(300), nullable=False),
    Column("tree", String(64), nullable=False),
    Column("packages", String(1000), nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Compressed, nullable=False),
    Column("read_at", Instant, nullable=False),
    UniqueConstraint("repository", "tree", "packages", "version"),
)

inbox = Table(
    "inbox",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("body", JSON, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("done_at", Instant, index=True),
)

ongoing_answers = Table(
    "ongoing_answers",
    metadata,
    Column("request", String(200), primary_key=True),  # the key in the inbox
    Column("channel", String(40), nullable=False),
    Column("thread_ts", String(40), nullable=False),
    Column("attempt", String(32)),  # none while the answer waits to be tried again
    Column("begun_at", Instant, nullable=False),
    Column("is_stopped", Boolean, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("key", String(600), primary_key=True),
    Column("channel", String(40), nullable=False),
    Column("thread_ts", String(40)),
    Column("root", String(600)),  # the key of the message that starts this one's thread, while its ts is unknown
    Column("about", String(600), nullable=False, server_default=""),
    Column("content", JSON, nullable=False),
    Column("state", String(10), nullable=False),
    Column("tried_at", Instant),
    Column("ts", String(40)),
    Column("file_id", String(40)),
    Column("note", Text, nullable=False, server_default=""),
    Index("ix_outbox_channel_ts", "channel", "ts"),
)

duplicates = Table(
    "duplicates",
    metadata,
    Column("channel", String(40), primary_key=True),
    Column("ts", String(40), primary_key=True),
    Column("key", String(600), nullable=False),  # of the message in the outbox
)

threads = Table(
    "threads",
    metadata,
    Column("channel", String(40), primary_key=True),
    Column("ts", String(40), primary_key=True),
    Column("about", String(600), nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("name", String(60), primary_key=True),
    Column("free_at", Instant, nullable=False),
)

publications = Table(
    "publications",
    metadata,
    Column("day", String(600), primary_key=True),
    Column("target", String(600), primary_key=True),
    Column("failure", Text, nullable=False),
    Column("tried_at", Instant, nullable=False),
)

executors = Table(
    "executors",
    metadata,
    Column("id", String(300), primary_key=True),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("command", String(20), nullable=False),
    Column("version", String(40), nullable=False),
    Column("schema_version", String(32), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("ended_at", Instant),
)
