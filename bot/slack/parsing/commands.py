"""The parser of commands. Text that it cannot parse is a question, or gets the nearest form that would work.

[repo] DATE | FROM..TO | week [DATE|-N] | SHA | #PR | URL | search WORDS | upgrade [FROM[..TO]] | suspects TEXT | subscribe ... | unsubscribe | subscriptions | status | help
A pasted traceback or log is the command `suspects` without its word.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.intent import asks_when_addressed
from analysis.search.pasted import reads_as_failure
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
    COMMANDS,
    SUBSCRIBING,
    asks_about_bot,
    asks_for_digest,
    days_in_words,
    is_date,
    is_question,
    is_vague,
    nearest_to,
    quoted,
    without_courtesy,
)
from bot.slack.parsing.subscription_options import parse_options

MOST_CHARACTERS = 4_000  # of a question, and of a command that does not hold a log
_WORDS = 50  # in a search
_COMPACT = 8  # characters of a date without separators
_Find = Callable[[str], Repository | None]
_SPAN = re.compile(r"(?:[\w+-][\w./+-]*)?(?:\.\.(?:[\w+-][\w./+-]*)?)?")  # of tags, SHAs and days
_UPGRADE_EXAMPLE = "upgrade v1.2.0..v1.3.0 downstream owner/name"
_WEEKS_BACK = re.compile(r"-\d{1,3}")
_SHORT_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)  # of a repository that is not known
_BEFORE_DAYS = ("of", "on", "from", "since", "before", "after", "until", "to")
_EVERYTHING = ("all", "全部", "所有")
_HELP = ("help", "?", "？", "帮助")
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")  # which Slack puts in place of straight ones
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

_ALONE = {  # commands only if nothing follows
    "list": "subscriptions",
    "settings": "subscriptions",
    "config": "subscriptions",
    "设置": "subscriptions",
    "配置": "subscriptions",
    "ping": "status",
    "version": "status",
    "commands": "help",
    "命令": "help",
    "用法": "help",
}


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
    if not words:
        return Day(parse_day("yesterday", today), latest=True)
    repository = None if is_date(words[0]) else named(words[0], known, usual)
    rest = words[1:] if repository else words
    if repository and not rest:
        return Day(parse_day("yesterday", today), repository, latest=True)
    command = _command(rest, repository, lambda word: named(word, known, usual), today)
    return _with_repository(command, words, len(words) - len(rest))


def _command(words: list[str], repository: Repository | None, find: _Find, today: date) -> Command:
    if len(words) == 1:  # "yesterday?" and "help!" are commands too
        words = [words[0].rstrip("?？!！") or words[0]]
    head = words[0].lower()
    head = _ALONE.get(head, head) if len(words) == 1 else head
    head = _keyword(head)
    if head == "help":
        return Help()
    if head == "search":
        return _search(words[1:], repository)
    if head == "upgrade":
        return _upgrade(words[1:], repository)
    if head == "week":
        return _week(words[1:], repository, find, today)
    if head in SUBSCRIBING:
        return _subscription_command(head, words[1:], repository, find)
    return _without_keyword(words, repository, today)


def _without_keyword(words: list[str], repository: Repository | None, today: date) -> Command:
    """Parse words that begin with no command's word."""
    found: Command | None = None
    if len(words) == 1:
        found = _range_day_or_commit(words[0], repository, today)
    elif not repository and _keyword(words[1]) == "week":
        found = _week_of_unknown(words, 1, today)
    return found or _sentence(words, repository, today)


def _sentence(words: list[str], repository: Repository | None, today: date) -> Command:
    """Parse words that are no command by themselves: a request in words, a question, or else what is nearest to them."""
    text, nearest = " ".join(words), nearest_to(words, today)
    if nearest.why and not asks_when_addressed(text):
        return nearest
    if found := _request_in_words(text, repository, today):
        return found
    if is_vague(text):
        return NotUnderstood(nearest.text, "help")
    if is_question(text, today):
        return Ask(f"{repository} {text}" if repository else text)
    return nearest if re.search(r"\w", without_courtesy(text)) else Help()


def _request_in_words(text: str, repository: Repository | None, today: date) -> Command | None:
    """Parse a text that asks about the bot, or for a digest, days or a commit, politely or not; None if it does not."""
    if asks_about_bot(text):
        return Help()
    if asks_for_digest(text):
        return Day(parse_day("yesterday", today), repository, latest=True)
    if asked := days_in_words(text, today):
        days = tuple(asked.days)
        if len(days) > MOST_DAYS:
            return NotUnderstood(quoted([text]), f"{days[-MOST_DAYS]}..{days[-1]}", "too_many")
        return Days(days, repository) if len(days) > 1 else Day(days[0], repository)
    bare = without_courtesy(text)
    return _range_day_or_commit(bare, repository, today) if bare != text and " " not in bare else None


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
        return NotUnderstood(quoted(["unsubscribe", *words]), "unsubscribe")
    if words[0].lower() in _EVERYTHING:
        return Unsubscribe(everything=True)
    found = find(words[0])
    if found is None:
        raise InputError("unknown repository {text!r}; use owner/name", words[0])
    return Unsubscribe(found)


def _range_day_or_commit(word: str, repository: Repository | None, today: date) -> Command | None:
    """Parse a word as a range, a day or a commit; return None if it is none of these."""
    with suppress(ValueError, Misuse):
        if len(word) == _COMPACT and word.isascii() and word.isdigit():  # a date much rather than a SHA
            return Day(parse_day(f"{date.fromisoformat(word)}", today), repository)
    with suppress(Misuse):
        if ".." in word and not word.startswith("http"):
            return _range(word, repository, today)
        return Day(parse_day(_keyword(word), today), repository)
    with suppress(Misuse):
        return Lookup(parse_reference(word), repository)
    return None


def _search(words: list[str], repository: Repository | None) -> Command:
    if not words or not re.search(r"\w", " ".join(words)):
        return NotUnderstood("search", "search memory leak")
    return Search(" ".join(words[:_WORDS]), repository)


def _week(words: list[str], repository: Repository | None, find: _Find, today: date) -> Command:
    """Parse a day of the week, or how many weeks it lies back; the repository may also stand here."""
    if repository is None:
        names = {each: found for each in words if not is_date(each) and (found := find(each))}
        repository, words = next(iter(names.values()), None), [each for each in words if each not in names]
    if len(words) > 1:
        hint = None if repository else _week_of_unknown(["week", *words], 0, today)
        return hint or _sentence(["week", *words], repository, today)
    try:
        return Week(parse_week(_keyword("".join(words)), today), repository)
    except Misuse:
        why: Why = "future" if nearest_to(words, today).why == "future" else ""
        return NotUnderstood(quoted(["week", *words]), "week -1", why)


def _week_of_unknown(words: list[str], place: int, today: date) -> NotUnderstood | None:
    """Return the valid form of `week` at a place among words that name no known repository, but may be meant to; else None."""
    others = [*words[:place], *words[place + 1 :]]
    days = [each for each in others if is_date(each) or _WEEKS_BACK.fullmatch(each)]
    names = [each for each in others if each not in days]
    if len(names) != 1 or len(days) > 1 or not _SHORT_NAME.fullmatch(names[0]) or names[0].lower() in _BEFORE_DAYS:
        return None
    if not days and not isinstance(_sentence(words, None, today), NotUnderstood):  # "last week"
        return None
    return NotUnderstood(quoted(words), " ".join(["week", *days, "owner/name"]))


def _upgrade(words: list[str], repository: Repository | None) -> Command:
    """Parse the versions, and the downstream repositories after the keyword."""
    place = next((number for number, word in enumerate(words) if word.lower() == "downstream"), len(words))
    span, names = words[:place], " ".join(words[place + 1 :]).replace(",", " ").split()
    if len(span) > 1 or not all(map(_SPAN.fullmatch, span)) or (place < len(words) and not names):
        return NotUnderstood(quoted(["upgrade", *words]), _UPGRADE_EXAMPLE)
    start, end = parse_span(span[0] if span else "")
    try:
        downstream = tuple(map(Repository.parse, names))
    except Misuse:
        return NotUnderstood(quoted(["upgrade", *words]), _UPGRADE_EXAMPLE)
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
    if _keyword(keyword) in COMMANDS or not reads_as_failure(text):
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


def _with_repository(command: Command, words: list[str], skipped: int) -> Command:
    """Prefix a suggestion with the repository that was typed, unless it names another."""
    if isinstance(command, NotUnderstood) and command.nearest and skipped and "/" not in command.nearest.split()[0]:
        return NotUnderstood(command.text, f"{words[0]} {command.nearest}", command.why)
    return command
