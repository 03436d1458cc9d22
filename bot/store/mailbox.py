"""The mailbox: the inbox of requests from Slack, the outbox of messages to it, threads, and send slots.

Every row has a key, so that a request received twice is stored once and a sent message is not sent again.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from bot.models.clock import Clock
from bot.store import sqlite
from bot.store.schema import duplicates, inbox, outbox, threads, turns
from bot.store.transactions import Records, insert_missing, insert_or_update


class State(StrEnum):
    """Delivery state of a message; in `sending`, Slack may or may not have received it."""

    READY = "ready"
    SENDING = "sending"
    STREAMING = "streaming"
    SENT = "sent"
    SPLIT = "split"  # replaced by shorter messages, since it was too long for Slack
    HELD = "held"  # not known whether Slack received it
    REFUSED = "refused"


class Draft(NamedTuple):
    """A message to be sent once. `content` is {text, blocks}, {} for a stream, or for a file {filename, title, data} and
    perhaps {base64} if that is no text, {alt}, its alternative text, and {comment}, mrkdwn above it.

    It is posted in the thread `thread_ts`, in the thread of the message with key `root`, or else in the channel.
    """

    key: str
    channel: str
    content: dict[str, Any]
    thread_ts: str | None = None
    root: str | None = None
    about: str = ""


class OutboxMessage(NamedTuple):
    """A stored message with its delivery state."""

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
    edits: dict[str, Any] | None = None


class Root(NamedTuple):
    """A sent message that begins a thread about a subject, without its content; `edits` is what was put into it since."""

    key: str
    channel: str
    ts: str
    about: str
    edits: dict[str, Any] | None


class Duplicate(NamedTuple):
    """A message in Slack, posted for the outbox's message `key` by a process that was taken for dead meanwhile."""

    key: str
    channel: str
    ts: str


class Mailbox(Records):
    """The inbox and the outbox on one engine; thread-safe."""

    # Requests

    def receive(self, key: str, body: dict[str, Any], now: datetime) -> bool:
        """Store a request; return False if it is a duplicate."""
        with self.database.begin() as connection:
            return insert_missing(connection, inbox, {"key": key, "body": body, "received_at": now}) == 1

    def request(self, key: str) -> dict[str, Any] | None:
        """Return the body of a request, or None if there is none with this key."""
        return self.database.value(select(inbox.c.body).where(inbox.c.key == key))

    def done(self, key: str, now: datetime) -> None:
        """Mark a request as done and delete its body."""
        self.database.execute(update(inbox).where(inbox.c.key == key).values(done_at=now, body={}))

    def erase_deleted(self) -> None:
        """Erase the bodies of requests that are done from SQLite's log, unless others read it."""
        if self.database.is_sqlite:  # PostgreSQL has its own time for that
            with self.database.queued():
                sqlite.truncate_log(self.database.engine.url)

    def waiting(self, before: datetime | None = None) -> list[str]:
        """Return the keys of the pending requests, oldest first; those received `before` an instant, if given."""
        query = select(inbox.c.key).where(inbox.c.done_at.is_(None)).order_by(inbox.c.received_at)
        if before:
            query = query.where(inbox.c.received_at < before)
        return self.database.column(query)

    def waiting_since(self) -> datetime | None:
        """Return when the oldest pending request was received; None if there is none."""
        return self.database.value(select(func.min(inbox.c.received_at)).where(inbox.c.done_at.is_(None)))

    # Messages

    def freeze(self, drafts: Sequence[Draft]) -> None:
        """Store messages to be sent; those already stored stay unchanged."""
        with self.database.begin() as connection:
            rows = [draft._asdict() | {"state": State.READY.value} for draft in drafts]
            insert_missing(connection, outbox, rows)

    def message(self, key: str) -> OutboxMessage | None:
        """Return the message with this key, or None."""
        return next(iter(self._found(outbox.c.key == key)), None)

    def messages(self, prefix: str) -> list[OutboxMessage]:
        """Return the messages whose keys begin with `prefix`, sorted by key."""
        return self._found(*_begins(prefix))

    def at(self, channel: str, ts: str) -> OutboxMessage | None:
        """Return the message that has this timestamp in a channel, if it was sent from this outbox."""
        return next(iter(self._found(outbox.c.channel == channel, outbox.c.ts == ts)), None)

    def held(self) -> list[OutboxMessage]:
        """Return the messages held for manual attention."""
        return self._found(outbox.c.state == State.HELD.value)

    def _found(self, *conditions: ColumnElement[bool]) -> list[OutboxMessage]:
        rows = self.database.rows(select(outbox).where(*conditions).order_by(outbox.c.key))
        return [OutboxMessage(**{**row._asdict(), "state": State(row.state)}) for row in rows]

    def mark(self, key: str, state: State, **changes: Any) -> None:
        """Set a message's state, and with it any of `tried_at`, `ts`, `file_id` and `note`, unless it is sent: it stays so."""
        is_open = outbox.c.state != State.SENT.value
        self.database.execute(update(outbox).where(outbox.c.key == key, is_open).values(state=state.value, **changes))

    def begin_attempt(self, message: OutboxMessage, now: datetime, file_id: str | None = None) -> OutboxMessage | None:
        """Mark a message as being sent since `now`; return it so, or None if it was tried or sent since it was read."""
        attempt = message._replace(state=State.SENDING, tried_at=now, file_id=file_id or message.file_id)
        is_open = outbox.c.state != State.SENT.value
        values = {"state": attempt.state.value, "tried_at": now, "file_id": attempt.file_id}
        marked = self.database.execute(update(outbox).where(*_attempt(message), is_open).values(**values))
        return attempt if marked else None

    def sent(self, message: OutboxMessage, ts: str) -> bool:
        """Mark a message as sent with timestamp `ts`, record its thread's subject and drop a file's data.

        Return False if it was tried again since it was read, by a process that took this one for dead: then nothing
        changes, and what this attempt posted is kept as a duplicate.
        """
        changes: dict[str, Any] = {"content": {}} if "data" in message.content else {}
        return self._mark_posted(message, ts, {"state": State.SENT.value, "note": "", **changes})

    def begun_stream(self, message: OutboxMessage, ts: str) -> bool:
        """Mark a message as streaming with timestamp `ts`; return False, and keep a duplicate, as `sent` does."""
        return self._mark_posted(message, ts, {"state": State.STREAMING.value})

    def _mark_posted(self, message: OutboxMessage, ts: str, values: Mapping[str, Any]) -> bool:
        with self.database.begin() as connection:
            marked = connection.execute(update(outbox).where(*_attempt(message)).values(ts=ts, **values)).rowcount == 1
            if not marked:
                _keep_duplicate(connection, message, ts)
            elif message.about:
                _keep_thread(connection, message.channel, message.thread_ts or ts, message.about)
        return marked

    def keep_duplicate(self, message: OutboxMessage, ts: str) -> None:
        """Keep what Slack has twice of a message, to be deleted there."""
        with self.database.begin() as connection:
            _keep_duplicate(connection, message, ts)

    def refused(self, message: OutboxMessage, why: str) -> bool:
        """Mark a message as refused for good; return False, and change nothing, if it was tried again since it was read."""
        values = {"state": State.REFUSED.value, "note": why}
        return self.database.execute(update(outbox).where(*_attempt(message)).values(**values)) == 1

    def duplicates(self) -> list[Duplicate]:
        """Return what Slack may have twice."""
        return [Duplicate(row.key, row.channel, row.ts) for row in self.database.rows(select(duplicates))]

    def forget_duplicate(self, duplicate: Duplicate) -> None:
        """Delete the record of a duplicate, which Slack has no more or which counts."""
        here = (duplicates.c.channel == duplicate.channel, duplicates.c.ts == duplicate.ts)
        self.database.execute(delete(duplicates).where(*here))

    def refusals(self, since: datetime) -> list[tuple[str, int]]:
        """Return why messages tried since an instant were refused, and how many, the most frequent reason first."""
        query = (
            select(outbox.c.note, func.count())
            .where(outbox.c.state == State.REFUSED.value, outbox.c.tried_at >= since)
            .group_by(outbox.c.note)
            .order_by(func.count().desc(), outbox.c.note)
        )
        return [(row[0], row[1]) for row in self.database.rows(query)]

    # Threads

    def keep_thread(self, channel: str, ts: str, about: str) -> None:
        """Store a thread's subject, unless it has one."""
        with self.database.begin() as connection:
            _keep_thread(connection, channel, ts, about)

    def thread(self, channel: str, ts: str) -> str:
        """Return a thread's subject; empty for an unknown thread."""
        query = select(threads.c.about).where(threads.c.channel == channel, threads.c.ts == ts)
        return self.database.value(query) or ""

    def roots(self, prefix: str) -> list[Root]:
        """Return the sent messages whose keys begin with `prefix` and that began threads, oldest first."""
        is_first = outbox.c.root.is_(None), outbox.c.thread_ts.is_(None), outbox.c.about != ""
        query = select(*(outbox.c[name] for name in Root._fields)).where(*_begins(prefix), *is_first)
        sent = query.where(outbox.c.state == State.SENT.value).order_by(outbox.c.ts, outbox.c.key)
        return [Root(*row) for row in self.database.rows(sent)]

    def keep_edits(self, key: str, edits: Mapping[str, Any]) -> None:
        """Store what was put into a sent message."""
        self.database.execute(update(outbox).where(outbox.c.key == key).values(edits=dict(edits)))

    # Send slots

    def reserve_slot(
        self, name: str, now: Clock, gap: timedelta, most: timedelta | None = None, *, owner: str = ""
    ) -> datetime | None:
        """Reserve the next send slot of `name` and return its instant; slots are `gap` apart over all processes.

        A slot more than `most` away is not reserved: None. An `owner` reserves one slot only, and gets it again.
        """
        with self.database.begin(alone=f"slots {name}") as connection:
            # The clock is read here since others may have reserved slots while this transaction waited for its turn.
            instant = now()
            own = _free_at(connection, f"{name} {owner}") if owner else None
            if own:
                return own - gap
            free_at = _free_at(connection, name)
            at = max(instant, free_at) if free_at else instant
            if most is not None and at - instant > most:
                return None
            taken = {"free_at": at + gap}
            insert_or_update(connection, turns, {"name": name}, taken)
            if owner:
                insert_or_update(connection, turns, {"name": f"{name} {owner}"}, taken)
        return at

    def block_slots_until(self, name: str, instant: datetime) -> None:
        """Postpone the next send slot of `name` to `instant`, unless it is later already."""
        soon = (turns.c.name == name, turns.c.free_at < instant)
        self.database.execute(update(turns).where(*soon).values(free_at=instant))

    def forget(self, before: datetime) -> None:
        """Delete the requests done and the slots passed before an instant, and the content of messages sent before it."""
        with self.database.begin() as connection:
            connection.execute(delete(inbox).where(inbox.c.done_at < before))
            connection.execute(delete(turns).where(turns.c.free_at < before))
            old = (outbox.c.state == State.SENT.value, outbox.c.tried_at < before)
            connection.execute(update(outbox).where(*old).values(content={}))

    def counts(self) -> dict[str, int]:
        """Return the number of messages in each state."""
        rows = self.database.rows(select(outbox.c.state, func.count()).group_by(outbox.c.state))
        return {row[0]: row[1] for row in rows}


def _free_at(connection: Connection, name: str) -> datetime | None:
    return connection.execute(select(turns.c.free_at).where(turns.c.name == name)).scalar()


def _attempt(message: OutboxMessage) -> tuple[Any, ...]:
    """Return the condition that a message was not tried again since; an attempt is known by its instant."""
    return outbox.c.key == message.key, outbox.c.tried_at.is_not_distinct_from(message.tried_at)


def _keep_duplicate(connection: Connection, message: OutboxMessage, ts: str) -> None:
    insert_missing(connection, duplicates, {"channel": message.channel, "ts": ts, "key": message.key})


def _keep_thread(connection: Any, channel: str, ts: str, about: str) -> None:
    # The first message in a thread determines its subject.
    insert_missing(connection, threads, {"channel": channel, "ts": ts, "about": about})


def _begins(prefix: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that a message's key begins with `prefix`."""
    return outbox.c.key >= prefix, outbox.c.key < prefix + "\U0010ffff"
