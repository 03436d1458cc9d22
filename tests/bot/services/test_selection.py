"""A channel's selection of a day: what it leaves and raises, and what it says that it leaves out."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from analysis.models import DayReport, Entry, Failure, Importance, Language, Ranked, Repository, Touch
from analysis.report.markdown import reports_markdown
from analysis.window import Window, window
from bot.services.schedule import Selection, selected
from bot.slack.messages.blocks import Message
from bot.slack.messages.digest import digest_messages
from bot.slack.messages.subscriptions import describe_selection
from tests.factories import commit, file
from tests.slack_checks import assert_takes, strings

DAY = date(2026, 2, 5)
TZ = ZoneInfo("Asia/Shanghai")
WEB = "https://github.com/acme/engine/"


def day_of(count: int, language: Language = "en", late: int = 0) -> DayReport:
    def entry(number: int) -> Entry:
        made = commit(f"Change {number}", [file(f"engine/part{number}.py")], sha=f"{number:040x}")
        return Entry(commit=made, ranked=Ranked(score=0.0, importance=Importance.LOW))

    made = [entry(number) for number in range(count + late)]
    return DayReport(
        repository=Repository.parse("acme/engine"),
        date=DAY,
        timezone=TZ.key,
        language=language,
        window=window(DAY, TZ),
        entries=tuple(made[:count]),
        late=tuple(made[count:]),
    )


def shown(messages: Sequence[Message]) -> str:
    return " ".join(text for message in messages for text in strings(message.blocks))


def chosen(report: DayReport, *paths: str, least: Importance = Importance.LOW) -> DayReport:
    told = describe_selection(least, paths, (), report.language)
    return selected(report, Selection(least=least, paths=paths), told)


@pytest.mark.parametrize(
    ("language", "count", "told"),
    [
        ("en", 4, "4 commits on this day, none in this channel's selection"),
        ("en", 1, "1 commit on this day, none in this channel's selection"),
        ("zh", 4, "本日有 4 个提交，都不在本频道的筛选范围内"),
    ],
)
def test_a_day_of_which_nothing_is_selected_is_no_day_without_commits(
    language: Language, count: int, told: str
) -> None:
    """Where a selection leaves nothing, the message and the file count what there was and name the selection."""
    report = chosen(day_of(count, language), "csrc/**")
    messages = digest_messages(report)
    assert_takes(messages, WEB)
    markdown = reports_markdown([report])
    assert told in shown(messages)
    assert told in markdown.replace("\\", "")
    for said in ("No commits", "没有提交"):
        assert said not in shown(messages) + markdown
    assert describe_selection(Importance.LOW, ("csrc/**",), (), language) in shown(messages)


def test_a_day_without_commits_has_none_in_a_selection_either() -> None:
    """A selection of nothing says that there was nothing."""
    assert "No commits on this day" in shown(digest_messages(chosen(day_of(0), "csrc/**")))


def test_part_of_a_day_is_told_with_the_whole() -> None:
    """A selection stands beside the statistics, in the coverage and at the head of the file, which count the whole day."""
    report = chosen(day_of(7, late=2), "engine/part0.py", "engine/part1.py", "engine/part8.py")
    messages = digest_messages(report)
    assert_takes(messages, WEB)
    markdown = reports_markdown([report])
    for text in (shown(messages), markdown):
        assert "Commits: 2 of 7 |" in text
    assert "commits analysed; 6 filtered out" in shown(messages)
    assert "listed 9 = ranked 9" in markdown
    assert "filtered out 6" in markdown
    assert "Filter: engine/part0.py" in shown(messages[:1])
    assert "Filter: engine/part0.py" in shown(messages[-1:])
    assert "Filter: engine" in markdown.partition("| Time")[0]


def test_a_day_that_is_not_selected_from_says_nothing_of_selections() -> None:
    """Without a selection a report is what it was."""
    report = day_of(2)
    assert chosen(report) == report
    assert "elected" not in shown(digest_messages(report)) + reports_markdown([report])


MIDNIGHT = datetime(2026, 2, 5, tzinfo=UTC)
TOUCH = Touch(term="pkg", path="pkg/low.py", line=3, url="https://github.com/acme/engine/commit/x#diff-yR3")


def entry(tier: Importance, *, read: bool = True, late: bool = False) -> Entry:
    made = commit(
        sha=f"{tier}{'-late' if late else ''}{'' if read else '-unread'}", files=[file(f"pkg/{tier}.py")], read=read
    )
    return Entry(commit=made, ranked=Ranked(score=0, importance=tier))


REPORT = DayReport(
    repository=Repository(owner="o", name="n"),
    date=date(2026, 2, 5),
    timezone="UTC",
    language="en",
    window=Window(MIDNIGHT, MIDNIGHT + timedelta(days=1)),
    entries=(*map(entry, Importance), entry(Importance.LOW, read=False)),
    late=(entry(Importance.LOW, late=True),),
    failed=(Failure(sha="low-unread", stage="read", reason="limit"),),
    replaced=(Failure(sha="low", stage="analyse", reason="slow"),),
)


def shas(report: DayReport) -> list[str]:
    return [each.commit.sha for each in (*report.entries, *report.late)]


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Selection(), ["high", "medium", "low", "low-unread", "low-late"]),
        (Selection(least=Importance.MEDIUM), ["high", "medium", "low-unread"]),
        (Selection(paths=("pkg/low.py",)), ["low", "low-unread", "low-late"]),
        (Selection(least=Importance.HIGH, paths=("csrc/",)), ["low-unread"]),
        (Selection(watch=("pkg",)), ["high", "medium", "low", "low-unread", "low-late"]),
    ],
)
def test_a_selection_leaves_what_it_names(selection: Selection, left: list[str]) -> None:
    """Tiers and paths leave what is in both; what could not be read stays, and a watch leaves nothing out."""
    assert shas(selected(REPORT, selection, "")) == left


def test_what_is_touched_is_raised_past_every_selection() -> None:
    """A touched commit is high and in the view, on time or late, and the statistics and the coverage count it as it is shown."""
    view = selected(
        REPORT, Selection(least=Importance.HIGH, watch=("pkg",)), "", {"low": (TOUCH,), "low-late": (TOUCH,)}
    )
    assert shas(view) == ["high", "low", "low-unread", "low-late"]
    raised = [each for each in (*view.entries, *view.late) if each.watched]
    assert [each.ranked.importance for each in raised] == [Importance.HIGH] * 2
    assert (view.stats.total, view.stats.high, view.stats.medium, view.stats.low) == (3, 2, 0, 1)
    assert view.coverage.listed == 5
    assert [each.sha for each in view.replaced] == ["low"]
    assert REPORT.stats.high == 1
