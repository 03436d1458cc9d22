"""Breaks of a channel's downstream code, each until it is adapted."""

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import delete, select, update

from bot.store.schema import breaks
from bot.store.transactions import Records, insert_missing

_KEY = ("channel", "repository", "sha", "downstream", "name")


class BreakState(StrEnum):
    """The state of a break. The values are part of the store."""

    FOUND = "found"
    ADAPTED = "adapted"  # the downstream code has no such use any more
    UNDONE = "undone"  # upstream reverted the commit
    UNCONCERNED = "no concern"  # by a person's word; digests of the channel flag the name no more


class DownstreamBreak(NamedTuple):
    """A commit breaks downstream code of a channel by what it does to a name.

    `repository` is the key of upstream; `head` is the downstream commit at which the use of the name in `paths` was looked for
    last. `who` took it, or said that it is no concern; it is put off until the day `until`. `by_commit` is the address of the
    commit that adapted or undid it.
    """

    channel: str
    repository: str
    sha: str
    downstream: str
    name: str
    paths: Sequence[str]
    head: str
    state: BreakState = BreakState.FOUND
    who: str = ""
    until: date | None = None
    by_commit: str = ""

    def is_put_off(self, today: date) -> bool:
        """Return whether it is put off until a day after today."""
        return self.state is BreakState.FOUND and self.until is not None and self.until > today


class Breaks(Records):
    """What breaks downstream code, by channel, commit, downstream repository and name, on one engine; thread-safe."""

    def keep(self, found: Sequence[DownstreamBreak], now: datetime) -> None:
        """Store what was found; of what is known nothing changes."""
        rows = [each._asdict() | {"paths": list(each.paths), "updated_at": now} for each in found]
        with self.database.begin() as connection:
            insert_missing(connection, breaks, rows)

    def change(self, some: Sequence[DownstreamBreak], **values: Any) -> None:
        """Set some values of some breaks; `updated_at` is when their lives changed."""
        with self.database.begin() as connection:
            for each in some:
                key = {name: getattr(each, name) for name in _KEY}
                connection.execute(update(breaks).filter_by(**key).values(**values))

    def found(self, **values: Any) -> list[DownstreamBreak]:
        """Return the breaks that have some values, in the order in which they were found or changed."""
        query = select(*(breaks.c[name] for name in DownstreamBreak._fields)).filter_by(**values)
        rows = self.database.rows(query.order_by(breaks.c.updated_at, breaks.c.sha, breaks.c.name))
        return [DownstreamBreak(**{**row._asdict(), "state": BreakState(row.state)}) for row in rows]

    def forget(self, before: datetime) -> None:
        """Delete what nobody changed since an instant, except what people said to be no concern."""
        old = breaks.c.updated_at < before, breaks.c.state != BreakState.UNCONCERNED.value
        self.database.execute(delete(breaks).where(*old))
