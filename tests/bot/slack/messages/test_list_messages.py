"""Lists in Slack: days, what a search found, which commit was meant."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from analysis.errors import Misuse
from analysis.models import Commit, Language, Repository, Stats
from bot.models.subjects import CommitRef, DayRef, PageRef, commit_value, parse_commit_value, parse_page_value
from bot.slack.messages.blocks import Message
from bot.slack.messages.lists import PAGE_SIZE, DayRow, range_message, search_messages, which_message
from tests.factories import commit
from tests.slack_checks import assert_takes, buttons, read, strings

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


def search(
    words: str, found: list[Commit], page: int = 0, *, more: bool = False, language: Language = "en"
) -> list[Message]:
    rows = [("acme/engine", each) for each in found]
    return search_messages(words, rows, page, more=more, language=language, tz=TZ)


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
    """Every title is there with its SHA, and the buttons lead to the pages before and after."""
    messages = search("kv | connector", commits(PAGE_SIZE), 1, more=True, language=language)
    assert_takes(messages, WEB)
    assert all(f"Change {n}  {n:040x}"[: len("Change n  ") + 7] in read(messages) for n in range(PAGE_SIZE))
    values = [
        each["value"]
        for message in messages
        for block in message.blocks
        if block["type"] == "actions"
        for each in block["elements"]
    ]
    assert [parse_page_value(value) for value in values] == [
        PageRef(2 * PAGE_SIZE, "kv | connector"),
        PageRef(0, "kv | connector"),
    ]


def test_a_search_that_found_nothing_says_so() -> None:
    """No list and no button, but what was looked for; behind the last page too."""
    for page, said in ((0, "No stored commit matches “x”"), (3, "No more commits matching “x”")):
        messages = search("x", [], page)
        assert said in read(messages)
        assert_takes(messages, WEB)


def test_hostile_words_and_titles_are_shown_only() -> None:
    """Nothing in what was looked for or found is live; words too long for a button have none."""
    messages = search(HOSTILE * 100, commits(PAGE_SIZE, HOSTILE * 20), more=True)
    assert_takes(messages, WEB)
    assert "page" not in buttons(messages)
    assert_takes(search(HOSTILE, commits(1, "")), WEB)


def test_which_one_has_a_button_for_each() -> None:
    """Each candidate is listed with its whole title, and its button carries it."""
    found = [(ENGINE, each) for each in commits(3, HOSTILE + "x" * 100)]
    messages = which_message(found, lambda repository, each: commit_value(repository, each, "en"), "en")
    assert_takes(messages, WEB)
    refs = {name: parse_commit_value(value) for name, value in buttons(messages).items()}
    assert refs == {f"which_{n}": CommitRef(ENGINE, f"{n - 1:040x}", "en") for n in (1, 2, 3)}
    assert read(messages).count("x" * 100) == 3


def test_too_many_candidates_are_counted() -> None:
    """Ten have buttons; how many more there are is said."""
    found = [(ENGINE, each) for each in commits(14)] + [(Repository.parse("acme/other"), commit())]
    messages = which_message(found, lambda repository, each: commit_value(repository, each, "en"), "en")
    assert len(buttons(messages)) == 10
    assert "and 5 more; use a longer SHA" in set(strings(messages[0].blocks))


@pytest.mark.parametrize("value", ["", "search", "search|x|y", "other|1|y", "search|-1|y"])
def test_a_foreign_page_is_refused(value: str) -> None:
    """A button that is not ours is a misuse and no crash."""
    with pytest.raises(Misuse):
        parse_page_value(value)
