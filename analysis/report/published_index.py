"""The index of a year's published days as Markdown, which GitHub shows in their folder."""

from itertools import groupby

from analysis.locale import catalogue
from analysis.models import PublishedDay, PublishedYear
from analysis.report.escape import cell, link_text
from analysis.report.markdown import render
from analysis.text import shorten

_LINE = 160  # characters of a day's first headline


def index_markdown(year: PublishedYear, feeds: tuple[str, str]) -> str:
    """Render the index; `feeds` are the addresses of the feed of all days and of that of breaking changes."""
    return render(
        "published_index.md.j2",
        say=catalogue(year.language),
        title=link_text(year.repository),
        year=year.days[0].date.year,
        months=[(month, list(days)) for month, days in groupby(year.days, lambda each: f"{each.date:%Y-%m}")],
        first_line=_first_line,
        feeds=feeds,
    )


def _first_line(day: PublishedDay) -> str:
    return cell(shorten(day.lines[0], _LINE)) if day.lines else ""
