"""Suspects for a terminal: each commit with the changed lines that hold what the failure names."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.text import Text

from analysis.models.suspects import Suspect, SuspectReport
from analysis.report.suspects import heading, reasons, summary
from analysis.report.terminal import link_style, print_heading, prose
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line
from analysis.writing.labels import BADGE

_INDENT = "   "
_COLOUR = {"-": "red", "+": "green"}


def print_suspects(console: Console, report: SuspectReport) -> None:
    """Print the suspects, the likeliest first."""
    print_heading(console, heading(report))
    print_line(console, Line(Text(one_line(summary(report)), style="bold")))
    for suspect in report.suspects:
        console.print()
        for line in _lines(suspect, report):
            print_line(console, line)


def _lines(suspect: Suspect, report: SuspectReport) -> Iterator[Line]:
    commit, zone = suspect.entry.commit, ZoneInfo(report.timezone)
    badge = Text(f"{BADGE[suspect.entry.ranked.importance]} ")
    yield Line(Text(one_line(commit.title) or commit.short_sha, style=link_style("bold", commit.url)), badge)
    when = f"{commit.committed_at.astimezone(zone):%Y-%m-%d %H:%M}"
    sha = Text(commit.short_sha, style=link_style("cyan", commit.url))
    yield Line(Text("  ").join([sha, Text(f"{when}  {one_line(commit.author)}")]), Text(_INDENT))
    for reason in reasons(suspect, report.language):
        yield Line(prose(reason), Text(_INDENT))
    for each in suspect.lines:
        yield Line(Text(f"{one_line(each.path)}:{each.line}", style=link_style("", each.url)), Text(_INDENT))
        colour = _COLOUR[each.sign]
        yield Line(Text(one_line(each.code), style=colour), Text(f"{_INDENT}  {each.sign} ", style=colour))
