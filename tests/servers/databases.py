"""Databases without rows, copied, and statements compiled once: both take much processor time for each new engine."""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, event

from bot.store import open_engine

# Where the bots of tests have their stores: `sqlite`, or `postgresql`.
DATABASES = os.environ.get("TEST_DATABASES", "sqlite")


class _CompiledStatements(dict[tuple[Any, ...], Any]):
    """Compiled statements by their keys, in which the dialect of each engine is replaced by its class."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], value: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), value)


def share_compiled_statements() -> None:
    """Have all engines of this process share what they compiled. Each bot's two new ones would compile all of it again."""
    compiled = _CompiledStatements()

    def use(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)

    event.listen(Engine, "engine_connect", use)


def empty_database(path: Path) -> str:
    """Write a migrated database, unless there is one, and return its URL."""
    if not path.exists():
        path.write_bytes(migrated())
    return f"sqlite:///{path}"


@cache
def migrated() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "empty.db")
        open_engine(f"sqlite:///{path}").dispose()
        return path.read_bytes()
