"""What is kept of requests and messages: each once, however often and from wherever it comes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event
from typing import Any

import pytest

from bot.models.clock import Clock
from bot.store import Draft, Mailbox, State, open_engine
from tests.servers.clock import SettableClock

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def mailboxes(database_url: str) -> Iterator[list[Mailbox]]:
    """Two mailboxes on one database, as two processes would have them."""
    engines = [open_engine(database_url) for _ in range(2)]
    yield [Mailbox(engine) for engine in engines]
    for engine in engines:
        engine.dispose()


@pytest.fixture
def mail(mailboxes: list[Mailbox]) -> Mailbox:
    return mailboxes[0]


def draft(key: str = "digest:o/n:2026-02-05:s1:C0DIGEST:000", **changes: Any) -> Draft:
    return Draft(key, "C0DIGEST", {"text": "first", "blocks": [{"type": "divider"}]}, **changes)


# Send slots


def at(instant: datetime) -> Clock:
    """A clock that stands still."""
    return lambda: instant


def test_slots_are_a_second_apart_over_threads(mailboxes: list[Mailbox]) -> None:
    """Twenty threads over two connections that ask at one instant get twenty slots, a second apart."""
    ready = Barrier(20)

    def slot(number: int) -> datetime | None:
        ready.wait()
        return mailboxes[number % 2].reserve_slot("channel C0DIGEST", at(NOON), SECOND)

    with ThreadPoolExecutor(20) as threads:
        slots = list(threads.map(slot, range(20)))
    assert sorted(filter(None, slots)) == [NOON + number * SECOND for number in range(20)]


def test_who_waited_for_the_store_is_not_taken_for_early(mailboxes: list[Mailbox]) -> None:
    """The clock is read when the store is free, so that a long wait for it looks like no backlog of requests."""
    clock = SettableClock(NOON, speed=0)
    busy = Event()

    def slow() -> datetime:
        busy.set()
        clock.advance(10 * SECOND)
        return clock()

    def late() -> datetime | None:
        busy.wait()
        return mailboxes[1].reserve_slot("requests U0ADA", clock, SECOND, most=SECOND)

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(late)
        assert mailboxes[0].reserve_slot("requests U0ADA", slow, SECOND)
        assert waiting.result() is not None


def test_a_late_request_for_a_slot_gets_it_at_once(mail: Mailbox) -> None:
    """Who asks half a second after a slot gets the next second, and who asks later gets the instant of asking."""
    assert mail.reserve_slot("workspace", at(NOON), SECOND) == NOON
    assert mail.reserve_slot("workspace", at(NOON + SECOND / 2), SECOND) == NOON + SECOND
    assert mail.reserve_slot("workspace", at(NOON + 10 * SECOND), SECOND) == NOON + 10 * SECOND
    assert mail.reserve_slot("workspace", at(NOON + 10 * SECOND), SECOND) == NOON + 11 * SECOND


def test_an_owner_keeps_its_slot(mail: Mailbox) -> None:
    """An owner takes one slot however often it asks, and one that found none in reach may ask again."""
    for owner in ("first", "first", "second", "first"):
        assert mail.reserve_slot("requests U0ADA", at(NOON), SECOND, most=SECOND, owner=owner)
    assert mail.reserve_slot("requests U0ADA", at(NOON), SECOND, most=SECOND, owner="third") is None
    later = at(NOON + SECOND)
    for _ in range(2):
        assert mail.reserve_slot("requests U0ADA", later, SECOND, most=SECOND, owner="third") == NOON + 2 * SECOND


def test_slots_that_are_long_past_are_forgotten(mail: Mailbox) -> None:
    """A slot after the instant stays taken; one before it leaves no trace."""
    mail.reserve_slot("requests U0ADA", at(NOON), SECOND, owner="early")
    mail.reserve_slot("requests U0LIN", at(NOON + 9 * SECOND), SECOND, owner="late")
    mail.forget(NOON + 5 * SECOND)
    assert mail.reserve_slot("requests U0ADA", at(NOON), SECOND) == NOON
    assert mail.reserve_slot("requests U0LIN", at(NOON + 9 * SECOND), SECOND) == NOON + 10 * SECOND


def test_a_slot_may_be_put_off(mail: Mailbox) -> None:
    """The next slot is not before an instant that was named, and one that is later anyway is not moved up."""
    mail.reserve_slot("channel C0DIGEST", at(NOON), SECOND)
    mail.block_slots_until("channel C0DIGEST", NOON + 3 * SECOND)
    mail.block_slots_until("channel C0DIGEST", NOON + 2 * SECOND)
    assert mail.reserve_slot("channel C0DIGEST", at(NOON), SECOND) == NOON + 3 * SECOND


# What was asked


def test_a_request_that_comes_again_is_kept_once(mailboxes: list[Mailbox]) -> None:
    """Of a request that several processes receive at once one keeps it, and its first words stay."""
    ready = Barrier(8)

    def receive(number: int) -> bool:
        ready.wait()
        return mailboxes[number % 2].receive("command:1", {"text": str(number)}, NOON)

    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(receive, range(8)))
    assert kept.count(True) == 1
    assert mailboxes[1].request("command:1") == {"text": str(kept.index(True))}
    assert mailboxes[1].waiting() == ["command:1"]


def test_what_was_answered_is_known_and_its_words_are_not(mail: Mailbox) -> None:
    """A request that was answered loses its words and stays known, so that Slack may send it again."""
    mail.receive("message:1", {"text": "secret"}, NOON)
    mail.done("message:1", NOON)
    assert not mail.request("message:1")
    assert not mail.receive("message:1", {"text": "secret"}, NOON)
    assert mail.waiting() == []


def test_only_what_was_answered_long_ago_is_forgotten(mail: Mailbox) -> None:
    """A request that waits stays, however old it is."""
    for key in ("old", "new", "waiting"):
        mail.receive(key, {"text": key}, NOON - timedelta(days=60))
    mail.done("old", NOON - timedelta(days=40))
    mail.done("new", NOON - timedelta(days=10))
    mail.forget(NOON - timedelta(days=30))
    assert mail.request("old") is None
    assert mail.request("new") == {}
    assert mail.waiting() == ["waiting"]


def test_the_words_of_old_messages_are_forgotten(mail: Mailbox) -> None:
    """A message that was sent long ago keeps its key and ts, and not its words; one that was not sent keeps them."""
    for key, state in (("sent:000", State.SENT), ("held:000", State.HELD)):
        mail.freeze([draft(key)])
        mail.mark(key, state, tried_at=NOON - timedelta(days=40), ts="1.2")
    mail.forget(NOON - timedelta(days=30))
    sent, held = mail.message("sent:000"), mail.message("held:000")
    assert sent is not None
    assert held is not None
    assert (sent.content, sent.ts, sent.state) == ({}, "1.2", State.SENT)
    assert held.content["text"] == "first"


# What is told


def test_a_message_stays_as_it_was_frozen(mail: Mailbox) -> None:
    """A message that is drafted again, with other words, is sent with its first ones and from where it stands."""
    mail.freeze([draft(thread_ts="1.0", root="other:000", about="o/n|abc|en")])
    mail.mark(draft().key, State.SENDING, tried_at=NOON)
    mail.freeze([draft()._replace(content={"text": "second"}, thread_ts="2.0", root=None, about="")])
    message = mail.message(draft().key)
    assert message is not None
    assert message.content == {"text": "first", "blocks": [{"type": "divider"}]}
    assert (message.thread_ts, message.root, message.about) == ("1.0", "other:000", "o/n|abc|en")
    assert (message.state, message.tried_at) == (State.SENDING, NOON)


def test_letters_come_by_their_prefix_and_in_their_order(mail: Mailbox) -> None:
    """A delivery finds its own messages, in the order of sending, and nobody else's."""
    mail.freeze([draft(key) for key in ("digest:a:001", "digest:a:000", "digest:ab:000", "digest:b:000")])
    assert [each.key for each in mail.messages("digest:a:")] == ["digest:a:000", "digest:a:001"]


def test_a_file_that_was_sent_is_not_kept(mail: Mailbox) -> None:
    """Once a file is in Slack its data is not needed here; a message's words are, until they are old."""
    file = draft("file:000")._replace(content={"filename": "n.md", "title": "n.md", "data": "x" * 1000})
    mail.freeze([file, draft("text:000")])
    for key in ("file:000", "text:000"):
        message = mail.message(key)
        assert message is not None
        mail.sent(message, "1.2")
    assert [each.content for each in mail.messages("file")] == [{}]
    assert [each.content["text"] for each in mail.messages("text")] == ["first"]


def test_a_sent_message_is_known_as_ours_and_opens_its_thread(mail: Mailbox) -> None:
    """By its channel and ts a message is known, and what its thread talks about; the first thing said there decides."""
    mail.freeze([draft("root:000", about="o/n|abc|en"), draft("reply:000", thread_ts="1.2", about="o/n|def|en")])
    for key, ts in (("root:000", "1.2"), ("reply:000", "1.3")):
        message = mail.message(key)
        assert message is not None
        mail.sent(message, ts)
    assert mail.at("C0DIGEST", "1.3") == mail.message("reply:000")
    assert mail.at("C0OTHER", "1.3") is None
    assert mail.thread("C0DIGEST", "1.2") == "o/n|abc|en"
    assert mail.thread("C0DIGEST", "1.3") == ""


def test_a_held_message_is_listed_until_it_is_sent(mail: Mailbox) -> None:
    """What nobody knows the fate of can be asked for, with the reason."""
    mail.freeze([draft()])
    mail.mark(draft().key, State.HELD, note="the look-up failed")
    assert [(each.key, each.note) for each in mail.held()] == [(draft().key, "the look-up failed")]
    assert mail.counts() == {"held": 1}
    mail.sent(mail.held()[0], "1.2")
    assert mail.held() == []
    assert mail.counts() == {"sent": 1}
