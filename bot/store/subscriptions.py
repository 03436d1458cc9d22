"""Which channel gets whose digest, when, and up to which day it was started."""

from datetime import date, datetime, time
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import Engine, Row, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from analysis.models import Language, Repository
from bot.store.opening import writing
from bot.store.schema import subscriptions


class Subscription(NamedTuple):
    """A digest of `repository` for `channel` each day at `time` in `tz`; `started_to` is the last day that was started."""

    id: int
    channel: str
    repository: Repository
    time: time
    tz: ZoneInfo
    language: Language
    created_at: datetime
    started_to: date | None
    note: str


class Subscriptions:
    """The subscriptions, behind one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = writing(engine)

    def all(self) -> list[Subscription]:
        """Every subscription, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(subscriptions).order_by(subscriptions.c.id)).all()
        return [_subscription(row) for row in rows]

    def keep(
        self, channel: str, repository: Repository, at: time, tz: ZoneInfo, language: Language, now: datetime
    ) -> None:
        """Subscribes a channel, or changes its subscription of that repository; how far it was delivered stays."""
        key = {"channel": channel, "repository": str(repository)}
        changed = {"time": f"{at:%H:%M}", "timezone": tz.key, "language": language}
        with self._writing.begin() as connection:
            connection.execute(
                upsert(subscriptions)
                .values(**key, **changed, created_at=now)
                .on_conflict_do_update(index_elements=list(key), set_=changed)
            )

    def started(self, subscription_id: int, day: date) -> None:
        """The digest of `day` was started."""
        self._change(subscription_id, started_to=day)

    def noted(self, subscription_id: int, note: str) -> None:
        """Keeps why a digest could not be delivered; empty once it could."""
        self._change(subscription_id, note=note)

    def _change(self, subscription_id: int, **values: Any) -> None:
        with self._writing.begin() as connection:
            connection.execute(update(subscriptions).where(subscriptions.c.id == subscription_id).values(**values))


def _subscription(row: Row[Any]) -> Subscription:
    return Subscription(
        row.id,
        row.channel,
        Repository.parse(row.repository),
        time.fromisoformat(row.time),
        ZoneInfo(row.timezone),
        row.language,
        row.created_at,
        row.started_to,
        row.note,
    )
