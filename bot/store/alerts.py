"""Alerts: what single people asked to be told once."""

from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Column, ColumnElement, delete, func, select, update

from analysis.models import Repository
from bot.store.schema import alerts
from bot.store.transactions import Records, insert_missing

AlertEvent = Literal["merged", "reverted", "released"]
_OPEN = alerts.c.ended_at.is_(None)
_WAITS = _OPEN & alerts.c.message.is_(None)


class Alert(NamedTuple):
    """What a person asked to be told: that a commit or a pull request, with its title and page, is merged, reverted or released.

    `subject` is a commit's SHA, or `#123` of a pull request that was not merged then; `sha` is the commit once there is one.
    They asked in `channel`. `message` is what is to be told, once there is something.
    """

    user: str
    channel: str
    repository: Repository
    event: AlertEvent
    subject: str
    title: str
    url: str
    sha: str | None = None
    message: dict[str, Any] | None = None
    id: int = 0


class Alerts(Records):
    """The alerts on one engine, each until its person was told or cancelled it; thread-safe."""

    def keep(self, alert: Alert, now: datetime, most: int) -> bool:
        """Store an alert, unless its person has it already; return False if they have `most` others."""
        key = {name: getattr(alert, name) for name in ("user", "subject", "event")} | {
            "repository": str(alert.repository)
        }
        values = {name: getattr(alert, name) for name in ("channel", "title", "url", "sha")}
        open_ones = select(func.count()).select_from(alerts).where(_OPEN, alerts.c.user == alert.user)
        with self.database.begin(alone=f"alerts {alert.user}") as connection:
            connection.execute(delete(alerts).filter_by(**key).where(~_OPEN))
            held = connection.execute(select(alerts.c.id).filter_by(**key)).first()
            if not held and connection.execute(open_ones).scalar_one() >= most:
                return False
            insert_missing(connection, alerts, {**key, **values, "asked_at": now, "checked_at": now})
        return True

    def of(self, user: str) -> list[Alert]:
        """Return a person's alerts, oldest first."""
        return self._found(alerts.c.user == user)

    def get(self, alert_id: int) -> Alert | None:
        """Return the alert with this id, or None if it is over."""
        return next(iter(self._found(alerts.c.id == alert_id)), None)

    def of_commits(self, event: AlertEvent) -> list[Alert]:
        """Return the alerts about commits of which there is nothing to tell yet."""
        return self._found(_WAITS, alerts.c.sha.is_not(None), alerts.c.event == event)

    def of_pulls(self) -> list[Alert]:
        """Return the alerts about unmerged pull requests, those first of which GitHub was not asked for longest."""
        return self._found(_WAITS, alerts.c.sha.is_(None), order=alerts.c.checked_at)

    def settled(self) -> list[Alert]:
        """Return the alerts of which there is something to tell."""
        return self._found(alerts.c.message.is_not(None))

    def checked(self, alert_id: int, now: datetime, sha: str | None) -> None:
        """Store that GitHub was asked of a pull request, and as which commit it is merged, if it is."""
        self.database.execute(update(alerts).where(alerts.c.id == alert_id).values(checked_at=now, sha=sha))

    def settle(self, alert_id: int, message: dict[str, Any]) -> None:
        """Store what is to be told."""
        self.database.execute(update(alerts).where(alerts.c.id == alert_id, _WAITS).values(message=message))

    def end(self, alert_id: int, now: datetime) -> bool:
        """End an alert whose person was told or cancelled it; return False if it was over."""
        return self.database.execute(update(alerts).where(alerts.c.id == alert_id, _OPEN).values(ended_at=now)) == 1

    def forget(self, before: datetime) -> None:
        """Delete the alerts that ended before an instant."""
        self.database.execute(delete(alerts).where(alerts.c.ended_at < before))

    def _found(self, *conditions: ColumnElement[bool], order: Column[datetime] = alerts.c.asked_at) -> list[Alert]:
        columns = [alerts.c[name] for name in Alert._fields]
        rows = self.database.rows(select(*columns).where(_OPEN, *conditions).order_by(order, alerts.c.id))
        return [Alert(**{**row._asdict(), "repository": Repository.parse(row.repository)}) for row in rows]
