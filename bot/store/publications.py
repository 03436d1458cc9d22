"""The last outcome of each day's publication, by target."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Engine, select

from bot.store.schema import publications
from bot.store.transactions import Database


class FailedPublication(NamedTuple):
    """A day that could not be published, as `bot.models.subjects.value_of` writes it, where, and why."""

    day: str
    target: str
    failure: str


class Publications:
    """The publications on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def note(self, day: str, target: str, failure: str, now: datetime) -> None:
        """Store how the last try ended: `failure` says why a day is not published, "" if it is."""
        key, row = {"day": day, "target": target}, {"failure": failure, "tried_at": now}
        self._database.save(publications, key, row)

    def failed(self, since: datetime) -> list[FailedPublication]:
        """Return the publications tried since an instant that failed, oldest first."""
        query = (
            select(publications)
            .where(publications.c.tried_at >= since, publications.c.failure != "")
            .order_by(publications.c.tried_at)
        )
        return [FailedPublication(row.day, row.target, row.failure) for row in self._database.rows(query)]
