"""The options of `subscribe`, in any order, and the parsers of their values, which raise `Misuse` for invalid ones.

[repo] [at [DAYS] HH:MM] [days DAYS|all] [quiet [on|off]] [tz ZONE] [lang L] [min TIER] [paths GLOB,...] [watch TERM,...]
[downstream REPO,...] [weekly DAY|off] [releases [on|rc|off]], where DAYS are mon-fri or mon,thu
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import time
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args
from zoneinfo import ZoneInfo, available_timezones

from analysis.errors import BadSetting, Misuse
from analysis.locale import LANGUAGES, mark
from analysis.models import Frozen, Importance, Language, Repository
from analysis.paths import check_pattern
from analysis.watch import parse_watch
from analysis.window import zone
from bot.slack.parsing.input import InputError, parse_repository
from bot.store import Releases, Weekday

_MOST_PATHS = 20
_MOST_DOWNSTREAM = 3  # each is read and compared with every commit
_LONGEST = 200  # characters of a pattern
_QUOTES = "\"'`“”‘’「」"
_SEPARATORS = re.compile(r"[\s,，、;；]+")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)
_AROUND = ",;，；"  # a word
_WEEK = 7
_WEEKDAYS: tuple[Weekday | Literal["off"], ...] = (*get_args(Weekday), "off")
_RELEASES: tuple[Releases | Literal["off"], ...] = (*get_args(Releases), "off")
_DAY = "|".join(get_args(Weekday))
_DAYS = re.compile(rf"all|(?:{_DAY})(?:[-–](?:{_DAY}))?(?:[,，](?:{_DAY})(?:[-–](?:{_DAY}))?)*", re.IGNORECASE)
# The options of DIGEST_SUBSCRIBE.
_OF_ALL = frozenset({"at", "days", "quiet", "timezone", "language", "least", "watch", "weekly", "releases"})
_ANY = re.compile(".*", re.DOTALL)
_NO_PLACES = ("localtime", "Factory", "posixrules")  # tzdata names that are not a fixed time zone
Value = TypeVar("Value")


def parse_time(text: str) -> time:
    """Parse a time of day: `09:00`."""
    match = _TIME.fullmatch(unicodedata.normalize("NFKC", text.strip()))
    if match is None:
        raise InputError("{text!r} is not a valid time; use HH:MM", text)
    return time(int(match[1]), int(match[2]))


def parse_zone(text: str) -> str:
    """Return the canonical name of a time zone, matched case-insensitively."""
    found = _zones().get(text.strip().lower())
    if found is None:
        raise InputError("unknown time zone {text!r}; use an IANA name such as Asia/Shanghai or UTC", text)
    return found


@cache
def _zones() -> Mapping[str, str]:
    names = (each for each in available_timezones() if not each.startswith(("posix/", "right/")))
    return {each.lower(): each for each in names if each not in _NO_PLACES}


def _choice(values: Sequence[Value], error: str) -> Callable[[str], Value]:
    """Return the parser of a word that is one of some, whatever its case; `error` says what it is not."""
    by_word = {str(each): each for each in values}

    def parse(text: str) -> Value:
        found = by_word.get(text.strip().lower())
        if found is None:
            raise InputError(error, text)
        return found

    return parse


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
    """Parse watched paths, names, flags and variables, separated by commas or spaces, with optional quotes; `none` for none."""
    return () if text.strip().lower() == "none" else parse_watch(",".join(_listed(text)))


def parse_downstream(text: str) -> tuple[Repository, ...]:
    """Parse repositories separated by commas or spaces, with optional quotes; `none` for no repository."""
    words = [each for each in _listed(text) if each.lower() != "none"]
    found = tuple({each.key: each for each in map(parse_repository, words)}.values())
    if len(found) > _MOST_DOWNSTREAM:
        raise InputError(
            "{count} downstream repositories are too many; use at most {most}",
            count=len(found),
            most=_MOST_DOWNSTREAM,
        )
    return found


def parse_days(text: str) -> tuple[Weekday, ...]:
    """Parse weekdays and ranges of them, separated by commas or spaces; () for `all`, or for nothing."""
    found = set[int]()
    for each in _listed(text.lower()):
        if not _DAYS.fullmatch(each):
            raise InputError("{text!r} is not a list of weekdays; use mon-fri, or mon,thu, or all", each)
        first, _, last = ("mon-sun" if each == "all" else each).replace("–", "-").partition("-")
        start, end = _WEEKDAYS.index(first), _WEEKDAYS.index(last or first)
        found |= {place % _WEEK for place in range(start, (end if end >= start else end + _WEEK) + 1)}
    return tuple(get_args(Weekday)[place] for place in sorted(found)) if len(found) < _WEEK else ()


class Option(NamedTuple):
    """An option: its word, a valid value, its parser, what the words after the first of its value look like, and its value without any."""

    word: str
    example: str
    parse: Callable[[str], Any]
    further: re.Pattern[str] | None = None
    alone: str = ""


OPTIONS = {  # by the field that an option fills
    "at": Option("at", "09:00", parse_time),
    "days": Option("days", "mon-fri", parse_days, _DAYS),
    "quiet": Option("quiet", "on", _choice(("on", "off"), mark("{text!r} is neither on nor off")), alone="on"),
    "timezone": Option("tz", "Asia/Shanghai", parse_zone),
    "language": Option("lang", "zh", _choice(LANGUAGES, mark("{text!r} is not supported; use zh or en"))),
    "least": Option(
        "min",
        "medium",
        _choice(tuple(Importance), mark("{text!r} is not a valid importance; use high, medium or low")),
    ),
    "paths": Option("paths", "src/,docs/**", parse_paths, _ANY),
    "watch": Option("watch", "src/api,HTTP_TIMEOUT,Client.send", parse_watched, _ANY),
    "downstream": Option("downstream", "owner/plug-in", parse_downstream, _ANY),
    "weekly": Option(
        "weekly",
        "mon",
        _choice(_WEEKDAYS, mark("{text!r} is not a day of the week; use mon, tue, wed, thu, fri, sat, sun or off")),
    ),
    "releases": Option(
        "releases",
        "on",
        _choice(_RELEASES, mark("{text!r} is not a choice of releases; use on, rc or off")),
        alone="on",
    ),
}
_FIELDS = {option.word: field for field, option in OPTIONS.items()}


class SubscriptionOptions(Frozen):
    """The options of a `subscribe` command; None stands for the default."""

    repository: Repository | None = None
    at: time | None = None
    days: tuple[Weekday, ...] | None = None
    quiet: Literal["on", "off"] | None = None
    timezone: str | None = None
    language: Language | None = None
    least: Importance | None = None
    paths: tuple[str, ...] | None = None
    watch: tuple[str, ...] | None = None
    downstream: tuple[Repository, ...] | None = None
    weekly: Weekday | Literal["off"] | None = None
    releases: Releases | Literal["off"] | None = None

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
    left = [bare for word in words if (bare := word.strip(_AROUND))]
    while left:
        word = left.pop(0)
        field = _FIELDS.get(word.lower())
        if field == "at" and len(left) > 1 and _DAYS.fullmatch(left[0]):  # of `at mon 10:00`
            left = ["days", left[0], word, *left[1:]]
        elif field is None:
            other = _repository(word, named)
            if repository and other != repository:
                raise InputError("a subscription covers one repository; remove {text!r}", word)
            repository = other
        elif field in found:
            raise InputError("{text} is given twice", word)
        else:
            option = OPTIONS[field]
            found[field] = option.parse(_value(option, left))
    return SubscriptionOptions(repository=repository, **found)


def default_options(text: str) -> SubscriptionOptions:
    """Parse the options of DIGEST_SUBSCRIBE, as those of `subscribe`. Raise `BadSetting` if one is invalid, or not for all channels."""
    try:
        options = parse_options(text.split(), None, lambda _: None)
    except Misuse as exc:
        raise BadSetting(f"DIGEST_SUBSCRIBE: {exc}") from exc
    if not set(options.model_dump(exclude_none=True)) <= _OF_ALL:
        raise BadSetting("DIGEST_SUBSCRIBE: takes no repository, paths or downstream; those are given by each channel")
    return options


def _value(option: Option, left: list[str]) -> str:
    """Consume an option's value: one word, or any number of days, paths or terms."""
    taken = list[str]()
    while (
        left
        and left[0].lower() not in _FIELDS
        and (not taken or (option.further and option.further.fullmatch(left[0])))
    ):
        taken.append(left.pop(0))
    if not taken and not option.alone:
        example = f"{option.word} {option.example}"
        raise InputError("{text!r} needs a value; for example: {example}", option.word, example=example)
    return " ".join(taken) or option.alone


def _repository(word: str, named: Callable[[str], Repository | None]) -> Repository:
    if found := named(word):
        return found
    if nearest := get_close_matches(word.lower(), _FIELDS, 1, 0.7):
        raise InputError("unknown option {text!r}; did you mean {nearest}?", word, nearest=nearest[0])
    if "/" in word:
        return parse_repository(word)
    raise InputError(
        "unknown option {text!r}; use [repo] at 09:00 days mon-fri tz Asia/Shanghai lang zh min medium paths src/** watch Client.send",
        word,
    )
