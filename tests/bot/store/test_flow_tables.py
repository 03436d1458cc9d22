"""Counts read from the durable engine's tables, beside what the engine itself says of its flows."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from dbos import DBOS, SetEnqueueOptions
from sqlalchemy import create_engine

from analysis.errors import StoreUnusable
from bot.store.flow_tables import FLOWS_SCHEMA, FlowTables, flow_tables
from bot.store.lease import flows_url
from tests.servers.postgresql import new_postgresql_database

WEEK = timedelta(days=7)
_PATIENCE = 20  # seconds


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of the engine's tables, of which there are none yet."""
    if request.param == "sqlite":
        yield flows_url(f"sqlite:///{tmp_path}/bot.db")
    else:
        with new_postgresql_database() as found:
            yield found


@pytest.fixture
def tables(url: str) -> Iterator[FlowTables]:
    with flow_tables(url) as found:
        yield found


@pytest.fixture
def work(url: str) -> Iterator[None]:
    """An engine with a flow that failed, one that runs and two that wait for it in a queue."""
    DBOS(
        config={
            "name": "vllm-digest",
            "system_database_url": url,
            "dbos_system_schema": FLOWS_SCHEMA,
            "log_level": "CRITICAL",
            "notification_listener_polling_interval_sec": 0.05,
        }
    )
    ending, begun = Event(), Event()

    @DBOS.workflow(name="wait")
    def wait() -> None:
        begun.set()
        ending.wait(_PATIENCE)

    @DBOS.workflow(name="fail")
    def fail() -> None:
        raise ValueError("as it has to")

    DBOS.launch()
    DBOS.register_queue("slack", partition_concurrency=1, polling_interval_sec=0.05)
    with pytest.raises(ValueError, match="as it has to"):
        fail()
    for _ in range(3):
        with SetEnqueueOptions(queue_partition_key="C0DIGEST"):
            DBOS.enqueue_workflow("slack", wait)
    assert begun.wait(_PATIENCE)
    yield
    ending.set()
    DBOS.destroy(workflow_completion_timeout_sec=_PATIENCE)


def test_flows_are_those_that_the_engine_lists(work: None, tables: FlowTables) -> None:
    """What waits and runs is counted by name, status and queue, with the age of the oldest; what failed, for the time asked."""
    del work
    found = {(each.name, each.status, each.queue): each for each in tables.in_flight()}
    listed = DBOS.list_workflows(status=["PENDING", "ENQUEUED"])
    assert {key: each.number for key, each in found.items()} == {
        ("wait", "enqueued", "slack"): 2,
        ("wait", "pending", "slack"): 1,
    }
    assert len(listed) == sum(each.number for each in found.values())
    assert timedelta() <= found["wait", "enqueued", "slack"].oldest <= timedelta(seconds=_PATIENCE)
    assert found["wait", "enqueued", "slack"].oldest <= found["wait", "pending", "slack"].oldest
    assert tables.failed(WEEK) == {"fail": 1}
    assert tables.failed(timedelta()) == {}
    assert (tables.open_partitions("slack"), tables.open_partitions("publishing")) == (1, 0)


def test_there_is_nothing_before_the_first_start(tables: FlowTables, tmp_path: Path) -> None:
    """Without the engine's tables nothing is in flight, and reading that creates no file."""
    assert tables.in_flight() == []
    assert tables.failed(WEEK) == {}
    assert list(tmp_path.iterdir()) == []


def test_tables_of_another_form_are_an_error_in_words(url: str, tables: FlowTables) -> None:
    """A column that a newer engine named anew is reported in a sentence."""
    engine = create_engine(url)
    table = "workflow_status"
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"CREATE SCHEMA {FLOWS_SCHEMA}")
            table = f"{FLOWS_SCHEMA}.{table}"
        connection.exec_driver_sql(f"CREATE TABLE {table} (name text, state text)")
    engine.dispose()
    with pytest.raises(StoreUnusable, match=r"cannot be read by this version of vllm-digest .*status"):
        tables.in_flight()
