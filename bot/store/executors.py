"""The processes of a bot that share one PostgreSQL: who lives, and who died with work under way.

A living process holds an advisory lock on a connection of its own, and renews its row every few seconds. A process whose lock
is free is dead. One whose row is old is paused or cut off: its connection is terminated first, so that it notices when it
goes on. Times are the database's, since the machines' clocks may differ.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import structlog
from sqlalchemy import Connection, Engine, Row, Select, delete, func, or_, select, text, update

from bot.store.postgresql import LOCK_HOLDERS
from bot.store.schema import executors
from bot.store.transactions import Records, lock_key

_KEPT = timedelta(days=30)
_NOW = func.clock_timestamp()
_END_HOLDERS = text(f"SELECT pg_terminate_backend(pid) {LOCK_HOLDERS}")

log = structlog.get_logger(__name__)


class Timing(NamedTuple):
    """How often a process renews its row, when others take it for dead, and how often they look.

    Work of a killed process goes on elsewhere after at most `sweep`, of a paused one after at most `silence` + `sweep`.
    """

    renewal: timedelta
    silence: timedelta
    sweep: timedelta


TIMING = Timing(renewal=timedelta(seconds=10), silence=timedelta(seconds=60), sweep=timedelta(seconds=20))


# A row of `executors`: a process of the bot.
Executor: TypeAlias = Row[*tuple[Any, ...]]


class Executors(Records):
    """The processes of a bot, on one engine. SQLite has no rows: there is one process, which holds a file's lock."""

    def __init__(self, engine: Engine, timing: Timing = TIMING) -> None:
        super().__init__(engine)
        self._timing = timing
        self._ended: frozenset[str] = frozenset()  # lately, as far as `newly_ended` has told

    def living(self) -> Sequence[Executor]:
        """Return the processes that are not known to have ended, oldest first."""
        return self._read(select(executors).where(executors.c.ended_at.is_(None)))

    def all(self) -> Sequence[Executor]:
        """Return the processes of the last 30 days, oldest first."""
        return self._read(select(executors))

    def _read(self, query: Select[*tuple[Any, ...]]) -> Sequence[Executor]:
        return self.database.rows(query.order_by(executors.c.started_at))

    def time(self) -> datetime:
        """Return the time of the database's clock on PostgreSQL, by which the rows' times go."""
        [found] = self.database.column(select(_NOW))
        assert isinstance(found, datetime)
        return found

    def dead_among(self, owners: Collection[str]) -> list[str]:
        """Mark processes that died as ended. Return those of `owners`, ids of processes with work under way, that are dead."""
        if self.database.is_sqlite:
            return []  # whoever asks holds the file alone
        has_ended = executors.c.ended_at.is_not(None)
        query = select(executors.c.id, has_ended).where(or_(~has_ended, executors.c.id.in_(owners)))
        known = {id_: bool(is_over) for id_, is_over in self.database.rows(query)}
        # Where the server started lately, living processes may not have noticed, and have no lock yet.
        grace = func.pg_postmaster_start_time() > _NOW - 1.5 * self._timing.renewal
        is_server_new = bool(self.database.value(select(grace)))
        ended = {id_ for id_, is_over in known.items() if is_over}
        suspects = [] if is_server_new else sorted((known.keys() | set(owners)) - ended)
        ended |= {id_ for id_ in suspects if self._end_if_dead(id_)}
        return sorted(ended & set(owners))

    def newly_ended(self) -> bool:
        """Return whether a process has ended of its own accord, or was marked as ended, since this was last asked."""
        if self.database.is_sqlite:
            return False
        query = select(executors.c.id).where(executors.c.ended_at > _NOW - self._timing.silence)
        ended = frozenset(self.database.column(query))
        known, self._ended = self._ended, ended
        return bool(ended - known)

    def forget(self) -> None:
        """Delete the rows of processes that ended more than 30 days ago."""
        self.database.execute(delete(executors).where(executors.c.ended_at < datetime.now(UTC) - _KEPT))

    def _end_if_dead(self, executor_id: str) -> bool:
        key = {"key": executor_lock(executor_id)}
        with self.database.begin() as connection:
            own = executors.c.id == executor_id
            is_silent = select(executors.c.id).where(own, executors.c.seen_at < _NOW - self._timing.silence)
            if connection.execute(is_silent).first():
                connection.execute(_END_HOLDERS, key)
            # Held until the row is marked, so that the process cannot take its lock again in between.
            if not connection.execute(text("SELECT pg_try_advisory_xact_lock(:key)"), key).scalar_one():
                return False
            connection.execute(update(executors).where(own, executors.c.ended_at.is_(None)).values(ended_at=_NOW))
        log.warning("process ended", executor=executor_id)
        return True


def executor_lock(executor_id: str) -> int:
    """Return the number of the lock that a process of the bot holds as long as it lives."""
    return lock_key(f"executor {executor_id}")


def older_programs(connection: Connection, schema_version: str) -> int:
    """Return how many living processes have a program that is older than a schema. On SQLite no process has a row."""
    if connection.dialect.name == "sqlite":
        return 0
    is_older = executors.c.ended_at.is_(None), executors.c.schema_version < schema_version
    held = text(f"SELECT count(*) {LOCK_HOLDERS}")
    ids = connection.execute(select(executors.c.id).where(*is_older)).scalars().all()
    return sum(connection.execute(held, {"key": executor_lock(each)}).scalar_one() for each in ids)
