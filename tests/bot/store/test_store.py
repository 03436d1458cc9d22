"""The store: its connections, and what it finds."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Engine, create_engine, event, select, update

from analysis.errors import StoreAway
from analysis.locale import Phrase
from analysis.models import Analysis, Commit, Fact, FactKind, FileChange, Importance, Proof, Repository
from bot.store import ModelFailures, Store, StoredAnalysis, open_engine
from bot.store.schema import commits
from bot.store.sqlite import supply_subseconds
from bot.store.transactions import CountingPool, passing_failures
from tests.conftest import NOON

REPOSITORY = Repository(owner="o", name="n")
MILLISECONDS = "CREATE TABLE flows (created_at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))"


def commit(sha: str, title: str) -> Commit:
    return Commit(
        sha=sha, url="https://github.example/x", author="Core Team", authored_at=NOON, committed_at=NOON, message=title
    )


def test_a_store_is_in_wal_mode_and_enforces_its_keys(tmp_path: Path) -> None:
    """Readers and a writer do not wait for each other, and a row cannot point at nothing."""
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def test_threads_queue_to_write(tmp_path: Path) -> None:
    """A thread asks the database for its write lock once the thread before it has written, since SQLite would let it sleep."""
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    seen: list[str] = []
    event.listen(engine, "begin", lambda _: seen.append("begin"), insert=True)  # before the database is asked
    event.listen(engine, "commit", lambda _: seen.append("commit"))
    store, together = Store(engine), Barrier(8)

    def write(number: int) -> None:
        together.wait()
        for each in range(5):
            store.save_commit(REPOSITORY, commit(f"{number}{each}" * 20, "t"), ())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    store.close()
    assert seen == ["begin", "commit"] * 40


def test_patches_are_kept_compressed(store: Store, engine: Engine) -> None:
    """A patch comes back as it was, and takes far less room than it has characters."""
    patch = "@@ -1 +1 @@\n" + "+the same line again and again\n" * 2000
    whole = Commit.model_validate(commit("a" * 40, "t").model_dump() | {"files": [{"path": "x.py", "patch": patch}]})
    commit_id = store.save_commit(REPOSITORY, whole, ())
    assert store.commits([commit_id], patches=True)[0].commit.files[0].patch == patch
    assert store.commits([commit_id])[0].commit.files[0].patch is None
    with engine.connect() as connection:
        size = connection.exec_driver_sql("SELECT length(patch) FROM files").scalar_one()
    assert size < len(patch) / 20


def test_the_latest_commits_of_a_kind_of_facts_are_found(store: Store) -> None:
    """The newest first, at most as many as asked for; a name that reads like a kind is none."""
    flag = Fact(kind=FactKind.REMOVED_FLAG, name="--foo")
    other = Fact(kind=FactKind.REMOVED_ENV, name="a removed flag")
    for day, facts in enumerate(([flag], [other], [other, flag], [])):
        landed = commit(f"{day}a" * 20, "t").model_copy(update={"committed_at": NOON + timedelta(days=day)})
        store.save_commit(REPOSITORY, landed, facts)

    def found(most: int, *kinds: FactKind) -> list[str]:
        return [each.commit.sha[0] for each in store.commits(store.latest(REPOSITORY, most, kinds))]

    assert found(9, FactKind.REMOVED_FLAG) == ["2", "0"]
    assert found(1, FactKind.REMOVED_FLAG) == ["2"]
    assert found(9, FactKind.REMOVED_FLAG, FactKind.REMOVED_ENV) == ["2", "1", "0"]
    assert found(9, FactKind.REMOVED_KEY) == []


def test_facts_proved_by_files_are_not_replaced_by_those_of_a_patch(store: Store) -> None:
    """A commit that is read again without its files keeps its facts, and one read again with them gets the new ones."""
    fixed = commit("a" * 40, "Fix the scheduler")
    by_patch, by_files = (Fact(kind=FactKind.REMOVED_NAME, name=name) for name in ("seen", "proved"))
    commit_id = store.save_commit(REPOSITORY, fixed, [by_patch])
    store.save_facts(commit_id, fixed, [by_files], Proof.FILES)
    store.save_facts(commit_id, fixed, [by_patch])
    assert store.save_commit(REPOSITORY, fixed, [by_patch]) == commit_id
    [stored] = store.commits([commit_id])
    assert (stored.facts, stored.proof) == ((by_files,), Proof.FILES)
    store.save_commit(REPOSITORY, fixed, [by_patch, by_files], Proof.FILES)
    assert store.commits([commit_id])[0].facts == (by_patch, by_files)


def test_facts_of_a_kind_that_is_gone_are_left_out_until_they_are_found_anew(store: Store, engine: Engine) -> None:
    """A commit that an earlier version read is still there, and known to be stale."""
    kept = Fact(kind=FactKind.REMOVED_NAME, name="take", path="pool.py", line=1)
    number = store.save_commit(REPOSITORY, commit("a" * 40, "t"), (kept,))
    with engine.begin() as connection:
        [facts] = connection.execute(select(commits.c.facts)).scalars()
        gone = {**facts[0], "kind": "method no longer called"}
        connection.execute(update(commits).values(facts=[gone, *facts], facts_version=1))
    [stored] = store.commits([number])
    assert (stored.facts, stored.stale) == ((kept,), True)


def test_saving_twice_changes_nothing(store: Store) -> None:
    """A commit that is stored again keeps its id and its one entry in the index."""
    first = store.save_commit(REPOSITORY, commit("a" * 40, "Fix the scheduler"), ())
    assert store.save_commit(REPOSITORY, commit("a" * 40, "Fix the scheduler"), ()) == first
    assert len(store.search_index.search("scheduler")) == 1


def test_a_search_keeps_to_its_repository(store: Store) -> None:
    """A search in one repository finds nothing of another."""
    store.save_commit(REPOSITORY, commit("a" * 40, "Fix the scheduler"), ())
    store.save_commit(Repository(owner="o", name="m"), commit("b" * 40, "Fix the scheduler"), ())
    assert [each.commit.sha[0] for each in store.search_index.search("scheduler", [REPOSITORY])] == ["a"]
    assert {each.repository for each in store.search_index.search("scheduler")} == {"o/n", "o/m"}


def test_a_damaged_database_is_told_in_words(tmp_path: Path) -> None:
    """A database whose pages are garbage is a clear error and no traceback of the driver's."""
    from analysis.errors import StoreUnusable

    path = tmp_path / "x.db"
    store = Store(open_engine(f"sqlite:///{path}"))
    store.save_commit(REPOSITORY, commit("a" * 40, "t"), ())
    store.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreUnusable, match=r"is damaged|is not a database"):
        Store(open_engine(f"sqlite:///{path}")).with_sha("aaaa")


def test_commits_are_stored_and_ranked_by_many_at_once(database_url: str) -> None:
    """Whoever stores the same commits and days at the same time leaves each once, with all its files and its summaries."""
    stores, together = [Store(open_engine(database_url)) for _ in range(2)], Barrier(8)
    listed = [commit(f"{number:040x}", f"Change {number}") for number in range(12)]
    read = [each.model_copy(update={"files": (FileChange(path="a.py"), FileChange(path="b.py"))}) for each in listed]

    def write(number: int) -> None:
        store, turn = stores[number % 2], listed if number % 3 else listed[::-1]
        together.wait()
        day = NOON.date()
        store.save_day(REPOSITORY, day, "UTC", listed=turn, late=(), remarks=(), listed_at=NOON)
        for each in read if number % 3 else read[::-1]:
            commit_id = store.save_commit(REPOSITORY, each, ())
            store.save_facts(commit_id, each, ())
        words = Analysis(by="model", summary=f"summary{number}")
        analysis = StoredAnalysis(analysis=words, importance=Importance.LOW)
        store.save_analysis(commit_id, "en", f"model{number}", "1", analysis)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert stores[0].count(REPOSITORY) == 12
    day = stores[0].day(REPOSITORY, NOON.date(), "UTC")
    assert day is not None
    assert len(day.commit_ids) == 12
    assert {len(each.commit.files) for each in stores[0].commits(day.commit_ids)} == {2}
    assert all(stores[0].search_index.search(f"+summary{number}") for number in range(8))
    for store in stores:
        store.close()


def test_the_budget_holds_for_many_at_once(database_url: str) -> None:
    """Reservations of several purposes from several connections never exceed the day's limit in sum."""
    stores, together = [Store(open_engine(database_url)) for _ in range(2)], Barrier(10)

    def reserve(number: int) -> bool:
        together.wait()
        made = stores[number % 2].spending.reserve(NOON.date(), f"purpose{number}", 1.0, limit=4.0, alone=4.0, now=NOON)
        return made is not None

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(reserve, range(10))) == 4
    for store in stores:
        store.close()


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


def test_what_outlives_the_store_leaves_no_connection_open(engine: Engine) -> None:
    """A connection that a thread gives back, or opens, once the store is closed is closed then: no pool would ever do so."""
    closed: list[object] = []
    event.listen(engine, "close", lambda driver, _: closed.append(driver))
    before = engine.connect()
    Store(engine).close()
    for each in (before, engine.connect()):
        driver = each.connection.dbapi_connection
        each.close()
        assert closed[-1:] == [driver]


def test_the_time_is_told_in_milliseconds_by_any_sqlite() -> None:
    """An engine made by a library, before or after, fills in the default that the durable engine's tables have on Python 3.12."""
    earlier = create_engine("sqlite://")
    supply_subseconds()
    for engine in (earlier, create_engine("sqlite://")):
        before = time.time_ns() // 1_000_000
        with engine.connect() as connection:
            connection.exec_driver_sql(MILLISECONDS)
            connection.exec_driver_sql("INSERT INTO flows DEFAULT VALUES")
            created_at = connection.exec_driver_sql("SELECT CAST(created_at AS INTEGER) FROM flows").scalar_one()
        engine.dispose()
        assert before - 1 <= created_at <= time.time_ns() // 1_000_000


def test_the_failure_of_the_latest_call_is_known_to_every_process(database_url: str) -> None:
    """In each language, until a call succeeds in any process; another model has failures of its own."""
    engines = [open_engine(database_url) for _ in range(2)]
    one, other = (ModelFailures(engine) for engine in engines)
    one.save("large", "not reached", NOON)
    one.save("large", Phrase("Limit: 10 questions a minute. Try again shortly"), NOON)
    failure = other.latest("large")
    assert failure is not None
    assert failure.at == NOON
    assert failure.reasons["en"] == "Limit: 10 questions a minute. Try again shortly"
    assert failure.reasons["zh"] != failure.reasons["en"]
    assert other.latest("small") is None
    other.remove("large")
    assert one.latest("large") is None
    for engine in engines:
        engine.dispose()
