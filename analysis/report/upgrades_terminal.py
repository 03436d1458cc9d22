"""An upgrade for a terminal: what breaks your code in full, of each other group the worst commits in a line or two."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.text import Text

from analysis.locale import Catalogue, catalogue
from analysis.models.impacts import CommitImpacts
from analysis.models.upgrades import Consequence, UpgradeReport, UpgradeRow
from analysis.report.impacts_terminal import commit_lines
from analysis.report.terminal import link_style, print_heading, prose
from analysis.report.upgrades import HEADINGS, consequence_line, remarks, summary, title, warnings
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line

_SHOWN = 20  # commits of a group
_COLOUR = {
    Consequence.BREAKS_YOU: "bold red",
    Consequence.BREAKING: "bold red",
    Consequence.BEHAVIOUR: "bold yellow",
    Consequence.SECURITY: "bold magenta",
    Consequence.ADDITIONS: "bold green",
}


def print_upgrade(console: Console, report: UpgradeReport) -> None:
    """Print what lies between two versions."""
    say, zone = catalogue(report.language), ZoneInfo(report.timezone)
    print_heading(console, one_line(title(report)))
    print_line(console, Line(Text(summary(report), style="bold")))
    for remark in remarks(report):
        print_line(console, Line(Text(one_line(remark), style="dim")))
    for each in warnings(report):
        print_line(console, Line(Text(one_line(each), style="yellow"), Text("⚠️ ")))
    for group in Consequence:
        if rows := report.group(group):
            console.print()
            print_line(console, Line(Text(say(HEADINGS[group], count=len(rows)), style=_COLOUR[group])))
            for line in _group_lines(group, report, say, zone):
                print_line(console, line)


def _group_lines(group: Consequence, report: UpgradeReport, say: Catalogue, zone: ZoneInfo) -> Iterator[Line]:
    rows = report.group(group)
    if group is Consequence.BREAKS_YOU:
        for row in rows:
            impacts = CommitImpacts(entry=row.entry, found=row.found)
            yield from commit_lines(impacts, say, zone, several=len(report.downstreams) > 1)
        return
    for row in rows[:_SHOWN]:
        yield from _row_lines(group, row, say)
    if len(rows) > _SHOWN:
        more = say("and {count} more; --format markdown lists all", count=len(rows) - _SHOWN)
        yield Line(Text(more, style="dim"))


def _row_lines(group: Consequence, row: UpgradeRow, say: Catalogue) -> Iterator[Line]:
    commit = row.entry.commit
    lead = Text.assemble((commit.short_sha, link_style("cyan", commit.url)), "  ")
    yield Line(Text(one_line(commit.title)), lead)
    if text := consequence_line(group, row, say.language):
        yield Line(prose(text), Text(" " * lead.cell_len))
