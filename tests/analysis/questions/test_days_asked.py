"""The days that a question names, and what a question without any is about."""

from datetime import date

import pytest

from analysis.errors import Misuse
from analysis.questions.days_asked import asks_over_days, days_asked, last_days, scope_of

TODAY = date(2026, 2, 11)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "first", "last", "rest"),
    [
        ("which commits touched the cache last week?", "2026-02-02", "2026-02-08", "which commits touched the cache ?"),
        ("anything for ROCm since 2026-02-01", "2026-02-01", "2026-02-11", "anything for ROCm"),
        ("what changed yesterday", "2026-02-10", "2026-02-10", "what changed"),
        ("what broke from 2026-01-01 to 2026-01-05", "2026-01-01", "2026-01-05", "what broke"),
        ("2026-02-01..2026-02-07 cache", "2026-02-01", "2026-02-07", "cache"),
        ("Feb 3, 2026 cache", "2026-02-03", "2026-02-03", "cache"),
        ("cache before 2026-02-01", "2026-01-25", "2026-02-01", "cache"),
        ("cache in the last 3 days", "2026-02-08", "2026-02-11", "cache"),
        ("cache in the past week", "2026-02-04", "2026-02-11", "cache"),
        ("cache this week", "2026-02-09", "2026-02-11", "cache"),
        ("cache last month", "2026-01-01", "2026-01-31", "cache"),
        ("cache since Friday", "2026-02-06", "2026-02-11", "cache"),
        ("cache two weeks ago", "2026-01-28", "2026-01-28", "cache"),
        ("cache the day before yesterday", "2026-02-09", "2026-02-09", "cache"),
        ("any cache commits recently", "2026-02-04", "2026-02-11", "any cache commits"),
        ("上周有哪些提交动了调度器？", "2026-02-02", "2026-02-08", "有哪些提交动了调度器？"),
        ("2月3日到2月5日之间谁改了缓存", "2026-02-03", "2026-02-05", "谁改了缓存"),
        ("自 2026-02-01 以来的改动", "2026-02-01", "2026-02-11", "的改动"),
        ("2026年2月1日之后的改动", "2026-02-01", "2026-02-11", "的改动"),
        ("最近三天的改动", "2026-02-08", "2026-02-11", "的改动"),
        ("上周五的改动", "2026-02-06", "2026-02-06", "的改动"),
        ("三天前的改动", "2026-02-08", "2026-02-08", "的改动"),
        ("本周的改动", "2026-02-09", "2026-02-11", "的改动"),
        ("12月30日的改动", "2025-12-30", "2025-12-30", "的改动"),
    ],
)
def test_days_are_named_in_words_and_as_dates(question: str, first: str, last: str, rest: str) -> None:
    """Both ends are included, nothing lies after today, and the words that name the days are no part of the question."""
    asked = days_asked(question, TODAY)
    assert asked
    assert (str(asked.days[0]), str(asked.days[-1]), asked.text) == (first, last, rest)


@pytest.mark.parametrize(
    "question",
    [
        "is LANTERN_USE_V1 removed?",
        "upgrade v1.2.0..v1.3.0",
        "who changed the cache last",
        "may 5 GPUs work?",
        "does max_len 2026 matter?",
        "最近一次改动是什么时候",
        "2026-02-31",
    ],
)
def test_other_words_name_no_days(question: str) -> None:
    """Versions, numbers and "last" alone are no days, nor is a date that no calendar has."""
    assert days_asked(question, TODAY) is None


def test_days_in_the_future_are_refused() -> None:
    """What lies ahead cannot be asked about."""
    with pytest.raises(Misuse, match="2026-02-12 is in the future"):
        days_asked("anything on 2026-02-12?", TODAY)


@pytest.mark.parametrize(
    ("question", "everything"),
    [
        ("which commits touch the cache?", False),
        ("anything for ROCm?", False),
        ("what removed --old-flag?", True),
        ("when did KVCache change?", True),
        ("who last touched KVCache?", True),
        ("what reverted #12?", True),
        ("KVCache 是什么时候改的？", True),
        ("谁最后改了 KVCache？", True),
        ("哪个提交删了 --old-flag？", True),
        ("有关于 ROCm 的提交吗？", False),
        ("how many commits are stored?", True),
        ("which commits touch the cache, of all that is stored?", True),
        ("which of the stored commits touch the cache?", True),
        ("has anyone ever touched the cache?", True),
        ("where are the blocks stored?", False),
        ("which commits changed KVCache?", True),
        ("哪些提交改了 KVCache？", True),
        ("who calls KVCache?", True),
        ("what is KVCache called now?", True),
        ("how do I turn off prefix caching?", True),
        ("is anything new on by default?", False),
        ("was it reverted, and is it the default today?", True),
        ("is KVCache.hold still a list these days?", True),
        ("what is the pool called these days?", True),
        ("who uses KVCache today? how many files", True),
        ("已存储的提交里有哪些动了缓存？", True),
    ],
)
def test_without_days_a_question_is_about_a_week_or_about_everything(question: str, everything: bool) -> None:
    """What asks when or by what something was changed, or says so, has no limit in time."""
    assert scope_of(question, TODAY).days == (() if everything else tuple(last_days(TODAY)))


def test_days_of_an_earlier_question_hold() -> None:
    """What follows in a conversation is about the same days, the latest that were named."""
    scope = scope_of("and for ROCm?", TODAY, ["what changed today?", "and yesterday?", "thanks"])
    assert scope.days == (date(2026, 2, 10),)


@pytest.mark.parametrize(
    ("question", "over_days"),
    [
        ("which commits touch the cache?", True),
        ("anything for ROCm?", True),
        ("what changed yesterday?", True),
        ("哪些提交动了缓存？", True),
        ("has it tests?", False),
        ("which flags are new?", False),
        ("会影响 ROCm 吗", False),
    ],
)
def test_a_question_about_commits_is_told_from_one_about_a_commit(question: str, over_days: bool) -> None:
    """It names days, or asks for commits."""
    assert asks_over_days(question, TODAY) is over_days
