"""A day's or a release's report as one HTML page that needs nothing else: no script, no picture, no other file, no server."""

from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from analysis.consequences.period import lead_of, shown_lines
from analysis.locale import Language, catalogue
from analysis.models import DayReport
from analysis.models.upgrades import UpgradeReport
from analysis.report import counts
from analysis.report.escape import as_html
from analysis.report.markdown import SHARED_VALUES, address, report_markdown
from analysis.report.upgrades import title
from analysis.templates import html_environment
from analysis.text import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

LANGUAGE_TAG: dict[Language, str] = {"zh": "zh-Hans", "en": "en"}  # BCP 47


def report_page(report: DayReport) -> str:
    """Render a day's report as an HTML page."""
    say = catalogue(report.language)
    return (
        _page_environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            say=say,
            tag=LANGUAGE_TAG[report.language],
            zone=ZoneInfo(report.timezone),
            statistics=counts.statistics(report),
            lead=lead_of(report),
            groups=shown_lines(report),
            sections=list(counts.sections(report)),
            failed={failure.sha: failure.translated(report.language) for failure in report.failed},
            coverage=counts.coverage(report),
            nothing=counts.nothing(report),
            usage=counts.usage(report.usage, report.language) if report.usage.model else "",
        )
    )


def release_page(report: UpgradeReport) -> str:
    """Render a release as an HTML page: its Markdown, in which text from outside is escaped."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    body = MarkdownIt("commonmark", {"html": False}).render(report_markdown(report))
    template = _page_environment().get_template("release_page.html.j2")
    return template.render(title=title(report), tag=LANGUAGE_TAG[report.language], body=Markup(body))  # noqa: S704 (markdown-it escapes)


@cache
def _page_environment() -> "Environment":
    from markupsafe import Markup

    def spans(text: str) -> Markup:
        return Markup(as_html(text))  # noqa: S704 (every piece of it is escaped)

    environment = html_environment("analysis.report", "templates")
    environment.filters |= {"spans": spans, "one_line": one_line, "address": address}
    environment.globals |= SHARED_VALUES
    return environment
