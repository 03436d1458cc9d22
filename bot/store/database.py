"""Opening the database: one of two kinds, migrated to the current schema.

A program is known by the latest migration that it has. Each migration says in `readable_by` which program is the oldest that
works with the database once it is applied.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sqlalchemy import Connection, Engine, exc, insert, inspect, update
from sqlalchemy.engine import URL, make_url

from analysis.errors import BadSetting, StoreUnusable
from bot.store import executors, postgresql, sqlite
from bot.store.schema import alembic_version, metadata
from bot.store.search_index import create_index
from bot.store.transactions import Database, without_password

if TYPE_CHECKING:
    from alembic.config import Config

# The latest migration, and the oldest program that works with its tables: repeated here, so that a new or up-to-date store
# opens without importing Alembic. A test compares them.
HEAD, READABLE_BY = "0021", "0021"
MIGRATION = "migration"  # what a transaction holds that migrates, or that must not overlap one


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


class _SchemaVersion(NamedTuple):
    """The latest migration of a database, and the oldest program that works with it."""

    latest: str
    oldest_program: str | None


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
        found = _version(connection)
    if found is None:
        return Condition.NEW
    if _serves(found, url):
        return Condition.CURRENT if found.latest == HEAD else Condition.NEWER
    _check_known(found.latest, _migrations(), url)
    return Condition.BEHIND


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


def check_schema(connection: Connection) -> None:
    """Raise `StoreUnusable` if the database was migrated to a schema that this program cannot work with."""
    found = _version(connection)
    if found:
        _serves(found, connection.engine.url)


def _version(connection: Connection) -> _SchemaVersion | None:
    """Return the schema version, None for a new database.

    Raise `StoreUnusable` for a server that cannot serve us, and for a new database whose user may create no tables in it.
    """
    is_server = connection.dialect.name == "postgresql"
    if is_server:
        postgresql.check_server(connection)
    known = inspect(connection).has_table("alembic_version")
    row = connection.exec_driver_sql("SELECT * FROM alembic_version").mappings().first() if known else None
    if row is None and is_server:
        postgresql.check_may_create_tables(connection)
    return _SchemaVersion(row["version_num"], row.get("oldest_program")) if row else None


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        found = _version(connection)
    if found and _serves(found, engine.url):
        return
    with Database(engine).begin(alone=MIGRATION) as connection:
        found = _version(connection)  # another process may have migrated it meanwhile
        if found is None:
            _create(connection)
        elif not _serves(found, engine.url):
            _upgrade(connection, found)


def _serves(found: _SchemaVersion, url: URL) -> bool:
    """Return whether this program works with a schema as it is. Raise `StoreUnusable` if it is a newer one that it does not."""
    newer = found.latest.isdigit() and found.latest > HEAD  # other words than numbers are no migration's
    if newer and (found.oldest_program is None or found.oldest_program > HEAD):
        raise _newer(url)
    return newer or found.latest == HEAD


def _create(connection: Connection) -> None:
    """Create today's tables, as all migrations would."""
    metadata.create_all(connection)
    create_index(connection)
    alembic_version.create(connection, checkfirst=True)  # it is there without a row if a migration was interrupted
    connection.execute(insert(alembic_version), {"version_num": HEAD, "oldest_program": READABLE_BY})


def _upgrade(connection: Connection, found: _SchemaVersion) -> None:
    from alembic import command

    config, url = _migrations(), connection.engine.url
    _check_known(found.latest, config, url)
    left_behind = executors.older_programs(connection, READABLE_BY)
    if left_behind:
        raise StoreUnusable(
            f"{without_password(url)} is used by {_counted(left_behind)}, which cannot work with the tables of this "
            f"version; stop {'it' if len(left_behind) == 1 else 'them'} first"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(update(alembic_version).values(oldest_program=READABLE_BY))


def _counted(programs: Sequence[str]) -> str:
    """Return how many processes there are of which version, such as "2 processes of vllm-digest 1.0 and 1 of 1.1"."""
    (version, first), *rest = sorted(Counter(programs).items())
    processes = "process" if first == 1 else "processes"
    others = [f"{count} of {other}" for other, count in rest]
    return " and ".join([f"{first} {processes} of vllm-digest {version}", *others])


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
            f"{without_password(url)} was written by an earlier vllm-digest, whose stores this one does not read; "
            "move it away, or set DATABASE_URL to a new one, and run vllm-digest backfill"
        )
    if version not in known:
        raise _newer(url)


def _newer(url: URL) -> StoreUnusable:
    name = without_password(url)
    return StoreUnusable(f"{name} was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL")
