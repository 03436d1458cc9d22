"""The parser of commands. Text that it cannot parse is a question, or gets the nearest form that would work.

[repo] DATE | FROM..TO | week [DATE|-N] | SHA | #PR | URL | search WORDS | upgrade [FROM[..TO]] | suspects TEXT | subscribe ... | unsubscribe | subscriptions | status | help
[repo] tell me when [repo] SHA|#PR|URL is merged|reverted|released | tell me
A pasted traceback or log is the command `suspects` without its word. Days may also be given in words.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from difflib import get_close_matches
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.days_asked import asks_over_days, days_asked
from analysis.questions.intent import asks_when_addressed, references_in
from analysis.search.reports import reads_as_failure
from analysis.text import one_line, shorten
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
    ListAlerts,
    ListSubscriptions,
    Lookup,
    NotUnderstood,
    Search,
    SetAlert,
    Status,
    Subscribe,
    Suspects,
    Unsubscribe,
    Upgrade,
    Week,
)
from bot.slack.parsing.input import InputError, named, plain_lines
from bot.slack.parsing.subscription_options import parse_options
from bot.store import AlertEvent

MOST_CHARACTERS = 4_000  # of a question, and of a command that does not hold a log
_WORDS = 50  # in a search
_SHOWN = 60  # characters of the input quoted in replies
_SUGGESTED = 5  # words of the input in a suggested search
_UPGRADE = re.compile(  # tags, SHAs or days
    r"(?P<span>(?:(?!downstream\b)[\w+-][\w./+-]*)?(?:\.\.(?:[\w+-][\w./+-]*)?)?)(?:(?:^|\s+)downstream\s+(?P<names>.+))?",
    re.IGNORECASE,
)
_TELL_ME = re.compile(r"(?:tell me|告诉我)", re.IGNORECASE)
_TELL_WHEN = re.compile(  # in Chinese what happens may stand before "tell me"
    r"(?:tell\s+me\s+(?:when|once)\s+|告诉我\s*)(?P<what>.+?)\s+(?:is\s+|was\s+|gets\s+|has\s+been\s+)?(?P<event>merged|reverted|released)"
    r"|(?P<before>请?告诉我\s*)?(?:[当等]\s*)?(?P<subject>[^，,]+?)\s*[被已]?(?P<happens>合并|回滚|撤销|发布)(?P<after>(?:了|后|以后|之后|时|的时候)?[，,]?\s*请?(?:再)?告诉我)?",
    re.IGNORECASE,
)
_EVENTS: Mapping[str, AlertEvent] = {
    "merged": "merged",
    "reverted": "reverted",
    "released": "released",
    "合并": "merged",
    "回滚": "reverted",
    "撤销": "reverted",
    "发布": "released",
}
_LIKE_DATE = re.compile(r"-?\d+(?:[-/.年月]\d+)*日?")
_ABOUT_BOT = re.compile(
    r"(?:so )?(?:who|what) are you|what (?:can|do) you do|how (?:can|do) i use (?:you|this|it)|how (?:do you|does (?:this|it)) work"
    r"|what|which|why|how|who|when|where|hello|hi|hey|thanks|thank you|你好|谢谢"
    r"|你是谁|你是什么|你(?:会|能|可以)(?:做|干)?(?:什么|啥)|怎么用|如何使用|什么|为什么|怎么|哪个|谁",
    re.IGNORECASE,
)
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")  # which Slack puts in place of straight ones
_CHINESE = {
    "今天": "today",
    "昨天": "yesterday",
    "周报": "week",
    "搜索": "search",
    "升级": "upgrade",
    "排查": "suspects",
    "订阅": "subscribe",
    "退订": "unsubscribe",
    "订阅列表": "subscriptions",
    "状态": "status",
    "告诉我": "tell",
    "帮助": "help",
}


class _Line(NamedTuple):
    """Words, the repository that was named before them, and `find`, which returns the repository that a word names."""

    words: list[str]
    repository: Repository | None
    today: date
    find: Callable[[str], Repository | None]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def holds_failure(text: str, bot_user: str = "") -> bool:
    """Return whether somebody pasted a failure: by its form, or after the command's word. `text` has Slack's markup."""
    lines = plain_lines(text, bot_user).translate(_QUOTES)
    return "suspects" in map(_keyword, lines.split(None, 2)[:2]) or reads_as_failure(lines)


def _keyword(word: str) -> str:
    """Return a command's word in English."""
    return _CHINESE.get(word, word.lower())


def parse(text: str, known: Sequence[Repository], today: date, usual: Sequence[Repository] = ()) -> Command:
    """Parse `text` (already `plain`, or with its lines) into a command.

    `known` holds the repositories that short names may refer to; those in `usual` take precedence. Raise `Misuse` for a
    command with an invalid value, and for days in the future or too many.
    """

    def find(word: str) -> Repository | None:
        return named(word, known, usual)

    if pasted := _pasted(text.translate(_QUOTES), find):
        return pasted
    # Text copied from our own messages contains backticks and our substitute for a dot.
    words = text[:MOST_CHARACTERS].replace("`", " ").replace("\u2024", ".").split()
    repository = find(words[0]) if words else None
    rest = words[1:] if repository else words
    if not rest:
        return Day(parse_day("yesterday", today), repository, latest=True)
    command = _command(_Line(rest, repository, today, find))
    if isinstance(command, Days):
        check_days(command.days)
    return command


def check_days(days: Sequence[date]) -> None:
    """Raise `InputError` for more days than are shown at once."""
    if len(days) > MOST_DAYS:
        raise InputError("{count} days are too many; name {most} at most", count=len(days), most=MOST_DAYS)


def _command(line: _Line) -> Command:
    first, *rest = line.words
    keyword = _keyword(first if rest else first.rstrip("?？!！"))
    if parser := _PARSERS.get(keyword):
        return parser(line._replace(words=rest))
    return (None if rest else _word(keyword, line)) or _sentence(line)


def _word(word: str, line: _Line) -> Command | None:
    """Parse a word as a command without arguments, a range, a day or a commit; return None if it is none of these."""
    if word in _ALONE:
        return _ALONE[word]
    with suppress(Misuse):
        if ".." in word and "//" not in word:
            return Days(tuple(parse_range(word, line.today)), line.repository)
        return Day(parse_day(word, line.today), line.repository)
    with suppress(Misuse):
        return Lookup(parse_reference(line.words[0]), line.repository)
    return None


def _sentence(line: _Line) -> Command:
    """Parse words that are no command by themselves: days in words, a question, or else what is nearest to them."""
    text = line.text
    if not re.search(r"\w", text) or _ABOUT_BOT.fullmatch(text.strip(" ?？!！.。")):
        return Help()
    if _TELL_ME.fullmatch(text):
        return ListAlerts()
    if alert := _alert(line):
        return alert
    asked = days_asked(text, line.today)
    if asked and not re.search(r"\w", asked.text):
        days = parse_range(f"{asked.days[0]}..{asked.days[-1]}", line.today)
        return Days(tuple(days), line.repository) if days[1:] else Day(days[0], line.repository)
    if asks_when_addressed(text) or references_in(text) or asks_over_days(text, line.today):
        return Ask(f"{line.repository} {text}" if line.repository else text)
    return _not_understood(text, _suggestion(line))


def _alert(line: _Line) -> SetAlert | None:
    """Parse what somebody wants to be told, of a commit that may stand behind its repository; None for other text."""
    match = _TELL_WHEN.fullmatch(line.text.rstrip(" .!。！"))
    if not match or not (match["what"] or match["before"] or match["after"]):
        return None
    *before, reference = (match["what"] or match["subject"]).split()
    repository = line.find(before[0]) if before else line.repository
    if before[1:] or (before and not repository):
        return None
    with suppress(Misuse):
        return SetAlert(_EVENTS[(match["event"] or match["happens"]).lower()], parse_reference(reference), repository)
    return None


def _not_understood(text: str, nearest: str) -> NotUnderstood:
    return NotUnderstood(shorten(one_line(text), _SHOWN), nearest)


def _suggestion(line: _Line) -> str:
    """Return the nearest command that would work: yesterday for what looks like a date, the command mistyped, or a search."""
    if _LIKE_DATE.fullmatch(line.text):
        return f"{line.today - timedelta(days=1)}"
    first, *rest = line.words
    mistyped = get_close_matches(first.lower(), (*_PARSERS, *_ALONE, "suspects", "today", "yesterday"), 1, 0.7)
    if mistyped and mistyped != ["search"]:
        return mistyped[0]
    words = [each for each in (rest if mistyped else line.words) if re.search(r"\w", each)][:_SUGGESTED]
    return f"search {shorten(' '.join(words), _SHOWN) or 'memory leak'}"


def _search(line: _Line) -> Command:
    words = " ".join(line.words[:_WORDS])
    return Search(words, line.repository) if re.search(r"\w", words) else NotUnderstood("search", "search memory leak")


def _week(line: _Line) -> Command:
    """Parse a day of the week, or how many weeks it lies back."""
    try:
        return Week(parse_week(_keyword(line.text), line.today), line.repository)
    except Misuse:
        days_asked(line.text, line.today)  # says so of days in the future
        return _not_understood(f"week {line.text}", "week -1")


def _upgrade(line: _Line) -> Command:
    """Parse the versions, and the downstream repositories after the keyword."""
    if match := _UPGRADE.fullmatch(line.text):
        start, end = parse_span(match["span"])
        names = re.split(r"[\s,]+", match["names"].strip(", ")) if match["names"] else []
        with suppress(Misuse):
            return Upgrade(start, end, line.repository, tuple(map(Repository.parse, names)))
    return _not_understood(f"upgrade {line.text}", "upgrade v1.2.0..v1.3.0 downstream owner/name")


def _subscribe(line: _Line) -> Command:
    return Subscribe(parse_options(line.words, line.repository, line.find))


def _unsubscribe(line: _Line) -> Command:
    """Parse the repository, which may stand before or after the keyword."""
    if not line.words:
        return Unsubscribe(line.repository)
    if line.repository or line.words[1:]:
        return _not_understood(f"unsubscribe {line.text}", "unsubscribe")
    if found := line.find(line.words[0]):
        return Unsubscribe(found)
    raise InputError("unknown repository {text!r}; use owner/name", line.words[0])


def _pasted(text: str, find: Callable[[str], Repository | None]) -> Command | None:
    """Parse what somebody pasted, after the command's word or a repository and it, or without; None if it is no failure."""
    first, rest = _first_word(text)
    repository = None
    with suppress(InputError):
        repository = find(first)
    keyword, after = _first_word(rest) if repository else (first, rest)
    if _keyword(keyword) == "suspects":
        return Suspects(after, repository)
    return None if _keyword(keyword) in _PARSERS or not reads_as_failure(text) else Suspects(text)


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
_ALONE: Mapping[str, Command] = {
    "help": Help(),
    "status": Status(),
    "subscriptions": ListSubscriptions(),
    "tell": ListAlerts(),
}
