"""What follows the word `subscribe`: [repo] [at HH:MM] [tz ZONE] [lang L] [min TIER] [paths GLOB,...] [watch TERM,...]."""

import re
from collections.abc import Callable, Sequence
from datetime import time
from typing import Any, get_args
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.models import Frozen, Importance, Language, Repository
from analysis.watch import parse_watch
from analysis.window import zone
from bot.selection import parse_paths


class Wanted(Frozen):
    """What somebody asks of a subscription; None where it is left to what is usual."""

    repository: Repository | None = None
    at: time | None = None
    timezone: str | None = None
    language: Language | None = None
    least: Importance | None = None
    paths: tuple[str, ...] | None = None
    watch: tuple[str, ...] | None = None

    @property
    def tz(self) -> ZoneInfo | None:
        return zone(self.timezone) if self.timezone else None


def parse_wanted(words: Sequence[str], repository: Repository | None) -> Wanted:
    """Read the words after `subscribe`; `Misuse` names the first that cannot be read, and what would have worked."""
    found: dict[str, Any] = {"repository": repository}
    left = list(words)
    if left and "/" in left[0] and left[0] not in _KEYWORDS:
        found["repository"] = Repository.parse(left.pop(0))
    while left:
        word = left.pop(0).lower()
        if word not in _KEYWORDS:
            raise Misuse(
                f"{word[:40]!r} is not understood; use [repo] at 09:00 tz Asia/Shanghai lang zh min medium paths csrc/** watch LLM.generate"
            )
        if not left:
            raise Misuse(f"something is missing after {word!r}; for example: {word} {_EXAMPLES[word]}")
        name, read = _KEYWORDS[word]
        # Several of them may be written with spaces after their commas.
        value = left.pop(0)
        while word in ("paths", "watch") and left and (value.endswith(_COMMAS) or left[0].startswith(_COMMAS)):
            value += left.pop(0)
        found[name] = read(value)
    return Wanted(**found)


def parse_time(text: str) -> time:
    """`09:00`, `9:00`; `Misuse` for what is no time of day."""
    match = re.fullmatch(r"([01]?\d|2[0-3])[:：]([0-5]\d)", text.strip())
    if not match:
        raise Misuse(f"{text[:40]!r} is not a time of day; use 09:00")
    return time(int(match[1]), int(match[2]))


def parse_language(text: str) -> Language:
    """`zh` or `en`; `Misuse` for another."""
    for each in get_args(Language):
        if text.lower() == each:
            return text.lower()  # type: ignore[return-value]
    raise Misuse(f"{text[:40]!r} is not a language; use zh or en")


def parse_tier(text: str) -> Importance:
    """`high`, `medium` or `low`, or the same in Chinese; `Misuse` for another."""
    chinese = {"高": "high", "中": "medium", "低": "low"}
    try:
        return Importance(chinese.get(text, text.lower()))
    except ValueError:
        raise Misuse(f"{text[:40]!r} is not a tier; use high, medium or low") from None


def parse_zone(text: str) -> str:
    """The name of a time zone; `Misuse` for what is none."""
    return zone(text).key


_KEYWORDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "at": ("at", parse_time),
    "tz": ("timezone", parse_zone),
    "lang": ("language", parse_language),
    "min": ("least", parse_tier),
    "paths": ("paths", parse_paths),
    "watch": ("watch", parse_watch),
}
_COMMAS = (",", "，", "、")
_EXAMPLES = {
    "at": "09:00",
    "tz": "Asia/Shanghai",
    "lang": "zh",
    "min": "medium",
    "paths": "vllm/v1/,csrc/**",
    "watch": "vllm/v1/worker,VLLM_USE_V1,LLM.generate",
}
