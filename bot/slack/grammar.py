"""What people type to the bot, read into one of a few wishes; whatever cannot be read gets the nearest thing that would work.

[repo] DATE | FROM..TO | SHA | #PR | URL | search WORDS | help
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.text import one_line, shorten
from analysis.window import parse_day, parse_range
from bot.reference import Reference, parse_reference

MOST_DAYS = 31  # of a range
_WORDS = 50  # of a search
_SHOWN = 60  # characters of what was typed that are quoted back
_COMMANDS = ("search", "help", "today", "yesterday")
_LOOSE_DATE = re.compile(r"(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?")
_CHINESE = {"帮助": "help", "今天": "today", "昨天": "yesterday", "搜索": "search", "查找": "search"}


@dataclass(frozen=True)
class Day:
    """A day's digest, of every configured repository where none is named."""

    day: date
    repository: Repository | None = None


@dataclass(frozen=True)
class Days:
    """The statistics of some days, oldest first."""

    days: tuple[date, ...]
    repository: Repository | None = None


@dataclass(frozen=True)
class Lookup:
    """A commit."""

    reference: Reference
    repository: Repository | None = None


@dataclass(frozen=True)
class Search:
    """Commits that hold every one of some words."""

    words: str
    repository: Repository | None = None


@dataclass(frozen=True)
class Help:
    """What can be asked."""


@dataclass(frozen=True)
class NotUnderstood:
    """What was not understood, and what nearly the same would have worked (empty where nothing comes near)."""

    text: str
    nearest: str = ""
    why: str = ""


Wish = Day | Days | Lookup | Search | Help | NotUnderstood


def plain(text: str, bot_user: str = "") -> str:
    """What somebody typed, out of Slack's notation: mentions of the bot gone, addresses bare, entities as characters."""
    if bot_user:
        text = re.sub(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>", " ", text)
    text = re.sub(r"<(https?://[^|>]+)(?:\|[^>]*)?>", r"\1", text)
    text = re.sub(r"<(?:mailto|tel):[^|>]*\|([^>]*)>", r"\1", text)
    return " ".join(html.unescape(text).replace("\0", " ").split())


def parse(text: str, known: Sequence[Repository], today: date) -> Wish:
    """The wish that `text` (already `plain`) means; `known` are the repositories that may be called by their short names."""
    words = text.split()
    if not words:
        return Day(parse_day("yesterday", today))
    repository, rest = _repository(words, known)
    if repository and not rest:
        return Day(parse_day("yesterday", today), repository)
    wish = _wish(rest, repository, today)
    return _with_command(wish, words, len(words) - len(rest))


def _wish(words: list[str], repository: Repository | None, today: date) -> Wish:
    head = _CHINESE.get(words[0], words[0].lower())
    if head == "help":
        return Help()
    if head == "search":
        return _search(words[1:], repository)
    if len(words) > 1:
        return _nearest(words, "", today)
    try:
        if ".." in words[0] and not words[0].startswith("http"):
            return _range(words[0], repository, today)
        return Day(parse_day(head, today), repository)
    except Misuse as exc:
        why = str(exc)
        looks_like_a_day = bool(re.match(r"\d{4}-\d\d-\d\d$|-\d+$", head)) or ".." in head
    try:
        return Lookup(parse_reference(words[0]), repository)
    except Misuse:
        return _nearest(words, why if looks_like_a_day else "", today)


def _search(words: list[str], repository: Repository | None) -> Wish:
    if not words or not re.search(r"\w", " ".join(words)):
        return NotUnderstood("search", "search kv connector")
    return Search(" ".join(words[:_WORDS]), repository)


def _range(word: str, repository: Repository | None, today: date) -> Wish:
    days = tuple(parse_range(word, today))
    if len(days) > MOST_DAYS:
        return NotUnderstood(word, f"{days[-MOST_DAYS]}..{days[-1]}", f"{len(days)} > {MOST_DAYS}")
    return Days(days, repository)


def _repository(words: list[str], known: Sequence[Repository]) -> tuple[Repository | None, list[str]]:
    """The repository that the first word names, if it names one, and the words after it."""
    name = words[0].lower()
    for each in known:
        if name in (str(each).lower(), each.full_name.lower()):
            return each, words[1:]
    short = [each for each in known if name in (each.name.lower(), f"{each.name}@{each.branch}".lower())]
    if len(short) == 1:
        return short[0], words[1:]
    if re.fullmatch(r"[\w.-]+/[\w.-]+(@\S+)?", words[0], re.ASCII) and not _LOOSE_DATE.fullmatch(words[0]):
        try:
            return Repository.parse(words[0]), words[1:]
        except Misuse:
            return None, words
    return None, words


def _nearest(words: list[str], why: str, today: date) -> NotUnderstood:
    """What nearly the same would have worked."""
    text = " ".join(words)
    shown = shorten(one_line(text), _SHOWN)
    for word in words:
        loose = _LOOSE_DATE.fullmatch(word)
        if loose:
            year, month, day = (int(part) for part in loose.groups())
            try:
                return NotUnderstood(shown, parse_day(f"{year:04}-{month:02}-{day:02}", today).isoformat(), why)
            except Misuse:
                continue
    for word in words:
        if re.fullmatch(r"#\d{1,9}|[0-9a-f]{7,40}", word) and not word.isdigit():
            return NotUnderstood(shown, word, why)
    for word in words:
        for known in get_close_matches(word.lower(), _COMMANDS, 1, 0.7):
            rest = " ".join(words[words.index(word) + 1 :])
            return NotUnderstood(shown, f"search {rest or 'kv connector'}" if known == "search" else known, why)
    telling = [word for word in words if re.search(r"\w\w", word)]
    return NotUnderstood(shown, shorten(f"search {' '.join(telling[:5])}", _SHOWN) if telling else "", why)


def _with_command(wish: Wish, words: list[str], skipped: int) -> Wish:
    """The nearest thing keeps the repository that came first."""
    if isinstance(wish, NotUnderstood) and wish.nearest and skipped:
        return NotUnderstood(wish.text, f"{words[0]} {wish.nearest}", wish.why)
    return wish
