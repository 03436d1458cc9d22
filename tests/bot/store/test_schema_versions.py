"""Programs of several versions beside each other on one database: which migration may be applied, and who goes on."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from threading import Thread

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from analysis.errors import StoreUnusable
from bot.store import open_engine
from bot.store.database import Condition, condition
from bot.store.executors import Executors, executor_lock
from bot.store.lease import Lease, LeaseLost, new_lease
from bot.store.migrations import HEAD, MIGRATIONS, OLDEST
from bot.store.schema import metadata
from tests.servers.advisory_locks import held, monitoring, wait_until
from tests.servers.postgresql import end_leases, new_postgresql_database, postgresql_database

INSERT = (
    "INSERT INTO executors (id, host, pid, command, version, schema_version, started_at, seen_at)"
    " VALUES (:id, 'h', 1, 'run', :version, :schema, now(), now())"
)
ATTEMPTS = 0.5  # seconds between a process's attempts to reach the database again


@pytest.fixture
def earlier() -> Iterator[Engine]:
    """A database on PostgreSQL as the program of the last schema left it."""
    with new_postgresql_database() as url:
        open_engine(url).dispose()
        engine = create_engine(url, poolclass=NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "CREATE TABLE weights (repository text PRIMARY KEY, body json, fitted_at timestamptz)"
            )
            connection.exec_driver_sql("ALTER TABLE labels DROP COLUMN channel")
            connection.exec_driver_sql("DROP TABLE alerts, breaks, day_edits, seen_releases")
            for column in ("releases", "releases_since", "released_to", "days", "quiet", "quiet_days", "quiet_to"):
                connection.exec_driver_sql(f"ALTER TABLE subscriptions DROP COLUMN {column}")
            connection.exec_driver_sql("ALTER TABLE outbox DROP COLUMN edits")
            connection.exec_driver_sql("ALTER TABLE spending ADD COLUMN reserved_usd float NOT NULL DEFAULT 0")
        stamp(engine, OLDEST, "0015")
        yield engine


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


@contextmanager
def living(engine: Engine, id_: str, version: str, schema_version: str) -> Iterator[None]:
    """A process of a program, as others see it: a row, and a lock on a connection of its own."""
    with closing(engine.connect().execution_options(isolation_level="AUTOCOMMIT")) as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": executor_lock(id_)})
        connection.execute(text(INSERT), {"id": id_, "version": version, "schema": schema_version})
        yield


def refuses(lease: Lease) -> bool:
    """Whether the process may not write to Slack."""
    try:
        lease.check()
    except LeaseLost:
        return True
    return False


def stamp(engine: Engine, latest: str, oldest: str) -> None:
    with engine.begin() as connection:
        row = {"latest": latest, "oldest": oldest}
        connection.execute(text("UPDATE alembic_version SET version_num = :latest, oldest_program = :oldest"), row)


def stamped(engine: Engine) -> tuple[str, str]:
    with engine.connect() as connection:
        latest, oldest = connection.execute(text("SELECT version_num, oldest_program FROM alembic_version")).one()
        return latest, oldest


def test_each_migration_says_which_program_can_work_with_it() -> None:
    """Migrations are in order, and `readable_by` is their own number or that of an earlier one; none lets a program in again."""
    assert list(MIGRATIONS) == sorted(MIGRATIONS)
    readable = [each.readable_by for each in MIGRATIONS.values()]
    assert readable == sorted(readable)
    assert all(each.readable_by <= version for version, each in MIGRATIONS.items())


def test_an_older_program_goes_on_where_a_migration_only_added(database_url: str) -> None:
    """A program opens a newer database that names it or an earlier one as the oldest to work with it, and changes nothing."""
    engine = open_engine(database_url)
    before = stamped(engine)
    stamp(engine, "9999", HEAD)
    try:
        open_engine(database_url).dispose()
        assert condition(database_url) is Condition.NEWER
        assert stamped(engine) == ("9999", HEAD)
    finally:
        stamp(engine, *before)
        engine.dispose()


def test_an_older_program_stops_where_a_migration_changed_more(database_url: str) -> None:
    """A newer database that names a later program as the oldest is refused."""
    engine = open_engine(database_url)
    before = stamped(engine)
    stamp(engine, "9999", "9999")
    try:
        for use in (open_engine, condition):
            with pytest.raises(StoreUnusable, match="written by a newer vllm-digest"):
                use(database_url)
    finally:
        stamp(engine, *before)
        engine.dispose()


def test_a_migration_waits_for_the_end_of_programs_that_could_not_work_with_it(earlier: Engine) -> None:
    """It is refused in a sentence that counts them until they have ended, however that happened; then it brings today's tables."""
    with living(earlier, "a", "0.7", "0009"), living(earlier, "b", "0.7", "0009"), living(earlier, "c", "0.8", "0010"):
        with pytest.raises(StoreUnusable) as refused:
            open_engine(url_of(earlier))
        assert "is used by 3 process(es) of an older vllm-digest, which cannot work" in str(refused.value)
        assert condition(url_of(earlier)) is Condition.BEHIND
    with monitoring(url_of(earlier)) as server:
        wait_until(lambda: not held(server))  # the server ends a closed session a moment later
    open_engine(url_of(earlier)).dispose()
    assert stamped(earlier)[0] == HEAD
    with earlier.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": False}), metadata)
    assert [each for each in differences if "commit_search" not in str(each)] == []


def test_a_process_cut_off_during_a_migration_acts_only_if_it_can_work_with_the_new_schema() -> None:
    """It waits as if the database were away."""
    with postgresql_database() as url:
        engine = create_engine(url, poolclass=NullPool)
        before, lease = stamped(engine), new_lease(url, "run")
        with lease.held() as pool:
            try:
                stamp(engine, "9999", "9999")
                end_leases(url)
                checking = Thread(target=lease.check, daemon=True)
                checking.start()
                checking.join(3 * ATTEMPTS)
                assert checking.is_alive()
            finally:
                stamp(engine, *before)
            checking.join(10)
            assert not checking.is_alive()
            pool.dispose()


def test_a_process_that_is_told_to_end_gives_up_its_lease_after_its_last_write() -> None:
    """Others learn that it ended once no write to Slack is under way any more; from the order to end on it begins none."""
    with postgresql_database() as url:
        ending = new_lease(url, "run")
        with ending.held() as pool:
            others = Executors(pool)
            assert not others.newly_ended()
            releasing = Thread(target=ending.release)
            with ending.writing():
                ending.check()
                releasing.start()
                wait_until(partial(refuses, ending))
                assert not others.newly_ended()
                assert others.dead_among([ending.id]) == []
            releasing.join()
            assert others.newly_ended()
            assert not others.newly_ended()
            assert others.dead_among([ending.id]) == [ending.id]
            pool.dispose()
