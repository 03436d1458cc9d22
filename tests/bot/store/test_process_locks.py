"""Locks by name over threads and processes. Two `ProcessLocks` are two sessions, which is to the database what two processes are."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier, Event, Semaphore

import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url, text

from analysis.errors import StoreUnusable
from bot.store import ProcessLocks, open_engine
from bot.store.postgresql import IDLE_SECONDS, watched_session
from bot.store.transactions import lock_key
from tests.servers.advisory_locks import held, monitoring, wait_until

_HOLDING = """
import sys
from bot.store import ProcessLocks, open_engine
locks = ProcessLocks(open_engine(sys.argv[1]))
with locks.alone("x"):
    print("held", flush=True)
    sys.stdin.read()
"""

Open = Callable[[], ProcessLocks]


@pytest.fixture
def open_locks(engine: Engine) -> Iterator[Open]:
    """Opens the locks of one more process; on SQLite, which one process uses, always those of the same one."""
    opened: list[ProcessLocks] = []

    def open_one() -> ProcessLocks:
        if engine.dialect.name == "sqlite" and opened:
            return opened[0]
        opened.append(ProcessLocks(engine))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def pair(url: str) -> Iterator[list[ProcessLocks]]:
    """The locks of two processes on PostgreSQL."""
    engine = open_engine(url)
    both = [ProcessLocks(engine) for _ in range(2)]
    yield both
    for each in both:
        each.close()
    engine.dispose()


@pytest.fixture
def server(url: str) -> Iterator[Connection]:
    with monitoring(url) as connection:
        yield connection


def end_sessions(server: Connection) -> int:
    """Ends the sessions of all locks, as a restart of the server does, and returns how many there were."""
    query = (
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE application_name = 'vllm-digest locks' AND datname = current_database()"
    )
    return len(server.exec_driver_sql(query).all())


@pytest.mark.parametrize("places", [1, 3])
def test_no_more_hold_a_lock_at_once_than_it_has_places(places: int, open_locks: Open) -> None:
    """Eight threads of two processes, each five times, are never more inside than there are places."""
    processes, free, together = [open_locks() for _ in range(2)], Semaphore(places), Barrier(8)

    def come(number: int) -> None:
        together.wait()
        for _ in range(5):
            with processes[number % 2].slots("x", places):
                assert free.acquire(blocking=False)
                free.release()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(come, range(8)))


def test_all_places_can_be_held_at_once(open_locks: Open) -> None:
    """Places are given to any process until none is left, and one that is left is free for the others."""
    one, other = open_locks(), open_locks()
    all_in, leave, last_in = Barrier(5), Event(), Event()

    def hold(locks: ProcessLocks) -> None:
        with locks.slots("x", 4):
            all_in.wait(30)
            leave.wait(30)

    def come_last() -> bool:
        with other.slots("x", 4):
            last_in.set()
            return leave.is_set()

    with ThreadPoolExecutor(5) as threads:
        for locks in (one, one, one, other):
            threads.submit(hold, locks)
        all_in.wait(30)
        last = threads.submit(come_last)
        assert not last_in.is_set()
        leave.set()
        assert last.result(30)


def test_a_lock_that_is_held_is_not_waited_for_on_request(open_locks: Open) -> None:
    """`try_alone` tells threads of the same process and other processes that a lock is held, and takes it once it is free."""
    one, other = open_locks(), open_locks()
    with one.try_alone("x") as first:
        assert first
        for locks in (one, other):
            with locks.try_alone("x") as second:
                assert not second
            with locks.try_alone("y") as another:
                assert another
    with other.try_alone("x") as now, other.alone("z"):
        assert now


def test_those_who_wait_come_before_those_who_come_later(pair: list[ProcessLocks], server: Connection) -> None:
    """A process that takes a lock again and again does not keep out one that waits for it."""
    busy, waiting = pair
    arrived = Event()

    def come() -> None:
        with waiting.alone("x"):
            arrived.set()

    with ThreadPoolExecutor(1) as threads:
        with busy.alone("x"):
            came = threads.submit(come)
            wait_until(lambda: held(server) == 2)  # the lock, and the queue for it
        rounds = 0
        while not arrived.is_set():
            with busy.alone("x"):
                rounds += 1
        came.result()
    assert rounds < 50


def test_a_killed_process_frees_its_locks(url: str, pair: list[ProcessLocks]) -> None:
    """Another process holds a lock; once it is killed, the lock is free."""
    locks = pair[0]
    command = [sys.executable, "-c", _HOLDING, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline().strip() == "held"
        with locks.try_alone("x") as free:
            assert not free
        holder.kill()
        with locks.alone("x"):
            pass


def test_a_lost_session_is_replaced_and_takes_what_it_held(pair: list[ProcessLocks], server: Connection) -> None:
    """After the server ended the sessions, their holders go on, and still keep others out once they asked for another lock."""
    one, other = pair
    with ExitStack() as stack:
        stack.enter_context(one.alone("x"))
        stack.enter_context(one.slots("y", 2))
        assert end_sessions(server) == 1
        with one.alone("z"):
            assert held(server) == 3
        with other.try_alone("x") as free:
            assert not free
    with other.try_alone("x") as free:
        assert free


def test_what_another_process_took_meanwhile_is_its_own(pair: list[ProcessLocks], server: Connection) -> None:
    """Of a lock that was lost and taken by another process, the release by its first holder frees nothing."""
    one, other = pair
    first = ExitStack()
    first.enter_context(one.alone("x"))
    end_sessions(server)
    with other.alone("x"):
        with one.alone("y"):
            first.close()
        with one.try_alone("x") as free:
            assert not free


def test_a_session_without_a_sign_of_life_is_ended_by_the_server(url: str, server: Connection) -> None:
    """The locks of a paused process are free after a minute, since the server ends its session."""
    with watched_session(make_url(url)) as session:
        timeout = session.exec_driver_sql("SHOW idle_session_timeout").scalar_one()
        assert timeout in {f"{IDLE_SECONDS}s", f"{IDLE_SECONDS // 60}min"}
        session.execute(text("SELECT pg_advisory_lock(:key)"), {"key": lock_key("x")})
        state = "SELECT state FROM pg_stat_activity WHERE application_name = 'vllm-digest locks' AND datname = current_database()"
        assert server.exec_driver_sql(state).scalar_one() == "idle", "no transaction stays open"


def test_a_server_that_does_not_answer_is_told_in_a_sentence() -> None:
    """Without the database nobody gets a lock, and the error names it; nothing stays held in the process."""
    engine = create_engine("postgresql+psycopg://me@127.0.0.1:9/x")
    locks = ProcessLocks(engine)
    for _ in range(2):
        with pytest.raises(StoreUnusable, match="does not answer"), locks.alone("x"):
            pass
    locks.close()


def test_closing_ends_the_waiting(pair: list[ProcessLocks], server: Connection) -> None:
    """Whoever waits for another process when the locks are closed gets an error instead of waiting on."""
    one, other = pair
    with one.alone("x"), ThreadPoolExecutor(1) as threads:

        def come() -> None:
            with other.alone("x"):
                pass

        waiting = threads.submit(come)
        wait_until(lambda: held(server) == 2)
        other.close()
        with pytest.raises(StoreUnusable, match="closed"):
            waiting.result(30)
