"""The tables of a bot in another process, its store's and its engine's, read without touching what a kill left there."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, exc, make_url
from sqlalchemy.pool import NullPool

from bot.store.lease import flows_url

_PATIENCE = 30  # seconds for a server that is restarted
_T = TypeVar("_T")
_ENGINE_FIRST = {"options": "-c search_path=vllm_digest_flows,public"}


class Tables:
    """The tables at a DATABASE_URL. On SQLite the engine's are in a file of their own, on PostgreSQL in a schema."""

    def __init__(self, database_url: str) -> None:
        self._store = _readable(database_url)
        self._flows = _readable(flows_url(database_url), **_ENGINE_FIRST)
        self._writable = create_engine(
            flows_url(database_url), poolclass=NullPool, connect_args=_arguments(database_url, **_ENGINE_FIRST)
        )

    def rows(self, query: str, *, flows: bool = False) -> list[tuple[Any, ...]]:
        """What the store says, or the engine's tables, which are not there at first."""
        engine = self._flows if flows else self._store

        def read() -> list[tuple[Any, ...]]:
            with engine.connect() as connection:
                if flows and not engine.dialect.has_table(connection, "workflow_status"):
                    return []
                return [tuple(row) for row in connection.exec_driver_sql(query)]

        return _patiently(read)

    def change_flows(self, statement: str) -> None:
        """Execute a statement in the engine's tables, if they are there."""
        with self._writable.begin() as connection:
            if self._writable.dialect.has_table(connection, "workflow_status"):
                connection.exec_driver_sql(statement)


def _readable(url: str, **arguments: str) -> Engine:
    if make_url(url).get_backend_name() == "sqlite":
        path = make_url(url).database
        return create_engine(f"sqlite:///file:{path}?mode=ro&uri=true", poolclass=NullPool)
    return create_engine(url, poolclass=NullPool, connect_args=_arguments(url, **arguments))


def _arguments(url: str, **arguments: str) -> dict[str, Any]:
    return {} if make_url(url).get_backend_name() == "sqlite" else arguments


def _patiently(read: Callable[[], _T]) -> _T:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return read()
        except exc.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
