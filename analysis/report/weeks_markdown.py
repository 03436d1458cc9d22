"""A week as Markdown: every commit of every group, what was reverted and what is announced to go."""

from analysis.locale import catalogue
from analysis.models.weeks import WeekReport
from analysis.report import week_lines
from analysis.report.highlights import heading, highlights
from analysis.report.markdown import render
from analysis.writing.headlines import headline


def week_markdown(report: WeekReport) -> str:
    """Render the week of one repository."""
    say = catalogue(report.language)
    groups = [
        (
            heading(group, len(rows), say),
            [(headline(each.entry, each.facts, report.language), each.entry.commit) for each in rows],
        )
        for group, rows in highlights(report).items()
        if rows
    ]
    reverts = [(week_lines.revert_line(each, say), each.commit) for each in report.reverts]
    announced = [(week_lines.announced_line(each, say), each.entry.commit) for each in report.announced]
    lists = [(week_lines.reverts_heading(report), reverts), (week_lines.announced_heading(report), announced)]
    return render(
        "week.md.j2",
        title=f"{report.repository} · {week_lines.period(report)}",
        summary=week_lines.statistics(report) if report.entries else week_lines.nothing(report),
        notes=[*week_lines.notes(report), *([report.chosen.description] if report.chosen else [])],
        days=week_lines.days_line(report) if report.entries else "",
        areas=week_lines.areas_line(report),
        ranks=week_lines.rank_lines(report),
        groups=[*groups, *(each for each in lists if each[1])],
    )
