"""Questions for numbers: how many commits there are, or match, and who made the most."""

import re
from collections import Counter
from collections.abc import Sequence

from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import Entry, Importance, Language, Statement
from analysis.writing.by_rules import code

_HOW_MANY = re.compile(
    r"\b(?:how many|number of)\s+(?!(?:\w+\s+)?(?:lines|files|tests)\b)|(?:多少|几)[个次条项]?(?!\s*(?:行|个?文件|个?测试))(?=[^，。？！]*(?:提交|改动|PR|重要))",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\bwho\b[^?!.]*\bmost\b|\b(?:top|most active|busiest)\s+(?:authors?|contributors?|committers?|developers?|people)\b"
    r"|谁[^，。？！]{0,10}最多|[^，。？！]{0,10}最多的(?:人|作者|贡献者)|最活跃",
    re.IGNORECASE,
)
_MOST_NAMED = 5


def asks_how_many(question: str) -> bool:
    """Return whether a question asks for a number."""
    return _HOW_MANY.search(question) is not None


def asks_who_made_most(question: str) -> bool:
    """Return whether a question asks for the authors with the most commits."""
    return _MOST.search(question) is not None


def number_of(entries: Sequence[Entry], language: Language) -> Statement:
    """Return how many commits there are, of each tier."""
    tiers = Counter(each.ranked.importance for each in entries)
    say = catalogue(language)
    commits = say.plural("{count} commit", "{count} commits", len(entries))
    high, medium, low = (tiers[each] for each in (Importance.HIGH, Importance.MEDIUM, Importance.LOW))
    return Statement(
        text=say(
            "{commits}: {high} high, {medium} medium, {low} low.", commits=commits, high=high, medium=medium, low=low
        )
    )


def number_matching(matching: int, searched: int, language: Language) -> Statement:
    """Return how many of the commits that were searched match."""
    say = catalogue(language)
    return Statement(
        text=say.plural("{count} of {all} commits matches.", "{count} of {all} commits match.", matching, all=searched)
    )


def most_commits(entries: Sequence[Entry], language: Language) -> Statement:
    """Return the authors with the most commits."""
    say = catalogue(language)
    authors = Counter(each.commit.author for each in entries).most_common(_MOST_NAMED)
    named = [say("{author} ({count})", author=code(author), count=count) for author, count in authors]
    return Statement(text=say("Most commits: {authors}.", authors=join_items(named, say)))
