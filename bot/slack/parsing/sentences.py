"""Text that begins with no command's word: requests and questions in sentences, and the nearest command that would work."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta
from difflib import get_close_matches

from analysis.errors import Misuse
from analysis.questions.days_asked import DaysAsked, asks_over_days, days_asked
from analysis.questions.intent import asks_when_addressed, references_in
from analysis.text import one_line, shorten
from bot.models.reference import parse_reference
from bot.slack.parsing.command_types import MOST_DAYS, NotUnderstood, Why
from bot.slack.parsing.input import FULL_NAME

_COURTESY = re.compile(
    r"(?<!\S)/\S+"  # the slash command, copied with its text
    r"|(?<![\w/.-])(?:please|pls|show|give|get|see|look|open|find|list|display|explain|describe|summari[sz]e|me|us|the|an?|of|for|from|on|at|in|about"
    r"|daily|latest|last|digest|report|summary|overview|commits?|changes|updates?|pull request|pr|thanks|thank you|hi|hello|hey)(?![\w/-]|\.\w)|['’]s\b|(?<![\w/.-])pr(?=\d)"
    r"|请|给我|帮我|帮忙|看看|查看|看一下|看下|看|解释|介绍|总结|概括|显示|打开|一下|这个|最新|的|日报|报告|摘要|提交|改动|变更|更新|谢谢|你好"
    r"|[？！，、：；。～]+|[?!,:;*~]+(?=\s|$)|(?<!\S)[?!*~]+|(?<!\.)\.(?=\s|$)",
    re.IGNORECASE,
)
_DIGEST = re.compile(r"\b(?:digest|report)\b|日报|报告", re.IGNORECASE)
_ABOUT_BOT = re.compile(
    r"(?:so )?(?:who|what) are you|what (?:can|do) you do|what can i (?:ask|do)(?: you)?|what can you (?:tell me|answer)|can you help(?: me)?"
    r"|how (?:can|do) i use (?:you|this bot)|how do you work"
    r"|你是谁|你是什么|你(?:会|能|可以)(?:做|干)?(?:什么|啥)|你有(?:什么|哪些)功能|有(?:什么|哪些)命令|(?:我)?可以问(?:你)?什么|能问(?:你)?什么|怎么用你|你怎么用",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"what|which|why|how|who|when|where|how (?:does|do) (?:this|it|that|i use this|i use it)(?: work)?"
    r"|什么|为什么|怎么|哪个|谁|怎么用|如何使用|怎么使用|使用方法",
    re.IGNORECASE,
)
_FIRST_YEAR = 1970  # git's dates begin with Unix time
_ENDS = " ?？!！.。"
SUBSCRIBING = ("subscribe", "unsubscribe", "subscriptions", "status")
COMMANDS = ("search", "week", "upgrade", "suspects", "help", "today", "yesterday", *SUBSCRIBING)
_SHOWN = 60  # characters of the input quoted in replies
_LOOSE_DATE = re.compile(r"(?<![A-Za-z0-9#])(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})(?![A-Za-z0-9])日?")
_LIKE_DATE = re.compile(r"-?\d+(?:[-/.年月]\d+)*日?")
_TO_COME = ("tomorrow", "明天", "后天")
_STOP = ("stop", "pause", "mute", "停止", "暂停", "关闭")
_EMOJI_NAME = re.compile(r":[a-z0-9_+-]+:")  # as Slack sends emoji
_PUNCTUATION = "?!,;:？！，；：。、"


def without_courtesy(text: str) -> str:
    """Return what is left of a request without words such as "please show me the digest of"."""
    return " ".join(_COURTESY.sub(" ", text).split())


def asks_for_digest(text: str) -> bool:
    """Return whether a text asks for a digest and names no day."""
    return bool(_DIGEST.search(text)) and not re.search(r"\w", without_courtesy(text))


def asks_about_bot(text: str) -> bool:
    """Return whether a text asks what the bot is or does."""
    return bool(_ABOUT_BOT.fullmatch(text.strip(_ENDS)))


def is_vague(text: str) -> bool:
    """Return whether a text is a question without a subject of its own: "how does this work?"."""
    return bool(_VAGUE.fullmatch(text.strip(_ENDS)))


def days_in_words(text: str, today: date) -> DaysAsked | None:
    """Return the days that a text consists of, but for words of courtesy; None if it says more, or names no day up to today."""
    asked = _days_asked(text, today)
    if asked is None or asked.first.year < _FIRST_YEAR or without_courtesy(asked.rest):
        return None
    return asked


def is_question(text: str, today: date) -> bool:
    """Return whether a text that is addressed to the bot asks something: by its words, or about the commits or days that it names."""
    if asks_when_addressed(text) or references_in(text):
        return True
    asked = _days_asked(text, today)
    return bool(re.search(r"\w", asked.rest)) if asked else _asks_over_days(text, today)


def _days_asked(text: str, today: date) -> DaysAsked | None:
    try:
        return days_asked(text, today)
    except Misuse:  # all of them lie in the future
        return None


def _asks_over_days(text: str, today: date) -> bool:
    try:
        return asks_over_days(text, today)
    except Misuse:
        return False


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
        word.strip(_PUNCTUATION) for word in words if "://" not in word and not _EMOJI_NAME.fullmatch(word.strip("?!"))
    ]
    found = [word for word in bare if re.search(r"\w\w", word) and re.search(r"[^\W\d_]", word)]
    telling = [word for word in found if without_courtesy(word)]
    return shorten(" ".join((telling or found)[:5]), _SHOWN)
