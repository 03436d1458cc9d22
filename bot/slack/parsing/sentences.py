"""Sentences: what a text that is no command asks for, and the nearest command that would work."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from difflib import get_close_matches

from analysis.questions.days_asked import asks_over_days
from analysis.questions.intent import asks_when_addressed, references_in
from analysis.text import one_line, shorten

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
_ENDS = " ?？!！.。"
_COMMANDS = (
    "search",
    "week",
    "upgrade",
    "suspects",
    "help",
    "today",
    "yesterday",
    "subscribe",
    "unsubscribe",
    "subscriptions",
    "status",
)
_SHOWN = 60  # characters of the input quoted in replies
_LIKE_DATE = re.compile(r"-?\d+(?:[-/.年月]\d+)*日?")
_TO_COME = ("tomorrow", "明天", "后天")
_STOP = ("stop", "pause", "mute", "停止", "暂停", "关闭")
_NAME = re.compile(r"(?=.*[^\W\d_])\w*\w\w")  # not a number, nor a letter
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


def is_to_come(text: str) -> bool:
    """Return whether a text is a word for a day in the future."""
    return text.strip(_ENDS).lower() in _TO_COME


def is_question(text: str, today: date) -> bool:
    """Return whether a text that is addressed to the bot asks something: by its words, or about the commits or days that it names.

    Raise `Misuse` if it names days that all lie in the future and is no question by its words.
    """
    return asks_when_addressed(text) or bool(references_in(text)) or asks_over_days(text, today)


def quoted(text: str) -> str:
    """Return the input as it is quoted in replies: on one line, shortened."""
    return shorten(one_line(text), _SHOWN)


def suggestion(words: Sequence[str], today: date) -> str:
    """Return the nearest command that would work: yesterday for what looks like a date, the command mistyped, or a search."""
    if _LIKE_DATE.fullmatch(" ".join(words)):
        return f"{today - timedelta(days=1)}"
    if words[0].lower() in _STOP:
        return "unsubscribe"
    for place, word in enumerate(words):
        for known in get_close_matches(word.lower(), _COMMANDS, 1, 0.7):
            rest = _search_terms(words[place + 1 :])
            return f"search {rest or 'memory leak'}" if known == "search" else known
    found = _search_terms(words)
    return f"search {found}" if found else ""


def _search_terms(words: Sequence[str]) -> str:
    """Return the first words that are searchable, at most five; without those of courtesy if there are others."""
    found = [bare for word in words if _NAME.search(bare := word.strip(_PUNCTUATION)) and "://" not in word]
    telling = [word for word in found if without_courtesy(word)]
    return shorten(" ".join((telling or found)[:5]), _SHOWN)
