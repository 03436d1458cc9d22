"""Opening the database: configuration for several processes, migration to the current schema, readable errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.engine import URL, ExceptionContext, make_url

from analysis.errors import BadSetting, StoreUnusable

if TYPE_CHECKING:
    from alembic.config import Config

# The latest migration, repeated here so that an up-to-date store opens without importing Alembic; a test compares the two.
HEAD = "0014"

# The folder of the default DATABASE_URL. No other folder is created, since its name may be a typo.
_DEFAULT_FOLDER = Path("data")

_BUSY_MS = 30_000
_WRITE_LOCK = "write_lock"  # the execution option of an engine that holds its lock
_WORDS = (
    ("unable to open", "cannot be opened; create its folder, or set DATABASE_URL"),
    ("readonly", "cannot be written; check its permissions, or set DATABASE_URL"),
    ("not a database", "is not a database; move the file away, or set DATABASE_URL"),
    ("malformed", "is damaged; restore a copy, or move the file away to begin anew"),
    ("disk is full", "has no room left; free some disk"),
    ("locked", "is locked by another program; end that one first"),
    ("disk i/o", "cannot be read from its disk; check the disk, or set DATABASE_URL"),
)


class Condition(Enum):
    """State of a database's schema relative to this program."""

    NEW = "there is none yet"
    BEHIND = "an earlier program wrote it"
    CURRENT = "this program wrote it"


def open_engine(database_url: str) -> Engine:
    """Open and migrate the database and return its engine. Raise `BadSetting` for an unsupported URL, `StoreUnusable` on failure."""
    url = address_of(database_url)
    if url.database and url.database != ":memory:":
        prepare_folder(Path(url.database))
    engine = create_engine(
        url,
        connect_args={"timeout": _BUSY_MS / 1000},
        execution_options={_WRITE_LOCK: Lock()},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _translate)
    _migrate(engine)
    return engine


def condition(database_url: str) -> Condition:
    """Return the state of a database without changing it. Raise the errors of `open_engine`, also for a newer schema."""
    url = address_of(database_url)
    path = Path(url.database or ":memory:")
    check_folder(path)
    path = path.absolute()
    nearest = next(each for each in (path, *path.parents) if os.path.lexists(each))
    if nearest is path and not os.access(path, os.W_OK):
        raise _unusable(url, "readonly")
    if nearest is not path:
        _check_writable(nearest, url)
    if nearest is not path or path.stat().st_size == 0:
        return Condition.NEW
    try:
        # Without a writer, open it as immutable, which needs and creates no -wal and -shm files.
        alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{alone}", uri=True)) as connection:
            known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if known else None
    except sqlite3.Error as error:
        raise _unusable(url, error) from error
    if row is None:
        return Condition.NEW
    if row[0] == HEAD:
        return Condition.CURRENT
    _check_known(row[0], _migrations(), url)
    return Condition.BEHIND


def _check_writable(folder: Path, url: URL) -> None:
    """Check that files can be created in `folder`, by creating a temporary one: permissions alone do not tell."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unusable(url, "unable to open") from error


def address_of(database_url: str) -> URL:
    """Parse a database URL. Raise `BadSetting` if it is malformed or not SQLite."""
    try:
        url = make_url(database_url)
    except exc.ArgumentError:
        raise BadSetting("DATABASE_URL is not a valid database URL; use sqlite:///data/digest.db") from None
    if url.get_backend_name() != "sqlite":
        raise BadSetting(
            f"DATABASE_URL: {url.get_backend_name()!r} databases are not supported; use sqlite:///data/digest.db"
        )
    if url.host:  # sqlite://folder/file, one slash short
        raise BadSetting("DATABASE_URL: a SQLite URL has three slashes before its file; use sqlite:///data/digest.db")
    return url


def check_folder(database: Path) -> None:
    """Raise `BadSetting` if a database's folder does not exist, unless it is the default one, which is created later."""
    folder = database.parent
    if folder != _DEFAULT_FOLDER and not os.path.isdir(folder):  # noqa: PTH112 (Path.is_dir raises without permission)
        raise BadSetting(f"DATABASE_URL: folder {folder} does not exist; create it, or correct the setting")


def prepare_folder(database: Path) -> None:
    """Create the default folder if missing. Raise the errors of `check_folder`, or `StoreUnusable` if it cannot be created."""
    check_folder(database)
    folder = database.parent
    try:
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            # The folder may lie in a user's own repository: neither git nor a comparison of that folder takes it for code.
            (folder / ".gitignore").write_text("*\n")
    except OSError as error:
        raise StoreUnusable(
            f"the folder of the database {database} cannot be created ({error.strerror}); set DATABASE_URL"
        ) from error


class Writer:
    """Write transactions of an engine, which take the database's write lock at once instead of failing to upgrade to it later.

    The threads of a process queue for one lock: SQLite lets those that wait sleep up to 100 ms at a time, and whoever
    asks when the database happens to be free overtakes them, for seconds where eight threads store the commits of a day.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(write=True)
        self._lock: Lock = engine.get_execution_options()[_WRITE_LOCK]

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Hold a write transaction, committed at the end of the block and rolled back on an error."""
        # Whoever waited too long tries the database itself, which tells if another program keeps it locked.
        queued = self._lock.acquire(timeout=_BUSY_MS / 1000)
        try:
            with self._engine.begin() as connection:
                yield connection
        finally:
            if queued:
                self._lock.release()


def _set_up(connection: Any, _record: object) -> None:
    # `_begin` starts transactions, not the driver, which would start them too late.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={_BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")
    # What people wrote is overwritten when it is deleted, which only some systems' SQLite does unasked.
    connection.execute("PRAGMA secure_delete=ON")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN")


def _translate(context: ExceptionContext) -> None:
    error = context.original_exception
    if not isinstance(context.sqlalchemy_exception, exc.OperationalError | exc.DatabaseError):
        return
    if isinstance(context.sqlalchemy_exception, exc.IntegrityError | exc.ProgrammingError):
        return
    raise _unusable(context.engine.url if context.engine else None, error) from error


def _unusable(url: URL | None, error: BaseException | str | None) -> StoreUnusable:
    where = url.render_as_string(hide_password=True) if url else "the database"
    for sign, words in _WORDS:
        if sign in str(error).lower():
            return StoreUnusable(f"{where} {words}")
    return StoreUnusable(f"{where} cannot be used ({error}); move the file away, or set DATABASE_URL")


def _migrate(engine: Engine) -> None:
    with engine.connect() as connection:
        version = _version(connection)
    if version == HEAD:
        return
    with Writer(engine).begin() as connection:
        version = _version(connection)  # another process may have migrated it meanwhile
        if version == HEAD:
            return
        _upgrade(connection, version)


def _version(connection: Connection) -> str | None:
    table = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").first()
    row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first() if table else None
    return row[0] if row else None


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
            f"{url.render_as_string(hide_password=True)} was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL"
        )
