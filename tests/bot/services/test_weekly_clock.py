"""On which day a weekly digest is due at an instant, and what a typed week means."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.window import parse_week
from bot.services.schedule import due_week, next_week
from bot.store import Subscription, Subscriptions, Terms, Weekday, open_engine
from tests.servers.databases import empty_database

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def terms(weekly: Weekday | None, at: str = "09:00", tz: str = "UTC") -> Terms:
    repository = Repository(owner="o", name="n")
    return Terms("C0DIGEST", repository, time.fromisoformat(at), ZoneInfo(tz), "en", weekly=weekly)


def subscribed(
    weekly: Weekday | None = "mon", *, at: str = "09:00", tz: str = "UTC", to: str = "2026-01-01"
) -> Subscription:
    since = utc("2025-01-01 00:00")
    return Subscription(1, terms(weekly, at, tz), "U0ADA", since, None, "", date.fromisoformat(to))


@pytest.mark.parametrize(
    ("at", "before", "due", "day"),
    [
        ("09:00", "2026-03-30 06:59:59", "2026-03-30 07:00", "2026-03-30"),  # the day after the clock went forward
        ("09:00", "2026-10-26 07:59:59", "2026-10-26 08:00", "2026-10-26"),  # and after it went back
        ("02:30", "2026-03-29 01:29:59", "2026-03-29 01:30", "2026-03-29"),  # a time that the change skips
        ("02:30", "2026-10-25 00:29:59", "2026-10-25 00:30", "2026-10-25"),  # and one that it repeats, at its first
    ],
)
def test_a_clock_change_neither_skips_nor_repeats_a_week(at: str, before: str, due: str, day: str) -> None:
    """It comes at its local time, in March and in October, and once."""
    weekly: Weekday = "mon" if at == "09:00" else "sun"
    last = date.fromisoformat(day) - timedelta(days=7)
    subscription = subscribed(weekly, at=at, tz=BERLIN, to=f"{last}")
    assert due_week(subscription, utc(before)) is None
    assert next_week(subscription, utc(before)) == utc(due)
    assert due_week(subscription, utc(due)) == date.fromisoformat(day)
    started = subscription._replace(weekly_to=date.fromisoformat(day))
    assert not any(due_week(started, utc(due) + timedelta(hours=hours)) for hours in range(7 * 24 - 2))


def test_of_the_weeks_that_were_missed_the_last_is_due() -> None:
    """After a month without the bot its channel gets one week, and not four."""
    subscription = subscribed(to="2026-01-05")
    assert due_week(subscription, utc("2026-02-12 12:00")) == date(2026, 2, 9)
    assert due_week(subscription._replace(weekly_to=date(2026, 2, 9)), utc("2026-02-16 08:59")) is None


def test_without_a_weekday_no_week_is_due() -> None:
    """Weekly digests are something that a channel chooses."""
    assert due_week(subscribed(None), utc("2026-02-09 12:00")) is None
    assert next_week(subscribed(None), utc("2026-02-09 12:00")) is None


def test_the_first_week_comes_on_the_next_of_its_days(tmp_path: Path) -> None:
    """Who chooses Monday on a Wednesday, or on a Monday after the time, gets nothing before the next Monday."""
    engine = open_engine(empty_database(tmp_path / "bot.db"))
    store = Subscriptions(engine)
    kept = store.keep(terms("mon"), utc("2026-02-09 08:00"))
    assert due_week(kept, utc("2026-02-09 08:59")) is None
    assert due_week(kept, utc("2026-02-09 09:00")) == date(2026, 2, 9)
    store.started_week(kept.id, date(2026, 2, 9))
    unchanged = store.keep(terms("mon")._replace(watch=("X",)), utc("2026-02-09 08:30"))
    assert unchanged.weekly_to == date(2026, 2, 9)
    changed = store.change(kept.id, terms("tue"), "U0ADA", utc("2026-02-10 09:30"))
    assert changed
    assert due_week(changed, utc("2026-02-10 23:00")) is None
    assert due_week(changed, utc("2026-02-17 09:00")) == date(2026, 2, 17)
    off = store.change(kept.id, terms(None), "U0ADA", utc("2026-02-12 09:00"))
    assert off
    assert due_week(off, utc("2026-02-17 09:00")) is None
    again = store.change(kept.id, terms("tue"), "U0ADA", utc("2026-03-04 09:00"))
    assert again
    assert due_week(again, utc("2026-03-04 10:00")) is None
    engine.dispose()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", "2026-02-04"),
        ("2026-02-11", "2026-02-09"),
        ("2026-02-08", "2026-02-02"),
        ("today", "2026-02-09"),
        ("-1", "2026-02-02"),
        ("-2", "2026-01-26"),
        ("mon", "2026-02-09"),
    ],
)
def test_a_week_is_that_of_a_day_or_so_many_back(text: str, first: str) -> None:
    """Weeks begin on Monday; without a word it is the last seven whole days."""
    assert parse_week(text, date(2026, 2, 11)) == date.fromisoformat(first)


@pytest.mark.parametrize("text", ["2026-02-12", "2026-02-30", "words", "-99999"])
def test_what_is_no_week_is_refused(text: str) -> None:
    """A day in the future, one that does not exist, and any other word."""
    with pytest.raises(Misuse):
        parse_week(text, date(2026, 2, 11))
