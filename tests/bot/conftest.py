"""Databases of both kinds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
