"""A week for a terminal: its groups, what was reverted and what is announced to go, a line a commit."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from analysis.locale import catalogue
from analysis.models import Commit
from analysis.models.weeks import WeekReport
from analysis.report import week_lines
from analysis.report.highlights import shown_highlights
from analysis.report.terminal import BULLET, print_heading, print_highlights, prose, sha_link
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line


def print_week(console: Console, report: WeekReport) -> None:
    """Print the week of one repository."""
    say = catalogue(report.language)
    print_heading(console, f"{report.repository} · {week_lines.period(report)} · {report.timezone}")
    summary = week_lines.statistics(report) if report.entries else week_lines.nothing(report)
    print_line(console, Line(Text(summary, style="bold")))
    small = [
        *week_lines.notes(report),
        *week_lines.rank_lines(report),
        *([week_lines.days_line(report), week_lines.areas_line(report)] if report.entries else []),
    ]
    for each in small:
        print_line(console, Line(Text(one_line(each), style="dim")))
    print_highlights(console, shown_highlights(report, every_high=False), report.language)
    reverts = [(week_lines.revert_line(each, say), each.commit) for each in report.reverts]
    announced = [(week_lines.announced_line(each, say), each.entry.commit) for each in report.announced]
    _print_list(console, week_lines.reverts_heading(report), reverts)
    _print_list(console, week_lines.announced_heading(report), announced)


def _print_list(console: Console, heading: str, rows: Sequence[tuple[str, Commit]]) -> None:
    if rows:
        console.print()
        print_line(console, Line(Text(heading, style="bold")))
    for text, commit in rows:
        print_line(console, Line(Text("  ").join([prose(text), sha_link(commit)]), BULLET))
