"""The parser of commands. Text that it cannot parse gets the nearest form that would work.

[repo] DATE | FROM..TO | week [DATE|-N] | SHA | #PR | URL | search WORDS | upgrade [FROM[..TO]] | suspects TEXT | subscribe ... | unsubscribe | subscriptions | status | help
A pasted traceback or log is the command `suspects` without its word.
"""

import html
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Literal

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.intent import references_in
from analysis.search.pasted import reads_as_failure
from analysis.text import one_line, shorten
from analysis.window import parse_day, parse_range, parse_week
from bot.models.reference import Reference, parse_reference
from bot.services.upgrade_ends import parse_span
from bot.slack.parsing.greetings import EMOJI_NAME, greeting_in
from bot.slack.parsing.input_error import InputError
from bot.slack.parsing.repository_names import FULL_NAME, named
from bot.slack.parsing.subscription_parser import SubscriptionOptions, parse_options

MOST_DAYS = 31  # in a range
MOST_CHARACTERS = 4_000  # of a question, and of a command that does not hold a log
_WORDS = 50  # in a search
_SHOWN = 60  # characters of the input quoted in replies
_FIRST_YEAR = 1970  # git's dates begin with Unix time
_SUBSCRIBING = ("subscribe", "unsubscribe", "subscriptions", "status")
_COMMANDS = ("search", "week", "upgrade", "suspects", "help", "today", "yesterday", *_SUBSCRIBING)
_LOOSE_DATE = re.compile(r"(?<![A-Za-z0-9#])(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})(?![A-Za-z0-9])日?")
_Find = Callable[[str], Repository | None]
Why = Literal["", "future", "backwards", "too_many"]
_SPAN = re.compile(r"(?:[\w+-][\w./+-]*)?(?:\.\.(?:[\w+-][\w./+-]*)?)?")  # of tags, SHAs and days
_UPGRADE_EXAMPLE = "upgrade v1.2.0..v1.3.0 downstream owner/name"
_EVERYTHING = ("all", "全部", "所有")
_HELP = ("help", "?", "？", "帮助")
_FILE_AS_HOST = re.compile(r"<https?://([\w.-]+\.(?:py|so|sh|cc|rs))\|\1>")  # Slack links such names
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")  # which Slack puts in place of straight ones
_PUNCTUATION = "?!,;:？！，；：。、"
_ALIASES = {
    "subs": "subscriptions",
    "unsub": "unsubscribe",
    "帮助": "help",
    "今天": "today",
    "昨天": "yesterday",
    "搜索": "search",
    "查找": "search",
    "订阅": "subscribe",
    "取消订阅": "unsubscribe",
    "退订": "unsubscribe",
    "订阅列表": "subscriptions",
    "查看订阅": "subscriptions",
    "状态": "status",
    "周报": "week",
    "升级": "upgrade",
    "嫌疑": "suspects",
    "排查": "suspects",
}


@dataclass(frozen=True)
class Day:
    """Show a day's digest, for every configured repository if none is given.

    Where nobody named a day, a repository without commits on it shows its `latest` day that has some.
    """

    day: date
    repository: Repository | None = None
    latest: bool = False


@dataclass(frozen=True)
class Days:
    """Show the statistics of some days, oldest first."""

    days: tuple[date, ...]
    repository: Repository | None = None


@dataclass(frozen=True)
class Week:
    """Show the seven days from `first` on, of every configured repository if none is given."""

    first: date
    repository: Repository | None = None


@dataclass(frozen=True)
class Lookup:
    """Show a commit."""

    reference: Reference
    repository: Repository | None = None


@dataclass(frozen=True)
class ExplainCommits:
    """Show the commits that a message names."""

    text: str


@dataclass(frozen=True)
class Search:
    """Search for commits that contain all words."""

    words: str
    repository: Repository | None = None


@dataclass(frozen=True)
class Upgrade:
    """Show what lies between two versions: without `start` from what the downstream code pins, without `end` up to the head.

    `downstream` are the repositories to upgrade; by default those that the channel names.
    """

    start: str = ""
    end: str = ""
    repository: Repository | None = None
    downstream: tuple[Repository, ...] = ()


@dataclass(frozen=True)
class Suspects:
    """Show the commits that most likely caused a failure: a traceback, a log or a sentence, with its lines."""

    text: str
    repository: Repository | None = None


@dataclass(frozen=True)
class Help:
    """Show the available commands."""


@dataclass(frozen=True)
class Greeting:
    """Return a greeting, or answer thanks."""

    thanks: bool = False


@dataclass(frozen=True)
class NotUnderstood:
    """Unparsable input, with the nearest command that would work (empty if there is none)."""

    text: str
    nearest: str = ""
    why: Why = ""


@dataclass(frozen=True)
class Subscribe:
    """Subscribe the channel to a daily digest."""

    options: SubscriptionOptions


@dataclass(frozen=True)
class Unsubscribe:
    """Cancel subscriptions of the channel: of one repository, the only one if None, or all with `everything`."""

    repository: Repository | None = None
    everything: bool = False


@dataclass(frozen=True)
class ListSubscriptions:
    """List the channel's subscriptions."""


@dataclass(frozen=True)
class Status:
    """Show the bot's status."""


@dataclass(frozen=True)
class Wrong:
    """A recognised command with an invalid value."""

    complaint: InputError


Command = (
    Wrong
    | Day
    | Days
    | Week
    | Lookup
    | ExplainCommits
    | Search
    | Upgrade
    | Suspects
    | Help
    | Greeting
    | NotUnderstood
    | Subscribe
    | Unsubscribe
    | ListSubscriptions
    | Status
)


def plain(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text on one line."""
    return " ".join(plain_lines(text, bot_user).split())


def plain_lines(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text: remove mentions of the bot, unwrap URLs, unescape entities; keep the lines."""
    if bot_user:
        text = re.sub(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>[\s,:，：]*", " ", text)
    text = _FILE_AS_HOST.sub(r"\1", text)
    text = re.sub(r"<(https?://[^|>]+)(?:\|[^>]*)?>", r"\1", text)
    text = re.sub(r"<(?:mailto|tel):[^|>]*\|([^>]*)>", r"\1", text)
    return html.unescape(text).replace("\0", " ").strip()


def holds_failure(text: str, bot_user: str = "") -> bool:
    """Return whether somebody pasted a failure: by its form, or after the command's word. `text` has Slack's markup."""
    lines = plain_lines(text, bot_user).translate(_QUOTES)
    return "suspects" in map(_keyword, lines.split(None, 2)[:2]) or reads_as_failure(lines)


def _keyword(word: str) -> str:
    """Return a command's word under its usual name."""
    return _ALIASES.get(word.lower(), word.lower())


def parse(text: str, known: Sequence[Repository], today: date, usual: Sequence[Repository] = ()) -> Command:
    """Parse `text` (already `plain`, or with its lines) into a command.

    `known` holds the repositories that short names may refer to; those in `usual` take precedence.
    """
    if pasted := _suspects(text, known, usual):
        return pasted
    # Text copied from our own messages contains backticks and our substitute for a dot.
    words = text[:MOST_CHARACTERS].replace("`", " ").replace("\u2024", ".").split()
    if not words:
        return Day(parse_day("yesterday", today), latest=True)
    if greeting := greeting_in(text[:MOST_CHARACTERS]):
        return Greeting(thanks=greeting == "thanks")
    try:
        repository = _named_first(words, known, usual)
        rest = words[1:] if repository else words
        if repository and not rest:
            return Day(parse_day("yesterday", today), repository, latest=True)
        command = _command(rest, repository, lambda word: named(word, known, usual), today)
    except InputError as exc:
        return Wrong(exc)
    return _with_repository(command, words, len(words) - len(rest))


def _named_first(words: Sequence[str], known: Sequence[Repository], usual: Sequence[Repository]) -> Repository | None:
    return None if _LOOSE_DATE.fullmatch(words[0]) else named(words[0], known, usual)


def _command(words: list[str], repository: Repository | None, find: _Find, today: date) -> Command:
    if len(words) == 1:  # "yesterday?" and "help!" are commands too
        words = [words[0].rstrip("?？!！") or words[0]]
    head = words[0].lower()
    # "list" followed by more words is not about subscriptions.
    head = "subscriptions" if head == "list" and len(words) == 1 else _keyword(head)
    if head == "help":
        return Help()
    if head == "search":
        return _search(words[1:], repository)
    if head == "upgrade":
        return _upgrade(words[1:], repository)
    if head == "week":
        return _week(words[1:], repository, find, today)
    if head in _SUBSCRIBING:
        return _subscription_command(head, words[1:], repository, find)
    found = _range_day_or_commit(words[0], repository, today) if len(words) == 1 else None
    return found or _nearest(words, today)


def _subscription_command(head: str, words: list[str], repository: Repository | None, find: _Find) -> Command:
    """Parse the commands on subscriptions, and `status`; the repository may also follow the keyword."""
    if head == "status":
        return Status()
    if head == "subscriptions":
        return ListSubscriptions()
    if len(words) == 1 and words[0].lower() in _HELP:
        return Help()
    if head == "subscribe":
        return Subscribe(parse_options(words, repository, find))
    return _unsubscribe(words, repository, find)


def _unsubscribe(words: list[str], repository: Repository | None, find: _Find) -> Command:
    if not words:
        return Unsubscribe(repository)
    if repository or len(words) > 1:
        return NotUnderstood(" ".join(["unsubscribe", *words])[:_SHOWN], "unsubscribe")
    if words[0].lower() in _EVERYTHING:
        return Unsubscribe(everything=True)
    found = find(words[0])
    if found is None:
        raise InputError("unknown repository {text!r}; use owner/name", words[0])
    return Unsubscribe(found)


def _range_day_or_commit(word: str, repository: Repository | None, today: date) -> Command | None:
    """Parse a word as a range, a day or a commit; return None if it is none of these."""
    with suppress(Misuse):
        if ".." in word and not word.startswith("http"):
            return _range(word, repository, today)
        return Day(parse_day(_keyword(word), today), repository)
    with suppress(Misuse):
        return Lookup(parse_reference(word), repository)
    return None


def _search(words: list[str], repository: Repository | None) -> Command:
    if not words or not re.search(r"\w", " ".join(words)):
        return NotUnderstood("search", "search kv connector")
    return Search(" ".join(words[:_WORDS]), repository)


def _week(words: list[str], repository: Repository | None, find: _Find, today: date) -> Command:
    """Parse a day of the week, or how many weeks it lies back; the repository may also stand here."""
    if repository is None:
        names = {each: found for each in words if not _LOOSE_DATE.fullmatch(each) and (found := find(each))}
        repository, words = next(iter(names.values()), None), [each for each in words if each not in names]
    text = " ".join(words)
    if len(words) <= 1:
        with suppress(Misuse):
            return Week(parse_week(_keyword(text), today), repository)
    why: Why = "future" if max(_days_in(text), default=today) > today else ""
    return NotUnderstood(shorten(one_line(f"week {text}"), _SHOWN), "week -1", why)


def _upgrade(words: list[str], repository: Repository | None) -> Command:
    """Parse the versions, and the downstream repositories after the keyword."""
    place = next((number for number, word in enumerate(words) if word.lower() == "downstream"), len(words))
    span, names = words[:place], " ".join(words[place + 1 :]).replace(",", " ").split()
    if len(span) > 1 or not all(map(_SPAN.fullmatch, span)) or (place < len(words) and not names):
        return NotUnderstood(shorten(one_line(" ".join(["upgrade", *words])), _SHOWN), _UPGRADE_EXAMPLE)
    start, end = parse_span(span[0] if span else "")
    try:
        downstream = tuple(map(Repository.parse, names))
    except Misuse:
        return NotUnderstood(shorten(one_line(" ".join(["upgrade", *words])), _SHOWN), _UPGRADE_EXAMPLE)
    return Upgrade(start, end, repository, downstream)


def _suspects(text: str, known: Sequence[Repository], usual: Sequence[Repository]) -> Command | None:
    """Parse what somebody pasted, after the command's word or a repository or without either; None if it is no failure."""
    text = text.translate(_QUOTES)
    first, rest = _first_word(text)
    repository = None
    with suppress(InputError):
        repository = named(first, known, usual)
    keyword, after = _first_word(rest) if repository else (first, rest)
    if _keyword(keyword) == "suspects":
        return Suspects(after, repository)
    if _keyword(keyword) in _COMMANDS or not reads_as_failure(text):
        return None
    return Suspects(text, repository if repository in known else None)


def _first_word(text: str) -> tuple[str, str]:
    first, *rest = text.split(None, 1) or [""]
    return first, "".join(rest)


def _range(word: str, repository: Repository | None, today: date) -> Command:
    days = tuple(parse_range(word, today))
    if len(days) > MOST_DAYS:
        return NotUnderstood(word, f"{days[-MOST_DAYS]}..{days[-1]}", "too_many")
    return Days(days, repository)


def _nearest(words: list[str], today: date) -> NotUnderstood:
    """Return the nearest command that would work, and the reason if it is a simple one."""
    text = " ".join(words)
    shown = shorten(one_line(text), _SHOWN)
    days = _days_in(text)
    if not days:
        return NotUnderstood(shown, _suggestion(words))
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
    for place, word in enumerate(words):
        for known in get_close_matches(word.lower(), _COMMANDS, 1, 0.7):
            rest = _search_terms(words[place + 1 :])
            return f"search {rest or 'kv connector'}" if known == "search" else known
    found = _search_terms(words)
    return f"search {found}" if found else ""


def _search_terms(words: list[str]) -> str:
    """Return the first words that are searchable, at most five."""
    bare = [word.strip(_PUNCTUATION) for word in words if not EMOJI_NAME.fullmatch(word.strip("?!"))]
    found = [word for word in bare if re.search(r"\w\w", word) and re.search(r"[^\W\d_]", word)]
    return shorten(" ".join(found[:5]), _SHOWN)


def _with_repository(command: Command, words: list[str], skipped: int) -> Command:
    """Prefix a suggestion with the repository that was typed, unless it names another."""
    if isinstance(command, NotUnderstood) and command.nearest and skipped and "/" not in command.nearest.split()[0]:
        return NotUnderstood(command.text, f"{words[0]} {command.nearest}", command.why)
    return command
