"""A move of the store to another database: every row once, equal, whatever interrupts it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Column, Date, Float, Integer, delete, insert, select, update

from analysis.errors import Misuse, StoreUnusable
from analysis.models import Analysis, Importance, Repository
from bot.models.progress import Progress
from bot.move import TABLES, move_store
from bot.store import Store, StoredAnalysis, open_engine
from bot.store.column_types import Instant
from bot.store.database import engine_as_it_is
from bot.store.executors import TIMING
from bot.store.lease import held_alone, new_lease
from bot.store.schema import commits, executors, files, inbox, metadata, outbox, subscriptions
from tests.factories import commit, file
from tests.servers.databases import empty_database
from tests.servers.postgresql import new_postgresql_database, postgresql_database

NOW = datetime(2026, 2, 6, 9, tzinfo=UTC)
WITHOUT_GRACE = TIMING._replace(renewal=timedelta(0))  # although the server has just started
ROWS = 3  # of each table
REPOSITORY = Repository(owner="o", name="n")
PATCH = "@@ -1 +1 @@\n-old\n+" + "wärme " * 500

Make = Callable[[str, str], str]


class Silent(Progress):
    """Progress that nobody sees; it stops the move at the stage `until`, once it has begun to advance there."""

    def __init__(self, until: str = "") -> None:
        self.stages: list[str] = []
        self._until = until

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def advance(self, steps: int = 1) -> None:
        del steps
        if self._until == self.stages[-1]:
            raise InterruptedError


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes databases of either kind: migrated ones to move from, new ones to move to."""
    with ExitStack() as stack:

        def database(kind: str, name: str) -> str:
            if kind == "sqlite":
                path = tmp_path / f"{name}.db"
                return empty_database(path) if name == "source" else f"sqlite:///{path}"
            return stack.enter_context(postgresql_database() if name == "source" else new_postgresql_database())

        yield database


def a_value(column: Column[Any], number: int) -> Any:
    """A value that one database could spoil on its way to the other."""
    if column.foreign_keys:
        return number
    if column.primary_key and isinstance(column.type, Integer):
        return number
    if column.name == "words_version":
        return 0  # a commit that was not read is in no index
    if column.name == "words_are_all":
        return None
    by_type = {
        Boolean: False,
        Integer: number * 1_000,
        Float: 0.1 + number / 3,
        Date: date(2026, 2, number),
        Instant: NOW + timedelta(microseconds=number),
        JSON: {"deep": [1, 2.5, None, {"é": "nul \0, a sign 🔴"}], "number": number},
    }
    found = next((value for kind, value in by_type.items() if isinstance(column.type, kind)), None)
    return f"{number} ünïcode 好 'quoted' \\ {column.name}" if found is None else found


def fill(url: str) -> None:
    """Fill every table, and store one commit as the bot does."""
    engine = open_engine(url)
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            rows = [{each.name: a_value(each, number) for each in table.c} for number in range(1, ROWS + 1)]
            connection.execute(insert(table), rows)
        for table in (each for each in metadata.sorted_tables if "id" in each.c and engine.dialect.name != "sqlite"):
            connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {ROWS})")
    store = Store(engine)
    stored = store.save_commit(REPOSITORY, commit("Warm the cache", [file("a/b.py", PATCH)]), ())
    analysis = StoredAnalysis(analysis=Analysis(by="model", summary="Makes zebras faster."), importance=Importance.LOW)
    store.save_analysis(stored, "en", "m", "1", analysis)
    store.close()


def move(source: str, target: str, progress: Silent | None = None) -> dict[str, int]:
    """Move everything, as the command does, and return table -> rows."""
    return move_store(source, target, progress or Silent(), WITHOUT_GRACE)[0]


def every_row(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, as a program reads them."""
    engine = open_engine(url)
    with engine.connect() as connection:
        found = {
            table.name: [
                tuple(row) for row in connection.execute(select(table).order_by(*(table.primary_key or table.c[:1])))
            ]
            for table in TABLES
        }
    engine.dispose()
    return found


def change(url: str, *statements: Any) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        for each in statements:
            connection.execute(each)
    engine.dispose()


@pytest.mark.parametrize(("one", "other"), [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite")])
def test_every_row_of_every_table_arrives(one: str, other: str, make: Make) -> None:
    """Whatever a table holds is equal in the new database, is found there by search, and new rows get ids of their own."""
    source, target = make(one, "source"), make(other, "target")
    fill(source)
    copied = move(source, target)
    assert set(copied) == set(metadata.tables) - {"executors", "reservations"} | {"commit_search"}
    assert all(rows >= ROWS for name, rows in copied.items() if name != "commit_search")
    assert every_row(target) == every_row(source)
    store = Store(open_engine(target))
    for words in ("cache", "zebras"):
        assert [each.commit.title for each in store.search_index.search(words)] == ["Warm the cache"]
    assert store.search_index.outdated() == 0
    after = store.save_commit(REPOSITORY, commit("Cool the cache", sha="a" * 40), ())
    store.close()
    assert after == ROWS + 2


def test_what_postgresql_cannot_store_is_replaced(make: Make) -> None:
    """A NUL becomes the sign that PostgreSQL's store writes for it, and a long title is cut."""
    source, target = make("sqlite", "source"), make("postgresql", "target")
    fill(source)
    change(source, update(commits).where(commits.c.id == 1).values(title="t" * 1000, message="before\0after"))
    change(source, update(outbox).where(outbox.c.channel == a_value(outbox.c.channel, 2)).values(key="new\0key"))
    move(source, target)
    rows = every_row(target)
    names = list(commits.c.keys())
    assert (rows["commits"][0][names.index("title")], rows["commits"][0][names.index("message")]) == (
        "t" * 600,
        "before\N{REPLACEMENT CHARACTER}after",
    )
    assert "new\N{REPLACEMENT CHARACTER}key" in {row[0] for row in rows["outbox"]}


@pytest.mark.parametrize(
    ("other", "stage"), [("sqlite", "commits"), ("postgresql", "commit_search"), ("postgresql", "outbox")]
)
def test_an_interrupted_move_begins_again_from_a_changed_source(other: str, stage: str, make: Make) -> None:
    """What was added, changed or deleted meanwhile is so in the new database too, in its rows and its search index."""
    source, target = make("sqlite", "source"), make(other, "target")
    fill(source)
    with pytest.raises(InterruptedError):
        move(source, target, Silent(stage))
    key = subscriptions.c.id == 2
    with_key = {each.name: a_value(each, 2) for each in subscriptions.c} | {"id": 9}
    engine = open_engine(source)
    Store(engine).save_analysis(
        ROWS + 1,
        "zh",
        "m",
        "1",
        StoredAnalysis(analysis=Analysis(by="model", summary="Walruses."), importance=Importance.LOW),
    )
    engine.dispose()
    change(
        source,
        delete(subscriptions).where(key),
        insert(subscriptions).values(with_key),
        delete(files).where(files.c.commit_id == 1),
        update(commits).where(commits.c.id == 2).values(message="changed"),
        insert(inbox).values(key="new", body={}, received_at=NOW),
    )
    move(source, target)
    assert every_row(target) == every_row(source)
    store = Store(open_engine(target))
    assert [len(store.search_index.search(words)) for words in ("cache", "zebras", "walruses")] == [1, 1, 1]
    store.close()


def test_a_database_that_is_nothing_to_move_is_refused(make: Make, tmp_path: Path) -> None:
    """One that is not there, one of an earlier program, one with data, and the source itself are each refused in a sentence."""
    source, target = make("sqlite", "source"), make("sqlite", "target")
    with pytest.raises(Misuse, match="has nothing to move"):
        move(f"sqlite:///{tmp_path}/none.db", target)
    fill(source)
    (tmp_path / "linked.db").symlink_to(tmp_path / "source.db")
    with pytest.raises(Misuse, match="both ends"):
        move(source, f"sqlite:///{tmp_path}/linked.db")
    with pytest.raises(Misuse, match="holds data already"):
        move(empty_database(tmp_path / "empty.db"), source)
    engine = engine_as_it_is(source)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0020'")
    engine.dispose()
    with pytest.raises(Misuse, match="start the bot on it once"):
        move(source, target)
    assert not list(tmp_path.glob("none.db*"))


def test_nobody_uses_either_database_meanwhile(make: Make) -> None:
    """A bot on either end keeps the move from beginning, and while it runs, no bot starts and nobody writes to the source."""
    source, target = make("sqlite", "source"), make("postgresql", "target")
    fill(source)
    for each in (source, target):
        with held_alone(each), pytest.raises(StoreUnusable, match="another vllm-digest is using"):
            move(source, target)

    class Watching(Silent):
        def advance(self, steps: int = 1) -> None:
            for each in (source, target):
                with pytest.raises(StoreUnusable, match="another vllm-digest is using"), held_alone(each):
                    pass
            assert not can_write(source)
            super().advance(steps)

    move(source, target, Watching())
    assert can_write(source)


def test_a_bot_on_postgresql_is_not_moved_away_from_under(make: Make) -> None:
    """While a process of a bot lives, its store is not moved; one that was killed is no hindrance."""
    source, target = make("postgresql", "source"), make("sqlite", "target")
    with (
        new_lease(source, "run").held(),
        pytest.raises(StoreUnusable, match="a bot is using postgresql://"),
    ):
        move(source, target)
    change(source, insert(executors).values({each.name: a_value(each, 1) for each in executors.c} | {"ended_at": None}))
    move(source, target)


def can_write(url: str) -> bool:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=0)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True
