"""Every report as Markdown: the whole one, of a day in Chinese exactly the reference's layout, or the short one of a terminal."""

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote
from zoneinfo import ZoneInfo

from analysis.citations import to_upstream_place
from analysis.consequences import proven_consequences
from analysis.consequences.period import all_lines, lead_of, shown_lines
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import (
    SHORT_SHA,
    Analysis,
    Commit,
    DayReport,
    Entry,
    Language,
    Links,
    PublishedDay,
    PublishedYear,
    Repository,
)
from analysis.models.compatibility import CompatibilityReport
from analysis.models.impacts import ImpactReport, UpstreamPlace
from analysis.models.release_scores import ReleaseScore
from analysis.models.suspects import SuspectReport
from analysis.models.upgrades import UpgradeReport
from analysis.models.weeks import WeekReport
from analysis.report import compatibility, counts, impacts, release_scores, upgrades, week_lines
from analysis.report.breaking import breaks_of, changes_of
from analysis.report.escape import cell, inline, link_text
from analysis.report.upgrades import file_name
from analysis.templates import text_environment
from analysis.text import shorten, visible
from analysis.writing.labels import (
    BADGE,
    CHANGE_TYPES,
    IMPORTANCE,
    INSIGHT,
    REMARKS,
    SEVERITY,
    breakage_label,
    release_label,
)
from analysis.writing.purpose import purpose

if TYPE_CHECKING:
    from jinja2 import Environment

_CONTENTS_TITLE = 60  # characters, as in the reference
_INDEX_LINE = 160  # characters of a day's first headline
_MARGIN = "\n    "  # of a block in an item of the second level


def _related(links: Links, say: Catalogue) -> list[str]:
    """Return how a commit is related to others: what takes what back, series and fixes."""
    found = [(mark("reverts {sha}"), sha) for sha in links.all_reverted]
    found += [(mark("reverted by {sha}"), links.reverted_by)] if links.reverted_by else []
    fixes = [(mark("fixes {sha}"), sha) for sha in links.fixes] + [
        (mark("fixed by {sha}"), sha) for sha in links.fixed_by
    ]
    before, after = ([say(text, sha=f"`{sha[:SHORT_SHA]}`") for text, sha in pairs] for pairs in (found, fixes))
    series = links.series
    part = [say("part {part} of a series of {of}", part=series.part, of=series.of or "N")] if series else []
    return before + part + after


SHARED_VALUES: dict[str, Any] = {  # what the templates of every format use
    "related": _related,
    "release_label": release_label,
    "breaks_of": breaks_of,
    "proven_consequences": proven_consequences,
    "insights": lambda insight: {name: text for name, text in insight.model_dump().items() if text},
    "BADGE": BADGE,
    "CHANGE_TYPES": CHANGE_TYPES,
    "IMPORTANCE": IMPORTANCE,
    "INSIGHT": INSIGHT,
    "REMARKS": REMARKS,
    "SEVERITY": SEVERITY,
    "join_items": join_items,
}


class CommitReport(NamedTuple):
    """One commit as it is reported alone; `reason` says why it could not be read."""

    repository: Repository
    entry: Entry
    language: Language
    timezone: str
    reason: str | None = None


class ScoreReport(NamedTuple):
    """How right the ranks of a release were, in a language."""

    score: ReleaseScore
    language: Language


_SENTENCES = (
    compatibility,
    counts,
    impacts,
    release_scores,
    upgrades,
    week_lines,
)  # which the templates call by the module's name
Report = (
    DayReport
    | CommitReport
    | WeekReport
    | UpgradeReport
    | CompatibilityReport
    | ImpactReport
    | SuspectReport
    | ScoreReport
)

_TEMPLATES: dict[type, str] = {
    DayReport: "day.md.j2",
    CommitReport: "commit.md.j2",
    WeekReport: "week.md.j2",
    UpgradeReport: "upgrade.md.j2",
    CompatibilityReport: "compatibility.md.j2",
    ImpactReport: "impacts.md.j2",
    SuspectReport: "suspects.md.j2",
    ScoreReport: "release_score.md.j2",
}


def reports_markdown(reports: Sequence[Report]) -> str:
    """Render reports of one kind as a Markdown document: one day of one or several repositories, or one after the other."""
    days = [each for each in reports if isinstance(each, DayReport)]
    return _days(days) if days else "\n".join(map(report_markdown, reports))


def report_markdown(report: Report, *, every_place: bool = False) -> str:
    """Render a report as a Markdown document; of what breaks with a few places of each cause, or with `every_place`."""
    if isinstance(report, DayReport):
        return _days([report])
    return _report(report, short=False, places=sys.maxsize if every_place else impacts.MAX_PLACES)


def short_markdown(report: Report) -> str:
    """Render a report as the short Markdown that a terminal shows."""
    return _report(report, short=True, places=impacts.MAX_PLACES)


def _report(report: Report, **values: object) -> str:
    return _render(_TEMPLATES[type(report)], report=report, say=catalogue(report.language), **values)


def _days(reports: Sequence[DayReport]) -> str:
    say = catalogue(reports[0].language)
    slugs = Slugs()
    slugs(say("Daily update ({date})", date=reports[0].date))
    anchors: set[str] = set()
    views = [_template_values(report, say, slugs, anchors) for report in reports]
    return _render("days.md.j2", say=say, date=reports[0].date, views=views)


def index_markdown(year: PublishedYear, feeds: tuple[str, str]) -> str:
    """Render the index of a year's published days, which GitHub shows in their folder.

    `feeds` are the addresses of the feed of all days and of that of breaking changes.
    """
    return _render(
        "published_index.md.j2",
        say=catalogue(year.language),
        title=link_text(year.repository),
        year=year.entries[0].date.year,
        releases=year.releases,
        file_name=file_name,
        months=[(month, list(days)) for month, days in groupby(year.days, lambda each: f"{each.date:%Y-%m}")],
        first_line=_first_line,
        feeds=feeds,
    )


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


def _is_slug_character(char: str) -> bool:
    return char in " -_" or unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) == "Pc"


def _template_values(report: DayReport, say: Catalogue, slugs: Slugs, anchors: set[str]) -> dict[str, Any]:
    """Return the template's values for a report, with the anchors in document order."""
    view: dict[str, Any] = {
        "report": report,
        "zone": ZoneInfo(report.timezone),
        "slug": slugs(str(report.repository)),
        "groups": shown_lines(report),
        "statistics": slugs(say("📊 Statistics")),
        "failed": {failure.sha: failure.translated(report.language) for failure in report.failed},
    }
    slugs(say("📋 Contents"))
    view["sections"] = []
    for section in counts.sections(report):
        view["sections"].append((section, slugs(section.heading)))
        for entry in section.entries:
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


def address(url: str) -> str:
    """Quote a URL from the API, so that it is safe between parentheses; "" for other schemes."""
    return quote(url, safe="/:@?&=#%+,;~!$*'._-") if url.startswith(("https://", "http://")) else ""


def _link(label: str, url: str | None) -> str:
    return f"[{link_text(label)}]({address(url)})" if url else link_text(label)


def _short_sha(commit: Commit) -> str:
    return f"[`{commit.short_sha}`]({address(commit.url)})"


def _diff(place: UpstreamPlace) -> str:
    lines = [f"{sign} {code}" for sign, code in impacts.signed(place)]
    return _code_block("diff", "\n".join(lines)) if lines else ""


def _code_block(language: str, code: str) -> str:
    """Return a block of code that nothing in it can end."""
    lines = visible(code, keep="\n").split("\n")
    fence = "`" * 3
    while any(fence in line for line in lines):
        fence += "`"
    return _MARGIN.join([f"{fence}{language}", *lines, fence])


def _size(commit: Commit) -> str:
    return f"+{commit.additions:,} −{commit.deletions:,}" if commit.read else "?"


def _about(entry: Entry, say: Catalogue) -> str:
    """Return what types of change a commit has, whether it is likely to break somebody, and whether it is released."""
    types = " / ".join(say(CHANGE_TYPES[each]) for each in entry.ranked.change_types)
    return " · ".join(filter(None, [types, breakage_label(entry, say), release_label(entry.released, say)]))


def _failure_reason(report: DayReport, entry: Entry) -> str | None:
    """Return why a commit of a day could not be read."""
    failed = (each.translated(report.language) for each in report.failed if each.sha == entry.commit.sha)
    return next(failed, None)


def _details(analysis: Analysis, say: Catalogue) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the labelled lists of an analysis; without a model only the places, since the facts are shown too."""
    yield say("🎯 Scope"), analysis.scope
    if analysis.by == "model":
        insight = {name: text for name, text in analysis.insight.model_dump().items() if text}
        yield say("🔍 Insight"), [say.context("insight", INSIGHT[each]) + say(": ") + insight[each] for each in insight]
        risks = [(f"[{say(SEVERITY[each.severity])}] {each.risk}", each.mitigation) for each in analysis.risks]
        yield say("⚠️ Risks"), [" → ".join(filter(None, each)) for each in risks]
        yield say("💡 Advice"), analysis.advice


def _first_line(day: PublishedDay) -> str:
    return cell(shorten(day.lines[0], _INDEX_LINE)) if day.lines else ""


def _render(template: str, **values: object) -> str:
    return _report_environment().get_template(template).render(**values)


@cache
def _report_environment() -> "Environment":
    # The templates pass every untrusted value through `inline`, `cell` or `link_text`.
    environment = text_environment("analysis.report", "templates")
    environment.filters |= {
        "inline": inline,
        "cell": cell,
        "link_text": link_text,
        "short": lambda title: shorten(title.strip(), _CONTENTS_TITLE),
        "address": address,
    }
    sentences = {each.__name__.rpartition(".")[2]: each for each in _SENTENCES}
    environment.globals |= (
        SHARED_VALUES
        | sentences
        | {
            "about": _about,
            "changes_of": changes_of,
            "code": lambda code: _code_block("python", code),
            "details": _details,
            "diff": _diff,
            "failure_reason": _failure_reason,
            "line_diff": lambda line: _code_block("diff", f"{line.sign} {line.code}"),
            "link": _link,
            "purpose": purpose,
            "sha": _short_sha,
            "all_lines": all_lines,
            "lead_of": lead_of,
            "shown_lines": shown_lines,
            "size": _size,
            "upstream_place": to_upstream_place,
            "zone": ZoneInfo,
        }
    )
    return environment
