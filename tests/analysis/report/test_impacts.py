"""Reports of what commits break of downstream trees."""

import ast
from io import StringIO

import pytest
from rich.console import Console

from analysis.models import Entry, Importance, Ranked, Repository
from analysis.models.impacts import (
    Cause,
    Certainty,
    CommitImpacts,
    Downstream,
    DownstreamImpacts,
    DownstreamPlace,
    Impact,
    ImpactKind,
    ImpactReport,
    UpstreamPlace,
)
from analysis.report.impacts import impact_causes, impact_summary
from analysis.report.terminal import print_report
from tests.factories import commit

UNUSED = Downstream(name="acme/plugin", packages=("engine",), files=3, python_files=3, uses=0)
USED = UNUSED.model_copy(update={"uses": 9})
NAME, NEW = "engine.core.load", "engine.disk.load"


def moved(code: str, line: int, advice: str) -> Impact:
    return Impact(
        kind=ImpactKind.IMPORT,
        certainty=Certainty.PROVEN,
        cause=Cause.MOVED,
        name=NAME,
        new=NEW,
        advice=advice,
        upstream=UpstreamPlace(path="engine/core.py", line=7, before="def load(path):"),
        downstream=DownstreamPlace(path="plugin/worker.py", line=line, code=code),
    )


IMPORT = moved(
    f"from engine.core import Worker, load  # {NAME}", 1, "from engine.core import Worker\nfrom engine.disk import load"
)
STRING = moved(f'@patch("{NAME}")', 9, f'@patch("{NEW}")')


def report(*impacts: Impact, downstream: Downstream = USED, compared: int = 3) -> ImpactReport:
    entry = Entry(commit=commit(), facts=(), ranked=Ranked(score=0, importance=Importance.LOW), analysis=None)
    found = (DownstreamImpacts(downstream=downstream, impacts=impacts),)
    return ImpactReport(
        repository=Repository.parse("o/engine"),
        period="2026-02-05 · UTC",
        timezone="UTC",
        language="en",
        downstreams=(downstream,),
        compared=compared,
        commits=(CommitImpacts(entry=entry, found=found),) if impacts else (),
    )


def test_advice_of_several_lines_parses_in_the_terminal() -> None:
    """Each line of what to write instead is a line of the terminal's report."""
    console = Console(width=120, record=True, file=StringIO())
    print_report(console, report(IMPORT))
    _, _, advice = console.export_text().partition("instead:")
    lines = [line.strip() for line in advice.strip().splitlines()]
    assert lines == ["from engine.core import Worker", "from engine.disk import load"]
    ast.parse("\n".join(lines))


@pytest.mark.parametrize(
    ("impacts", "sentence"),
    [
        ([IMPORT], "so this import fails"),
        ([STRING], "so this string no longer resolves"),
        ([IMPORT, STRING], ""),
    ],
)
def test_one_cause_is_one_line(impacts: list[Impact], sentence: str) -> None:
    """A test's `mock.patch` is not said to import; of lines that do different things, only what became of the name is told."""
    [cause] = impact_causes(report(*impacts).commits[0].found[0])
    assert len(cause.lines) == len(impacts)
    assert cause.sentence("en") == ", ".join(filter(None, [f"`{NAME}` is now `{NEW}`", sentence]))


@pytest.mark.parametrize(
    ("given", "summary"),
    [
        (report(IMPORT), "💥 Breaks your code: 1 of 3 commits"),
        (report(), "✅ No proven break of your code: 3 commits compared"),
        (
            report().model_copy(update={"touching": ("a" * 40,)}),
            "✅ No proven break of your code: 3 commits compared, 1 commit changes modules that it imports",
        ),
        (report(compared=0), "No commits were compared"),
        (report(downstream=UNUSED), "Nothing to compare"),
    ],
)
def test_nothing_is_called_unbroken_that_was_not_compared(given: ImpactReport, summary: str) -> None:
    """A day without commits, and code that does not use upstream, are no good news."""
    assert impact_summary(given) == summary
