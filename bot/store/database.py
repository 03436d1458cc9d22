"""Opening the database: one of two kinds, migrated to the current schema, and the transactions that write to it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection, Engine, exc
from sqlalchemy.engine import URL, make_url

from analysis.errors import BadSetting, StoreUnusable
from bot.store import postgresql, sqlite

if TYPE_CHECKING:
    from alembic.config import Config

# The latest migration, repeated here so that an up-to-date store opens without importing Alembic; a test compares the two.
HEAD = "0014"


class _Kind(Protocol):
    """What differs between the kinds of databases: `bot.store.sqlite` and `bot.store.postgresql`, by these names."""

    WRITING: Mapping[str, Any]

    def check_url(self, url: URL) -> None: ...
    def display_name(self, url: URL) -> str: ...
    def new_engine(self, url: URL) -> Engine: ...
    def exists(self, url: URL) -> bool: ...
    def stored_version(self, url: URL) -> str | None: ...
    def version(self, connection: Connection) -> str | None: ...
    def hold(self, connection: Connection, name: str) -> None: ...
    def finish_migration(self, connection: Connection) -> None: ...


_KINDS: Mapping[str, _Kind] = {"sqlite": sqlite, "postgresql": postgresql}


class Condition(Enum):
    """State of a database's schema relative to this program."""

    NEW = "there is none yet"
    BEHIND = "an earlier program wrote it"
    CURRENT = "this program wrote it"


def open_engine(database_url: str) -> Engine:
    """Open and migrate the database and return its engine. Raise `BadSetting` for an unsupported URL, `StoreUnusable` on failure."""
    url = address_of(database_url)
    engine = _kind(url).new_engine(url)
    try:
        _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def condition(database_url: str) -> Condition:
    """Return the state of a database without changing it. Raise the errors of `open_engine`, also for a newer schema."""
    url = address_of(database_url)
    version = _kind(url).stored_version(url)
    if version is None:
        return Condition.NEW
    if version == HEAD:
        return Condition.CURRENT
    _check_known(version, _migrations(), url)
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
    except exc.ArgumentError:
        raise BadSetting("DATABASE_URL is not a valid database URL; use sqlite:///data/digest.db") from None
    if url.get_backend_name() not in _KINDS:
        raise BadSetting(
            f"DATABASE_URL: {url.get_backend_name()!r} databases are not supported; use sqlite:///data/digest.db"
        )
    _kind(url).check_url(url)
    return url


class Writer:
    """Write transactions of an engine, which on SQLite take the write lock at once instead of failing to upgrade to it later.

    The threads of a process queue for one lock there: SQLite lets those that wait sleep up to 100 ms at a time, and whoever
    asks when the database happens to be free overtakes them, for seconds where eight threads store the commits of a day.
    """

    def __init__(self, engine: Engine) -> None:
        self._kind = _kind(engine.url)
        self._engine = engine.execution_options(**self._kind.WRITING)
        self._lock: Lock | None = engine.get_execution_options().get(sqlite.WRITE_LOCK)

    @contextmanager
    def begin(self, alone: str = "") -> Iterator[Connection]:
        """Hold a write transaction, committed at the end of the block and rolled back on an error.

        `alone` names what one transaction at a time may read and then write. On SQLite every transaction is alone.
        """
        with self._queued(), self._engine.begin() as connection:
            if alone:
                self._kind.hold(connection, alone)
            yield connection

    @contextmanager
    def _queued(self) -> Iterator[None]:
        # Whoever waited too long tries the database itself, which tells if another program keeps it locked.
        queued = self._lock is not None and self._lock.acquire(timeout=sqlite.BUSY_MS / 1000)
        try:
            yield
        finally:
            if self._lock is not None and queued:
                self._lock.release()


def _kind(url: URL) -> _Kind:
    return _KINDS[url.get_backend_name()]


def _migrate(engine: Engine) -> None:
    kind = _kind(engine.url)
    with engine.connect() as connection:
        version = kind.version(connection)
    if version == HEAD:
        return
    with Writer(engine).begin(alone="migration") as connection:
        version = kind.version(connection)  # another process may have migrated it meanwhile
        if version == HEAD:
            return
        _upgrade(connection, version)
        kind.finish_migration(connection)


def _upgrade(connection: Connection, version: str | None) -> None:
    from alembic import command

    config = _migrations()
    if version is not None:
        _check_known(version, config, connection.engine.url)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _migrations() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _check_known(version: str, config: "Config", url: URL) -> None:
    from alembic.script import ScriptDirectory

    if version not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise StoreUnusable(
            f"{_kind(url).display_name(url)} was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL"
        )
