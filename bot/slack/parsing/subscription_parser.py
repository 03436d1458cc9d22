"""The parser of `subscribe`.

[repo] [at HH:MM] [tz ZONE] [lang L] [min TIER] [paths GLOB,...] [watch TERM,...] [downstream REPO,...] [weekly DAY|off],
in any order.
"""

import re
from collections.abc import Callable, Sequence
from datetime import time
from difflib import get_close_matches
from typing import Any, Literal
from zoneinfo import ZoneInfo

from analysis.models import Frozen, Importance, Language, Repository
from analysis.window import zone
from bot.slack.parsing.input_error import InputError
from bot.slack.parsing.subscription_values import (
    parse_downstream,
    parse_language,
    parse_paths,
    parse_tier,
    parse_time,
    parse_watched,
    parse_weekly,
    parse_zone,
)
from bot.store import Weekday

_SEPARATORS = ",;，；"


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
    """Parse the words after `subscribe`. Raise `InputError` for the first invalid one, with a valid example.

    `named` returns the repository that a word names, or None.
    """
    found: dict[str, Any] = {}
    left = [part for word in words for part in _parts(word)]
    while left:
        word = left.pop(0)
        keyword = _KEYWORDS.get(word.lower())
        if keyword is None:
            other = _repository(word, named, known=repository)
            if repository and other != repository:
                raise InputError("a subscription covers one repository; remove {text!r}", word)
            repository = other
            continue
        name, read = _READ[keyword]
        if name in found:
            raise InputError("{text} is given twice", keyword)
        found[name] = read(_value(keyword, left))
    return SubscriptionOptions(repository=repository, **found)


def _parts(word: str) -> list[str]:
    """Split `at=10:00`, `--at`, `at:10:00` and `时间10:00` into keyword and value."""
    for form in (r"-{0,2}(\w+)(?:[=:：](.*))?", r"(时间|时区|语言|最低|路径|下游|周报)(.+)"):
        match = re.fullmatch(form, word)
        if match and match[1].lower() in _KEYWORDS:
            return [match[1], *([bare] if (bare := (match[2] or "").strip(_SEPARATORS)) else [])]
    return [bare] if (bare := word.strip(_SEPARATORS)) else []


def _value(keyword: str, left: list[str]) -> str:
    """Consume a keyword's value: one word, a time with its am or pm, or any number of paths or terms."""
    taken: list[str] = []
    while left and left[0].lower() not in _KEYWORDS:
        if taken and keyword not in _MANY and not (keyword == "at" and re.fullmatch(r"[ap]\.?m\.?", left[0].lower())):
            break
        taken.append(left.pop(0))
    if not taken:
        raise InputError(
            "{text!r} needs a value; for example: {example}",
            keyword,
            example=f"{keyword} {_EXAMPLES[keyword]}",
        )
    return " ".join(taken)


def _repository(word: str, named: Callable[[str], Repository | None], *, known: Repository | None) -> Repository:
    found = named(word)
    if found:
        return found
    nearest = get_close_matches(word.lower(), _EXAMPLES, 1, 0.7)
    if nearest:
        raise InputError("unknown option {text!r}; did you mean {nearest}?", word, nearest=nearest[0])
    if "/" in word:
        raise InputError("{text!r} is not a repository; use owner/name or owner/name@branch", word)
    if known is None and re.fullmatch(r"[A-Za-z][\w.-]*(@\S+)?", word):
        raise InputError("unknown repository {text!r}; use owner/name", word)
    raise InputError(
        "unknown option {text!r}; use [repo] at 09:00 tz Asia/Shanghai lang zh min medium paths src/** watch Client.send",
        word,
    )


_EXAMPLES = {
    "at": "09:00",
    "tz": "Asia/Shanghai",
    "lang": "zh",
    "min": "medium",
    "paths": "src/,docs/**",
    "watch": "src/api,HTTP_TIMEOUT,Client.send",
    "downstream": "owner/plug-in",
    "weekly": "mon",
}
_MANY = ("paths", "watch", "downstream")  # take as many words as there are
_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "at": ("at", parse_time),
    "tz": ("timezone", parse_zone),
    "lang": ("language", parse_language),
    "min": ("least", parse_tier),
    "paths": ("paths", parse_paths),
    "watch": ("watch", parse_watched),
    "downstream": ("downstream", parse_downstream),
    "weekly": ("weekly", parse_weekly),
}
_KEYWORDS = {
    **dict.fromkeys(("at", "time", "时间"), "at"),
    **dict.fromkeys(("tz", "timezone", "时区"), "tz"),
    **dict.fromkeys(("lang", "language", "语言"), "lang"),
    **dict.fromkeys(("min", "tier", "最低"), "min"),
    **dict.fromkeys(("paths", "path", "路径"), "paths"),
    **dict.fromkeys(("watch", "关注"), "watch"),
    **dict.fromkeys(("downstream", "下游"), "downstream"),
    **dict.fromkeys(("weekly", "周报"), "weekly"),
}
