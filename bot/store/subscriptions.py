"""Subscriptions of channels to digests, and the releases that were met for them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from sqlalchemy import Column, Connection, Row, Select, delete, select, update

from analysis.models import Importance, Language, Repository
from bot.store.schema import seen_releases, subscriptions
from bot.store.transactions import Records, insert_missing, insert_or_update

Releases = Literal["on", "rc"]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Departure = Literal["archived", "deleted", "removed", "left"]  # of a channel, the bot or a person; ends subscriptions
_CHANGES = "subscriptions"  # which people and operators change one at a time
_ACTIVE = select(subscriptions).where(subscriptions.c.ended_at.is_(None))


class Terms(NamedTuple):
    """The settings of a subscription: repository, time, language and selection.

    `paths` are patterns in .gitignore syntax; `watch` holds the terms that rank a commit high if it touches them;
    `downstream` are the repositories whose code is checked against the commits. On the day `weekly` a digest of the last seven
    days comes too, and with `releases` one of each new release, or with "rc" of candidates as well. `days` are the weekdays on
    which digests come, () for all; a `quiet` one does not come for days without consequences.
    """

    channel: str
    repository: Repository
    time: time
    tz: ZoneInfo
    language: Language
    least: Importance = Importance.LOW
    paths: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    downstream: tuple[Repository, ...] = ()
    weekly: Weekday | None = None
    releases: Releases | None = None
    days: tuple[Weekday, ...] = ()
    quiet: bool = False


class Subscription(NamedTuple):
    """A stored subscription, requested by `user`; `started_to` is the last day whose digest was started.

    `weekly_to` is the last day on which a weekly digest was started, or would have been before it was chosen. Releases that
    were met since `releases_since` are due; `released_to` is the highest one whose digest was started. `quiet_days` counts the
    days without a message since the last one.
    """

    id: int
    terms: Terms
    user: str
    created_at: datetime
    started_to: date | None
    note: str
    weekly_to: date | None = None
    releases_since: datetime | None = None
    released_to: str = ""
    quiet_days: int = 0


class Subscriptions(Records):
    """Subscriptions on one engine; thread-safe."""

    def all(self) -> list[Subscription]:
        """Return all active subscriptions, oldest first."""
        return self._found(_ACTIVE)

    def downstream(self) -> list[Repository]:
        """Return the downstream repositories that active subscriptions name."""
        return [repository for each in self.all() for repository in each.terms.downstream]

    def of(self, channel: str) -> list[Subscription]:
        """Return a channel's active subscriptions, oldest first."""
        return self._found(_ACTIVE.filter_by(channel=channel))

    def get(self, subscription_id: int) -> Subscription | None:
        """Return the subscription with this id, or None if it is not active."""
        row = self.database.first(_ACTIVE.where(subscriptions.c.id == subscription_id))
        return _subscription(row) if row else None

    def keep(self, terms: Terms, now: datetime, user: str = "") -> Subscription:
        """Store a subscription and return it. The same channel, repository and paths update an active one, keeping `started_to`.

        A cancelled one is replaced by a new one.
        """
        with self.database.begin(alone=_CHANGES) as connection:
            return _keep(connection, terms, now, user)

    def keep_configured(self, terms: Terms, now: datetime) -> bool:
        """Store an operator's subscription; return False if people subscribed the channel to the repository, or cancelled that."""
        with self.database.begin(alone=_CHANGES) as connection:
            for row in connection.execute(select(subscriptions).filter_by(channel=terms.channel)):
                if (row.user or row.ended_at) and Repository.parse(row.repository).key == terms.repository.key:
                    return False
            _keep(connection, terms, now, "")
        return True

    def change(self, subscription_id: int, terms: Terms, user: str, now: datetime) -> Subscription | None:
        """Replace the terms of a subscription and return it.

        Return None, and change nothing, if it is not active, or if the channel has another one to the same repository and paths.
        """
        key = _key(terms)
        values = {**key, **_changeable(terms), "user": user, "note": ""}
        mine = subscriptions.c.id == subscription_id
        with self.database.begin(alone=_CHANGES) as connection:
            before = connection.execute(_ACTIVE.where(mine)).first()
            if before is None or connection.execute(_ACTIVE.filter_by(**key).where(~mine)).first():
                return None
            connection.execute(delete(subscriptions).filter_by(**key).where(subscriptions.c.ended_at.is_not(None)))
            values |= _weekly_start(terms, before, now) | _releases_start(terms, before, now)
            connection.execute(update(subscriptions).where(mine).values(**values))
            row = connection.execute(select(subscriptions).where(mine)).one()
        return _subscription(row)

    def end(self, subscription_id: int, now: datetime) -> bool:
        """Cancel a subscription; return False if it was not active. The row stays, so that a restart does not recreate it."""
        with self.database.begin(alone=_CHANGES) as connection:
            mine = (subscriptions.c.id == subscription_id, subscriptions.c.ended_at.is_(None))
            return bool(connection.execute(update(subscriptions).where(*mine).values(ended_at=now)).rowcount)

    def started(self, subscription_id: int, day: date) -> None:
        """Record that the digest of `day` was started, unless that of a later day was."""
        self._advance(subscription_id, subscriptions.c.started_to, day)

    def started_week(self, subscription_id: int, day: date) -> None:
        """Record that the weekly digest that comes on `day` was started, unless a later one was."""
        self._advance(subscription_id, subscriptions.c.weekly_to, day)

    def started_releases(self, subscription_id: int, highest: str, now: datetime) -> None:
        """Record that the digests of the releases met until `now` were started, of which `highest` is the highest yet."""
        mine = subscriptions.c.id == subscription_id
        self.database.execute(update(subscriptions).where(mine).values(releases_since=now, released_to=highest))

    def noted(self, subscription_id: int, note: str, *, spoke: bool) -> None:
        """Store why the latest digest could not be delivered, empty if it was; if it `spoke`, it told of the quiet days before it."""
        values = {"note": note} | ({"quiet_days": 0} if spoke else {})
        self.database.execute(update(subscriptions).where(subscriptions.c.id == subscription_id).values(values))

    def kept_quiet(self, subscription_id: int, first: date, last: date) -> None:
        """Count days that got no message, from `first` to `last`, once however often it is said."""
        new = subscriptions.c.quiet_to.is_(None) | (subscriptions.c.quiet_to < last)
        more = subscriptions.c.quiet_days + (last - first).days + 1
        values = {"quiet_days": more, "quiet_to": last}
        self.database.execute(update(subscriptions).where(subscriptions.c.id == subscription_id, new).values(values))

    # Places and people that are gone

    def end_all(self, departure: Departure, now: datetime, *, channel: str = "", user: str = "") -> list[Subscription]:
        """End the subscriptions of a channel, or those of a person's direct messages, and keep why; return them."""
        theirs = {"channel": channel} if channel else {"user": user}
        with self.database.begin(alone=_CHANGES) as connection:
            rows = connection.execute(_ACTIVE.filter_by(**theirs).order_by(subscriptions.c.id))
            ended = [_subscription(row) for row in rows if channel or row.channel.startswith("D")]
            here = subscriptions.c.id.in_([each.id for each in ended])
            connection.execute(update(subscriptions).where(here).values(ended_at=now, note=departure))
        return ended

    def departed(self, since: datetime) -> list[Subscription]:
        """Return the subscriptions that ended since an instant because somebody or something is gone; the note is the `Departure`."""
        query = select(subscriptions).where(subscriptions.c.ended_at >= since)
        return self._found(query.where(subscriptions.c.note.in_(get_args(Departure))))

    def follow(self, channel: str, renamed: str) -> None:
        """Have the subscriptions of a channel follow it to its new id."""
        with self.database.begin(alone=_CHANGES) as connection:
            connection.execute(update(subscriptions).where(subscriptions.c.channel == channel).values(channel=renamed))

    def _found(self, query: Select[Any]) -> list[Subscription]:
        return [_subscription(row) for row in self.database.rows(query.order_by(subscriptions.c.id))]

    def _advance(self, subscription_id: int, column: Column[date | None], day: date) -> None:
        earlier = (subscriptions.c.id == subscription_id, column.is_(None) | (column < day))
        self.database.execute(update(subscriptions).where(*earlier).values({column: day}))


def _keep(connection: Connection, terms: Terms, now: datetime, user: str) -> Subscription:
    key = _key(terms)
    changed = _changeable(terms) | {"user": user, "note": ""}
    connection.execute(delete(subscriptions).filter_by(**key).where(subscriptions.c.ended_at.is_not(None)))
    held = connection.execute(select(subscriptions).filter_by(**key)).first()
    changed |= _weekly_start(terms, held, now) | _releases_start(terms, held, now)
    insert_or_update(connection, subscriptions, key, changed, only_new={"created_at": now})
    return _subscription(connection.execute(select(subscriptions).filter_by(**key)).one())


def _key(terms: Terms) -> dict[str, str]:
    return {"channel": terms.channel, "repository": str(terms.repository), "paths": ",".join(terms.paths)}


def _changeable(terms: Terms) -> dict[str, Any]:
    return {
        "time": f"{terms.time:%H:%M}",
        "timezone": terms.tz.key,
        "language": terms.language,
        "least": terms.least.value,
        "watch": ",".join(terms.watch),
        "downstream": ",".join(map(str, terms.downstream)),
        "weekly": terms.weekly or "",
        "releases": terms.releases or "",
        "days": ",".join(terms.days),
        "quiet": terms.quiet,
    }


def _weekly_start(terms: Terms, before: Row[Any] | None, now: datetime) -> dict[str, date]:
    """Return the values by which a weekly digest that is chosen now comes for the first time on the next of its days."""
    if not terms.weekly or (before and before.weekly == terms.weekly):
        return {}
    today = now.astimezone(terms.tz).date()
    has_come = datetime.combine(today, terms.time, terms.tz).astimezone(UTC) <= now
    return {"weekly_to": today if has_come else today - timedelta(days=1)}


def _releases_start(terms: Terms, before: Row[Any] | None, now: datetime) -> dict[str, datetime]:
    """Return the values by which digests of releases that are chosen now come of those that are met from now on."""
    return {"releases_since": now} if terms.releases and not (before and before.releases) else {}


def _subscription(row: Row[Any]) -> Subscription:
    terms = Terms(
        row.channel,
        Repository.parse(row.repository),
        time.fromisoformat(row.time),
        ZoneInfo(row.timezone),
        row.language,
        Importance(row.least),
        tuple(filter(None, row.paths.split(","))),
        tuple(filter(None, row.watch.split(","))),
        tuple(Repository.parse(name) for name in row.downstream.split(",") if name),
        row.weekly or None,
        row.releases or None,
        tuple(each for each in get_args(Weekday) if each in row.days.split(",")),
        row.quiet,
    )
    return Subscription(
        row.id,
        terms,
        row.user,
        row.created_at,
        row.started_to,
        row.note,
        row.weekly_to,
        row.releases_since,
        row.released_to,
        row.quiet_days,
    )


class SeenReleases(Records):
    """The tags of releases that were met, and when; thread-safe."""

    def meet(self, repository: Repository, tags: Sequence[str], now: datetime) -> dict[str, datetime | None]:
        """Store the tags that are new, and return tag -> when each was met; None of those that were there at the first look."""
        mine = {"repository": repository.full_name.lower()}
        query = select(seen_releases.c.tag, seen_releases.c.seen_at).filter_by(**mine)
        with self.database.begin(alone=f"releases {mine['repository']}") as connection:
            known = {row.tag: row.seen_at for row in connection.execute(query)}
            # A tag without a name says that there was a first look.
            new = dict.fromkeys((tag for tag in ("", *tags) if tag not in known), now if known else None)
            rows = [{**mine, "tag": tag, "seen_at": seen_at} for tag, seen_at in new.items()]
            insert_missing(connection, seen_releases, rows)
        return known | new
