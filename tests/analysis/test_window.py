"""Days in time zones, and the words that people use for days."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import Misuse
from analysis.window import parse_day, parse_range, window, zone

TODAY = date(2026, 2, 5)  # a Thursday
ZONES = [
    "UTC",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "Asia/Beirut",
    "Africa/Cairo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "America/St_Johns",
]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "day", "start", "hours"),
    [
        ("UTC", date(2026, 2, 5), "2026-02-05T00:00", 24),
        ("Asia/Shanghai", date(2026, 2, 5), "2026-02-04T16:00", 24),
        ("Asia/Kolkata", date(2026, 2, 5), "2026-02-04T18:30", 24),
        ("Europe/Berlin", date(2026, 3, 28), "2026-03-27T23:00", 24),
        ("Europe/Berlin", date(2026, 3, 29), "2026-03-28T23:00", 23),
        ("Europe/Berlin", date(2026, 3, 30), "2026-03-29T22:00", 24),
        ("Europe/Berlin", date(2026, 10, 25), "2026-10-24T22:00", 25),
        ("America/New_York", date(2026, 3, 8), "2026-03-08T05:00", 23),
        ("America/New_York", date(2026, 11, 1), "2026-11-01T04:00", 25),
        ("America/Sao_Paulo", date(2018, 11, 4), "2018-11-04T03:00", 23),  # 00:00 to 01:00 is not there
        ("Asia/Beirut", date(2022, 3, 27), "2022-03-26T22:00", 23),  # the same
        ("America/Havana", date(2025, 11, 2), "2025-11-02T04:00", 25),  # 00:00 to 01:00 comes twice
        ("Pacific/Apia", date(2011, 12, 30), "2011-12-30T10:00", 0),  # Samoa skipped it
    ],
)
def test_a_day_is_as_long_as_its_zone_makes_it(name: str, day: date, start: str, hours: int) -> None:
    """A day begins at its first instant and lasts 24 hours, 23 or 25 where the clock changes, and none where it was skipped."""
    found = window(day, zone(name))
    assert found == (utc(start), utc(start) + timedelta(hours=hours))


@given(st.sampled_from(ZONES), st.dates(date(1971, 1, 2), date(2036, 12, 31)))
def test_days_tile_time(name: str, day: date) -> None:
    """In every zone a day ends where the next begins, and its instants are those with its date."""
    tz = zone(name)
    days = [window(day + timedelta(days=each), tz) for each in (-1, 0, 1)]
    assert all(earlier.end == later.start for earlier, later in pairwise(days))
    start, end = days[1]
    if start < end:
        assert start.astimezone(tz).date() == (end - timedelta(seconds=1)).astimezone(tz).date() == day
    assert (start - timedelta(seconds=1)).astimezone(tz).date() < day < (end + timedelta(hours=1)).astimezone(tz).date()


def test_a_window_holds_its_start_and_not_its_end() -> None:
    """A window is half open, and holds nothing but instants."""
    day = window(TODAY, zone("UTC"))
    assert day.start in day
    assert day.end - timedelta(microseconds=1) in day
    assert day.end not in day
    assert day.start - timedelta(microseconds=1) not in day
    assert "2026-02-05" not in day


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "Asia", "Asia/Shang\0hai", "a" * 300]
)
def test_a_zone_that_is_none_is_misuse(name: str) -> None:
    """What IANA does not know is refused with an example of what it does."""
    with pytest.raises(Misuse, match=r"unknown time zone .*Asia/Shanghai"):
        zone(name)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-02-05", TODAY),
        ("2024-02-29", date(2024, 2, 29)),
        ("1970-01-01", date(1970, 1, 1)),
        ("today", TODAY),
        (" Today ", TODAY),
        ("YESTERDAY", date(2026, 2, 4)),
        ("-0", TODAY),
        ("-3", date(2026, 2, 2)),
        ("-40", date(2025, 12, 27)),
        ("wed", date(2026, 2, 4)),
        ("Mon", date(2026, 2, 2)),
        ("friday", date(2026, 1, 30)),
        ("thu", date(2026, 1, 29)),
        ("Thursday", date(2026, 1, 29)),
    ],
)
def test_a_day_is_named_in_many_ways(text: str, day: date) -> None:
    """A date, a word, a number of days ago, or a weekday means a day; a weekday is the latest one before today."""
    assert parse_day(text, TODAY) == day


@given(st.dates(date(1970, 1, 8)), st.sampled_from(["monday", "tue", "wednesday", "thu", "friday", "sat", "sunday"]))
def test_a_weekday_lies_in_the_last_week(today: date, word: str) -> None:
    """A weekday is one to seven days ago, and has that name."""
    found = parse_day(word, today)
    assert 1 <= (today - found).days <= 7
    assert f"{found:%A}".lower().startswith(word)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a date; use 2026-02-05, today"),
        ("tomorrow", "is not a date"),
        ("2026-02-30", "is not a date of the calendar"),
        ("2026-2-5", "is not a date"),
        ("20260205", "is not a date"),
        ("2026-W06-4", "is not a date"),
        ("0000-01-01", "is not a date"),
        ("\uff12\uff10\uff12\uff16-02-05", "is not a date"),
        ("3", "is not a date"),
        ("--3", "is not a date"),
        ("mo", "is not a date"),
        ("2026-02-06", "is in the future; today is 2026-02-05"),
        ("9999-12-31", "is in the future"),
        ("1969-12-31", "is before 1970"),
        ("-99999", "is before 1970"),
    ],
)
def test_what_is_no_day_is_misuse(text: str, says: str) -> None:
    """What cannot be read names itself and what would have worked."""
    with pytest.raises(Misuse, match=says) as caught:
        parse_day(text, TODAY)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-01-31..2026-02-02", [date(2026, 1, 31), date(2026, 2, 1), date(2026, 2, 2)]),
        ("yesterday..today", [date(2026, 2, 4), TODAY]),
        ("-1..-1", [date(2026, 2, 4)]),
        ("mon..wed", [date(2026, 2, 2), date(2026, 2, 3), date(2026, 2, 4)]),
    ],
)
def test_a_range_holds_both_its_ends(text: str, days: list[date]) -> None:
    """A range is every day from the first to the last, oldest first."""
    assert parse_range(text, TODAY) == days


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-02-03..2026-02-01", r"ends before it begins; use 2026-02-01\.\.2026-02-03"),
        ("today..yesterday", r"ends before it begins; use 2026-02-04\.\.2026-02-05"),
        ("2026-02-01", "is not a range of days; use FROM..TO"),
        ("..2026-02-01", "is not a range"),
        ("2026-02-01..", "is not a range"),
        ("..", "is not a range"),
        ("2026-02-01..2026-02-06", "is in the future"),
        ("2026-02-01...2026-02-03", "is not a date"),
        ("a..b", "is not a date"),
    ],
)
def test_what_is_no_range_is_misuse(text: str, says: str) -> None:
    """A range that is half, backwards or not of days says how it would have worked."""
    with pytest.raises(Misuse, match=says):
        parse_range(text, TODAY)
