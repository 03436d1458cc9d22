"""Opening the database: one of two kinds, migrated to the current schema."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection, Engine, exc, insert, update
from sqlalchemy.engine import URL, make_url

from analysis.errors import BadSetting, StoreUnusable
from bot.store import pool, postgresql, sqlite
from bot.store.schema import alembic_version, metadata
from bot.store.schema_version import RunningProgram, SchemaVersion, counted
from bot.store.search_index import create_index
from bot.store.transactions import Database

if TYPE_CHECKING:
    from alembic.config import Config

# The latest migration, and the oldest program that works with its tables: repeated here, so that a new or up-to-date store
# opens without importing Alembic. A test compares them.
HEAD, READABLE_BY = "0021", "0021"
MIGRATION = "migration"  # what a transaction holds that migrates, or that must not overlap one


class _DatabaseKind(Protocol):
    """What differs between the kinds of databases: `bot.store.sqlite` and `bot.store.postgresql`, by these names."""

    def check_url(self, url: URL) -> None: ...
    def display_name(self, url: URL) -> str: ...
    def new_engine(self, url: URL) -> Engine: ...
    def read_only_engine(self, url: URL) -> Engine: ...
    def exists(self, url: URL) -> bool: ...
    def stored_version(self, url: URL) -> SchemaVersion | None: ...
    def version(self, connection: Connection) -> SchemaVersion | None: ...
    def running_programs(self, connection: Connection) -> list[RunningProgram]: ...


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
    url = address_of(database_url)
    engine = _kind(url).new_engine(url)
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
    kind = _kind(url)
    return kind.read_only_engine(url) if read_only else kind.new_engine(url)


def passing_failures() -> int:
    """Return how many uses of the database by this process failed so far for a reason that passes, such as a restart of the server."""
    return pool.passing_failures.count


def condition(database_url: str) -> Condition:
    """Return the state of a database without changing it. Raise `BadSetting` for an unsupported URL.

    Raise `StoreUnusable` if it cannot be used, also for a newer schema that this program cannot work with.
    """
    url = address_of(database_url)
    found = _kind(url).stored_version(url)
    if found is None:
        return Condition.NEW
    if _serves(found, url):
        return Condition.CURRENT if found.latest == HEAD else Condition.NEWER
    _check_known(found.latest, _migrations(), url)
    return Condition.BEHIND


def exists(database_url: str) -> bool:
    """Return whether there is a database, without creating it. Raise `BadSetting` for an unsupported URL or a missing folder."""
    url = address_of(database_url)
    return _kind(url).exists(url)


def display_name(database_url: str) -> str:
    """Return the URL as people may read it, without a password. Raise `BadSetting` for an unsupported one."""
    url = address_of(database_url)
    return _kind(url).display_name(url)


def address_of(database_url: str) -> URL:
    """Parse a database URL. Raise `BadSetting` if it is malformed, or of another kind than SQLite and PostgreSQL."""
    try:
        url = make_url(database_url)
    except (exc.ArgumentError, ValueError):  # of a port that is no number
        raise BadSetting(f"DATABASE_URL is not a valid database URL; {_FORMS}") from None
    if url.drivername == "postgres":  # as some platforms write it
        url = url.set(drivername="postgresql")
    if url.get_backend_name() not in _KINDS:
        raise BadSetting(f"DATABASE_URL: {url.get_backend_name()!r} databases are not supported; {_FORMS}")
    _kind(url).check_url(url)
    return url


def _kind(url: URL) -> _DatabaseKind:
    return _KINDS[url.get_backend_name()]


def check_schema(connection: Connection) -> None:
    """Raise `StoreUnusable` if the database was migrated to a schema that this program cannot work with."""
    url = connection.engine.url
    found = _kind(url).version(connection)
    if found:
        _serves(found, url)


def _migrate(engine: Engine) -> None:
    kind, url = _kind(engine.url), engine.url
    with engine.connect() as connection:
        found = kind.version(connection)
    if found and _serves(found, url):
        return
    with Database(engine).begin(alone=MIGRATION) as connection:
        found = kind.version(connection)  # another process may have migrated it meanwhile
        if found and _serves(found, url):
            return
        if found:
            _upgrade(connection, found)
        else:
            _create(connection)


def _serves(found: SchemaVersion, url: URL) -> bool:
    """Return whether this program works with a schema as it is. Raise `StoreUnusable` if it is a newer one that it does not."""
    newer = found.is_newer_than(HEAD)
    if newer and not found.serves(HEAD):
        raise _newer(url)
    return newer or found.latest == HEAD


def _create(connection: Connection) -> None:
    """Create today's tables, as all migrations would."""
    metadata.create_all(connection)
    create_index(connection)
    alembic_version.create(connection, checkfirst=True)  # it is there without a row if a migration was interrupted
    connection.execute(insert(alembic_version), {"version_num": HEAD, "oldest_program": READABLE_BY})


def _upgrade(connection: Connection, found: SchemaVersion) -> None:
    from alembic import command

    config, url = _migrations(), connection.engine.url
    _check_known(found.latest, config, url)
    left_behind = [each for each in _kind(url).running_programs(connection) if each.schema_version < READABLE_BY]
    if left_behind:
        raise StoreUnusable(
            f"{_kind(url).display_name(url)} is used by {counted(left_behind)}, which cannot work with the tables of this "
            f"version; stop {'it' if len(left_behind) == 1 else 'them'} first"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(update(alembic_version).values(oldest_program=READABLE_BY))


def _migrations() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _check_known(version: str, config: "Config", url: URL) -> None:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version < min(known):
        raise StoreUnusable(
            f"{_kind(url).display_name(url)} was written by an earlier vllm-digest, whose stores this one does not read; "
            "move it away, or set DATABASE_URL to a new one, and run vllm-digest backfill"
        )
    if version not in known:
        raise _newer(url)


def _newer(url: URL) -> StoreUnusable:
    name = _kind(url).display_name(url)
    return StoreUnusable(f"{name} was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL")
