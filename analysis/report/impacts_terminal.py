"""Impacts for a terminal: each commit with what it breaks, both places one below the other."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from analysis.citations import to_upstream_place
from analysis.locale import Catalogue, catalogue
from analysis.models import Commit
from analysis.models.impacts import Certainty, CommitImpacts, Downstream, ImpactReport
from analysis.report.impacts import (
    ImpactCause,
    comparison,
    downstream_name,
    impact_causes,
    impact_summary,
    missing,
    omissions,
    signed,
)
from analysis.report.terminal import link_style, print_heading, prose
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line
from analysis.writing.labels import BADGE

_INDENT = "   "
_SIGN_COLOUR = {"-": "red", "+": "green", " ": ""}
_COLOUR = {Certainty.PROVEN: "red", Certainty.LIKELY: "yellow"}


def print_impacts(console: Console, report: ImpactReport) -> None:
    """Print what the commits of a period break of downstream trees."""
    say, zone = catalogue(report.language), ZoneInfo(report.timezone)
    print_heading(console, f"{report.repository} · {report.period}")
    print_line(console, Line(Text(impact_summary(report), style="bold")))
    for downstream in report.downstreams:
        print_line(console, Line(Text(one_line(comparison(downstream, report.language)), style="dim")))
        for each in omissions(downstream, report.language):
            print_line(console, Line(Text(one_line(each), style="yellow"), Text("⚠️ ")))
    for commit in report.commits:
        console.print()
        for line in commit_lines(commit, say, zone, several=len(report.downstreams) > 1):
            print_line(console, line)
    for each in missing(report):
        print_line(console, Line(Text(one_line(each), style="red")))


def commit_lines(row: CommitImpacts, say: Catalogue, zone: ZoneInfo, *, several: bool) -> Iterator[Line]:
    """Yield a commit with what it breaks; each downstream tree is named if there are `several`."""
    commit = row.entry.commit
    badge = f"{BADGE[row.entry.ranked.importance]} "
    yield Line(Text(one_line(commit.title) or commit.short_sha, style=link_style("bold", commit.url)), Text(badge))
    when = f"{commit.committed_at.astimezone(zone):%Y-%m-%d %H:%M}"
    sha = Text(commit.short_sha, style=link_style("cyan", commit.url))
    yield Line(Text("  ").join([sha, Text(f"{when}  {one_line(commit.author)}")]), Text(_INDENT))
    for found in row.found:
        if several:
            yield Line(Text(one_line(downstream_name(found.downstream)), style="bold"), Text(_INDENT))
        for cause in impact_causes(found):
            yield from _cause_lines(cause, commit, found.downstream, say)


def _cause_lines(cause: ImpactCause, commit: Commit, downstream: Downstream, say: Catalogue) -> Iterator[Line]:
    first = cause.first
    mark = Text(f"{_INDENT}{'✗' if first.certainty is Certainty.PROVEN else '?'} ", style=_COLOUR[first.certainty])
    for sentence in cause.sentences(say.language):
        yield Line(prose(sentence), mark)
        mark = Text(" " * mark.cell_len)
    labels = [say("upstream"), say("your code"), say("instead")]
    width = max(map(cell_len, labels))
    theirs, yours, instead = (Text(f"{_INDENT}  {_padded(label, width)}  ", style="dim") for label in labels)
    unlabelled = Text(" " * theirs.cell_len)
    upstream = to_upstream_place(commit, first)
    if upstream.label:
        yield Line(_place(upstream.label, upstream.url), theirs)
        for sign, code in signed(first.upstream):
            colour = _SIGN_COLOUR[sign]
            yield Line(Text(one_line(code), style=colour), unlabelled + Text(f"{sign} ", style=colour))
    for each in cause.shown:
        yield Line(_place(f"{each.downstream.path}:{each.downstream.line}", downstream.url(each.downstream)), yours)
        yield Line(Text(one_line(each.downstream.code)), unlabelled + Text("  "))
        margin = instead
        for code in (each.advice or "").splitlines():
            yield Line(Text(one_line(code), style="cyan"), margin + Text("  "))
            margin = unlabelled
        yours = unlabelled
    if left := cause.left(say.language):
        yield Line(Text(left, style="dim"), unlabelled)


def _place(label: str, url: str | None) -> Text:
    return Text(one_line(label), style=link_style("", url or ""))


def _padded(label: str, width: int) -> str:
    return label + " " * (width - cell_len(label))
