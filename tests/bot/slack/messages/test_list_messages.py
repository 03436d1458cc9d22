"""Lists in Slack: days, and what a search found."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Commit, FoundCommit, Language, Repository, Stats
from bot.models.subjects import DayRef
from bot.slack.commands.commit_commands import search_messages
from bot.slack.commands.days import DayRow, range_message
from bot.slack.messages.blocks import Message
from tests.factories import commit
from tests.slack_checks import assert_takes, read, strings

WEB = "https://github.com/acme/engine/"
ENGINE = Repository.parse("acme/engine")
TZ = ZoneInfo("UTC")
HOSTILE = "<!channel> <@U123> <https://evil.example|x> https://evil.example \x1b\u202e"


def days(number: int) -> list[DayRow]:
    first = date(2026, 1, 1)
    stats = Stats(total=6, high=1, medium=2, low=3)
    return [
        DayRow(
            DayRef(ENGINE, first + timedelta(days=n), "UTC", "en"), None if n == 1 else stats, HOSTILE if n == 2 else ""
        )
        for n in range(number)
    ]


def commits(number: int, title: str = "Change") -> list[Commit]:
    return [commit(f"{title} {n}" if title else "", sha=f"{n:040x}") for n in range(number)]


def search(words: str, found: list[Commit], *, more: bool = False, language: Language = "en") -> list[Message]:
    return search_messages(
        words, [FoundCommit("acme/engine", each) for each in found], more=more, language=language, tz=TZ
    )


def test_a_month_is_one_message() -> None:
    """31 days, one a line, with their statistics, what is not read yet, and what else is to be said."""
    messages = range_message(days(31), "en")
    assert len(messages) == 1
    assert_takes(messages, WEB)
    assert read(messages).count("🔴 High 1") == 30
    assert read(messages).count("not read yet") == 1
    assert "2026-01-31 (Sat)" in read(messages)
    assert "acme/engine · 2026-01-01..2026-01-31" in set(strings(messages[0].blocks))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_a_search_found_is_listed_by_title(language: Language) -> None:
    """Every title is there with its SHA; that there is more is said."""
    messages = search("kv | connector", commits(9), more=True, language=language)
    assert_takes(messages, WEB)
    assert all(f"Change {n}  {n:040x}"[: len("Change n  ") + 7] in read(messages) for n in range(9))
    assert ("Only the first 9 commits are shown" in set(strings(messages[0].blocks))) is (language == "en")


def test_a_search_that_found_nothing_says_so() -> None:
    """No list, but what was looked for."""
    messages = search("x", [])
    assert "No stored commit matches “x”" in read(messages)
    assert_takes(messages, WEB)


def test_hostile_words_and_titles_are_shown_only() -> None:
    """Nothing in what was looked for or found is live."""
    assert_takes(search(HOSTILE * 100, commits(20, HOSTILE * 20), more=True), WEB)
    assert_takes(search(HOSTILE, commits(1, "")), WEB)
