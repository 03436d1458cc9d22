"""A PostgreSQL for all tests of a run, with a database for each that wants one."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import gettempdir

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from bot.store import open_engine
from bot.store.schema import metadata
from tests.servers.postgresql_server import PostgresqlServer

_END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
_KEPT = ("alembic_version", "dbos_migrations", "application_versions", "queues")
# Without its triggers, foreign keys ask for no order of deletions.
_EMPTY = f"""
SET session_replication_role = replica;
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename != ALL ('{{{",".join(_KEPT)}}}')
  LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
  PERFORM setval(format('%I.%I', schemaname, sequencename), start_value, false) FROM pg_sequences;
END $$;
"""
_CONNECTIONS = 300  # eight workers have a bot with two pools each
_TEMPLATE = "a_bot_ran_here"
_RUN = os.getpid()  # of the process that forks those of the tests
_numbers = count()
_free: list[str] = []  # migrated databases that a test of this process has left
_left: list[str] = []  # those in which bots ran, likewise
_of_folders: dict[Path, str] = {}


@contextmanager
def postgresql_database() -> Iterator[str]:
    """Yield the URL of a migrated database without rows, which is emptied for the next test afterwards: that is quicker than a new one."""
    name = _free.pop() if _free else _create_migrated()
    yield _url(name)
    with _connected(name) as connection:
        connection.exec_driver_sql(_END_OTHERS)
        tables = ", ".join(f'"{table}"' for table in [*metadata.tables, "commit_search"])
        connection.exec_driver_sql(f"TRUNCATE {tables} RESTART IDENTITY")
    _free.append(name)


def executed(url: str, *statements: str) -> None:
    """Execute statements as a person would by hand, each in a transaction of its own."""
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def end_leases(url: str) -> None:
    """End the connections that hold leases, as a restart of the server or a cut does."""
    of_leases = "datname = current_database() AND application_name = 'vllm-digest lease'"
    executed(url, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {of_leases}")


def postgresql_database_of(folder: Path, run_bot: Callable[[str], object]) -> str:
    """Return the URL of the database of the bot in a folder, which stays its own until `leave_postgresql` is called.

    It is a copy of one that `run_bot` was called with once in the run of the tests.
    """
    if folder not in _of_folders:
        _of_folders[folder] = _left.pop() if _left else _copy_template(run_bot)
    return _url(_of_folders[folder])


def leave_postgresql(folder: Path) -> None:
    """Empty the databases of the bots in a folder and in those below it, for the bots of other tests."""
    for each in [each for each in _of_folders if each.is_relative_to(folder)]:
        name = _of_folders.pop(each)
        _empty(name)
        _left.append(name)


@contextmanager
def new_postgresql_database(options: str = "") -> Iterator[str]:
    """Create a database without tables, yield its URL, and drop it."""
    name = _new_name()
    with _connected() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
    try:
        yield _url(name)
    finally:
        with _connected() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def _empty(name: str) -> None:
    with _connected(name) as connection:
        connection.exec_driver_sql(_END_OTHERS)
        connection.exec_driver_sql(_EMPTY, execution_options={"no_parameters": True})


@contextmanager
def _connected(database: str = "postgres") -> Iterator[Connection]:
    engine = create_engine(_url(database), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection


def _create_migrated() -> str:
    name = _new_name()
    with _connected() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE template0")
    open_engine(_url(name)).dispose()
    return name


def _copy_template(run_bot: Callable[[str], object]) -> str:
    with _connected() as connection:
        # Held by one worker at a time, also because a template that somebody copies can be copied by nobody else.
        connection.exec_driver_sql("SELECT pg_advisory_lock(1)")
        names = connection.exec_driver_sql("SELECT datname FROM pg_database").scalars().all()
        if _TEMPLATE not in names:
            made = _create_migrated()
            run_bot(_url(made))
            _empty(made)
            connection.exec_driver_sql(f"ALTER DATABASE {made} RENAME TO {_TEMPLATE}")
        name = _new_name()
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
    return name


def _new_name() -> str:
    return f"test_{os.getpid()}_{next(_numbers)}"


def _url(database: str) -> str:
    return _server().url(database)


@cache
def _server() -> PostgresqlServer:
    """Start the run's server, or join it."""
    folder = Path(gettempdir(), f"vllm-digest-postgresql-{_RUN}")
    with folder.with_name("vllm-digest-postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Nothing here outlives the run: it need not reach a disk.
        off = ("fsync", "synchronous_commit", "full_page_writes")
        return PostgresqlServer(folder, dict.fromkeys(off, "off") | {"max_connections": str(_CONNECTIONS)})
