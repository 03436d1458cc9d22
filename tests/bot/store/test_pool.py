"""A wait for a connection that is in vain: a failure that passes, after which a step of a flow is tried again."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from analysis.errors import StoreAway
from bot.store.transactions import CountingPool, passing_failures


def test_a_wait_in_vain_is_a_failure_that_passes(tmp_path: Path) -> None:
    """While every connection is in use, the next one is refused with an error of the store, which is counted."""
    url = f"sqlite:///{tmp_path}/busy.db"
    engine = create_engine(url, poolclass=CountingPool, pool_size=1, max_overflow=0, pool_timeout=0.01)
    before = passing_failures()
    with engine.connect(), pytest.raises(StoreAway, match="every connection to the database is in use"):
        engine.connect()
    assert passing_failures() == before + 1
    engine.connect().close()  # once it is free again
    engine.dispose()


def test_the_stores_connections_are_counted(engine: Engine) -> None:
    """Whatever the database, its store waits for connections so."""
    assert isinstance(engine.pool, CountingPool)
