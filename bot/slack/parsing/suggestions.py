"""Suggestions for text that is no command: the nearest command that would work."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta
from difflib import get_close_matches

from analysis.errors import Misuse
from analysis.questions.intent import references_in
from analysis.text import one_line, shorten
from bot.models.reference import parse_reference
from bot.slack.parsing.command_types import MOST_DAYS, NotUnderstood, Why
from bot.slack.parsing.greetings import EMOJI_NAME
from bot.slack.parsing.repository_names import FULL_NAME
from bot.slack.parsing.sentences import without_courtesy

SUBSCRIBING = ("subscribe", "unsubscribe", "subscriptions", "status")
COMMANDS = ("search", "week", "upgrade", "suspects", "help", "today", "yesterday", *SUBSCRIBING)
_SHOWN = 60  # characters of the input quoted in replies
_FIRST_YEAR = 1970  # git's dates begin with Unix time
_LOOSE_DATE = re.compile(r"(?<![A-Za-z0-9#])(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})(?![A-Za-z0-9])日?")
_LIKE_DATE = re.compile(r"-?\d+(?:[-/.年月]\d+)*日?")
_TO_COME = ("tomorrow", "明天", "后天")
_STOP = ("stop", "pause", "mute", "停止", "暂停", "关闭")
_PUNCTUATION = "?!,;:？！，；：。、"


def quoted(words: Sequence[str]) -> str:
    """Return the input as it is quoted in replies: on one line, shortened."""
    return shorten(one_line(" ".join(words)), _SHOWN)


def is_date(word: str) -> bool:
    """Return whether a word looks like a date in any common format, rather than like a name."""
    return bool(_LOOSE_DATE.fullmatch(word))


def nearest_to(words: list[str], today: date) -> NotUnderstood:
    """Return the nearest command that would work, and the reason if it is a simple one."""
    text = " ".join(words)
    shown = quoted(words)
    days = _days_in(text)
    if not days and text.rstrip("?？!！").lower() in _TO_COME:
        return NotUnderstood(shown, f"{today}", "future")
    if not days:
        like_date = _LIKE_DATE.fullmatch(text)
        return NotUnderstood(shown, f"{today - timedelta(days=1)}" if like_date else _suggestion(words))
    first, last = (min(day, today) for day in (min(days), max(days)))
    why: Why = "future" if max(days) > today else "backwards" if ".." in text and days != sorted(days) else ""
    if (last - first).days >= MOST_DAYS:
        first, why = last - timedelta(days=MOST_DAYS - 1), why or "too_many"
    return NotUnderstood(shown, f"{first}..{last}" if first < last else f"{last}", why)


def _days_in(text: str) -> list[date]:
    """Return the days in a text, in any common date format."""
    found = []
    for match in _LOOSE_DATE.finditer(text):
        with suppress(ValueError):
            found.append(date(*(int(part) for part in match.groups())))
    return [day for day in found if day.year >= _FIRST_YEAR]


def _suggestion(words: list[str]) -> str:
    """Return a suggestion: the commit named, the command mistyped, or a search for the words."""
    for name in references_in(" ".join(words)):
        with suppress(Misuse):
            reference = parse_reference(name)
            what = f"#{reference.pr}" if reference.pr else f"{reference.sha}"
            if reference.repository is None:
                return what
            if FULL_NAME.fullmatch(str(reference.repository)):
                return f"{reference.repository} {what}"
    if words[0].lower() in _STOP:
        return "unsubscribe"
    for place, word in enumerate(words):
        for known in get_close_matches(word.lower(), COMMANDS, 1, 0.7):
            rest = _search_terms(words[place + 1 :])
            return f"search {rest or 'memory leak'}" if known == "search" else known
    found = _search_terms(words)
    return f"search {found}" if found else ""


def _search_terms(words: list[str]) -> str:
    """Return the first words that are searchable, at most five."""
    bare = [
        word.strip(_PUNCTUATION) for word in words if "://" not in word and not EMOJI_NAME.fullmatch(word.strip("?!"))
    ]
    found = [word for word in bare if re.search(r"\w\w", word) and re.search(r"[^\W\d_]", word)]
    telling = [word for word in found if without_courtesy(word)]
    return shorten(" ".join((telling or found)[:5]), _SHOWN)
