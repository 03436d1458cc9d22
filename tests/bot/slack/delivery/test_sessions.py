"""Sessions of one thread whose answers are written by two processes, each with a connection of its own to the store and Slack."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from bot.slack.delivery.sessions import AgentSessions
from bot.slack.web import Web
from bot.store import OngoingAnswers, open_engine
from loopback.slack import LoopbackSlack
from tests.servers.clock import noon_clock
from tests.servers.talk import ADA, DIGEST

STOPPED = "⏹ This answer was stopped."
NewSessions = Callable[..., AgentSessions]


class Interrupted(BaseException):
    """The process loses its flows."""


@pytest.fixture(scope="module")
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack(pace=False) as server:
        yield server


@pytest.fixture
def thread(slack: LoopbackSlack) -> str:
    return slack.say(ADA, DIGEST, "let us talk")


@pytest.fixture
def sessions(slack: LoopbackSlack, database_url: str) -> Iterator[NewSessions]:
    """Makes the sessions of one more process."""
    engines = []

    def new() -> AgentSessions:
        engines.append(open_engine(database_url))
        return AgentSessions(Web(slack.bot_token, slack.url), OngoingAnswers(engines[-1]), noon_clock())

    yield new
    for engine in engines:
        engine.dispose()


def status(slack: LoopbackSlack, thread: str) -> str | None:
    return slack.workspace.channels[DIGEST].sessions.get(thread)


def test_a_stop_reaches_the_process_that_writes(slack: LoopbackSlack, thread: str, sessions: NewSessions) -> None:
    """An answer ends that another process writes, while its model is silent; then the session is active."""
    one, other = sessions(), sessions()
    wrote, silent = Event(), Event()

    def pieces() -> Iterator[str]:
        yield "One."
        wrote.set()
        silent.wait(60)
        yield "Two."

    def answer() -> str:
        with one.answering(DIGEST, thread, "message:1") as ongoing:
            return "".join(ongoing.until_stopped(pieces(), "en"))

    with ThreadPoolExecutor(1) as threads:
        said = threads.submit(answer)
        wrote.wait(60)
        assert status(slack, thread) == "processing"
        other.stop(DIGEST, thread)
        assert said.result() == f"One.\n\n{STOPPED}"
        silent.set()
    assert status(slack, thread) == "active"


def test_a_session_ends_with_the_last_answer_of_any_process(
    slack: LoopbackSlack, thread: str, sessions: NewSessions
) -> None:
    """The first answer's end leaves the stop button to the other's."""
    one, other = sessions(), sessions()
    with one.answering(DIGEST, thread, "message:1"):
        with other.answering(DIGEST, thread, "message:2"):
            assert status(slack, thread) == "processing"
        assert status(slack, thread) == "processing"
    assert status(slack, thread) == "active"


def test_an_interrupted_answer_goes_on_elsewhere_as_it_was(
    slack: LoopbackSlack, thread: str, sessions: NewSessions
) -> None:
    """Its session stays; if somebody stops it meanwhile no model is asked again, and the line stands alone."""
    one, other = sessions(), sessions()
    with pytest.raises(Interrupted), one.answering(DIGEST, thread, "message:1"):
        raise Interrupted
    assert status(slack, thread) == "processing"
    other.stop(DIGEST, thread)
    asked = Event()

    def pieces() -> Iterator[str]:
        asked.set()
        yield "words"

    with other.answering(DIGEST, thread, "message:1") as ongoing:
        assert "".join(ongoing.until_stopped(pieces(), "en")) == STOPPED
    assert not asked.is_set()
    assert status(slack, thread) == "active"


def test_a_session_of_a_question_that_is_gone_ends(slack: LoopbackSlack, thread: str, sessions: NewSessions) -> None:
    """Whoever takes over the answer to a question that was deleted sets the session right."""
    one, other = sessions(), sessions()
    with pytest.raises(Interrupted), one.answering(DIGEST, thread, "message:1"):
        raise Interrupted
    other.abandon("message:1")
    assert status(slack, thread) == "active"
