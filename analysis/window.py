"""A calendar day in a time zone, as an interval of instants."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from analysis.errors import Misuse
from analysis.locale import Phrase

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Window(NamedTuple):
    """A half-open interval [start, end) of UTC instants: 24 hours long, 23 or 25 at a clock change."""

    start: datetime
    end: datetime

    def __contains__(self, instant: object) -> bool:
        return isinstance(instant, datetime) and self.start <= instant < self.end


def zone(name: str) -> ZoneInfo:
    """Return the IANA time zone `name`; raises `Misuse` if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise Misuse(
            Phrase("unknown time zone {text!r}; use an IANA name such as Asia/Shanghai or UTC", text=name)
        ) from exc


def window(day: date, tz: ZoneInfo) -> Window:
    """Return the local day, from its first instant to the next day's first.

    If a clock change skips midnight the day begins at the change; if midnight occurs twice, at the first one.
    """
    return Window(_first_instant(day, tz), _first_instant(day + timedelta(days=1), tz))


def _first_instant(day: date, tz: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tz).astimezone(UTC)


def named_day(word: str, today: date) -> date | None:
    """Return the day that a word in lower case names: today, yesterday, or a weekday (or `mon`), the latest one before today."""
    if word in ("today", "yesterday"):
        return today - timedelta(days=int(word == "yesterday"))
    weekday = next((number for number, name in enumerate(WEEKDAYS) if word in (name, name[:3])), None)
    return None if weekday is None else today - timedelta(days=(today.weekday() - weekday) % 7 or 7)


def parse_day(text: str, today: date) -> date:
    """Parse a date: 2026-02-05, today, yesterday, -3 (days ago), or mon (the latest one before today).

    Raises `Misuse` with the accepted forms.
    """
    word = (text := text.strip()).lower()
    if named := named_day(word, today):
        return named
    if re.fullmatch(r"-\d{1,5}", word):
        return _check_day(today - timedelta(days=int(word[1:])), today, text)
    if _ISO_DATE.fullmatch(word):
        try:
            return _check_day(date.fromisoformat(word), today, text)
        except ValueError:
            raise Misuse(f"{text!r} is not a date of the calendar") from None
    raise Misuse(f"{text!r} is not a date; use 2026-02-05, today, yesterday, -3 or mon")


def parse_week(text: str, today: date) -> date:
    """Parse a week into its first day: of the ISO week that contains a date, or that lies N weeks back (`-1`, the last whole one).

    Without text it is the first of the last seven whole days. Raises `Misuse` with the accepted forms.
    """
    word = text.strip()
    if not word:
        return today - timedelta(days=7)
    if re.fullmatch(r"-\d{1,4}", word):
        return _monday(_check_day(today - timedelta(weeks=int(word[1:])), today, text))
    try:
        return _monday(parse_day(word, today))
    except Misuse as exc:
        if any(map(str.isdigit, word)):
            raise
        raise Misuse(
            Phrase("{text!r} is not a week; use a date such as 2026-02-05, or -1 for last week", text=text)
        ) from exc


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _check_day(day: date, today: date, text: str) -> date:
    if day > today:
        raise Misuse(f"{text!r} is in the future; today is {today}")
    if day.year < 1970:  # noqa: PLR2004 (git's dates begin with Unix time)
        raise Misuse(f"{text!r} is before 1970, when git has no commits")
    return day


def parse_range(text: str, today: date) -> list[date]:
    """Parse `FROM..TO` into its days, both included, oldest first; raises `Misuse` if it is malformed or backwards."""
    first_text, dots, last_text = (text := text.strip()).partition("..")
    if not dots or not first_text or not last_text:
        raise Misuse(f"{text!r} is not a range of days; use FROM..TO, such as 2026-01-01..2026-01-31")
    first, last = parse_day(first_text, today), parse_day(last_text, today)
    if first > last:
        raise Misuse(f"the range {text} ends before it begins; use {last}..{first}")
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]
