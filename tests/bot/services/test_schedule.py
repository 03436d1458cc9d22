"""Which days' and weeks' digests are due at an instant, and what a typed week means."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.window import parse_week
from bot.services.schedule import due, due_week, fires, first_covered, next_digest, next_week
from bot.store import Subscription, Subscriptions, Terms, Weekday, open_engine
from tests.servers.databases import empty_database

ZONES = ("UTC", "Asia/Shanghai", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def subscribed(since: datetime, at: str = "09:00", tz: str = "UTC", started_to: date | None = None) -> Subscription:
    terms = Terms("C0DIGEST", Repository(owner="o", name="n"), time.fromisoformat(at), ZoneInfo(tz), "en")
    return Subscription(1, terms, "U0ADA", since, started_to, "")


def days(*numbers: int) -> list[date]:
    return [date(2026, 2, number) for number in numbers]


@pytest.mark.parametrize(
    ("since", "before", "first", "day"),
    [
        ("2026-02-05 08:00", "2026-02-05 08:59:59", "2026-02-05 09:00", 4),
        ("2026-02-05 09:00", "2026-02-06 08:59:59", "2026-02-06 09:00", 5),
        ("2026-02-05 23:59", "2026-02-06 08:59:59", "2026-02-06 09:00", 5),
    ],
)
def test_the_first_digest_comes_at_the_next_due_time(since: str, before: str, first: str, day: int) -> None:
    """Whoever subscribes gets nothing at once: the first digest is that of the day before the next due time."""
    subscription = subscribed(utc(since))
    assert due(subscription, utc(since)) == []
    assert due(subscription, utc(before)) == []
    assert due(subscription, utc(first)) == days(day)


def test_one_day_is_due_each_day() -> None:
    """A digest that was started is not due again, and the next one is due a day later."""
    subscription = subscribed(utc("2026-01-01 00:00"), started_to=date(2026, 2, 4))
    assert due(subscription, utc("2026-02-05 23:59:59")) == []
    assert due(subscription, utc("2026-02-06 08:59:59")) == []
    assert due(subscription, utc("2026-02-06 09:00")) == days(5)
    assert due(subscription._replace(started_to=date(2026, 2, 5)), utc("2026-02-06 09:00")) == []


@pytest.mark.parametrize(("missed", "found"), [(1, [9]), (2, [8, 9]), (3, [7, 8, 9]), (4, [7, 8, 9]), (300, [7, 8, 9])])
def test_three_days_are_made_up_for_after_a_downtime(missed: int, found: list[int]) -> None:
    """Of the days that were missed the last three are due, oldest first."""
    subscription = subscribed(utc("2020-01-01 00:00"), started_to=date(2026, 2, 9) - timedelta(days=missed))
    assert due(subscription, utc("2026-02-10 10:00")) == days(*found)


def test_days_before_the_subscription_are_not_made_up_for() -> None:
    """A subscription that was made yesterday, and never started, is owed one day only."""
    assert due(subscribed(utc("2026-02-09 10:00")), utc("2026-02-10 10:00")) == days(9)


@pytest.mark.parametrize(
    ("tz", "day", "at", "instant"),
    [
        (BERLIN, "2026-03-29", "02:30", "2026-03-29 01:30"),
        (NEW_YORK, "2026-03-08", "02:30", "2026-03-08 07:30"),
        (BERLIN, "2026-10-25", "02:30", "2026-10-25 00:30"),
        (NEW_YORK, "2026-11-01", "01:30", "2026-11-01 05:30"),
        (BERLIN, "2026-03-28", "02:30", "2026-03-28 01:30"),
        (BERLIN, "2026-03-30", "02:30", "2026-03-30 00:30"),
        (NEW_YORK, "2026-02-05", "09:00", "2026-02-05 14:00"),
        ("Asia/Shanghai", "2026-02-05", "09:00", "2026-02-05 01:00"),
        ("Pacific/Kiritimati", "2026-02-05", "09:00", "2026-02-04 19:00"),
        ("America/Santiago", "2026-09-06", "00:00", "2026-09-06 04:00"),
    ],
    ids=lambda value: value.replace(" ", "T"),
)
def test_a_time_of_day_is_one_instant(tz: str, day: str, at: str, instant: str) -> None:
    """A time that a clock change leaves out comes an hour later by the new clock, one that it makes twice is the first."""
    assert fires(date.fromisoformat(day), time.fromisoformat(at), ZoneInfo(tz)) == utc(instant)


@pytest.mark.parametrize(
    ("tz", "changes", "at", "instant", "again"),
    [
        (BERLIN, "2026-03-29", "02:30", "2026-03-29 01:30", "2026-03-29 02:30"),
        (NEW_YORK, "2026-03-08", "02:30", "2026-03-08 07:30", "2026-03-08 08:30"),
        (BERLIN, "2026-10-25", "02:30", "2026-10-25 00:30", "2026-10-25 01:30"),
        (NEW_YORK, "2026-11-01", "01:30", "2026-11-01 05:30", "2026-11-01 06:30"),
    ],
)
def test_a_clock_change_neither_skips_nor_doubles_a_day(
    tz: str, changes: str, at: str, instant: str, again: str
) -> None:
    """On the day of the change the digest is due once, at its instant, and on the days around it as usual."""
    today = date.fromisoformat(changes)
    yesterday = today - timedelta(days=1)
    subscription = subscribed(utc("2026-01-01 00:00"), at, tz, started_to=yesterday - timedelta(days=1))
    assert due(subscription, utc(instant) - timedelta(seconds=1)) == []
    assert due(subscription, utc(instant)) == [yesterday]
    started = subscription._replace(started_to=yesterday)
    assert due(started, utc(again)) == []
    assert due(started, utc(instant) + timedelta(hours=26)) == [today]


def test_each_zone_has_its_own_morning() -> None:
    """At one instant it is nine in the morning of other days in other places."""
    now = utc("2026-02-05 19:00")
    since = now - timedelta(hours=20)
    assert due(subscribed(since, tz="Pacific/Kiritimati"), now) == days(5)  # the 6th there, nine o'clock
    assert due(subscribed(since, tz="Pacific/Honolulu"), now) == days(4)  # the 5th there, nine o'clock
    assert due(subscribed(since, tz="America/Los_Angeles"), now) == days(4)
    assert due(subscribed(since, tz="Pacific/Honolulu"), now - timedelta(seconds=1)) == []


@given(
    tz=st.sampled_from(ZONES),
    at=st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    since=st.timedeltas(timedelta(), timedelta(days=330)).map(utc("2026-01-01 00:00").__add__),
    waits=st.lists(
        st.one_of(st.timedeltas(timedelta(), timedelta(minutes=90)), st.timedeltas(timedelta(), timedelta(days=6))),
        max_size=40,
    ),
)
def test_however_often_the_clock_ticks_each_day_is_started_once(
    tz: str, at: time, since: datetime, waits: list[timedelta]
) -> None:
    """After each tick the last three days that fell due are started, and none is started twice or out of order."""
    subscription = subscribed(since, f"{at:%H:%M}", tz)
    now = since
    started: list[date] = []
    for wait in waits:
        now += wait
        for day in due(subscription, now):
            started.append(day)
            subscription = subscription._replace(started_to=day)
        fell_due = [
            day
            for day in (since.date() + timedelta(days=number) for number in range(-2, (now - since).days + 3))
            if since < fires(day + timedelta(days=1), at, ZoneInfo(tz)) <= now
        ]
        assert set(fell_due[-3:]) <= set(started) <= set(fell_due)
        assert started == sorted(set(started))


def terms(weekly: Weekday | None, at: str = "09:00", tz: str = "UTC") -> Terms:
    repository = Repository(owner="o", name="n")
    return Terms("C0DIGEST", repository, time.fromisoformat(at), ZoneInfo(tz), "en", weekly=weekly)


def weekly(day: Weekday | None = "mon", *, at: str = "09:00", tz: str = "UTC", to: str = "2026-01-01") -> Subscription:
    since = utc("2025-01-01 00:00")
    return Subscription(1, terms(day, at, tz), "U0ADA", since, None, "", date.fromisoformat(to))


@pytest.mark.parametrize(
    ("at", "before", "instant", "day"),
    [
        ("09:00", "2026-03-30 06:59:59", "2026-03-30 07:00", "2026-03-30"),  # the day after the clock went forward
        ("09:00", "2026-10-26 07:59:59", "2026-10-26 08:00", "2026-10-26"),  # and after it went back
        ("02:30", "2026-03-29 01:29:59", "2026-03-29 01:30", "2026-03-29"),  # a time that the change skips
        ("02:30", "2026-10-25 00:29:59", "2026-10-25 00:30", "2026-10-25"),  # and one that it repeats, at its first
    ],
)
def test_a_clock_change_neither_skips_nor_repeats_a_week(at: str, before: str, instant: str, day: str) -> None:
    """It comes at its local time, in March and in October, and once."""
    weekday: Weekday = "mon" if at == "09:00" else "sun"
    last = date.fromisoformat(day) - timedelta(days=7)
    subscription = weekly(weekday, at=at, tz=BERLIN, to=f"{last}")
    assert due_week(subscription, utc(before)) is None
    assert next_week(subscription, utc(before)) == utc(instant)
    assert due_week(subscription, utc(instant)) == date.fromisoformat(day)
    started = subscription._replace(weekly_to=date.fromisoformat(day))
    assert not any(due_week(started, utc(instant) + timedelta(hours=hours)) for hours in range(7 * 24 - 2))


def test_of_the_weeks_that_were_missed_the_last_is_due() -> None:
    """After a month without the bot its channel gets one week, and not four."""
    subscription = weekly(to="2026-01-05")
    assert due_week(subscription, utc("2026-02-12 12:00")) == date(2026, 2, 9)
    assert due_week(subscription._replace(weekly_to=date(2026, 2, 9)), utc("2026-02-16 08:59")) is None


def test_without_a_weekday_no_week_is_due() -> None:
    """Weekly digests are something that a channel chooses."""
    assert due_week(weekly(None), utc("2026-02-09 12:00")) is None
    assert next_week(weekly(None), utc("2026-02-09 12:00")) is None


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


WORKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri")
# The weekdays, when the subscription was made, the last day told, now; the days of the digest that is due, and when the next is.
RHYTHMS: tuple[tuple[tuple[Weekday, ...], str, int | None, str, tuple[int, int] | None, str], ...] = (
    (WORKDAYS, "2026-01-01 00:00", 5, "2026-02-09 08:59", None, "2026-02-09 09:00"),  # on Monday, Friday's to come
    (WORKDAYS, "2026-01-01 00:00", 5, "2026-02-09 09:00", (6, 8), "2026-02-10 09:00"),
    (WORKDAYS, "2026-01-01 00:00", 8, "2026-02-10 09:00", (9, 9), "2026-02-11 09:00"),
    (WORKDAYS, "2026-01-01 00:00", 5, "2026-02-07 12:00", None, "2026-02-09 09:00"),
    (WORKDAYS, "2026-01-01 00:00", 3, "2026-02-09 09:00", (4, 8), "2026-02-10 09:00"),  # the bot was away
    (WORKDAYS, "2026-01-01 00:00", None, "2026-02-09 09:00", (6, 8), "2026-02-10 09:00"),
    (WORKDAYS, "2026-02-07 10:00", None, "2026-02-09 09:00", (6, 8), "2026-02-10 09:00"),
    (WORKDAYS, "2026-02-09 10:00", None, "2026-02-09 11:00", None, "2026-02-10 09:00"),
    (("mon",), "2026-02-04 10:00", None, "2026-02-08 12:00", None, "2026-02-09 09:00"),
    (("mon",), "2026-02-04 10:00", None, "2026-02-09 09:00", (2, 8), "2026-02-16 09:00"),
    (("mon",), "2026-01-01 00:00", 4, "2026-02-09 09:00", (5, 8), "2026-02-16 09:00"),  # it came daily before
    (
        ("mon",),
        "2025-01-01 00:00",
        1,
        "2026-02-25 09:00",
        (16, 22),
        "2026-03-02 09:00",
    ),  # and weeks are not made up for
    (("tue", "sat"), "2026-01-01 00:00", 6, "2026-02-10 09:00", (7, 9), "2026-02-14 09:00"),
)


@pytest.mark.parametrize(("weekdays", "since", "told_to", "now", "covers", "next_"), RHYTHMS)
def test_on_its_weekdays_a_digest_covers_the_days_since_the_one_before(
    weekdays: tuple[Weekday, ...],
    since: str,
    told_to: int | None,
    now: str,
    covers: tuple[int, int] | None,
    next_: str,
) -> None:
    """What was between comes in one message, a week at most, and not again."""
    started_to = date(2026, 2, told_to) if told_to else None
    subscription = subscribed(utc(since), started_to=started_to)
    subscription = subscription._replace(terms=subscription.terms._replace(days=weekdays))
    found = due(subscription, utc(now))
    assert [(first_covered(subscription, each), each) for each in found] == ([tuple(days(*covers))] if covers else [])
    subscription = subscription._replace(started_to=found[-1] if found else started_to)
    assert due(subscription, utc(now)) == []
    assert next_digest(subscription, utc(now)) == utc(next_)
