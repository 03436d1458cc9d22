"""Suspects as Markdown: each commit with the changed lines that hold what the failure names."""

from zoneinfo import ZoneInfo

from analysis.locale import catalogue
from analysis.models.suspects import SuspectReport
from analysis.report.impacts_markdown import code_block, labelled_link
from analysis.report.markdown import render
from analysis.report.suspects import heading, reasons, summary


def suspects_markdown(report: SuspectReport) -> str:
    """Render the suspects, the likeliest first."""
    return render(
        "suspects.md.j2",
        report=report,
        say=catalogue(report.language),
        zone=ZoneInfo(report.timezone),
        heading=heading,
        summary=summary,
        reasons=reasons,
        link=labelled_link,
        diff=lambda line: code_block("diff", f"{line.sign} {line.code}"),
    )
