"""The days that a question names, in words or as dates, in English and in Chinese."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase

_WEEK = 7
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HAN_WEEKDAYS = "一二三四五六日天"
_NUMBERS = {
    **dict(zip("一二三四五六七八九十", range(1, 11), strict=True)),
    "两": 2,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
}
_NUMBER = rf"\d{{1,3}}|{'|'.join(_NUMBERS)}"
_DAY_WORDS = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "昨日": 1, "前天": 2}

_DAY = (
    r"(?:(?:the )?day before yesterday|today|yesterday|今天|昨天|昨日|前天"
    r"|(?<![A-Za-z0-9_#-])(?<![A-Za-z0-9_]\.)(?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}(?![A-Za-z0-9_-])日?"
    rf"|(?:last )?\b(?:{'|'.join(_WEEKDAYS)})\b|(?:上个?)?(?:周|星期|礼拜)[{_HAN_WEEKDAYS}](?![个周])"
    rf"|(?-i:\b(?:{'|'.join(map(str.title, _MONTHS))})[a-z]{{0,6}})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d\b)?"
    rf"|(?-i:\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{'|'.join(map(str.title, _MONTHS))})[a-z]{{0,6}}\b)(?:,? (?:19|20)\d\d\b)?"
    r"|(?<!\d)\d{1,2}月\d{1,2}[日号])"
)
_UNIT = r"(?P<unit>days?|weeks?|months?|天|日|周|星期|个星期|个月|个礼拜)"


class DaysAsked(NamedTuple):
    """The days that a question names, both included, and its text without the words that name them."""

    first: date
    last: date
    rest: str

    @property
    def days(self) -> list[date]:
        return days_between(self.first, self.last)


def days_between(first: date, last: date) -> list[date]:
    """Return the days from the first to the last, both included."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def last_days(today: date, count: int = _WEEK) -> list[date]:
    """Return so many days before today, and today."""
    return days_between(today - timedelta(days=count), today)


def days_asked(question: str, today: date) -> DaysAsked | None:
    """Return the days that a question names, up to today; None if it names none. Raise `Misuse` if all lie in the future."""
    for pattern, span in _SPANS:
        if match := pattern.search(question):
            found = span(match, today)
            if found is None:
                continue
            first, last = found
            if first > today:
                raise Misuse(Phrase("{day} is in the future; the latest day is {today}", day=first, today=today))
            rest = " ".join(f"{question[: match.start()]} {question[match.end() :]}".split())
            return DaysAsked(first, min(last, today), rest)
    return None


_Span = tuple[date, date]


def _between(match: re.Match[str], today: date) -> _Span | None:
    first, last = _date(match["first"], today), _date(match["last"], today)
    return (min(first, last), max(first, last)) if first and last else None


def _since(match: re.Match[str], today: date) -> _Span | None:
    first = _date(match["day"], today)
    return (first, max(first, today)) if first else None


def _until(match: re.Match[str], today: date) -> _Span | None:
    last = _date(match["day"], today)
    return (last_days(last)[0], last) if last else None


def _on(match: re.Match[str], today: date) -> _Span | None:
    day = _date(match["day"], today)
    return (day, day) if day else None


def _ago(match: re.Match[str], today: date) -> _Span:
    day = today - timedelta(days=_count(match))
    return day, day


def _past(match: re.Match[str], today: date) -> _Span:
    return last_days(today, _count(match))[0], today


def _calendar_week(match: re.Match[str], today: date) -> _Span:
    monday = today - timedelta(days=today.weekday())
    if _is_last(match):
        return monday - timedelta(days=_WEEK), monday - timedelta(days=1)
    return monday, today


def _calendar_month(match: re.Match[str], today: date) -> _Span:
    first = today.replace(day=1)
    if _is_last(match):
        last = first - timedelta(days=1)
        return last.replace(day=1), last
    return first, today


def _recently(_: re.Match[str], today: date) -> _Span:
    return last_days(today)[0], today


def _is_last(match: re.Match[str]) -> bool:
    return match["which"].lower() in ("last", "previous", "上", "上个", "上一")


def _count(match: re.Match[str]) -> int:
    """Return the days of "3 weeks"; one of its unit without a number."""
    number = (match["number"] or "1").lower()
    unit = match["unit"].lower()
    days = 30 if "month" in unit or "月" in unit else _WEEK if re.search("week|周|星期|礼拜", unit) else 1
    return days * (int(number) if number.isdigit() else _NUMBERS[number])


def _date(text: str, today: date) -> date | None:
    """Return the date of a day as people write it; None if there is no such day. Days without a year are the latest."""
    word = text.lower().strip()
    if word in _DAY_WORDS:
        return today - timedelta(days=_DAY_WORDS[word])
    if word.endswith("before yesterday"):
        return today - timedelta(days=2)
    if (weekday := _weekday(word)) is not None:
        return _on_weekday(weekday, today, last_week=word.startswith("上"))
    numbers = [int(each) for each in re.findall(r"\d+", word)]
    if month := next((place for place, name in enumerate(_MONTHS, 1) if name in word), None):
        day, *years = numbers
        return _dated(years[0] if years else None, month, day, today)
    *years, month, day = numbers
    return _dated(years[0] if years else None, month, day, today)


def _weekday(word: str) -> int | None:
    english = word.removeprefix("last ")
    if english in _WEEKDAYS:
        return _WEEKDAYS.index(english)
    if match := re.fullmatch(rf"(?:上个?)?(?:周|星期|礼拜)([{_HAN_WEEKDAYS}])", word):
        return min(_HAN_WEEKDAYS.index(match[1]), _WEEK - 1)
    return None


def _on_weekday(weekday: int, today: date, *, last_week: bool) -> date:
    if last_week:
        return today - timedelta(days=today.weekday() + _WEEK - weekday)
    return today - timedelta(days=(today.weekday() - weekday) % _WEEK or _WEEK)


def _dated(year: int | None, month: int, day: int, today: date) -> date | None:
    try:
        if year is not None:
            return date(year, month, day)
        found = date(today.year, month, day)
        return found if found <= today else date(today.year - 1, month, day)
    except ValueError:
        return None


def _named(name: str) -> str:
    """Return the pattern of a day under a group's name."""
    return f"(?P<{name}>{_DAY})"


_Reader = Callable[[re.Match[str], date], _Span | None]
_WHICH = r"(?P<which>this|last|previous|本|这个?|上个?|上一)"
_IN = r"(?:\b(?:in|over|during|for|within)\s+)?"
_TO = r"(?:\.\.|[-–—~]|\b(?:to|and|until|till|through)\b|到|至)"
_WITHIN = r"(?:里|内|以来)?"
# The first that is found counts.
_SPANS: Sequence[tuple[re.Pattern[str], _Reader]] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (rf"(?:\b(?:from|between)\s+|从|在)?{_named('first')}\s*{_TO}\s*{_named('last')}(?:之间|期间)?", _between),
        (rf"\b(?:since|after|from)\s+{_named('day')}(?:\s+onwards?\b)?", _since),
        (rf"(?:自从?|从)?\s*{_named('day')}\s*(?:以来|之后|以后|起|开始)", _since),
        (rf"\b(?:until|(?<!day )before|up to)\s+{_named('day')}", _until),
        (rf"{_named('day')}\s*(?:以前|之前|为止)", _until),
        (rf"(?:\b(?:on|of)\s+)?{_named('day')}", _on),
        (rf"(?P<number>{_NUMBER})\s*{_UNIT}\s*(?:ago\b|(?:以|之)?前)", _ago),
        (rf"{_IN}(?:\bthe\s+)?\b(?:last|past|previous)\s+(?P<number>{_NUMBER})\s+{_UNIT}", _past),
        (rf"{_IN}(?:\bthe\s+last|\b(?:the\s+)?past)(?P<number>)\s+{_UNIT}", _past),
        (rf"在?(?:最近|过去|近)的?这?(?P<number>{_NUMBER}|)\s*{_UNIT}{_WITHIN}", _past),
        (rf"{_IN}{_WHICH}\s*(?:week\b|周|星期|礼拜){_WITHIN}", _calendar_week),
        (rf"{_IN}{_WHICH}\s*(?:month\b|月){_WITHIN}", _calendar_month),
        (r"\b(?:recently|lately|these days)\b|最近(?!一次)|近期|近来", _recently),
    )
)
