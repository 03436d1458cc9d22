"""The parser of commands. Text that it cannot parse is a question, or gets the nearest form that would work.

[repo] DATE | FROM..TO | week [DATE|-N] | SHA | #PR | URL | search WORDS | upgrade [FROM[..TO]] | suspects TEXT | subscribe ... | unsubscribe | subscriptions | status | help
A pasted traceback or log is the command `suspects` without its word. Commands without arguments and dates may also stand among words of courtesy.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.days_asked import days_asked
from analysis.questions.intent import asks_when_addressed
from analysis.search.reports import reads_as_failure
from analysis.window import parse_day, parse_range, parse_week
from bot.models.reference import parse_reference
from bot.services.upgrade import parse_span
from bot.slack.parsing.command_types import (
    MOST_DAYS,
    Ask,
    Command,
    Day,
    Days,
    Help,
    ListSubscriptions,
    Lookup,
    NotUnderstood,
    Search,
    Status,
    Subscribe,
    Suspects,
    Unsubscribe,
    Upgrade,
    Week,
    Why,
)
from bot.slack.parsing.input import InputError, named, plain_lines
from bot.slack.parsing.sentences import (
    asks_about_bot,
    asks_for_digest,
    is_question,
    is_to_come,
    is_vague,
    quoted,
    suggestion,
    without_courtesy,
)
from bot.slack.parsing.subscription_options import parse_options

MOST_CHARACTERS = 4_000  # of a question, and of a command that does not hold a log
_WORDS = 50  # in a search
_FIRST_YEAR = 1970  # git's dates begin with Unix time
_COMPACT_DATE = re.compile(r"[0-9]{8}")
_SPAN = re.compile(r"(?:[\w+-][\w./+-]*)?(?:\.\.(?:[\w+-][\w./+-]*)?)?")  # of tags, SHAs and days
_UPGRADE_EXAMPLE = "upgrade v1.2.0..v1.3.0 downstream owner/name"
_EVERYTHING = ("all", "全部", "所有")
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")  # which Slack puts in place of straight ones
_ALIASES = {
    "subs": "subscriptions",
    "list": "subscriptions",
    "settings": "subscriptions",
    "config": "subscriptions",
    "订阅列表": "subscriptions",
    "查看订阅": "subscriptions",
    "设置": "subscriptions",
    "配置": "subscriptions",
    "unsub": "unsubscribe",
    "取消订阅": "unsubscribe",
    "退订": "unsubscribe",
    "ping": "status",
    "version": "status",
    "状态": "status",
    "?": "help",
    "commands": "help",
    "帮助": "help",
    "命令": "help",
    "用法": "help",
    "今天": "today",
    "昨天": "yesterday",
    "搜索": "search",
    "查找": "search",
    "订阅": "subscribe",
    "周报": "week",
    "升级": "upgrade",
    "嫌疑": "suspects",
    "排查": "suspects",
}
_ALONE: Mapping[str, Command] = {"help": Help(), "status": Status(), "subscriptions": ListSubscriptions()}


class _Line(NamedTuple):
    """Words, the repository that was named before them, and `find`, which returns the repository that a word names."""

    words: list[str]
    repository: Repository | None
    today: date
    find: Callable[[str], Repository | None]


def holds_failure(text: str, bot_user: str = "") -> bool:
    """Return whether somebody pasted a failure: by its form, or after the command's word. `text` has Slack's markup."""
    lines = plain_lines(text, bot_user).translate(_QUOTES)
    return "suspects" in map(_keyword, lines.split(None, 2)[:2]) or reads_as_failure(lines)


def _keyword(word: str) -> str:
    """Return a command's word under its usual name."""
    return _ALIASES.get(word.lower(), word.lower())


def parse(text: str, known: Sequence[Repository], today: date, usual: Sequence[Repository] = ()) -> Command:
    """Parse `text` (already `plain`, or with its lines) into a command.

    `known` holds the repositories that short names may refer to; those in `usual` take precedence. Raise `InputError` for a
    command with an invalid value.
    """
    if pasted := _suspects(text, known, usual):
        return pasted
    # Text copied from our own messages contains backticks and our substitute for a dot.
    words = text[:MOST_CHARACTERS].replace("`", " ").replace("\u2024", ".").split()
    repository = named(words[0], known, usual) if words else None
    rest = words[1:] if repository else words
    if not rest:
        return _latest_day(today, repository)
    command = _command(_Line(rest, repository, today, lambda word: named(word, known, usual)))
    if isinstance(command, NotUnderstood) and command.nearest and repository:
        return NotUnderstood(command.text, f"{words[0]} {command.nearest}", command.why)
    return command


def _latest_day(today: date, repository: Repository | None) -> Day:
    return Day(parse_day("yesterday", today), repository, latest=True)


def _command(line: _Line) -> Command:
    first, *rest = line.words
    if parser := _PARSERS.get(_keyword(first if rest else _bare(first))):
        return parser(line._replace(words=rest))
    return (None if rest else _word(_bare(first), line)) or _sentence(line)


def _bare(word: str) -> str:
    """Return a word without its marks: "yesterday?" and "help!" are commands too."""
    return word.rstrip("?？!！") or word


def _word(word: str, line: _Line) -> Command | None:
    """Parse a word as a command without arguments, a range, a day or a commit; return None if it is none of these."""
    keyword = _keyword(word)
    if keyword in _ALONE:
        return _ALONE[keyword]
    with suppress(ValueError, Misuse):
        if _COMPACT_DATE.fullmatch(word):  # a date much rather than a SHA
            return Day(parse_day(f"{date.fromisoformat(word)}", line.today), line.repository)
    with suppress(Misuse):
        if ".." in word and not word.startswith("http"):
            return _range(parse_range(word, line.today), word, line.repository)
        return Day(parse_day(keyword, line.today), line.repository)
    with suppress(Misuse):
        return Lookup(parse_reference(word), line.repository)
    return None


def _range(days: Sequence[date], text: str, repository: Repository | None) -> Command:
    if len(days) > MOST_DAYS:
        return NotUnderstood(quoted(text), f"{days[-MOST_DAYS]}..{days[-1]}", "too_many")
    return Days(tuple(days), repository)


def _sentence(line: _Line) -> Command:
    """Parse words that are no command by themselves: a request in words, a question, or else what is nearest to them."""
    text = " ".join(line.words)
    if found := _request_in_words(text, line):
        return found
    if is_vague(text):
        return NotUnderstood(quoted(text), "help")
    if is_question(text, line.today):
        return Ask(f"{line.repository} {text}" if line.repository else text)
    if re.search(r"\w", without_courtesy(text)):
        return NotUnderstood(quoted(text), suggestion(line.words, line.today))
    return Help()


def _request_in_words(text: str, line: _Line) -> Command | None:
    """Parse a text that asks about the bot, or for a digest, days or a commit, politely or not; None if it does not."""
    if asks_about_bot(text):
        return Help()
    if asks_for_digest(text):
        return _latest_day(line.today, line.repository)
    bare = without_courtesy(text)
    found = _word(bare, line) if bare != text and len(bare.split()) == 1 else None
    return found or _days_in_words(text, line)


def _days_in_words(text: str, line: _Line) -> Command | None:
    """Parse a text that consists of days, but for words of courtesy; None if it says more, or names no day."""
    future = NotUnderstood(quoted(text), f"{line.today}", "future")
    if is_to_come(text):
        return future
    try:
        asked = days_asked(text, line.today)
    except Misuse:  # all of them lie in the future
        return None if asks_when_addressed(text) else future
    if asked is None or re.search(r"\w", without_courtesy(asked.rest)):
        return None
    if asked.first.year < _FIRST_YEAR:
        return NotUnderstood(quoted(text), suggestion(line.words, line.today))
    return Day(asked.first, line.repository) if asked.first == asked.last else _range(asked.days, text, line.repository)


def _search(line: _Line) -> Command:
    words = " ".join(line.words[:_WORDS])
    return Search(words, line.repository) if re.search(r"\w", words) else NotUnderstood("search", "search memory leak")


def _week(line: _Line) -> Command:
    """Parse a day of the week, or how many weeks it lies back; the repository may also stand here."""
    repository, words = line.repository, line.words
    if repository is None:
        names = {each: named for each in words if (named := line.find(each))}
        repository, words = next(iter(names.values()), None), [each for each in words if each not in names]
    text = without_courtesy(" ".join(words))
    try:
        return Week(parse_week(_keyword(text), line.today), repository)
    except Misuse:
        days = _days_in_words(text, line)
        why: Why = days.why if isinstance(days, NotUnderstood) else ""
        return NotUnderstood(quoted(" ".join(["week", *words])), "week -1", why)


def _upgrade(line: _Line) -> Command:
    """Parse the versions, and the downstream repositories after the keyword."""
    words = line.words
    place = next((number for number, word in enumerate(words) if word.lower() == "downstream"), len(words))
    span, names = words[:place], " ".join(words[place + 1 :]).replace(",", " ").split()
    refused = NotUnderstood(quoted(" ".join(["upgrade", *words])), _UPGRADE_EXAMPLE)
    if len(span) > 1 or not all(map(_SPAN.fullmatch, span)) or (place < len(words) and not names):
        return refused
    start, end = parse_span(span[0] if span else "")
    try:
        return Upgrade(start, end, line.repository, tuple(map(Repository.parse, names)))
    except Misuse:
        return refused


def _subscribe(line: _Line) -> Command:
    if [_keyword(each) for each in line.words] == ["help"]:
        return Help()
    return Subscribe(parse_options(line.words, line.repository, line.find))


def _unsubscribe(line: _Line) -> Command:
    """Parse the repository, which may stand before or after the keyword, or a word for all."""
    words = line.words
    if not words:
        return Unsubscribe(line.repository)
    if line.repository or len(words) > 1:
        return NotUnderstood(quoted(" ".join(["unsubscribe", *words])), "unsubscribe")
    if words[0].lower() in _EVERYTHING:
        return Unsubscribe(everything=True)
    if found := line.find(words[0]):
        return Unsubscribe(found)
    raise InputError("unknown repository {text!r}; use owner/name", words[0])


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
    if _keyword(keyword) in _PARSERS or not reads_as_failure(text):
        return None
    return Suspects(text, repository if repository in known else None)


def _first_word(text: str) -> tuple[str, str]:
    first, *rest = text.split(None, 1) or [""]
    return first, "".join(rest)


_PARSERS: Mapping[str, Callable[[_Line], Command]] = {
    "search": _search,
    "upgrade": _upgrade,
    "week": _week,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
}
