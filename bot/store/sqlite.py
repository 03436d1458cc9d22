"""SQLite: its file and folder, the settings of a connection, the transactions that write, and its errors as ours."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.pool import NullPool

from analysis.errors import BadSetting, StoreUnusable
from bot.store.transactions import BUSY_SECONDS, WRITE_LOCK, WRITING, CountingPool, without_password

# The folder of the default DATABASE_URL. No other folder is created, since its name may be a typo.
_DEFAULT_FOLDER = Path("data")

_SUBSECONDS = (3, 42)  # the first SQLite that knows unixepoch('subsec')
_CHECKPOINT_SECONDS = 0.1  # that a checkpoint waits for others, none of whom can write meanwhile
_CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"
# A program that takes files as arguments; the last one to close a file removes its log.
CLOSE_FILES = f"import sqlite3, sys\nfor each in sys.argv[1:]: sqlite3.connect(each).execute('{_CHECKPOINT}')"
_WORDS = (
    ("unable to open", "cannot be opened; create its folder or permit writing to it, or set DATABASE_URL"),
    ("readonly", "cannot be written; check its permissions, or set DATABASE_URL"),
    ("not a database", "is not a database; move the file away, or set DATABASE_URL"),
    ("malformed", "is damaged; restore a copy, or move the file away to begin anew"),
    ("disk is full", "has no room left; free some disk"),
    ("locked", "is locked by another program; end that one first"),
    ("disk i/o", "cannot be read from its disk; check the disk, or set DATABASE_URL"),
)


def check_url(url: URL) -> None:
    """Raise `BadSetting` if a SQLite URL has a host."""
    if url.host:  # sqlite://folder/file, one slash short
        raise BadSetting("DATABASE_URL: a SQLite URL has three slashes before its file; use sqlite:///data/digest.db")


def new_engine(url: URL) -> Engine:
    """Return an engine on a file, whose default folder is created. Raise the errors of `prepare_folder`."""
    is_file = url.database and url.database != ":memory:"
    if is_file:
        prepare_folder(Path(url.database or ""))
    engine = create_engine(
        url,
        poolclass=CountingPool if is_file else None,
        connect_args={"timeout": BUSY_SECONDS},
        execution_options={WRITE_LOCK: Lock(), WRITING: {"write": True}},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _translate)
    return engine


def read_only_engine(url: URL) -> Engine:
    """Return an engine that only reads, and creates no file; without one it reads an empty database."""
    path = Path(url.database or ":memory:").absolute()

    def connect() -> sqlite3.Connection:
        return _opened_read_only(path) if os.path.exists(path) else sqlite3.connect(":memory:")  # noqa: PTH110 (Path.exists raises without permission)

    return create_engine(url, creator=connect, poolclass=NullPool, hide_parameters=True)


def supply_subseconds() -> None:
    """Let each connection that this process opens know `unixepoch('subsec')`, as the durable engine's own do not.

    On Python 3.12 and newer it takes the time by that function, which is NULL in the SQLite of Debian 12 and Ubuntu 22.04.
    """
    if sqlite3.sqlite_version_info < _SUBSECONDS and not event.contains(Engine, "connect", _add_unixepoch):
        event.listen(Engine, "connect", _add_unixepoch)


def existing_engine(url: URL) -> Engine | None:
    """Return an engine that only reads a file, None if it is new. Raise `StoreUnusable` if it cannot be written."""
    path = Path(url.database or ":memory:")
    check_folder(path)
    is_there = os.path.exists(path)  # noqa: PTH110 (Path.exists raises without permission)
    written = path if is_there else path.parent if path.parent.is_dir() else Path()
    if not os.access(written, os.W_OK):
        raise _unusable(url, "readonly" if is_there else "unable to open")
    engine = read_only_engine(url)
    event.listen(engine, "handle_error", _translate)
    return engine if is_there and path.stat().st_size else None


def truncate_log(url: URL) -> None:
    """Empty a file's write-ahead log, which keeps what was deleted, unless others read it. Raise `StoreUnusable` on failure."""
    log = Path(f"{url.database}-wal")
    try:
        if log.exists() and log.stat().st_size:  # otherwise every connection would read its pages anew
            with closing(sqlite3.connect(str(url.database), timeout=_CHECKPOINT_SECONDS)) as connection:
                connection.execute(_CHECKPOINT)
    except sqlite3.Error as error:
        raise _unusable(url, error) from error


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


def _opened_read_only(path: Path) -> sqlite3.Connection:
    # Without a writer, open it as immutable, which needs and creates no -wal and -shm files.
    alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{alone}", uri=True)


def _set_up(connection: Any, _record: object) -> None:
    # `_begin` starts transactions, not the driver, which would start them too late.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}")
    # What people wrote is overwritten when it is deleted, which only some systems' SQLite does unasked.
    connection.execute("PRAGMA secure_delete=ON")


def _add_unixepoch(connection: Any, _record: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: str) -> float:
    """Return the seconds since 1970 with their milliseconds: nothing else is asked for."""
    if modifier != "subsec":
        raise ValueError(modifier)
    return time.time_ns() // 1_000_000 / 1000


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
    where = without_password(url) if url else "the database"
    for sign, words in _WORDS:
        if sign in str(error).lower():
            return StoreUnusable(f"{where} {words}")
    return StoreUnusable(f"{where} cannot be used ({error}); move the file away, or set DATABASE_URL")
