"""A process that is paused right before it writes to Slack, while another one takes over and sends the same message."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.slack.outbox import AT_ONCE, Outbox
from bot.slack.web import Web
from bot.slack.web_errors import Refused, Unanswered
from bot.store import Draft, Mailbox, State, open_engine
from bot.store.lease import LeaseLost
from loopback.slack import Fault, LoopbackSlack
from tests.servers.databases import empty_database

CHANNEL = "C0DIGEST"


class Pause:
    """What happens elsewhere between this process's last check and its write, once."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] | None = None

    def __call__(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack(pace=False) as started:
        yield started


@pytest.fixture
def mail(tmp_path: Path) -> Mailbox:
    return Mailbox(open_engine(empty_database(tmp_path / "bot.db")))


@pytest.fixture
def pause() -> Pause:
    return Pause()


@pytest.fixture
def paused(slack: LoopbackSlack, mail: Mailbox, pause: Pause) -> Outbox:
    return _outbox(slack, mail, pause)


@pytest.fixture
def other(slack: LoopbackSlack, mail: Mailbox) -> Outbox:
    """The outbox of the process that takes over."""
    return _outbox(slack, mail, lambda: None)


def _outbox(slack: LoopbackSlack, mail: Mailbox, before_write: Callable[[], None]) -> Outbox:
    web = Web(slack.bot_token, slack.url, before_write=before_write)
    return Outbox(mail, web, lambda: datetime.now(UTC), lambda _: None, AT_ONCE)


def _texts(slack: LoopbackSlack) -> list[str]:
    return [each.text for each in slack.workspace.visible(CHANNEL) if each.by_bot]


def test_a_message_posted_twice_is_deleted(
    slack: LoopbackSlack, mail: Mailbox, paused: Outbox, other: Outbox, pause: Pause
) -> None:
    """The message of the process that took over counts; the other one's goes, also by a third process."""
    mail.freeze([Draft("post", CHANNEL, {"text": "Posted."})])
    counted: list[str] = []
    pause.meanwhile = lambda: counted.append(other.send("post"))
    with pytest.raises(LeaseLost):
        paused.send("post")
    assert _texts(slack) == ["Posted.", "Posted."]
    other.delete_duplicates()
    assert [each.ts for each in slack.workspace.visible(CHANNEL)] == counted
    assert mail.duplicates() == []


def test_of_two_messages_in_doubt_one_stays(
    slack: LoopbackSlack, mail: Mailbox, paused: Outbox, other: Outbox, pause: Pause
) -> None:
    """Where the process that took over got no answer either, it finds both in Slack and keeps one, whoever posted it."""
    mail.freeze([Draft("post", CHANNEL, {"text": "Posted."})])
    slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))

    def attempt() -> None:
        with pytest.raises(Unanswered):
            other.send("post")

    pause.meanwhile = attempt
    with pytest.raises(LeaseLost):
        paused.send("post")
    other.delete_duplicates()
    assert len(_texts(slack)) == 2  # which one counts is not known yet
    other.send("post")
    other.delete_duplicates()
    assert _texts(slack) == ["Posted."]


def test_a_message_sent_meanwhile_is_not_tried_again(mail: Mailbox, paused: Outbox, other: Outbox) -> None:
    """A process that read a message before another one sent it finds out before it writes."""
    mail.freeze([Draft("post", CHANNEL, {"text": "Posted."})])
    read = mail.message("post")
    assert read
    other.send("post")
    assert mail.begin_attempt(read, datetime.now(UTC)) is None
    paused.hold("post", "no answer")
    assert mail.held() == []


def test_a_file_is_shared_once(
    slack: LoopbackSlack, mail: Mailbox, paused: Outbox, other: Outbox, pause: Pause
) -> None:
    """Slack refuses to share a file again; that is no refusal of the message, which the other process has sent."""
    mail.freeze([Draft("file", CHANNEL, {"filename": "a.md", "title": "A", "data": "text"})])

    def upload() -> None:  # the first write; the second one shares the file
        pause.meanwhile = lambda: other.send("file")

    pause.meanwhile = upload
    with pytest.raises(LeaseLost):
        paused.send("file")
    message = mail.message("file")
    assert message
    assert (message.state, mail.duplicates()) == (State.SENT, [])
    assert len(slack.workspace.visible(CHANNEL)) == 1


def test_an_answer_begun_twice_is_deleted(
    slack: LoopbackSlack, mail: Mailbox, paused: Outbox, other: Outbox, pause: Pause
) -> None:
    """The stream of the process that took over is the answer; what the other one began goes."""
    root = slack.say("U0ADA", CHANNEL, "does it?")
    mail.freeze([Draft("answer", CHANNEL, {}, thread_ts=root)])
    pause.meanwhile = lambda: other.stream("answer", "U0ADA", ["It does."])
    with pytest.raises(LeaseLost):
        paused.stream("answer", "U0ADA", ["It does."])
    other.delete_duplicates()
    assert _texts(slack) == ["It does."]


def test_a_message_that_was_given_up_is_not_sent_by_whoever_goes_on(
    slack: LoopbackSlack, mail: Mailbox, other: Outbox
) -> None:
    """Slack may have what an operator gave up; a delivery that begins again posts it no second time."""
    mail.freeze([Draft("post", CHANNEL, {"text": "Posted."})])
    other.drop("post")
    with pytest.raises(Refused, match="given up by an operator"):
        other.send("post")
    assert _texts(slack) == []
