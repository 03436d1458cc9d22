"""The options of `subscribe`, in any order, and the parsers of their values, which raise `Misuse` for invalid ones.

[repo] [at HH:MM] [tz ZONE] [lang L] [min TIER] [paths GLOB,...] [watch TERM,...] [downstream REPO,...] [weekly DAY|off]
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import time
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args
from zoneinfo import ZoneInfo, available_timezones

from analysis.impact.watch import parse_watch
from analysis.locale import mark
from analysis.models import Frozen, Importance, Language, Repository
from analysis.paths import check_pattern
from analysis.window import zone
from bot.slack.parsing.input import InputError, parse_repository
from bot.store import Weekday

_MOST_PATHS = 20
_MOST_DOWNSTREAM = 3  # each is read and compared with every commit
_LONGEST = 200  # characters of a pattern
_QUOTES = "\"'`“”‘’「」"
Value = TypeVar("Value")
_SEPARATORS = re.compile(r"[\s,，、;；]+")
_AROUND = ",;，；"  # a word
_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2})|[点时](?:(?P<half>半)|(?P<sharp>\d{1,2})分?)?|(?P<run>\d{2}))?(?P<noon>[ap]\.?m\.?)?",
    re.ASCII,
)
_FULL_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HAN = "一二三四五六日"
_LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("zh", "zh-cn", "zh_cn", "中文", "简体中文", "chinese"), "zh"),
    **dict.fromkeys(("en", "en-us", "en_us", "en-gb", "英文", "英语", "english"), "en"),
}
_WEEKDAYS: dict[str, Weekday | Literal["off"]] = {
    **{day: day for day in get_args(Weekday)},
    **dict(zip(_FULL_WEEKDAYS, get_args(Weekday), strict=True)),
    **{f"{word}{number}": day for word in ("周", "星期") for number, day in zip(_HAN, get_args(Weekday), strict=True)},
    **dict.fromkeys(("周天", "星期天"), "sun"),
    **dict.fromkeys(("off", "none", "no", "无", "关", "关闭"), "off"),
}
_TIERS = {
    **{each.value: each for each in Importance},
    "高": Importance.HIGH,
    "中": Importance.MEDIUM,
    "低": Importance.LOW,
}
_NO_TIME = mark("{text!r} is not a valid time; use HH:MM")
_NO_REPOSITORY = ("none", "无")
_NO_PLACES = ("localtime", "Factory", "posixrules")  # tzdata names that are not a fixed time zone


def parse_time(text: str) -> time:
    """Parse a time of day: `09:00`, `9am`, `9:00 PM`, `0900`, `9.30`, `9点半`."""
    typed = "".join(unicodedata.normalize("NFKC", text).lower().split())
    match = _TIME.fullmatch(typed)
    if not match or (typed.isdecimal() and not match["run"]):
        raise InputError(_NO_TIME, text)
    hour, minute = int(match["hour"]), int(match["minute"] or match["sharp"] or match["run"] or 0)
    minute = 30 if match["half"] else minute
    if match["noon"]:
        if not 1 <= hour <= 12:  # noqa: PLR2004 (hours of a clock's face)
            raise InputError(_NO_TIME, text)
        hour = hour % 12 + (12 if match["noon"].startswith("p") else 0)
    try:
        return time(hour, minute)
    except ValueError:
        raise InputError(_NO_TIME, text) from None


def parse_zone(text: str) -> str:
    """Return the canonical name of a time zone, matched case-insensitively."""
    found = _zones().get(text.strip().lower())
    if found is None:
        raise InputError("unknown time zone {text!r}; use an IANA name such as Asia/Shanghai or UTC", text)
    return found


def _choice(values: Mapping[str, Value], error: str) -> Callable[[str], Value]:
    """Return the parser of a word that is one of some, whatever its case; `error` says what it is not."""

    def parse(text: str) -> Value:
        found = values.get(text.strip().lower())
        if found is None:
            raise InputError(error, text)
        return found

    return parse


parse_language = _choice(_LANGUAGES, mark("{text!r} is not supported; use zh or en"))
parse_tier = _choice(_TIERS, mark("{text!r} is not a valid importance; use high, medium or low"))
parse_weekly = _choice(
    _WEEKDAYS, mark("{text!r} is not a day of the week; use mon, tue, wed, thu, fri, sat, sun or off")
)


def _listed(text: str) -> list[str]:
    """Split a text at commas and spaces, and strip the quotes of each part."""
    return [bare for each in _SEPARATORS.split(text) if (bare := each.strip(_QUOTES))]


def parse_paths(text: str) -> tuple[str, ...]:
    """Parse .gitignore patterns separated by commas or spaces, with optional quotes."""
    if re.search(r"[{}]", text):
        raise InputError("braces don't work in paths; list each path: *.c, *.h", text)
    found = tuple(dict.fromkeys(filter(None, (each.removeprefix("./") for each in _listed(text)))))
    if len(found) > _MOST_PATHS:
        raise InputError("{count} paths are too many; use at most {most}", count=len(found), most=_MOST_PATHS)
    for each in found:
        if len(each) > _LONGEST:
            raise InputError("the path {text!r} is too long; use at most {most} characters", each, most=_LONGEST)
        check_pattern(each)
    return found


def parse_watched(text: str) -> tuple[str, ...]:
    """Parse watched paths, names, flags and variables, separated by commas or spaces, with optional quotes."""
    return parse_watch(",".join(_listed(text)))


def parse_downstream(text: str) -> tuple[Repository, ...]:
    """Parse repositories separated by commas or spaces, with optional quotes; `none` for no repository."""
    words = [each for each in _listed(text) if each.lower() not in _NO_REPOSITORY]
    found = tuple({each.key: each for each in map(parse_repository, words)}.values())
    if len(found) > _MOST_DOWNSTREAM:
        raise InputError(
            "{count} downstream repositories are too many; use at most {most}",
            count=len(found),
            most=_MOST_DOWNSTREAM,
        )
    return found


@cache
def _zones() -> Mapping[str, str]:
    names = (each for each in available_timezones() if not each.startswith(("posix/", "right/")))
    return {each.lower(): each for each in names if each not in _NO_PLACES}


class Option(NamedTuple):
    """An option: its words, of which errors show the first, a valid value, its parser, and whether it takes many words."""

    words: tuple[str, ...]
    example: str
    parse: Callable[[str], Any]
    many: bool = False


class SubscriptionOptions(Frozen):
    """The options of a `subscribe` command; None stands for the default."""

    repository: Repository | None = None
    at: time | None = None
    timezone: str | None = None
    language: Language | None = None
    least: Importance | None = None
    paths: tuple[str, ...] | None = None
    watch: tuple[str, ...] | None = None
    downstream: tuple[Repository, ...] | None = None
    weekly: Weekday | Literal["off"] | None = None

    @property
    def tz(self) -> ZoneInfo | None:
        return zone(self.timezone) if self.timezone else None


def parse_options(
    words: Sequence[str], repository: Repository | None, named: Callable[[str], Repository | None]
) -> SubscriptionOptions:
    """Parse the words after `subscribe`. Raise `Misuse` for the first invalid one, with a valid example.

    `named` returns the repository that a word names, or None.
    """
    found: dict[str, Any] = {}
    left = [part for word in words for part in _parts(word)]
    while left:
        word = left.pop(0)
        field = _FIELDS.get(word.lower())
        if field is None:
            other = _repository(word, named, known=repository)
            if repository and other != repository:
                raise InputError("a subscription covers one repository; remove {text!r}", word)
            repository = other
            continue
        option = OPTIONS[field]
        if field in found:
            raise InputError("{text} is given twice", option.words[0])
        found[field] = option.parse(_value(option, left))
    return SubscriptionOptions(repository=repository, **found)


def _parts(word: str) -> list[str]:
    """Split `at=10:00`, `--at`, `at:10:00` and `时间10:00` into keyword and value."""
    for form in (r"-{0,2}(\w+)(?:[=:：](.*))?", r"(时间|时区|语言|最低|路径|下游|周报)(.+)"):
        match = re.fullmatch(form, word)
        if match and match[1].lower() in _FIELDS:
            return [match[1], *([bare] if (bare := (match[2] or "").strip(_AROUND)) else [])]
    return [bare] if (bare := word.strip(_AROUND)) else []


def _value(option: Option, left: list[str]) -> str:
    """Consume an option's value: one word, a time with its am or pm, or any number of paths or terms."""
    keyword, taken = option.words[0], list[str]()
    while left and left[0].lower() not in _FIELDS:
        if taken and not option.many and not (keyword == "at" and re.fullmatch(r"[ap]\.?m\.?", left[0].lower())):
            break
        taken.append(left.pop(0))
    if not taken:
        raise InputError(
            "{text!r} needs a value; for example: {example}", keyword, example=f"{keyword} {option.example}"
        )
    return " ".join(taken)


def _repository(word: str, named: Callable[[str], Repository | None], *, known: Repository | None) -> Repository:
    found = named(word)
    if found:
        return found
    nearest = get_close_matches(word.lower(), _KEYWORDS, 1, 0.7)
    if nearest:
        raise InputError("unknown option {text!r}; did you mean {nearest}?", word, nearest=nearest[0])
    if "/" in word:
        return parse_repository(word)
    if known is None and re.fullmatch(r"[A-Za-z][\w.-]*(@\S+)?", word):
        raise InputError("unknown repository {text!r}; use owner/name", word)
    raise InputError(
        "unknown option {text!r}; use [repo] at 09:00 tz Asia/Shanghai lang zh min medium paths src/** watch Client.send",
        word,
    )


OPTIONS = {  # by the field that an option fills
    "at": Option(("at", "time", "时间"), "09:00", parse_time),
    "timezone": Option(("tz", "timezone", "时区"), "Asia/Shanghai", parse_zone),
    "language": Option(("lang", "language", "语言"), "zh", parse_language),
    "least": Option(("min", "tier", "最低"), "medium", parse_tier),
    "paths": Option(("paths", "path", "路径"), "src/,docs/**", parse_paths, many=True),
    "watch": Option(("watch", "关注"), "src/api,HTTP_TIMEOUT,Client.send", parse_watched, many=True),
    "downstream": Option(("downstream", "下游"), "owner/plug-in", parse_downstream, many=True),
    "weekly": Option(("weekly", "周报"), "mon", parse_weekly),
}
_FIELDS = {word: field for field, option in OPTIONS.items() for word in option.words}
_KEYWORDS = [option.words[0] for option in OPTIONS.values()]
