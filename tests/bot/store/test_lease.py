"""The lease of a process on the database that it shares with others, or that it alone may use."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from analysis.errors import BadSetting, StoreUnusable
from bot.store import open_engine
from bot.store.executors import TIMING, Executors
from bot.store.lease import LeaseLost, new_lease
from tests.servers.postgresql import end_leases, executed

AT_ONCE = TIMING._replace(renewal=timedelta(milliseconds=10))
_PATIENCE = 20  # seconds


@pytest.fixture
def executors(url: str) -> Iterator[Executors]:
    """The processes as another one sees them."""
    engine = open_engine(url)
    yield Executors(engine, AT_ONCE)
    engine.dispose()


def test_a_living_process_keeps_its_work(url: str, executors: Executors) -> None:
    """Several processes hold leases at once, and none of them is found dead."""
    first, second = new_lease(url, "run"), new_lease(url, "worker")
    with first.held(), second.held():
        assert executors.dead_among([first.id, second.id]) == []
        assert {each.command for each in executors.living()} == {"run", "worker"}
        first.check()
        second.check()


def test_a_process_without_a_connection_is_dead_and_acts_no_more(url: str, executors: Executors) -> None:
    """What it had begun may be taken over at once; when it goes on it learns of that before it writes."""
    lease = new_lease(url, "run")
    with lease.held():
        end_leases(url)
        assert executors.dead_among([lease.id, "unknown"]) == sorted([lease.id, "unknown"])
        with pytest.raises(LeaseLost):
            lease.check()
        assert lease.is_lost()
        assert executors.living() == []


def test_a_process_that_connects_again_first_goes_on_under_its_id(url: str, executors: Executors) -> None:
    """A lost connection alone costs nothing: the process takes its lock again before it writes."""
    lease = new_lease(url, "run")
    with lease.held():
        end_leases(url)
        lease.check()
        assert executors.dead_among([lease.id]) == []
        assert not lease.is_lost()


def test_after_a_restart_of_the_server_nobody_is_taken_for_dead(url: str) -> None:
    """Until each process has had the time to notice and to take its lock again, a free lock says nothing."""
    lease, engine = new_lease(url, "run"), open_engine(url)
    with lease.held():
        end_leases(url)
        assert Executors(engine, TIMING._replace(renewal=timedelta(days=1))).dead_among([lease.id, "unknown"]) == []
        lease.check()
    engine.dispose()


def test_a_silent_process_is_ended_by_others(url: str) -> None:
    """One that is paused does not renew its row; its connection is ended, so that it learns of it when it goes on."""
    lease, engine = new_lease(url, "run"), open_engine(url)
    impatient = Executors(engine, AT_ONCE._replace(silence=timedelta(seconds=-1)))
    with lease.held():
        # The first look ends its connection, and finds it dead unless it connects again before.
        while not impatient.dead_among([lease.id]):
            lease.check()
        with pytest.raises(LeaseLost):
            lease.check()
    engine.dispose()


def test_a_process_that_lost_its_lease_starts_anew_once_its_writes_are_recorded(url: str, executors: Executors) -> None:
    """A write to Slack that is under way ends first, so that a message posted twice is known."""
    anew, written = Event(), Event()
    lease = new_lease(url, "run", AT_ONCE, anew.set)
    with lease.held():
        with lease.writing():
            while not executors.dead_among([lease.id]):
                end_leases(url)
            assert not anew.wait(0.1)
            written.set()
        assert anew.wait(_PATIENCE)
        assert written.is_set()


def test_a_process_that_ends_says_so(url: str, executors: Executors) -> None:
    """Whoever looks next need not find out whether it is dead."""
    lease = new_lease(url, "serve")
    with lease.held():
        pass
    [row] = executors.all()
    assert (row.id, row.command, row.ended_at is not None) == (lease.id, "serve", True)
    with pytest.raises(LeaseLost, match="this process ends"):
        lease.check()


def test_a_start_that_failed_leaves_no_process(url: str, executors: Executors) -> None:
    """What goes wrong while a process starts takes its row away, so that nobody is told of a process that ended."""
    lease = new_lease(url, "worker")
    with pytest.raises(ValueError, match="taken"), lease.held():  # noqa: PT012
        assert [each.id for each in executors.all()] == [lease.id]
        raise ValueError("taken")
    assert executors.all() == []
    with pytest.raises(LeaseLost):
        lease.check()


def test_an_end_that_others_decided_is_told(url: str, executors: Executors) -> None:
    """A process whose row is gone is told so, not that it ended by itself."""
    deleted = new_lease(url, "run")
    with deleted.held():
        executed(url, "DELETE FROM executors")
        with pytest.raises(LeaseLost, match="another process marked this one as ended, or its row was deleted"):
            deleted.check()
    assert executors.living() == []


def test_the_dead_are_found_among_those_asked_for(url: str, executors: Executors) -> None:
    """Of the processes that ended before, only those with work under way are returned; those that died are marked too."""
    ended, other = new_lease(url, "run"), new_lease(url, "run")
    with ended.held(), other.held():
        pass
    died = new_lease(url, "run")
    with died.held():
        end_leases(url)
        assert executors.dead_among([ended.id, "unknown"]) == sorted([ended.id, "unknown"])
        assert executors.living() == []


def test_one_process_at_a_time_uses_a_file(tmp_path: Path) -> None:
    """The second is refused in a sentence; the first one's id is the same at each start."""
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    lease = new_lease(url, "run")
    with lease.held(), pytest.raises(StoreUnusable, match="another vllm-digest is using"), new_lease(url, "run").held():
        pass
    assert new_lease(url, "run").id == lease.id
    lease.check()
    assert not lease.is_lost()


def test_a_database_in_memory_is_refused() -> None:
    """A running bot needs a file that outlives it."""
    with pytest.raises(BadSetting, match="needs a database file"):
        new_lease("sqlite://", "run")
