"""The status of a bot of several processes, on PostgreSQL, and what it says of work that waits or was given up."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from socket import gethostname
from typing import cast

import pytest
from sqlalchemy import Engine

from bot.services.breaks import BreakLives
from bot.slack.commands.status import BotStatus
from bot.slack.web import Web
from bot.store import Mailbox, Store, open_engine
from bot.store.executors import Executors
from bot.store.flow_tables import FLOWS_SCHEMA, FlowTables
from bot.store.lease import new_lease
from tests.servers.postgresql import new_postgresql_database

pytestmark = pytest.mark.own_database
NOW = datetime(2026, 2, 6, 12, tzinfo=UTC)
_FLOWS = f"{FLOWS_SCHEMA}.workflow_status"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with new_postgresql_database() as found:
        yield found


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    opened = open_engine(url)
    yield opened
    opened.dispose()


@pytest.fixture
def status(engine: Engine) -> BotStatus:
    web, flows, store = Web("", "http://127.0.0.1:9/api/"), FlowTables(engine), Store(engine)
    lives = cast(BreakLives, None)  # which the lines of the whole bot do not have
    return BotStatus(store, Mailbox(engine), None, web, Executors(engine), flows, lives, lambda: NOW)


def test_processes_are_counted_by_command(url: str, status: BotStatus) -> None:
    """A line says how many processes run and as what, in both languages, without the name of a machine."""
    with ExitStack() as stack:
        for command in ("run", "worker", "worker"):
            stack.enter_context(new_lease(url, command).held())
        english, chinese = status.rows("en"), status.rows("zh")
    assert english[0] == "Processes: 3 (run, 2 × worker)"
    assert chinese[0] == "运行中的进程：3（run, 2 × worker）"
    assert gethostname() not in "".join(english)
    assert not [row for row in status.rows("en") if row.startswith("Processes")]


def test_what_waits_for_long_or_was_given_up_is_told(engine: Engine, status: BotStatus) -> None:
    """A request older than a minute and flows that failed have a line each; without them there is none."""
    assert not [row for row in status.rows("en") if "⚠️" in row]
    Mailbox(engine).receive("r1", {}, NOW - timedelta(seconds=50))
    assert not [row for row in status.rows("en") if "⚠️" in row]
    Mailbox(engine).receive("r0", {}, NOW - timedelta(minutes=3))
    began = int(datetime.now(UTC).timestamp() * 1000)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {FLOWS_SCHEMA}")
        connection.exec_driver_sql(
            f"CREATE TABLE {_FLOWS} (name text, status text, queue_name text, created_at bigint)"
        )
        connection.exec_driver_sql(f"INSERT INTO {_FLOWS} VALUES ('deliver', 'ERROR', 'slack', {began})")
    assert [row for row in status.rows("en") if "⚠️" in row] == [
        "⚠️ The oldest request has been waiting for 3 min",
        "⚠️ Deliveries and answers given up in the last 7 days: 1",
    ]
    assert "⚠️ 最早的请求已等待 3 分钟" in status.rows("zh")
