"""What SQLite is lent, whose version is whatever Python was built with."""

import time

from sqlalchemy import create_engine

from bot.store.sqlite import supply_subseconds

_MILLISECONDS = "CREATE TABLE flows (created_at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))"


def test_the_time_is_told_in_milliseconds_by_any_sqlite() -> None:
    """An engine made by a library, before or after, fills in the default that the durable engine's tables have on Python 3.12."""
    earlier = create_engine("sqlite://")
    supply_subseconds()
    for engine in (earlier, create_engine("sqlite://")):
        before = time.time_ns() // 1_000_000
        with engine.connect() as connection:
            connection.exec_driver_sql(_MILLISECONDS)
            connection.exec_driver_sql("INSERT INTO flows DEFAULT VALUES")
            created_at = connection.exec_driver_sql("SELECT CAST(created_at AS INTEGER) FROM flows").scalar_one()
        engine.dispose()
        assert before - 1 <= created_at <= time.time_ns() // 1_000_000
