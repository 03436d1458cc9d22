"""The lines about a day that all formats share."""

import io
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from analysis.models import Analysis, DayReport, Entry, Importance, Language, Links, Ranked, Repository
from analysis.report.terminal import print_report
from analysis.window import window
from tests.factories import commit


@pytest.mark.parametrize(("language", "told"), [("en", "2 commits analysed by rules"), ("zh", "2 个提交由规则分析")])
def test_the_terminal_tells_the_coverage_in_a_sentence(language: Language, told: str) -> None:
    """How many commits were analysed, and by what, is said once, without an equation."""
    day = date(2026, 2, 5)
    entries = tuple(
        Entry(
            commit=commit(f"Change {number}", (), sha=f"{number:040x}"),
            facts=(),
            ranked=Ranked(score=0, importance=Importance.LOW),
            links=Links(),
            analysis=Analysis(by="rules", summary="It does."),
        )
        for number in (1, 2)
    )
    report = DayReport(
        repository=Repository.parse("acme/engine"),
        date=day,
        timezone="UTC",
        language=language,
        window=window(day, ZoneInfo("UTC")),
        entries=entries,
    )
    shown = io.StringIO()
    print_report(Console(file=shown, width=120), report)
    assert told in shown.getvalue().splitlines()
    assert "=" not in shown.getvalue()
