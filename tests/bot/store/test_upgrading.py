"""Databases of other versions of the program: that of the last schema goes on to work, an older or newer one is left alone."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bot.store import open_engine
from bot.store.schema import metadata
from loopback.slack import LoopbackSlack
from tests.conftest import Run, recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk

Serve = Callable[..., FaultyGitHub]
KEPT = Path(__file__).resolve().parents[2] / "data" / "store-0020.sql"  # the first schema whose stores are kept
SHA = recorded(1)["sha"]
AT = "2026-02-05 12:01:00.000000"
SLACK = {"SLACK_BOT_TOKEN": "xoxb-x", "SLACK_APP_TOKEN": "xapp-x", "SLACK_SIGNING_SECRET": "x"}


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """What a program of that schema had written: a day with a commit, what its analysis cost, and what Slack asked and was told."""
    yield "repositories", {"id": 7, "key": "o/n"}
    kept = recorded(1)
    names = {"author": "Core Team", "message": kept["message"], "title": "[Core] Change part 1", "pull": None, "pr": 1}
    counts = {"additions": 1, "deletions": 1, "read": 1, "facts": "[]", "facts_version": 0, "parents": "[]"}
    yield (
        "commits",
        {"id": 3, "repository_id": 7, "sha": SHA, "url": f"https://github.example/o/n/commit/{SHA}"}
        | {"authored_at": AT, "committed_at": AT, **names, **counts},
    )
    [file] = kept["files"]
    patch = {"patch": zlib.compress(file["patch"].encode()), "additions": 1, "deletions": 1, "status": "modified"}
    yield "files", {"commit_id": 3, "position": 0, "path": file["filename"], **patch}
    day = {"date": "2026-02-05", "timezone": "UTC", "listed_at": "2026-02-06 00:10:00.000000", "remarks": "[]"}
    yield "days", {"id": 5, "repository_id": 7, **day}
    yield "day_commits", {"day_id": 5, "position": 0, "commit_id": 3, "late": 0}
    words = {"title": "[Core] Change part 1", "message": "", "paths": "pkg part1 py", "code": "", "summary": ""}
    yield "commit_search", {"rowid": 3, **words}
    yield "spending", {"date": "2026-02-06", "purpose": "analysis", "reserved_usd": 0.0, "spent_usd": 0.25}
    terms = {"time": "09:00", "timezone": "UTC", "language": "en", "note": ""}
    since = {"created_at": "2026-02-01 10:00:00.000000", "started_to": "2026-02-04"}
    yield "subscriptions", {"id": 4, "channel": DIGEST, "repository": "o/n", **terms, **since}
    asked: dict[str, Any] = {
        "key": "message:C0DIGEST:1770000000.000100",
        "kind": "message",
        "user": ADA,
        "channel": DIGEST,
    }
    asked |= {"text": "<@U0BOT> #1", "ts": "1770000000.000100", "mentioned": True}
    yield "inbox", {"key": asked["key"], "body": json.dumps(asked), "received_at": AT}
    yield "threads", {"channel": DIGEST, "ts": "1770000000.000200", "about": f"o/n|{SHA}|en"}
    told = {"channel": DIGEST, "content": '{"text": "x", "blocks": []}', "state": "sent", "ts": "1770000000.000200"}
    yield "outbox", {"key": "commit:o/n:010101010101:adhoc-1:C0DIGEST:000", "about": f"o/n|{SHA}|en", **told}
    yield "turns", {"name": "channel C0DIGEST", "free_at": "2026-02-05 09:00:00.000000"}


def written_by_last_schema(file: Path) -> None:
    """A database of the first schema that is kept, and what was written into it then."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("pragma journal_mode = wal")
        database.executescript(KEPT.read_text("utf-8"))
        for table, row in rows():
            insert(database, table, row)


def insert(database: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    places = ", ".join("?" * len(row))
    database.execute(f"insert into {table} ({', '.join(row)}) values ({places})", tuple(row.values()))


def found(file: Path, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        select = f"select rowid, * from {table}" if table == "commit_search" else f"select * from {table}"
        return [dict(each) for each in connection.execute(select)]


def test_nothing_that_was_written_is_lost(tmp_path: Path) -> None:
    """Every row of a database of the last schema is there after its migration, value by value, in the tables of the code."""
    file = tmp_path / "bot.db"
    written_by_last_schema(file)
    engine = open_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": False}), metadata)
    assert [each for each in differences if "commit_search" not in str(each)] == []
    engine.dispose()
    for table, row in rows():
        [kept] = found(file, table)
        row.pop("reserved_usd", None)  # which repeated a sum
        assert {name: kept[name] for name in row} == row


def test_a_command_reads_what_an_earlier_program_stored(run: Run, tmp_path: Path) -> None:
    """A day that was read before comes from the store of an earlier version: nobody is asked for it."""
    written_by_last_schema(tmp_path / "bot.db")
    ran = run("digest", "2026-02-05", DATABASE_URL=f"sqlite:///{tmp_path / 'bot.db'}")
    assert (ran.code, ran.err) == (0, "")
    assert "Change part 1" in ran.out
    assert "Change part 1" in run("search", "change", DATABASE_URL=f"sqlite:///{tmp_path / 'bot.db'}").out


def test_a_bot_goes_on_where_an_earlier_one_was(serve: Serve, tmp_path: Path) -> None:
    """The digest that is due comes, from what was stored, and what somebody had asked is answered."""
    written_by_last_schema(tmp_path / "bot.db")
    clock = SettableClock(datetime(2026, 2, 6, 8, tzinfo=UTC), speed=20)
    github = serve(recorded(1))
    with LoopbackSlack(now=clock.timestamp, pace=False) as slack:
        slack.workspace.post(DIGEST, ADA, text="the thread that was open")
        with Talk(slack, github.url, tmp_path, now=clock, digest_channel=[DIGEST]) as talk:
            clock.set(datetime(2026, 2, 6, 9, tzinfo=UTC))
            slack.wait_for(lambda: any(each.files for each in slack.workspace.visible(DIGEST)), 30)
            talk.settle()
        assert [(call.method, call.response) for call in slack.refusals if "thread" not in str(call.response)] == []
    roots = [each for each in slack.channel(DIGEST) if each.by_bot and "2026-02-05" in each.text]
    assert len(roots) == 1
    assert "Change part 1" in "".join(whole(each) for each in slack.thread(DIGEST, roots[0].ts))
    assert github.asked(r"/commits/01\w+$") == 0
    subscriptions = found(tmp_path / "bot.db", "subscriptions")
    assert [(each["repository"], each["least"], each["paths"], each["started_to"]) for each in subscriptions] == [
        ("o/n", "low", "", "2026-02-05")
    ]
    assert not [each for each in found(tmp_path / "bot.db", "inbox") if each["done_at"] is None]


@pytest.mark.parametrize(
    "arguments",
    [["digest", "2026-02-05"], ["run"]],
    ids=lambda arguments: arguments[0],
)
def test_a_newer_database_is_left_alone(arguments: list[str], run: Run, tmp_path: Path) -> None:
    """A program that cannot work with a newer one's database says so in one line, ends with 2, and has not touched it."""
    file = tmp_path / "bot.db"
    open_engine(f"sqlite:///{file}").dispose()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update alembic_version set version_num = '9999', oldest_program = '9999'")
    before = sha256(file.read_bytes()).hexdigest()
    ran = run(*arguments, DATABASE_URL=f"sqlite:///{file}", SLACK_API_URL="http://127.0.0.1:9/api/", **SLACK)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "bot.db was written by a newer vllm-digest; upgrade the program, or set DATABASE_URL" in ran.err
    assert sha256(file.read_bytes()).hexdigest() == before


def test_a_database_older_than_the_last_schema_is_refused(run: Run, tmp_path: Path) -> None:
    """What is not read any more is left alone, and one line says what to do."""
    file = tmp_path / "bot.db"
    written_by_last_schema(file)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update alembic_version set version_num = '0019'")
    before = sha256(file.read_bytes()).hexdigest()
    ran = run("digest", "2026-02-05", DATABASE_URL=f"sqlite:///{file}")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "written by an earlier vllm-digest, whose stores this one does not read; move it away" in ran.err
    assert sha256(file.read_bytes()).hexdigest() == before
