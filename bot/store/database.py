"""Opening the database: one of two kinds, migrated to the current schema."""

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from sqlalchemy import Connection, Engine, exc, insert, inspect, update
from sqlalchemy.engine import URL, make_url

from analysis.errors import BadSetting, StoreUnusable
from bot.store import executors, postgresql, sqlite
from bot.store.migrations import HEAD, MIGRATIONS, OLDEST, READABLE_BY, migrate
from bot.store.schema import alembic_version, metadata
from bot.store.search_index import create_index
from bot.store.transactions import Database, without_password

MIGRATION = "migration"  # the lock of a transaction that migrates, or that must not overlap a migration


class _DatabaseKind(Protocol):
    """What differs between the kinds of databases: `bot.store.sqlite` and `bot.store.postgresql`, by these names."""

    def check_url(self, url: URL) -> None: ...
    def new_engine(self, url: URL) -> Engine: ...
    def read_only_engine(self, url: URL) -> Engine: ...
    def existing_engine(self, url: URL) -> Engine | None: ...


_KINDS: Mapping[str, _DatabaseKind] = {"sqlite": sqlite, "postgresql": postgresql}
_FORMS = "use sqlite:///data/digest.db or postgresql+psycopg://user:password@host/database"


class Condition(Enum):
    """State of a database's schema relative to this program."""

    NEW = "there is none yet"
    BEHIND = "an earlier program wrote it"
    CURRENT = "this program wrote it"
    NEWER = "a newer program wrote it, which this one can work with"


def open_engine(database_url: str) -> Engine:
    """Open the database, migrate it if it is older, and return its engine.

    Raise `BadSetting` for an unsupported URL. Raise `StoreUnusable` on failure, for a newer schema that this program cannot
    work with, and for an older one that processes use which could not work with the new one.
    """
    engine = engine_as_it_is(database_url)
    try:
        _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def engine_as_it_is(database_url: str, *, read_only: bool = False) -> Engine:
    """Return the engine of a database that is neither migrated nor checked; one that is `read_only` creates no file either.

    Raise `BadSetting` for an unsupported URL.
    """
    url = address_of(database_url)
    kind = _KINDS[url.get_backend_name()]
    return kind.read_only_engine(url) if read_only else kind.new_engine(url)


def condition(database_url: str) -> Condition:
    """Return the state of a database without changing it. Raise `BadSetting` for an unsupported URL.

    Raise `StoreUnusable` if it cannot be used, also for a newer schema that this program cannot work with.
    """
    url = address_of(database_url)
    engine = _KINDS[url.get_backend_name()].existing_engine(url)
    if engine is None:
        return Condition.NEW
    with engine.connect() as connection:
        return schema_condition(connection)


def display_name(database_url: str) -> str:
    """Return the URL as people may read it, without a password. Raise `BadSetting` for an unsupported one."""
    return without_password(address_of(database_url))


def address_of(database_url: str) -> URL:
    """Parse a database URL. Raise `BadSetting` if it is malformed, or of another kind than SQLite and PostgreSQL."""
    try:
        url = make_url(database_url)
    except (exc.ArgumentError, ValueError):  # of a port that is no number
        raise BadSetting(f"DATABASE_URL is not a valid database URL; {_FORMS}") from None
    if url.drivername == "postgres":  # as some platforms write it
        url = url.set(drivername="postgresql")
    kind = _KINDS.get(url.get_backend_name())
    if kind is None:
        raise BadSetting(f"DATABASE_URL: {url.get_backend_name()!r} databases are not supported; {_FORMS}")
    kind.check_url(url)
    return url


def schema_condition(connection: Connection) -> Condition:
    """Return the state of a database.

    Raise `StoreUnusable` for a schema that this program neither works with nor migrates, for a server that cannot serve us,
    and for a new database whose user may create no tables in it.
    """
    is_server = connection.dialect.name == "postgresql"
    if is_server:
        postgresql.check_server(connection)
    known = inspect(connection).has_table("alembic_version")
    row = connection.exec_driver_sql("SELECT * FROM alembic_version").mappings().first() if known else None
    if row is None:
        if is_server:
            postgresql.check_may_create_tables(connection)
        return Condition.NEW
    latest, oldest_program = row["version_num"], row.get("oldest_program")
    if latest == HEAD:
        return Condition.CURRENT
    if latest == OLDEST or latest in MIGRATIONS:
        return Condition.BEHIND
    name = without_password(connection.engine.url)
    if latest < OLDEST:
        raise StoreUnusable(
            f"{name} was written by an earlier vllm-digest, whose stores this one does not read; "
            "move it away, or set DATABASE_URL to a new one, and run vllm-digest backfill"
        )
    if oldest_program is None or oldest_program > HEAD:
        raise StoreUnusable(f"{name} was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL")
    return Condition.NEWER


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        found = schema_condition(connection)
    if found in (Condition.CURRENT, Condition.NEWER):
        return
    with Database(engine).begin(alone=MIGRATION) as connection:
        found = schema_condition(connection)  # another process may have migrated it meanwhile
        if found is Condition.NEW:
            _create(connection)
        elif found is Condition.BEHIND:
            _upgrade(connection)


def _create(connection: Connection) -> None:
    """Create today's tables, as all migrations would."""
    metadata.create_all(connection)
    create_index(connection)
    alembic_version.create(connection, checkfirst=True)  # it is there without a row if a migration was interrupted
    connection.execute(insert(alembic_version), {"version_num": HEAD, "oldest_program": READABLE_BY})


def _upgrade(connection: Connection) -> None:
    if left_behind := executors.older_programs(connection, READABLE_BY):
        raise StoreUnusable(
            f"{without_password(connection.engine.url)} is used by {left_behind} process(es) of an older vllm-digest, "
            "which cannot work with the tables of this version; stop them first"
        )
    migrate(connection)
    connection.execute(update(alembic_version).values(version_num=HEAD, oldest_program=READABLE_BY))
