"""Stores on both kinds of databases."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bot.store import Store, open_engine
from tests.servers.postgresql import postgresql_database


@pytest.fixture
def url() -> Iterator[str]:
    """A database on PostgreSQL."""
    with postgresql_database() as found:
        yield found


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    opened = open_engine(database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine)
