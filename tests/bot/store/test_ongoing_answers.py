"""Answers under way: what one process knows of those that another one writes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from bot.store import Interruption, Mailbox, OngoingAnswers, open_engine

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)
PLACE = ("C0DIGEST", "1.0")


@pytest.fixture
def processes(database_url: str) -> Iterator[list[OngoingAnswers]]:
    """The answers of two processes on one database."""
    engines = [open_engine(database_url) for _ in range(2)]
    yield [OngoingAnswers(engine) for engine in engines]
    for engine in engines:
        engine.dispose()


def test_a_stop_ends_the_answers_of_a_thread_and_no_other(processes: list[OngoingAnswers]) -> None:
    """Each process sees that its answer in the thread is stopped; one in another thread goes on."""
    one, other = processes
    one.begin("message:1", "a", *PLACE, NOON)
    other.begin("message:2", "b", *PLACE, NOON)
    one.begin("message:3", "c", "C0DIGEST", "2.0", NOON)
    assert other.stop(*PLACE, NOON) == 2
    assert one.interruption("message:1", "a") is Interruption.STOPPED
    assert other.interruption("message:2", "b") is Interruption.STOPPED
    assert one.interruption("message:3", "c") is Interruption.NONE


def test_a_stopped_answer_stays_stopped_when_another_process_takes_over(processes: list[OngoingAnswers]) -> None:
    """Also if it was stopped after its process had died, or is tried again after a failure; the attempt before ends nothing."""
    one, other = processes
    one.begin("message:1", "a", *PLACE, NOON)
    assert other.stop(*PLACE, NOON)
    other.begin("message:1", "b", *PLACE, NOON)
    assert other.interruption("message:1", "b") is Interruption.STOPPED
    assert not one.end("message:1", "a", NOON, finished=True)
    assert other.are_any(*PLACE, NOON)
    assert other.end("message:1", "b", NOON, finished=False)
    assert not one.are_any(*PLACE, NOON)
    one.begin("message:1", "c", *PLACE, NOON)
    assert one.interruption("message:1", "c") is Interruption.STOPPED


def test_of_answers_that_end_at_once_one_is_the_last(processes: list[OngoingAnswers]) -> None:
    """Eight answers in a thread, of two processes, end at the same time: exactly one hears that none is left."""
    ready = Barrier(8)

    def end(number: int) -> bool:
        answers, request = processes[number % 2], f"message:{number}"
        answers.begin(request, "a", *PLACE, NOON)
        ready.wait()
        return answers.end(request, "a", NOON, finished=True)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(end, range(8))) == [*[False] * 7, True]
    assert not processes[0].are_any(*PLACE, NOON)


def test_an_answer_ends_with_its_question(processes: list[OngoingAnswers], database_url: str) -> None:
    """A question that is deleted, which one process hears, ends the answer of another; what is left of it can be removed."""
    engine = open_engine(database_url)
    mailbox = Mailbox(engine)
    mailbox.receive("message:1", {"text": "why?"}, NOON)
    processes[0].begin("message:1", "a", *PLACE, NOON)
    assert processes[0].interruption("message:1", "a") is Interruption.NONE
    mailbox.done("message:1", NOON)
    assert processes[0].interruption("message:1", "a") is Interruption.WITHDRAWN
    assert processes[1].remove("message:1") == PLACE
    assert processes[1].remove("message:1") is None
    assert not processes[0].are_any(*PLACE, NOON)
    engine.dispose()


def test_an_answer_that_was_given_up_counts_for_a_day(processes: list[OngoingAnswers]) -> None:
    """What no flow ends any more neither keeps a thread busy for ever, nor stays in the store."""
    one, other = processes
    one.begin("message:1", "a", *PLACE, NOON)
    later = NOON + timedelta(days=1, seconds=1)
    assert not other.are_any(*PLACE, later)
    assert other.stop(*PLACE, later) == 0
    other.begin("message:2", "b", *PLACE, later)
    assert one.remove("message:1") is None
