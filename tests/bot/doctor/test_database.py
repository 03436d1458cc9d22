"""Checks of the processes that share a database, of their work, and of what was given up, as `doctor` tells them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, insert, text
from sqlalchemy.pool import NullPool

from analysis.models import Analysis, Importance, ReadFrom, Repository
from analysis.writing.prompts import VERSION
from bot.doctor.database import connections, database
from bot.doctor.finding import Finding
from bot.settings import Settings
from bot.store import Draft, Mailbox, State, Store, StoredAnalysis
from bot.store.flow_tables import FLOWS_SCHEMA
from bot.store.lease import new_lease
from bot.store.schema import executors
from tests.factories import commit
from tests.servers.databases import empty_database
from tests.servers.postgresql import new_postgresql_database, postgresql_database

NOW = datetime(2026, 2, 6, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield empty_database(tmp_path / "test.db")
    else:
        yield request.getfixturevalue("postgresql")


@pytest.fixture
def postgresql() -> Iterator[str]:
    with postgresql_database() as found:
        yield found


@pytest.fixture
def engine(url: str) -> Engine:
    return create_engine(url, poolclass=NullPool)


def findings(url: str) -> list[Finding]:
    settings = Settings(_env_file=None, database_url=url)
    return list(database(settings, lambda: NOW))


def told(url: str) -> dict[str, str]:
    """Messages by name; nothing of it is a failure."""
    found = findings(url)
    assert not [each for each in found if each.exit_code]
    return {each.name: each.message for each in found}


def process(id_: str, **times: timedelta | None) -> dict[str, object]:
    """A row of a process that began an hour ago; `seen_at` and `ended_at` say how long ago it did that."""
    now = datetime.now(UTC)
    row = {"id": id_, "host": "node-1", "pid": 7, "command": "worker", "version": "0.1.0", "schema_version": "0015"}
    ago = {"started_at": timedelta(hours=1), "seen_at": timedelta(), **times}
    return {**row, "ended_at": None, **{name: now - value for name, value in ago.items() if value is not None}}


def test_a_database_that_nobody_uses(url: str) -> None:
    """Where no bot has run yet, nothing waits, and there is no word of failures."""
    found = told(url)
    assert found["requests"] == "none waits for an answer"
    assert found["flows"] == "none waits or runs"
    assert not [name for name in found if name.startswith("messages")]
    assert ("processes" in found) is url.startswith("postgresql")


def test_each_process_is_named(postgresql: str) -> None:
    """Living, silent and ended processes each have a line with what identifies them; those of earlier days have none."""
    engine = create_engine(postgresql, poolclass=NullPool)
    rows = [
        process("a-silent", seen_at=timedelta(minutes=5)),
        process("an-ended", ended_at=timedelta(hours=2)),
        process("an-old", ended_at=timedelta(days=2)),
    ]
    with engine.begin() as connection:
        connection.execute(insert(executors), rows)
    with new_lease(postgresql, "serve").held():
        found = [each for each in findings(postgresql) if each.name == "process"]
    assert len(found) == 3
    assert any("serve on" in each.message and each.exit_code == 0 for each in found)
    silent, ended = (
        next(each for each in found if word in each.message) for word in ("seen 5 min ago: ", "ended 2 h ago")
    )
    assert "killed, paused or cut off" in silent.message
    assert "worker on node-1, pid 7, version 0.1.0, since " in ended.message
    assert {silent.exit_code, ended.exit_code} == {None}


def test_connections_are_compared_with_what_the_server_allows(postgresql: str) -> None:
    """One process fits, a thousand do not: then the number to allow is named."""
    engine = create_engine(postgresql, poolclass=NullPool)
    [fits], [many] = connections(engine, 1), connections(engine, 1000)
    assert fits.exit_code == 0
    assert "in use; a process opens at most 28" in fits.message
    assert many.exit_code is None
    assert "raise max_connections above 28000, or run fewer processes" in many.message


def test_what_needs_somebody_is_told_with_what_to_do(url: str, engine: Engine) -> None:
    """A request that waits for long, held messages, and refused ones by reason; doctor changes none of them."""
    mailbox = Mailbox(engine)
    mailbox.receive("r1", {}, NOW - timedelta(minutes=25))
    mailbox.freeze([Draft(f"m{number}", "C0DIGEST", {"text": "hello"}) for number in range(5)])
    mailbox.mark("m0", State.HELD, tried_at=NOW, note="Slack does not answer")
    for key in ("m1", "m2"):
        mailbox.mark(key, State.REFUSED, tried_at=NOW, note="is_archived")
    mailbox.mark("m3", State.REFUSED, tried_at=NOW, note="msg_too_long")
    mailbox.mark("m4", State.REFUSED, tried_at=NOW - timedelta(days=8), note="is_archived")
    found = told(url)
    assert found["requests"] == "1 not answered yet, the oldest for 25 min; see whether a process runs, and its log"
    assert found["messages held"].startswith("1, of which")
    assert found["messages refused"].startswith("3 in the last 7 days (2 × is_archived; 1 × msg_too_long); ")
    assert mailbox.counts() == {"held": 1, "refused": 4}
    assert mailbox.waiting() == ["r1"]


def test_what_analyses_used_is_told_by_tier(url: str, engine: Engine) -> None:
    """A row a tier has the calls, tokens and money of what the present prompts made; what rules wrote has none."""
    store, repository = Store(engine), Repository(owner="o", name="n")
    listed = [commit("Change", sha=f"{number}a" * 20, at=NOW) for number in range(3)]
    day = store.save_day(repository, NOW.date(), "UTC", listed=listed, late=[], remarks=[], listed_at=NOW, read_from=ReadFrom.API)  # fmt: skip
    told_by = StoredAnalysis(analysis=Analysis(by="model", summary="x"), importance=Importance.HIGH, calls=2)
    for commit_id, model in zip(day.commit_ids, ("some", "some", "rules"), strict=True):
        used = told_by.model_copy(update={"input_tokens": 700, "output_tokens": 50, "cost_usd": 0.01})
        store.save_analysis(commit_id, "en", model, VERSION, used)
    used_by = "2 analyses by a model with the present prompts: 4 calls, 1,400 tokens in (0 cached), 100 out, $0.0200"
    assert [(each.name, each.message) for each in findings(url) if "importance" in each.name] == [
        ("high importance", used_by)
    ]


def test_flows_are_told_by_queue_and_those_given_up_by_kind(url: str, tmp_path: Path) -> None:
    """What waits and runs has a line a kind and queue, with the age of the oldest; what failed says what to do instead."""
    flows = create_engine(url if url.startswith("postgresql") else f"sqlite:///{tmp_path}/test-flows.db")
    table = f"{FLOWS_SCHEMA}.workflow_status" if url.startswith("postgresql") else "workflow_status"
    now = datetime.now(UTC).timestamp() * 1000
    rows = (
        ("deliver", "PENDING", "slack", 100, "1"),
        ("deliver", "ENQUEUED", "slack", 90, "1"),
        ("deliver", "ENQUEUED", "slack", 200, "1"),
        ("answer", "PENDING", None, 1, "1"),
        ("publish", "ERROR", "publishing", 60, "0"),
        ("deliver", "SUCCESS", "slack", 1, "0"),
    )
    with flows.begin() as connection:
        if url.startswith("postgresql"):
            connection.exec_driver_sql(f"CREATE SCHEMA {FLOWS_SCHEMA}")
        columns = "name text, status text, queue_name text, created_at bigint, application_version text"
        connection.exec_driver_sql(f"CREATE TABLE {table} ({columns})")
        for name, status, queue, seconds, version in rows:
            values = {
                "name": name,
                "status": status,
                "queue": queue,
                "at": int(now - seconds * 1000),
                "version": version,
            }
            connection.execute(text(f"INSERT INTO {table} VALUES (:name, :status, :queue, :at, :version)"), values)
    try:
        found = findings(url)
    finally:
        if url.startswith("postgresql"):
            with flows.begin() as connection:
                connection.exec_driver_sql(f"DROP SCHEMA {FLOWS_SCHEMA} CASCADE")
        flows.dispose()
    flows_told = [f"{each.name}: {each.message}" for each in found if "queue" in each.name]
    assert flows_told == [
        "flows without a queue: 1 answer pending, the oldest for 1 s",
        "queue slack: 2 deliver enqueued, the oldest for 3 min",
        "queue slack: 1 deliver pending, the oldest for 1 min",
    ]
    [failed] = [each for each in found if each.name.startswith("flow ")]
    assert failed.name == "flow publish"
    assert "publish the day with `vllm-digest publish`" in failed.message


def test_a_schema_of_a_newer_program() -> None:
    """What cannot be read is said not to be checked, and the rest is told."""
    with new_postgresql_database() as url:
        engine = create_engine(url, poolclass=NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num text)")
            connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('9999')")
            connection.exec_driver_sql("CREATE TABLE inbox (key text, received_at timestamptz, done_at timestamptz)")
            connection.exec_driver_sql("CREATE TABLE executors (name text)")
        found = {each.name: each for each in findings(url)}
    assert found["database"].exit_code == 2
    assert "upgrade the program" in found["database"].message
    assert "not checked: " in found["processes"].message
    assert found["requests"].message == "none waits for an answer"
    assert {each.exit_code for name, each in found.items() if name != "database"} <= {0, None}


def test_a_new_database_has_nothing_to_tell() -> None:
    """Before the first start there is one line, and no table is created."""
    with new_postgresql_database() as url:
        assert [each.name for each in findings(url)] == ["database"]
        with create_engine(url, poolclass=NullPool).connect() as connection:
            tables = connection.exec_driver_sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").scalar()
    assert tables == 0
