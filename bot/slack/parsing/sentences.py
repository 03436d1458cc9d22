"""Requests in sentences: days in words, a day or a commit with words of courtesy around it, and questions."""

import re
from datetime import date

from analysis.errors import Misuse
from analysis.questions.days_asked import DaysAsked, days_asked
from analysis.questions.intent import asks_when_addressed, references_in
from analysis.questions.scope import asks_over_days

_COURTESY = re.compile(
    r"(?<!\S)/\S+"  # the slash command, copied with its text
    r"|(?<![\w/.-])(?:please|pls|show|give|get|see|look|open|find|list|display|explain|describe|summari[sz]e|me|us|the|an?|of|for|from|on|at|in|about"
    r"|daily|digest|report|summary|overview|commits?|changes|updates?|pull request|pr|thanks)(?![\w/-]|\.\w)|['’]s\b|(?<![\w/.-])pr(?=\d)"
    r"|请|给我|帮我|帮忙|看看|查看|看一下|看下|看|解释|介绍|总结|概括|显示|打开|一下|这个|的|日报|报告|摘要|提交|改动|变更|更新|谢谢"
    r"|[？！，、：；。～]+|[?!,:;*~]+(?=\s|$)|(?<!\S)[?!*~]+|(?<!\.)\.(?=\s|$)",
    re.IGNORECASE,
)
_DIGEST = re.compile(
    r"(?:(?:show|give|get|see|me|us|the|a|daily|latest|last|please)\s+)*(?:digest|report)(?:\s+please)?"
    r"|(?:请|给我|帮我|看看|看一下|看下|最新的?|\s)*(?:日报|报告)",
    re.IGNORECASE,
)
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


def without_courtesy(text: str) -> str:
    """Return what is left of a request without words such as "please show me the digest of"."""
    return " ".join(_COURTESY.sub(" ", text).split())


def asks_for_digest(text: str) -> bool:
    """Return whether a text asks for a digest and names no day."""
    return bool(_DIGEST.fullmatch(text.strip(_ENDS)))


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
