"""The report as Markdown: in Chinese exactly the reference's layout, in English its equivalent."""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DayReport, Entry, Frozen, Importance, Language, Repository
from analysis.report import counts
from analysis.report.breaking import breaks_of
from analysis.report.escape import cell, inline, link_text
from analysis.report.highlights import Theme, shown_highlights
from analysis.templates import text_environment
from analysis.text import shorten
from analysis.writing.headlines import headline
from analysis.writing.labels import BADGE, CHANGE_TYPES, IMPORTANCE, INSIGHT, REMARKS, SEVERITY
from analysis.writing.reasons import consequences

if TYPE_CHECKING:
    from jinja2 import Environment

_CONTENTS_TITLE = 60  # characters, as in the reference


SHARED_VALUES: dict[str, Any] = {  # what the templates of every format use
    "breaks_of": breaks_of,
    "consequences": consequences,
    "insights": lambda insight: {name: text for name, text in insight.model_dump().items() if text},
    "BADGE": BADGE,
    "CHANGE_TYPES": CHANGE_TYPES,
    "IMPORTANCE": IMPORTANCE,
    "INSIGHT": INSIGHT,
    "REMARKS": REMARKS,
    "SEVERITY": SEVERITY,
    "join_items": join_items,
}


class OutlineSection(Frozen):
    """A section of the outline with its commits; `slug` is the anchor that GitHub gives its heading."""

    heading: str
    slug: str
    why: str = ""
    entries: tuple[Entry, ...]


class HighlightSection(Frozen):
    """A group of the day's highlights, with the anchor of its heading if it is one; `left` counts the commits not shown."""

    heading: str
    slug: str
    rows: tuple[tuple[str, Entry], ...]
    left: str


class Slugs:
    """The anchors that GitHub generates for a document's headings; call it in their order."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, heading: str) -> str:
        """Return the heading's anchor: lower case, hyphens for spaces, no punctuation but `_` and `-`.

        A repeated anchor is numbered.
        """
        plain = "".join(char for char in heading.strip().lower() if _is_slug_character(char)).replace(" ", "-")
        slug = plain
        while slug in self._seen:
            self._seen[plain] += 1
            slug = f"{plain}-{self._seen[plain]}"
        self._seen[slug] = 0
        return slug


def reports_markdown(reports: Sequence[DayReport]) -> str:
    """Render one day of one or several repositories as a Markdown document."""
    say = catalogue(reports[0].language)
    slugs = Slugs()
    slugs(say("Daily update ({date})", date=reports[0].date))
    anchors: set[str] = set()
    views = [_template_values(report, say, slugs, anchors) for report in reports]
    return render("report.md.j2", say=say, date=reports[0].date, views=views)


def commit_markdown(repository: Repository, entry: Entry, language: Language, reason: str | None = None) -> str:
    """Render one commit as a Markdown section."""
    failed = {entry.commit.sha: reason} if reason else {}
    return render(
        "commit.md.j2", say=catalogue(language), repository=repository, entry=entry, language=language, failed=failed
    )


def _template_values(report: DayReport, say: Catalogue, slugs: Slugs, anchors: set[str]) -> dict[str, Any]:
    """Return the template's values for a report, with the anchors in document order."""
    view: dict[str, Any] = {
        "report": report,
        "zone": ZoneInfo(report.timezone),
        "slug": slugs(str(report.repository)),
        "highlights": _highlight_sections(report, say, slugs),
        "statistics": slugs(say("📊 Statistics")),
        "failed": {failure.sha: failure.translated(report.language) for failure in report.failed},
    }
    slugs(say("📋 Contents"))
    sections = [(counts.tier_heading(report, tier), "", report.tier(tier)) for tier in Importance]
    sections.append((counts.late_heading(report), counts.late_note(report), report.late))
    view["sections"] = []
    for heading, why, entries in sections:
        if entries:
            view["sections"].append(OutlineSection(heading=heading, slug=slugs(heading), why=why, entries=entries))
            for entry in entries:
                slugs(entry.commit.title.replace("`", ""))
    view["anchors"] = {}
    for entry in (*report.entries, *report.late):
        # Repositories may share commits: the anchor leads to the first one.
        anchor = entry.commit.short_sha
        while anchor in anchors:
            anchor += "-"
        anchors.add(anchor)
        view["anchors"][entry.commit.sha] = anchor
    view["coverage"] = slugs(say("📦 Coverage"))
    return view


def _highlight_sections(report: DayReport, say: Catalogue, slugs: Slugs) -> list[HighlightSection]:
    return [
        HighlightSection(
            heading=group.heading(say),
            slug=slugs(group.heading(say)) if group.theme is Theme.BREAKING else "",
            rows=tuple((headline(each.entry, each.facts, report.language), each.entry) for each in group.rows),
            left=group.more(say),
        )
        for group in shown_highlights(report)
    ]


def _is_slug_character(char: str) -> bool:
    return char in " -_" or unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) == "Pc"


def _short(title: str) -> str:
    return shorten(title.strip(), _CONTENTS_TITLE)


def address(url: str) -> str:
    """Quote a URL from the API, so that it is safe between parentheses; "" for other schemes."""
    return quote(url, safe="/:@?&=#%+,;~!$*'._-") if url.startswith(("https://", "http://")) else ""


def render(template: str, **values: object) -> str:
    """Render a template of this package."""
    return _report_environment().get_template(template).render(**values)


@cache
def _report_environment() -> "Environment":
    # The templates pass every untrusted value through `inline`, `cell` or `link_text`.
    environment = text_environment("analysis.report", "templates")
    environment.filters |= {
        "inline": inline,
        "cell": cell,
        "link_text": link_text,
        "short": _short,
        "address": address,
    }
    environment.globals |= SHARED_VALUES | {
        "usage": counts.usage,
        "statistics": counts.statistics,
        "nothing": counts.nothing,
        "counted": counts.coverage,
    }
    return environment
