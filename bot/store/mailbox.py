"""The mailbox: requests from Slack, messages on their way to it, threads, and send slots.

Everything is keyed, so that what arrives twice is kept once and what was sent is not sent again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Engine, Row, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from bot.store.database import writing
from bot.store.schema import inbox, outbox, threads, turns


class State(StrEnum):
    """How far a message is: `sending` means that Slack may or may not have it."""

    READY = "ready"
    SENDING = "sending"
    STREAMING = "streaming"
    SENT = "sent"
    SPLIT = "split"  # others took its place, since it was too long for Slack
    HELD = "held"  # it could not be known whether Slack has it
    REFUSED = "refused"


class Draft(NamedTuple):
    """A message to be sent once. `content` is {text, blocks}, {filename, title, data} of a file, or {} of a stream.

    It goes into the thread `thread_ts`, or into that of the message whose key is `root`, or into the channel itself.
    """

    key: str
    channel: str
    content: dict[str, Any]
    thread_ts: str | None = None
    root: str | None = None
    about: str = ""


class OutboxMessage(NamedTuple):
    """A message as it is kept, with where it stands."""

    key: str
    channel: str
    content: dict[str, Any]
    thread_ts: str | None
    root: str | None
    about: str
    state: State
    tried_at: datetime | None
    ts: str | None
    file_id: str | None
    note: str


class Thread(NamedTuple):
    """A thread that a message of ours began, and what it is about."""

    channel: str
    ts: str
    about: str


class Mailbox:
    """The inbox and the outbox, behind one engine; safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = writing(engine)

    # What was asked

    def receive(self, key: str, body: dict[str, Any], now: datetime) -> bool:
        """Keeps a request; False when it came before."""
        with self._writing.begin() as connection:
            kept = connection.execute(
                upsert(inbox).values(key=key, body=body, received_at=now).on_conflict_do_nothing()
            )
            return kept.rowcount == 1

    def request(self, key: str) -> dict[str, Any] | None:
        """The body of a request."""
        with self._engine.connect() as connection:
            return connection.execute(select(inbox.c.body).where(inbox.c.key == key)).scalar()

    def done(self, key: str, now: datetime) -> None:
        """Marks a request as answered and forgets what it said."""
        with self._writing.begin() as connection:
            connection.execute(update(inbox).where(inbox.c.key == key).values(done_at=now, body={}))

    def waiting(self) -> list[str]:
        """The keys of the requests that are not answered yet, oldest first."""
        with self._engine.connect() as connection:
            query = select(inbox.c.key).where(inbox.c.done_at.is_(None)).order_by(inbox.c.received_at)
            return list(connection.execute(query).scalars())

    def waiting_since(self) -> datetime | None:
        """When the oldest of them came."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.min(inbox.c.received_at)).where(inbox.c.done_at.is_(None))).scalar()

    # What is told

    def freeze(self, drafts: Sequence[Draft]) -> None:
        """Keeps messages as they are to be sent; those that are kept already stay as they were."""
        with self._writing.begin() as connection:
            for draft in drafts:
                row = draft._asdict() | {"state": State.READY.value}
                connection.execute(upsert(outbox).values(row).on_conflict_do_nothing())

    def letter(self, key: str) -> OutboxMessage | None:
        """The message with this key."""
        with self._engine.connect() as connection:
            row = connection.execute(select(outbox).where(outbox.c.key == key)).first()
        return _letter(row) if row else None

    def letters(self, prefix: str) -> list[OutboxMessage]:
        """The messages whose keys begin with `prefix`, in the order of their keys."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(outbox)
                .where(outbox.c.key >= prefix, outbox.c.key < prefix + "\U0010ffff")
                .order_by(outbox.c.key)
            )
            return [_letter(row) for row in rows]

    def mark(self, key: str, state: State, **changes: Any) -> None:
        """Moves a message on: `tried_at`, `ts`, `file_id` or `note` may change with its state."""
        with self._writing.begin() as connection:
            connection.execute(update(outbox).where(outbox.c.key == key).values(state=state.value, **changes))

    def sent(self, letter: OutboxMessage, ts: str) -> None:
        """The message is in Slack, as `ts`; a file's data is not needed any more."""
        changes: dict[str, Any] = {"content": {}} if "data" in letter.content else {}
        with self._writing.begin() as connection:
            values = {"state": State.SENT.value, "ts": ts, "note": "", **changes}
            connection.execute(update(outbox).where(outbox.c.key == letter.key).values(**values))
            if letter.about:
                _keep_thread(connection, letter.channel, letter.thread_ts or ts, letter.about)

    def is_ours(self, channel: str, ts: str) -> bool:
        """Whether the outbox knows the message as its own."""
        with self._engine.connect() as connection:
            query = select(outbox.c.key).where(outbox.c.channel == channel, outbox.c.ts == ts)
            return connection.execute(query).first() is not None

    def held(self) -> list[OutboxMessage]:
        """The messages that wait for somebody to look after them."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(outbox).where(outbox.c.state == State.HELD.value))
            return [_letter(row) for row in rows]

    # Threads

    def keep_thread(self, channel: str, ts: str, about: str) -> None:
        """Remembers what is talked about in a thread."""
        with self._writing.begin() as connection:
            _keep_thread(connection, channel, ts, about)

    def thread(self, channel: str, ts: str) -> str:
        """What is talked about in a thread; empty for one that is not known."""
        with self._engine.connect() as connection:
            query = select(threads.c.about).where(threads.c.channel == channel, threads.c.ts == ts)
            return connection.execute(query).scalar() or ""

    def begun(self, prefix: str) -> list[Thread]:
        """The threads that messages began whose keys begin with `prefix`, oldest first."""
        is_first = (
            outbox.c.root.is_(None),
            outbox.c.thread_ts.is_(None),
            outbox.c.ts.is_not(None),
            outbox.c.about != "",
        )
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(outbox.c.channel, outbox.c.ts, outbox.c.about)
                .distinct()
                .where(outbox.c.key >= prefix, outbox.c.key < prefix + "\U0010ffff", *is_first)
                .order_by(outbox.c.ts)
            )
            return [Thread(*row) for row in rows]

    def latest_thread(self, channel: str) -> str:
        """What the latest known thread of a channel talks about."""
        with self._engine.connect() as connection:
            query = select(threads.c.about).where(threads.c.channel == channel).order_by(threads.c.ts.desc()).limit(1)
            return connection.execute(query).scalar() or ""

    # Turns

    def turn(self, name: str, now: datetime, gap: timedelta, most: timedelta | None = None) -> timedelta:
        """Takes the next turn of `name`, turns being `gap` apart over all processes; how long to wait for it.

        One that is over `most` away is not taken.
        """
        with self._writing.begin() as connection:
            free_at = connection.execute(select(turns.c.free_at).where(turns.c.name == name)).scalar()
            at = max(now, free_at) if free_at else now
            if most is not None and at - now > most:
                return at - now
            taken = {"free_at": at + gap}
            connection.execute(
                upsert(turns).values(name=name, **taken).on_conflict_do_update(index_elements=["name"], set_=taken)
            )
        return at - now

    def no_turn_before(self, name: str, instant: datetime) -> None:
        """The next turn of `name` is at an instant, unless it is later anyway."""
        with self._writing.begin() as connection:
            soon = (turns.c.name == name, turns.c.free_at < instant)
            connection.execute(update(turns).where(*soon).values(free_at=instant))

    def forget(self, before: datetime) -> None:
        """Drops requests that were answered before an instant, and the words of messages that were sent before it."""
        with self._writing.begin() as connection:
            connection.execute(delete(inbox).where(inbox.c.done_at < before))
            old = (outbox.c.state == State.SENT.value, outbox.c.tried_at < before)
            connection.execute(update(outbox).where(*old).values(content={}))

    def counts(self) -> dict[str, int]:
        """How many messages are in each state."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(outbox.c.state, func.count()).group_by(outbox.c.state))
            return {row[0]: row[1] for row in rows}


def _keep_thread(connection: Any, channel: str, ts: str, about: str) -> None:
    # The first thing said in a thread decides what it is about.
    connection.execute(upsert(threads).values(channel=channel, ts=ts, about=about).on_conflict_do_nothing())


def _letter(row: Row[Any]) -> OutboxMessage:
    values = {name: getattr(row, name) for name in OutboxMessage._fields}
    return OutboxMessage(**values | {"state": State(row.state)})
