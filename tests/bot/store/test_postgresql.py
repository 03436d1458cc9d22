"""The store on PostgreSQL: what goes wrong in one sentence, what is stored otherwise than on SQLite, and lost connections."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from dbos._utils import retriable_postgres_exception
from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from analysis.errors import BadSetting, StoreUnusable
from analysis.models import Commit, Repository
from bot.store import Mailbox, Store, open_engine
from bot.store.database import Condition, condition, display_name
from bot.store.flow_tables import flows_engine
from bot.store.postgresql import session
from tests.conftest import NOON
from tests.servers.postgresql import new_postgresql_database, postgresql_database

REPOSITORY = Repository(owner="o", name="n")


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_database() as url:
        yield url


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    yield engine
    engine.dispose()


def executed(url: str, *statements: str) -> None:
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def as_user(url: str, name: str) -> str:
    return make_url(url).set(username=name, password="hunter2").render_as_string(hide_password=False)


def test_a_new_database_is_told_from_one_that_is_set_up() -> None:
    """Looking at the state changes nothing; opening creates the tables once, whoever else opens it."""
    with new_postgresql_database() as url:
        assert [condition(url), condition(url)] == [Condition.NEW] * 2
        with ThreadPoolExecutor(3) as threads:
            for engine in threads.map(open_engine, [url] * 3):
                engine.dispose()
        assert condition(url) is Condition.CURRENT
        executed(url, "UPDATE alembic_version SET version_num = '9999', oldest_program = '9999'")
        with pytest.raises(StoreUnusable, match=r"was written by a newer vllm-digest"):
            open_engine(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql+psycopg://me:hunter2@127.0.0.1:9/x", "postgresql://me@127.0.0.1:9/x does not answer; start it"),
        ("postgresql+psycopg://me:hunter2@nowhere.invalid/x", "cannot be found; check the host"),
        ("postgresql+psycopg://me:hunter2@/x?host=/nowhere", "does not answer; start it"),
    ],
)
def test_a_server_that_does_not_answer_is_told_in_a_sentence(url: str, words: str) -> None:
    """The sentence names the server and what to do, and never the password."""
    for look in (open_engine, condition):
        with pytest.raises(StoreUnusable) as error:
            look(url)
        assert words in str(error.value)
        assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("url", ["postgresql://me:hunter2@h/x", "postgresql+psycopg://me:hunter2@h"])
def test_another_driver_or_no_database_is_a_wrong_setting(url: str) -> None:
    """The error shows the form that is understood."""
    with pytest.raises(BadSetting, match=r"use postgresql\+psycopg://user:password@host/database"):
        open_engine(url)


def test_a_password_in_the_query_is_not_shown() -> None:
    """A URL is shown without its password, wherever it stands."""
    shown = display_name("postgresql+psycopg://me:one@h:5/x?password=two")
    assert shown == "postgresql://me@h:5/x"


def test_missing_databases_users_and_rights_are_told_in_a_sentence() -> None:
    """What the operator has to create or grant is said, once for each."""
    with new_postgresql_database() as url:
        missing = make_url(url).set(database="none").render_as_string(hide_password=False)
        for wrong in (missing, as_user(url, "nobody_known")):
            with pytest.raises(StoreUnusable, match="knows no such database or user; create it"):
                open_engine(wrong)
        executed(url, "CREATE ROLE reader LOGIN", "REVOKE ALL ON SCHEMA public FROM public")
        try:
            for look in (condition, open_engine):
                with pytest.raises(StoreUnusable, match="GRANT USAGE, CREATE ON SCHEMA public TO reader"):
                    look(as_user(url, "reader"))
            executed(url, "GRANT USAGE, CREATE ON SCHEMA public TO reader")
            open_engine(url).dispose()
            with pytest.raises(StoreUnusable, match="does not grant the user what is needed; make it the owner"):
                open_engine(as_user(url, "reader"))
            with pytest.raises(StoreUnusable, match=r"GRANT CREATE ON DATABASE \w+ TO reader"):
                session(make_url(as_user(url, "reader")))
        finally:
            executed(url, "DROP OWNED BY reader", "DROP ROLE reader")


def test_another_encoding_is_refused() -> None:
    """Without UTF-8 not every commit could be stored."""
    with (
        new_postgresql_database("ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'") as url,
        pytest.raises(StoreUnusable, match="is encoded in LATIN1; create a database with ENCODING 'UTF8'"),
    ):
        open_engine(url)


def test_a_lost_connection_is_replaced(engine: Engine, url: str) -> None:
    """After the server closed all connections, the next use opens a new one; one that is in use fails with a sentence."""
    store = Store(engine)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
    assert store.is_empty()
    executed(url, end)
    assert store.is_empty()
    with engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
        executed(url, end)
        with pytest.raises(StoreUnusable, match="closed the connection; try again"):
            connection.exec_driver_sql("SELECT 1")
    assert store.is_empty()


def test_text_with_nul_is_stored(engine: Engine) -> None:
    """What PostgreSQL stores in no text is replaced, everywhere, and what is looked for with it is found."""
    message = "Fix a\0b scheduler\n\nBecause\0of it"
    commit = Commit(
        sha="a" * 40, url="", author="A\0da", authored_at=NOON, committed_at=NOON, message=message, read=True
    )
    store = Store(engine)
    store.save_commit(REPOSITORY, commit, ())
    [found] = store.search_index.search("scheduler")
    assert found.commit.message == message.replace("\0", "\N{REPLACEMENT CHARACTER}")
    Mailbox(engine).receive("key\0", {"text": "a\0b"}, NOON)
    assert Mailbox(engine).request("key\0") == {"text": "a\0b"}


def test_a_title_that_no_index_takes_is_stored(engine: Engine) -> None:
    """A title of many thousand signs, which do not compress, comes back whole."""
    title = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(5_000))
    store = Store(engine)
    commits = [
        Commit(sha=sha * 40, url="", author="Ada", authored_at=NOON, committed_at=NOON, message=message)
        for sha, message in (("a", title), ("b", f'Revert "{title}"'))
    ]
    ids = [store.save_commit(REPOSITORY, each, ()) for each in commits]
    stored = store.commits(ids)
    assert [each.commit.message for each in stored] == [each.message for each in commits]
    store.links(stored)


def test_texts_of_any_length_are_stored_and_compare_by_code_points(engine: Engine) -> None:
    """As on SQLite, no declared length binds, and capitals come before small letters whatever the server's language."""
    mailbox = Mailbox(engine)
    for key in ("b" * 900, "B", "a", "_"):
        mailbox.receive(key, {}, NOON)
        assert mailbox.reserve_slot(f"requests {key}", lambda: NOON, timedelta(seconds=1), owner="x" * 300)
    with engine.connect() as connection:
        keys = connection.exec_driver_sql("SELECT key FROM inbox ORDER BY key").scalars().all()
    assert keys == ["B", "_", "a", "b" * 900]


@pytest.mark.parametrize("place", ["?host=/nowhere", "?host=127.0.0.1&port=9"], ids=["socket", "port"])
def test_the_durable_engine_waits_for_a_server_that_is_not_there(place: str) -> None:
    """A connection that no server answers is one that the durable engine tries again, instead of letting a flow fail."""
    engine = flows_engine(f"postgresql+psycopg://me@/x{place}")
    assert engine
    with pytest.raises(OperationalError) as caught:
        engine.connect()
    assert retriable_postgres_exception(caught.value)
