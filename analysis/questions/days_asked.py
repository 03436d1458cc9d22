"""The days that a question names, in words or as dates, in English and in Chinese."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.questions.kinds import TIMELESS, TIMELESS_OF_NAMES, QuestionKind, kinds_of_question
from analysis.questions.terms import names_in
from analysis.window import WEEKDAYS, named_day

_WEEK, _MONTH = 7, 30  # days
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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
_DAYS_AGO = {"今天": 0, "昨天": 1, "昨日": 1, "前天": 2}

_DAY = (
    r"(?:(?:the )?day before yesterday|today|yesterday|今天|昨天|昨日|前天"
    r"|(?<![A-Za-z0-9_#-])(?<![A-Za-z0-9_]\.)(?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}(?![A-Za-z0-9_-])日?"
    rf"|(?:last )?\b(?:{'|'.join(WEEKDAYS)})\b|(?:上个?)?(?:周|星期|礼拜)[{_HAN_WEEKDAYS}](?![个周])"
    rf"|(?-i:\b(?:{'|'.join(map(str.title, _MONTHS))})[a-z]{{0,6}})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d\b)?"
    rf"|(?-i:\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{'|'.join(map(str.title, _MONTHS))})[a-z]{{0,6}}\b)(?:,? (?:19|20)\d\d\b)?"
    r"|(?<!\d)\d{1,2}月\d{1,2}[日号])"
)
_UNIT = r"(?P<unit>days?|weeks?|months?|天|日|周|星期|个星期|个月|个礼拜)"
_ABOUT_COMMITS = re.compile(
    r"\b(?:which|what|any|how many)\s+(?:\w+\s+){0,2}?(?:commits?|changes|prs|pull requests)\b|^\W*(?:is there |was there )?anything\b"
    r"|(?:哪些|哪几个|多少|什么|有没有|有无)[^，。？！]{0,8}?(?:提交|改动|变更|PR)|(?:提交|改动|变更|PR)(?:有|是)哪些|^有(?:没有|无|什么)(?:关于|和)",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"\b(?:(?:in|of|among|over|from|across)\s+)?(?:all|everything)\b[^,.?!]{0,20}?\bstored\b"
    r"|\bstored\s+(?=commits\b)|(?<=\bcommits )(?:(?:that\s+|which\s+)?are\s+)?stored\b|\bin the (?:store|database)\b"
    r"|\bof all time\b|\bin (?:the|its) (?:whole|entire|full) history\b|\bever\b|\bso far\b|\bin total\b"
    r"|(?:在|从)?(?:所有|全部)?已?(?:存储|保存|入库)(?:过|下来)?的(?:所有|全部)?|(?:一共|总共|已经?)?(?:存储|保存|入库)了(?=多少|几)|有史以来|整个历史[中里]?|至今",
    re.IGNORECASE,
)

# The day is no day of commits where it is asked how something is.
_AS_IT_IS = re.compile(
    r"(\b(?:(?:is|are) (?:it|there|that|[\w.]*[_.][\w.]*\w)|called|named|who (?:still )?(?:uses|calls|imports|reads))\b[^,.?!]*?) *\b(?:today|these days|nowadays)\b",
    re.IGNORECASE,
)
_NEWS = re.compile(r"\b(?:any\w*|new)\b|有没有|新", re.IGNORECASE)  # of what is asked what came lately


class QuestionScope(NamedTuple):
    """A question without the words that name its days, and the days, oldest first; without any, all that is stored.

    They are `lately` if they are the last ones because nothing says which.
    """

    text: str
    days: tuple[date, ...]
    lately: bool = False


def days_between(first: date, last: date) -> list[date]:
    """Return the days from the first to the last, both included."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def last_days(today: date, count: int = _WEEK) -> list[date]:
    """Return so many days before today, and today."""
    return days_between(today - timedelta(days=count), today)


def days_asked(question: str, today: date) -> QuestionScope | None:
    """Return a question with the days that it names, up to today; None if it names none. Raise `Misuse` if all lie in the future."""
    for pattern, read in _SPANS:
        if match := pattern.search(question):
            try:
                first, last = read(match, today)
            except ValueError:  # there is no such day
                continue
            if first > today:
                raise Misuse(Phrase("{day} is in the future; the latest day is {today}", day=first, today=today))
            rest = " ".join(f"{question[: match.start()]} {question[match.end() :]}".split())
            return QuestionScope(rest, tuple(days_between(first, min(last, today))))
    return None


def asks_over_days(question: str, today: date) -> bool:
    """Return whether a question is about the commits of days, or all, rather than about one that was spoken of before.

    Raise `Misuse` if it names days that all lie in the future.
    """
    about_commits = _ABOUT_COMMITS.search(question) or _EVERYTHING.search(question)
    return about_commits is not None or days_asked(question, today) is not None


def scope_of(question: str, today: date, earlier: Iterable[str] = ()) -> QuestionScope:
    """Return what a question is about: the days that it names, or what was asked before it, the latest last.

    Where none is named: the last seven days, or all that is stored if it says so, asks how something is, when or by what it was
    changed or reverted, or for the default, the uses, the successor or the commits of a name. Raise `Misuse` for days that all lie in the future.
    """
    question, is_state = _AS_IT_IS.subn(r"\1", question)
    if named := days_asked(question, today):
        return named
    if _EVERYTHING.search(question):
        return QuestionScope(" ".join(_EVERYTHING.sub(" ", question).split()), ())
    kinds = kinds_of_question(question)
    if kinds & TIMELESS:
        return QuestionScope(question, ())
    for text in reversed([*earlier]):
        if before := days_asked(text, today):
            return QuestionScope(question, before.days)
    of_a_setting = QuestionKind.DEFAULT in kinds and not _NEWS.search(question)
    if is_state or of_a_setting or (kinds & TIMELESS_OF_NAMES and names_in(question)):
        return QuestionScope(question, ())
    return QuestionScope(question, tuple(last_days(today)), lately=True)


_Span = tuple[date, date]


def _between(match: re.Match[str], today: date) -> _Span:
    first, last = _date(match["first"], today), _date(match["last"], today)
    return min(first, last), max(first, last)


def _since(match: re.Match[str], today: date) -> _Span:
    first = _date(match["day"], today)
    return first, max(first, today)


def _until(match: re.Match[str], today: date) -> _Span:
    last = _date(match["day"], today)
    return last - timedelta(days=_WEEK), last


def _on(match: re.Match[str], today: date) -> _Span:
    day = _date(match["day"], today)
    return day, day


def _ago(match: re.Match[str], today: date) -> _Span:
    day = today - timedelta(days=_count(match))
    return day, day


def _past(match: re.Match[str], today: date) -> _Span:
    return today - timedelta(days=_count(match)), today


def _calendar_week(match: re.Match[str], today: date) -> _Span:
    monday = today - timedelta(days=today.weekday())
    return (monday - timedelta(days=_WEEK), monday - timedelta(days=1)) if _is_last(match) else (monday, today)


def _calendar_month(match: re.Match[str], today: date) -> _Span:
    first = today.replace(day=1)
    last = first - timedelta(days=1)
    return (last.replace(day=1), last) if _is_last(match) else (first, today)


def _is_last(match: re.Match[str]) -> bool:
    return match["which"].lower() in ("last", "previous", "上", "上个", "上一")


def _count(match: re.Match[str]) -> int:
    """Return the days of "3 weeks"; one of its unit without a number, and a week of "recently"."""
    number, unit = (match["number"] or "1").lower(), match["unit"].lower()
    days = _MONTH if "month" in unit or "月" in unit else 1 if re.fullmatch("days?|天|日", unit) else _WEEK
    return days * (int(number) if number.isdigit() else _NUMBERS[number])


def _date(text: str, today: date) -> date:
    """Return the date of a day as people write it. Days without a year are the latest. Raise `ValueError` for no such day."""
    word = text.lower().strip()
    if word in _DAYS_AGO or word.endswith("before yesterday"):
        return today - timedelta(days=_DAYS_AGO.get(word, 2))
    if named := named_day(word.removeprefix("last "), today):
        return named
    if weekday := re.fullmatch(rf"(上)?个?(?:周|星期|礼拜)([{_HAN_WEEKDAYS}])", word):
        number = min(_HAN_WEEKDAYS.index(weekday[2]), _WEEK - 1)
        back = (today.weekday() - number) % _WEEK or _WEEK
        return today - timedelta(days=today.weekday() + _WEEK - number if weekday[1] else back)
    numbers = [int(each) for each in re.findall(r"\d+", word)]
    if month := next((place for place, name in enumerate(_MONTHS, 1) if name in word), None):
        day, *years = numbers
    else:
        *years, month, day = numbers
    if years:
        return date(years[0], month, day)
    found = date(today.year, month, day)
    return found if found <= today else found.replace(year=today.year - 1)


def _named(name: str) -> str:
    """Return the pattern of a day under a group's name."""
    return f"(?P<{name}>{_DAY})"


_WHICH = r"(?P<which>this|last|previous|本|这个?|上个?|上一)"
_IN = r"(?:\b(?:in|over|during|for|within)\s+)?"
_TO = r"(?:\.\.|[-–—~]|\b(?:to|and|until|till|through)\b|到|至)"
_WITHIN = r"(?:里|内|以来)?"
# The first that is found counts.
_SPANS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], date], _Span]]] = tuple(
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
        (r"(?P<number>)(?P<unit>\b(?:recently|lately|these days)\b|最近(?!一次)|近期|近来)", _past),
    )
)
