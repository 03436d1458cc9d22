"""Topics of questions that a commit's metadata answers."""

import re
from enum import StrEnum


class Topic(StrEnum):
    """A question about a commit that its diff does not answer. The value is part of the record's label."""

    AUTHOR = "author"
    DATE = "date"
    PULL = "pull"
    LINKS = "links"
    RANK = "rank"
    TESTS = "tests"


_SOME = r"[^?？.。，]{0,25}?"  # words in between
_PATTERNS = {
    Topic.AUTHOR: (
        rf"\bwho(?:se)?\b{_SOME}\b(?:wrote|written|made|did|authored|contributed|committed|submitted|implemented)\b",
        r"\bwho(?:['’]s| is| was) (?:the author|behind)\b|\b(?:the|its) author *(?:[?？]|$)",
        r"谁[^，。？]{0,6}?(?:写|改|提|做|加|弄|贡献|实现)|谁的(?:提交|改动|代码)|作者(?:是|叫|呢|[?？]|$)",
    ),
    Topic.DATE: (
        rf"\bwhen\b{_SOME}\b(?:land(?:ed)?|merged?|committed|authored|written|went in|go in|made|pushed)\b",
        r"(?:\band |^\s*)when *(?:[?？]|$)|\b(?:what|which) (?:date|day)\b|\b(?:landing|merge|commit) (?:date|time)\b",
        r"(?:什么时候|何时|哪天|哪一天|几号|几时|什么时间)[^，。？]{0,6}?(?:合入|合并|合的|合进|提交|写|进的|落)",
        r"(?:合入|合并|提交|编写)的?(?:时间|日期)",
    ),
    Topic.PULL: (
        r"\b(?:which|what)(?:['’]s| is| was)?(?: the| its)? (?:PR|pull request|MR)\b(?!\s*#?\d)|\b(?:PR|pull request) (?:number|link)\b",
        r"(?:哪个|哪一个|什么|对应的?)\s*(?:PR|拉取请求|合并请求)|(?:PR|拉取请求|合并请求)\s*(?:号|编号|链接|是多少|是哪个)",
    ),
    Topic.LINKS: (
        rf"\breverted\b|\breverts\b(?! to\b)|\b(?:a|any) revert\b|\b(?:did|what)\b{_SOME}\brevert\b(?! to\b)|\brolled back\b",
        r"\b(?:undone|backed out)\b|\bstill (?:in|on) (?:main|master|the (?:main )?branch)\b|还在(?:主干|主分支|main|master)",
        r"\bfixed (?:by|later|since|again|afterwards)\b|\b(?:later|follow[- ]?up) fix(?:es)?\b",
        r"\bfollow[- ]?ups?\b|\bpart of a series\b|\b(?:related|linked) commits?\b",
        r"(?<!怎么)(?<!如何)(?<![能要以])(?:回退|回滚|撤销|撤回)|(?:后来|之后|后续)[^，。？]{0,8}?修|属于[^，。？]{0,6}?系列|(?:相关|关联|后续)提交",
    ),
    Topic.RANK: (
        r"\bwhy (?:is|was) (?:it|this|that|the commit|this commit)\b(?: \w+){0,3}? (?:high|medium|low|important)(?= *(?:[?？.]|$))",
        rf"\b(?:why|how)\b{_SOME}\brank(?:ed|ing)?\b|\b(?:its|the|what) (?:rank|tier|importance)\b",
        r"排序|重要[度性]|重要程度|评级|排名|(?:为什么|为何|为啥)[^，。？]{0,4}?(?:排|列为|评为|标为|是[高中低]|重要)",
    ),
    Topic.TESTS: (
        rf"\b(?:has|have|any|with|without|includes?|adds?|added|comes?|brings?|contains?|(?:are|is) there)\b{_SOME}\b(?:tests|a test)\b",
        r"\b(?:un)?tested\b|\btest coverage\b|(?:有|带|附|加|含|包括)[^，。？]{0,4}?测试|测试覆盖|测试了|单测",
    ),
}
_TOPIC_PATTERNS = {topic: re.compile("|".join(patterns), re.IGNORECASE) for topic, patterns in _PATTERNS.items()}
_CLAUSE = re.compile(r"[,，、;；。.!?？]\s|[，、；。？]|\b(?:and|but)\b|以及|并且|还有|而且")


def topics_in(question: str) -> tuple[Topic, ...]:
    """Return the metadata topics that a question asks about."""
    return tuple(topic for topic, pattern in _TOPIC_PATTERNS.items() if pattern.search(question))


def without_topics(question: str) -> str:
    """Return the clauses of a question that ask about something else, the diff."""
    return " ".join(clause for clause in _CLAUSE.split(question) if not topics_in(clause)).strip()
