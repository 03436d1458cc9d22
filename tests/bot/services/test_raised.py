"""What touches a watched term is raised in a channel's own view of a day."""

from datetime import UTC, date, datetime, timedelta

import pytest

from analysis.models import DayReport, Entry, Failure, Importance, Ranked, Repository, Touch
from analysis.window import Window
from bot.services.selection import Selection, selected
from tests.factories import commit, file

DAY = datetime(2026, 2, 5, tzinfo=UTC)
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
    window=Window(DAY, DAY + timedelta(days=1)),
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
