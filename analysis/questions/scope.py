"""The scope of a question about commits that it does not name: which days, or all that is stored."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from analysis.questions.days_asked import days_asked, last_days
from analysis.questions.history import asks_for_history
from analysis.questions.topics import Topic, topics_in

_ABOUT_COMMITS = re.compile(
    r"\b(?:which|what|any|how many)\s+(?:\w+\s+){0,2}?(?:commits?|changes|prs|pull requests)\b|^\W*(?:is there |was there )?anything\b"
    r"|(?:哪些|哪几个|多少|什么|有没有|有无)[^，。？！]{0,8}?(?:提交|改动|变更|PR)|(?:提交|改动|变更|PR)(?:有|是)哪些|^有(?:没有|无|什么)(?:关于|和)",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"\b(?:(?:in|of|among|over|from|across)\s+)?(?:all|everything)\b[^,.?!]{0,20}?\bstored\b"
    r"|\bstored\s+(?=commits\b)|(?<=\bcommits )(?:(?:that\s+|which\s+)?are\s+)?stored\b|\bin the (?:store|database)\b"
    r"|\bof all time\b|\bin (?:the|its) (?:whole|entire|full) history\b|\bever\b|\bso far\b|\bin total\b"
    r"|(?:在|从)?(?:所有|全部)?已?(?:存储|保存|入库)(?:过|下来)?的(?:所有|全部)?|(?:一共|总共|已经?)?(?:存储|保存|入库)了(?=多少|几)|有史以来|整个历史[中里]?|至今",
    re.IGNORECASE,
)


class Scope(NamedTuple):
    """A question without the words that name its days, and the days, oldest first; without any, all that is stored."""

    text: str
    days: tuple[date, ...]


def asks_over_days(question: str, today: date) -> bool:
    """Return whether a question is about the commits of days, or all, rather than about one that was spoken of before.

    Raise `Misuse` if it names days that all lie in the future.
    """
    about_commits = _ABOUT_COMMITS.search(question) or _EVERYTHING.search(question)
    return about_commits is not None or days_asked(question, today) is not None


def scope_of(question: str, today: date, earlier: Sequence[str] = ()) -> Scope:
    """Return what a question is about: the days that it names, or what was asked before it, the latest last.

    Where none is named: the last seven days, or all that is stored if it says so, or asks when or by what something was
    changed or reverted. Raise `Misuse` for days that all lie in the future.
    """
    named = days_asked(question, today)
    if named:
        return Scope(named.rest, tuple(named.days))
    if _EVERYTHING.search(question):
        return Scope(" ".join(_EVERYTHING.sub(" ", question).split()), ())
    if asks_for_history(question) or Topic.LINKS in topics_in(question):
        return Scope(question, ())
    for text in reversed(earlier):
        if before := days_asked(text, today):
            return Scope(question, tuple(before.days))
    return Scope(question, tuple(last_days(today)))
