"""Stores on both kinds of databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.store import Store, open_engine
from tests.servers.databases import empty_database
from tests.servers.postgresql import postgresql_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database without rows, of either kind."""
    if request.param == "sqlite":
        yield empty_database(tmp_path / "test.db")
    else:
        with postgresql_database() as url:
            yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    opened = open_engine(database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine)
