"""What people type, read into wishes."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.errors import Misuse
from analysis.models import Repository
from bot.models.reference import Reference
from bot.slack.messages.blocks import escaped
from bot.slack.parsing.command_types import (
    MOST_DAYS,
    Ask,
    Command,
    Day,
    Days,
    Help,
    ListAlerts,
    Lookup,
    NotUnderstood,
    Search,
    SetAlert,
    Suspects,
    Upgrade,
)
from bot.slack.parsing.commands import parse
from bot.slack.parsing.input import plain, plain_lines

TODAY = date(2026, 2, 6)  # a Friday
VLLM, SGLANG, DEV = (Repository.parse(name) for name in ("vllm-project/vllm", "sgl-project/sglang", "acme/engine@dev"))
KNOWN = (VLLM, SGLANG, DEV, Repository.parse("one/twin"), Repository.parse("two/twin"))
OTHER = Repository.parse("else/where")
SHA = "4d9513537f0a1b2c3d4e5f60718293a4b5c6d7e8"
WEB = "https://github.com/vllm-project/vllm"


def wish(text: str) -> Command:
    """What a text means as Slack passes it on."""
    return parse(plain(text, "U0BOT"), KNOWN, TODAY)


def day(month: int, number: int) -> date:
    return date(2026, month, number)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("yesterday?", day(2, 5)),
        ("2026-02-05", day(2, 5)),
        ("today", day(2, 6)),
        ("Yesterday", day(2, 5)),
        ("今天", day(2, 6)),
        ("昨天", day(2, 5)),
        ("-3", day(2, 3)),
        ("-0", day(2, 6)),
        ("mon", day(2, 2)),
        ("FRIDAY", day(1, 30)),
        ("`2026-02-05`", day(2, 5)),
    ],
)
def test_a_day_is_understood(text: str, meant: date) -> None:
    """A date, a word for a day in either language, days ago or a weekday is that day, and so it is with a question mark."""
    assert wish(text) == Day(meant)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-2-5", day(2, 5)),
        ("2026/02/05", day(2, 5)),
        ("the day before yesterday", day(2, 4)),
        ("3 days ago", day(2, 3)),
        ("Feb 5", day(2, 5)),
        ("5 Feb 2026", day(2, 5)),
        ("前天", day(2, 4)),
        ("上周五", day(1, 30)),
        ("2026年2月5日", day(2, 5)),
    ],
)
def test_a_day_may_be_given_in_words(text: str, meant: date) -> None:
    """A day in the words of people is understood."""
    assert wish(text) == Day(meant)
    assert wish(f"sglang {text}") == Day(meant, SGLANG)


@pytest.mark.parametrize(
    "text",
    [
        "which commits touch the scheduler",
        "what removed --foo",
        "vllm what removed --foo",
        "What added `LLM.generate`",
        "who changed VLLM_USE_V1",
        "why was chunked prefill disabled",
        "anything about ROCm",
        "anything today?",
        "any breaking changes this week",
        "what happened on 2026-02-05?",
        "what's new",
        "whats new in vllm",
        "is VLLM_USE_V1 removed",
        "show me the scheduler commits",
        "explain the change to chunked prefill",
        "what does 4d95135 break",
        "昨天有什么重要的提交",
        "哪些提交改了调度器",
        "--foo 是哪个提交移除的",
        "看看谁改了调度器",
        "会影响我们的插件吗",
        "总结一下",
        "#412 改了什么",
    ],
)
def test_a_question_needs_no_mark(text: str) -> None:
    """What begins like a question, or holds one in Chinese, is asked, with the repository that it names."""
    assert wish(text) == Ask(plain(text).replace("`", "").replace("vllm what", "vllm-project/vllm what"))


@pytest.mark.parametrize("text", ["who are you?", "你能做什么？", "what", "怎么用？", "!!!", "🙂", ".."])
def test_a_question_about_the_bot_is_one_for_help(text: str) -> None:
    """Who asks what the bot does, or for nothing, sees what can be asked."""
    assert wish(text) == Help()


@pytest.mark.parametrize(("text", "repository"), [("", None), ("vllm", VLLM)])
def test_no_day_is_the_latest(text: str, repository: Repository | None) -> None:
    """Who names no day means yesterday, or the latest day that had commits."""
    assert wish(text) == Day(day(2, 5), repository, latest=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *((text, ListAlerts()) for text in ("tell", "Tell me", "告诉我")),
        ("tell me when #12 is merged", SetAlert("merged", Reference("#12", pr=12))),
        ("tell me once 4d95135 gets reverted.", SetAlert("reverted", Reference("4d95135", sha="4d95135"))),
        ("sglang tell me when #12 was released", SetAlert("released", Reference("#12", pr=12), SGLANG)),
        ("tell me when else/where #12 is released", SetAlert("released", Reference("#12", pr=12), OTHER)),
        (f"tell me when {WEB}/pull/12 is merged", SetAlert("merged", Reference(f"{WEB}/pull/12", VLLM, pr=12))),
        ("#12 合并时告诉我", SetAlert("merged", Reference("#12", pr=12))),
        ("vllm #12 发布后，请告诉我", SetAlert("released", Reference("#12", pr=12), VLLM)),
        ("告诉我 sglang #12 被回滚", SetAlert("reverted", Reference("#12", pr=12), SGLANG)),
        *((text, Ask(text)) for text in ("tell me about #12", "tell me when v1 is released", "#12 合并了吗")),
        ("tell me when nothing #12 is merged", Ask("tell me when nothing #12 is merged")),
    ],
)
def test_what_to_tell_is_understood(text: str, meant: Command) -> None:
    """A commit or a pull request, also behind its repository, and what is to happen, in either language; the rest is a question."""
    assert wish(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("upgrade", Upgrade()),
        ("升级 v0.12.0", Upgrade("v0.12.0")),
        ("upgrade v0.12.0..v0.13.0", Upgrade("v0.12.0", "v0.13.0")),
        ("upgrade ..releases/v1", Upgrade("", "releases/v1")),
        ("sglang upgrade 2026-01-01..-3", Upgrade("2026-01-01", "-3", SGLANG)),
        (
            f"upgrade {SHA} downstream a/b@dev, c/d",
            Upgrade(SHA, "", None, (Repository.parse("a/b@dev"), Repository.parse("c/d"))),
        ),
    ],
)
def test_an_upgrade_is_understood(text: str, meant: Upgrade) -> None:
    """Two versions, one, or none; after a keyword the code to upgrade; the same for one repository."""
    assert wish(text) == meant


@pytest.mark.parametrize("text", ["upgrade v1 v2", "upgrade downstream", "upgrade v1 downstream x", "upgrade v1..v2;"])
def test_an_upgrade_that_is_none_gets_an_example(text: str) -> None:
    """Two words for the versions, no repository or a name that is none are answered with a form that works."""
    meant = wish(text)
    assert isinstance(meant, NotUnderstood)
    assert isinstance(wish(meant.nearest), Upgrade)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-02-01..2026-02-05", day(2, 1), day(2, 5)),
        ("2026-02-05..2026-02-05", day(2, 5), day(2, 5)),
        ("mon..today", day(2, 2), day(2, 6)),
        ("-30..today", day(1, 7), day(2, 6)),
        ("2026-02-01 .. 2026-02-05", day(2, 1), day(2, 5)),
        ("2026-2-1~2026-2-5", day(2, 1), day(2, 5)),
        ("2026-02-05..2026-02-01", day(2, 1), day(2, 5)),
        ("2026-02-01..2026-03-01", day(2, 1), day(2, 6)),
        ("last week", day(1, 26), day(2, 1)),
        ("最近三天", day(2, 3), day(2, 6)),
    ],
)
def test_a_range_is_its_days(text: str, first: date, last: date) -> None:
    """FROM..TO is every day from the one to the other, in either order and up to today, of which there may be 31."""
    assert wish(text) == Days(tuple(first + timedelta(days=n) for n in range((last - first).days + 1)))


@pytest.mark.parametrize(
    ("text", "sha", "pr", "repository"),
    [
        ("4d95135", "4d95135", None, None),
        ("4D95", "4d95", None, None),
        (SHA, SHA, None, None),
        ("1234567", "1234567", None, None),
        ("#33293", None, 33293, None),
        ("33293", None, 33293, None),
        (f"<{WEB}/pull/33293>", None, 33293, VLLM),
        (f"<{WEB}/pull/33293|#33293>", None, 33293, VLLM),
        (f"<{WEB}/pull/33293/files?a=1&amp;b=2>", None, 33293, VLLM),
        (f"{WEB}/pull/33293/commits/{SHA}", SHA, None, VLLM),
        (f"<{WEB}/commit/{SHA}#diff-0>", SHA, None, VLLM),
        ("https://git.corp.example/gh/else/where/commit/4d95135", "4d95135", None, OTHER),
    ],
)
def test_a_commit_is_understood(text: str, sha: str | None, pr: int | None, repository: Repository | None) -> None:
    """A SHA, its beginning, a pull request or an address is a commit, however Slack wraps it."""
    found = wish(text)
    assert isinstance(found, Lookup)
    assert found.repository in (None, SGLANG)
    assert found.reference._replace(text="") == Reference("", repository, sha, pr)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("search kv connector", "kv connector"),
        ("SEARCH  `kv`", "kv"),
        ("搜索 调度器", "调度器"),
        ("search a &amp; b &lt;c&gt;", "a & b <c>"),
        ("search <https://vllm.ai|vllm.ai>", "https://vllm.ai"),
        ("search scheduler\u2024py", "scheduler.py"),
        ("search 2026-02-05", "2026-02-05"),
    ],
)
def test_a_search_is_for_what_follows(text: str, words: str) -> None:
    """What follows the word for a search is looked for, as it was meant before Slack escaped it."""
    assert wish(text) == Search(words)


FAILURE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g(1)\nNameError: g'


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("suspects the pool is gone", Suspects("the pool is gone")),
        ("排查 the pool is gone", Suspects("the pool is gone")),
        (f"sglang suspects {FAILURE}", Suspects(FAILURE, SGLANG)),
        (f"else/where suspects {FAILURE}", Suspects(FAILURE, OTHER)),
        ("suspects", Suspects("")),
        (FAILURE, Suspects(FAILURE)),
        (FAILURE.replace('"', "\u201c"), Suspects(FAILURE)),
        ("2026-02-05 10:00 INFO a\n2026-02-05 10:01 ERROR failed\n2026-02-05 10:02 INFO b", None),
        ("tests/test_a.py:12: in test_it\n    run()\nE   TypeError: no", None),
    ],
)
def test_a_failure_is_looked_into_with_its_lines(text: str, meant: Suspects | None) -> None:
    """After the word, or by the form of what is pasted, which is kept whole; None stands for the text itself."""
    assert parse(plain_lines(text), KNOWN, TODAY) == (meant or Suspects(text))


def test_a_search_is_for_fifty_words() -> None:
    """Of a long text the first fifty words are looked for."""
    assert wish("search " + "word " * 900) == Search(" ".join(["word"] * 50))


@pytest.mark.parametrize("text", ["help", "Help!", "帮助", "?", "vllm help", "<@U0BOT>: help"])
def test_help_is_given(text: str) -> None:
    """Who asks for help gets it."""
    assert wish(text) == Help()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("VLLM today", Day(day(2, 6), VLLM)),
        ("sgl-project/sglang 2026-02-01", Day(day(2, 1), SGLANG)),
        ("engine", Day(day(2, 5), DEV, latest=True)),
        ("engine@dev -1", Day(day(2, 5), DEV)),
        ("Acme/Engine -1", Day(day(2, 5), DEV)),
        ("acme/engine@dev -1", Day(day(2, 5), DEV)),
        ("else/where today", Day(day(2, 6), OTHER)),
        ("else/where@v1/x today", Day(day(2, 6), Repository.parse("else/where@v1/x"))),
        ("sglang 2026-02-04..2026-02-05", Days((day(2, 4), day(2, 5)), SGLANG)),
        ("sglang search kv", Search("kv", SGLANG)),
        ("sglang #12", Lookup(Reference("#12", None, None, 12), SGLANG)),
        ("else/where 4d95135", Lookup(Reference("4d95135", None, "4d95135"), OTHER)),
    ],
)
def test_a_repository_may_come_first(text: str, meant: Command) -> None:
    """A repository is known by its full name, or by its short one if it is configured."""
    assert wish(text) == meant


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("２０２６-02-05", "2026-02-05"),
        ("2026-02-30", "2026-02-05"),
        ("tody", "today"),
        ("yestrday", "yesterday"),
        ("hlep", "help"),
        ("serch kv connector", "search kv connector"),
        ("serach !!!", "search memory leak"),
        ("search", "search memory leak"),
        ("search !!!", "search memory leak"),
        ("搜索", "search memory leak"),
        ("sglang seems slow", "search seems slow"),
        ("kv connector", "search kv connector"),
        ("调度器", "search 调度器"),
        ("4d9", "search 4d9"),
        ("2/5", "2026-02-05"),
        ("https://a.example/b", "search https://a.example/b"),
        ("#0", "search #0"),
        ("look at #012", "search look at #012"),
        (":rocket:", "search :rocket:"),
    ],
)
def test_what_is_not_understood_gets_the_nearest_that_works(text: str, nearest: str) -> None:
    """A slip of the pen, another way to write a date or a whole sentence leads to what was probably meant."""
    found = wish(text)
    assert isinstance(found, NotUnderstood)
    assert found.nearest == nearest


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-02-07", "2026-02-07 is in the future; the latest day is 2026-02-06"),
        ("2027-01-01..2027-01-31", "2027-01-01 is in the future; the latest day is 2026-02-06"),
        ("1969-12-31", "'1969-12-31' is before 1970, when git has no commits"),
        ("last 60 days", "61 days are too many; name 31 at most"),
        ("-31..today", "32 days are too many; name 31 at most"),
        ("vllm 2025-01-01..2026-01-31", "396 days are too many; name 31 at most"),
    ],
)
def test_days_that_cannot_be_had_are_told_so(text: str, why: str) -> None:
    """Days to come and a range of over 31 days are named as such."""
    with pytest.raises(Misuse, match=re.escape(why)):
        wish(text)


def test_what_is_quoted_back_is_short() -> None:
    """However long a text is, what is quoted of it and what is suggested instead is not."""
    for text in (
        "x" * 4000,
        "serch " + "word" * 900,
        f"{'o' * 39}/{'n' * 100} " + "word " * 700,
        f"{'o' * 39}/{'n' * 100} 2026-13-45",
    ):
        found = wish(text)
        assert isinstance(found, NotUnderstood)
        assert len(found.text) <= 60
        assert len(found.nearest) <= 220


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("<@U0BOT> today", "today"),
        ("<@U0BOT|vllm-digest>, today", "today"),
        ("<@U0BOT>：今天", "今天"),
        ("hey <@U0BOT>", "hey"),
        ("<@U0LIN> today", "<@U0LIN> today"),
        ("<https://a.example/b?c=1&amp;d=2|b>", "https://a.example/b?c=1&d=2"),
        ("<mailto:ada@a.example|ada@a.example>", "ada@a.example"),
        ("a &lt;b&gt; &amp;amp;", "a <b> &amp;"),
        ("  a\u00a0 b\n\tc\0 ", "a b c"),
    ],
)
def test_slacks_notation_is_read_as_typed(typed: str, read: str) -> None:
    """Mentions of the bot go, addresses are bare, entities are characters, and white space is one space."""
    assert plain(typed, "U0BOT") == read


PIECES = st.sampled_from(
    ["2026-02-05", "2026-2-5", "2026/13/45", "20260205", "..", "today", "-3", "mon", "今天", "search", "搜索", "help", "sglang", "a/b", "a/b@c", "o/.git",
     "#12", "#0", "#٣", "4d95135", SHA, f"<{WEB}/pull/1|x>", f"{WEB}/commit/{SHA}", "https://a.example/pull/1", "<@U0BOT>", "<@U0LIN>", "&amp;", "&lt;", "`",
     "\u2024", "serach", "tody", "!!!", "\u202e", "word " * 30, "x" * 500, "\ud800"]
)  # fmt: skip
TYPED = st.one_of(
    st.lists(st.one_of(PIECES, st.just(" "), st.text(max_size=8)), max_size=12).map("".join),
    st.lists(PIECES, max_size=6).map(" ".join),
    st.text(),
)


@given(TYPED)
@example("serach " + "! " * 50)
@example("look at #0")
@example("today..mon")
def test_whatever_is_typed_is_a_wish(text: str) -> None:
    """What is wrong is told as such; what is suggested is understood, as it is and as it is copied from the message that shows it."""
    try:
        found = wish(text)
    except Misuse:
        return
    if isinstance(found, Days):
        assert 1 <= len(found.days) <= MOST_DAYS
        assert found.days[-1] <= TODAY
    if isinstance(found, NotUnderstood) and found.nearest:
        assert not isinstance(wish(found.nearest), NotUnderstood)
        assert not isinstance(wish(f"`{escaped(found.nearest)}`"), NotUnderstood)
        assert len(found.nearest) <= 420
