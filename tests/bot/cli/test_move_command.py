"""The command `move`, killed and run again, and what it refuses."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dbos import DBOS
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from analysis.models import Repository
from bot.store import Draft, Mailbox, Store, open_engine
from bot.store.flow_tables import FLOWS_SCHEMA
from bot.store.lease import flows_url
from tests.conftest import Run
from tests.factories import commit, file
from tests.servers.databases import empty_database
from tests.servers.launched import begun
from tests.servers.postgresql import new_postgresql_database

COMMITS = 3_000


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A store with commits and messages."""
    url = empty_database(tmp_path / "source.db")
    engine = open_engine(url)
    store, mailbox = Store(engine), Mailbox(engine)
    for number in range(40):
        sha = f"{number:040x}"
        store.save_commit(
            Repository(owner="o", name="n"), commit(f"Change {number}", [file("a.py", "+x")], sha=sha), ()
        )
    mailbox.freeze([Draft(f"digest:{number}", "C1", {"text": "t" * 100}) for number in range(COMMITS)])
    store.close()
    return url


@contextmanager
def locked(url: str, table: str) -> Iterator[Callable[[], bool]]:
    """Let nobody write to a table until the block ends. Yields whether somebody waits to."""
    waiting = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
    with create_engine(url, poolclass=NullPool).connect() as connection:
        connection.exec_driver_sql(f"LOCK TABLE {table} IN SHARE MODE")
        yield lambda: bool(connection.exec_driver_sql(waiting).scalar_one())


def test_a_move_that_is_killed_at_any_moment_begins_again(source: str, run: Run, tmp_path: Path) -> None:
    """Killed before each of two tables is written and run again, it ends with every row once, and says so a line a table."""
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    with new_postgresql_database() as target:
        open_engine(
            target
        ).dispose()  # makes the tables, as the next line does the engine's, which waits for every transaction
        DBOS.migrate(flows_url(target), schema=FLOWS_SCHEMA)
        for table in ("commits", "outbox"):
            with locked(target, table) as is_waited_for:
                process = begun(["move", source, target], tmp_path, environment, [Path(os.devnull)] * 3)
                while process.exitcode is None and not is_waited_for():
                    time.sleep(0.01)
                assert process.pid
                os.kill(process.pid, signal.SIGKILL)
                process.join()
            assert process.exitcode == -signal.SIGKILL
        ran = run("move", source, target)
        outbox = [line.split()[:2] for line in ran.out.splitlines() if line.startswith("outbox")]
        assert (ran.code, outbox) == (0, [["outbox", f"{COMMITS:,}"]]), ran.err
        store = Store(open_engine(target))
        assert store.count(Repository(owner="o", name="n")) == len(store.search_index.search("change", limit=100)) == 40
        store.close()
        again = run("move", source, target)
        assert (again.code, again.out) == (2, "")
        assert "holds data already" in again.err


@pytest.mark.parametrize(
    ("ends", "words", "code"),
    [
        (("sqlite:///none.db", "sqlite:///new.db"), "has nothing to move", 2),
        (("sqlite:///source.db", "sqlite:///source.db"), "both ends", 2),
        (("sqlite:///source.db", "mysql://me:hunter2@host/x"), "the URL: 'mysql' databases are not supported", 2),
        (("sqlite:///source.db", "postgresql+psycopg://me:hunter2@127.0.0.1:9/x"), "does not answer; start it", 3),
        (("sqlite:///source.db", "sqlite:///no/folder/x.db"), "the URL: folder no/folder does not exist", 2),
        (("sqlite:///source.db",), "TO", 2),
    ],
)
def test_what_cannot_be_moved_is_one_line(
    ends: tuple[str, ...], words: str, code: int, run: Run, tmp_path: Path
) -> None:
    """Two ends that make no move are exit 2 with the reason, 3 where a server does not answer; no password is shown, and no database created."""
    empty_database(tmp_path / "source.db")
    ran = run("move", *ends)
    assert words in ran.err
    assert "hunter2" not in ran.err
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert not [each for each in tmp_path.iterdir() if each.name not in {"source.db", "source.db.lock"}]
