"""The answers that are being written, by whichever process: a stop button that reaches one process ends them in another.

A row belongs to the request that is answered, whose durable flow always ends it: what a killed process had begun is still under
way until another one has taken the flow over and finished the answer, and it stays stopped if it was. So no row has to
tell whether its process lives. One whose flow was given up counts for a day.
"""

from datetime import datetime, timedelta
from enum import Enum, auto

from sqlalchemy import ColumnElement, Connection, delete, exists, select, update

from bot.store.schema import inbox, ongoing_answers
from bot.store.transactions import Records, insert_or_update

_FORGOTTEN = timedelta(days=1)


class Interruption(Enum):
    """What ends an answer before it is complete."""

    NONE = auto()
    STOPPED = auto()  # by somebody in its thread
    WITHDRAWN = auto()  # with its question, which was deleted


class OngoingAnswers(Records):
    """The answers under way in threads, on one engine; thread-safe. `attempt` names one try to write an answer."""

    def begin(self, request: str, attempt: str, channel: str, thread_ts: str, now: datetime) -> None:
        """Store that the request with this key is being answered in a thread, by this attempt instead of an earlier one."""
        values = {"attempt": attempt, "channel": channel, "thread_ts": thread_ts, "begun_at": now}
        with self.database.begin() as connection:
            old = (ongoing_answers.c.begun_at < now - _FORGOTTEN, ongoing_answers.c.request != request)
            connection.execute(delete(ongoing_answers).where(*old))
            insert_or_update(connection, ongoing_answers, {"request": request}, values, only_new={"is_stopped": False})

    def end(self, request: str, attempt: str, now: datetime, *, finished: bool) -> bool:
        """Store that an attempt ended; return whether its thread has no other answer under way.

        One that is not `finished` may be tried again, and stays stopped if it was. Return False if another attempt took over.
        """
        own = (ongoing_answers.c.request == request, ongoing_answers.c.attempt == attempt)
        with self.database.begin(alone="ongoing answers") as connection:
            found = connection.execute(select(ongoing_answers).where(*own)).first()
            if found is None:
                return False
            if finished:
                connection.execute(delete(ongoing_answers).where(*own))
            else:
                connection.execute(update(ongoing_answers).where(*own).values(attempt=None))
            return not _are_any(connection, found.channel, found.thread_ts, now)

    def remove(self, request: str) -> tuple[str, str] | None:
        """Remove the answer to a request that is not answered any more; return its channel and thread, None if there is none."""
        with self.database.begin() as connection:
            own = ongoing_answers.c.request == request
            found = connection.execute(select(ongoing_answers).where(own)).first()
            connection.execute(delete(ongoing_answers).where(own))
        return (found.channel, found.thread_ts) if found else None

    def stop(self, channel: str, thread_ts: str, now: datetime) -> int:
        """Stop the answers under way in a thread, and return how many there are."""
        stopped = update(ongoing_answers).where(*_in_thread(channel, thread_ts, now)).values(is_stopped=True)
        return self.database.execute(stopped)

    def are_any(self, channel: str, thread_ts: str, now: datetime) -> bool:
        """Return whether an answer is under way in a thread."""
        with self.database.engine.connect() as connection:
            return _are_any(connection, channel, thread_ts, now)

    def interruption(self, request: str, attempt: str) -> Interruption:
        """Return what is to end an attempt: a stopped answer, or a request that the inbox has no more."""
        query = (
            select(ongoing_answers.c.is_stopped, inbox.c.done_at)
            .outerjoin_from(ongoing_answers, inbox, inbox.c.key == ongoing_answers.c.request)
            .where(ongoing_answers.c.request == request, ongoing_answers.c.attempt == attempt)
        )
        found = self.database.first(query)
        if found is None:
            return Interruption.NONE
        if found.done_at:
            return Interruption.WITHDRAWN
        return Interruption.STOPPED if found.is_stopped else Interruption.NONE


def _are_any(connection: Connection, channel: str, thread_ts: str, now: datetime) -> bool:
    return bool(connection.execute(select(exists().where(*_in_thread(channel, thread_ts, now)))).scalar())


def _in_thread(channel: str, thread_ts: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of an answer under way in a thread."""
    return (
        ongoing_answers.c.channel == channel,
        ongoing_answers.c.thread_ts == thread_ts,
        ongoing_answers.c.attempt.is_not(None),
        ongoing_answers.c.begun_at >= now - _FORGOTTEN,
    )
