"""A day of commits that nobody would write, from GitHub's JSON to every surface: all of it is there, and nothing of it acts."""

import json
import re
from collections.abc import Sequence
from datetime import date
from html.parser import HTMLParser
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console

from analysis.facts import facts
from analysis.models import Commit, DayReport, Entry, Language, PullRequest, Repository
from analysis.ranking import rank
from analysis.report.as_json import json_lines
from analysis.report.markdown import reports_markdown
from analysis.report.page import report_page
from analysis.report.terminal import print_report
from analysis.sources.github_replies import CommitPage, PullReply
from analysis.sources.secrets import redacted
from analysis.window import window
from analysis.writing.by_rules import analyse_by_rules
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.digest import digest_messages, rest_messages
from tests.own_markup import ATTRIBUTES, ELEMENTS
from tests.slack_checks import OBEYED, assert_takes
from tests.strategies import commits, examples

REPOSITORY, DAY, UTC = Repository.parse("o/n"), date(2026, 2, 5), ZoneInfo("UTC")
WEB = "https://github.example/o/n/"
LANGUAGES: Sequence[Language] = ("en", "zh")
DAYS = st.lists(commits("2026-02-05T12:00:00Z"), max_size=3, unique_by=lambda each: each["sha"])


def read(told: dict[str, Any]) -> Commit:
    """The commit that GitHub tells of, as its door reads it."""
    people = {"author": told["author"], "committer": told["committer"], "message": told["message"]}
    page = CommitPage.model_validate({**told, "html_url": f"{WEB}commit/{told['sha']}", "commit": people})
    listed = told["pull"] and PullReply.model_validate(told["pull"])
    pull = listed and PullRequest(number=listed.number, title=listed.title, body=listed.body)
    return redacted(page.whole(page.files).model_copy(update={"pull": pull}))


def reported(told: Sequence[dict[str, Any]], language: Language) -> DayReport:
    """The report of a day with these commits, by rules."""
    entries = []
    for made in map(read, told):
        found = facts(made)
        ranked = rank(made, found)
        analysis = analyse_by_rules(made, found, ranked, language)
        entries.append(Entry(commit=made, facts=found, ranked=ranked, analysis=analysis))
    return DayReport(
        repository=REPOSITORY,
        date=DAY,
        timezone=UTC.key,
        language=language,
        window=window(DAY, UTC),
        entries=tuple(entries),
    )


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Language:
    return "zh" if request.param == "zh" else "en"


@examples(8)
@given(DAYS)
def test_slack_takes_any_day(language: Language, told: list[dict[str, Any]]) -> None:
    """A digest, its rest and each commit are within Slack's limits, and nothing in them is live but links to the commits."""
    report = reported(told, language)
    assert_takes([*digest_messages(report), *rest_messages(report)], WEB)
    for entry in report.entries:
        assert_takes(commit_messages(REPOSITORY, entry, language, UTC, public=True), WEB)


@examples(8)
@given(DAYS)
def test_any_day_keeps_the_outline_of_markdown(language: Language, told: list[dict[str, Any]]) -> None:
    """A commit adds one heading to the document, and no link, picture, markup, cell or token of its own."""
    markdown = reports_markdown([reported(told, language)])
    found = list(_tokens(markdown))
    levels = [token.tag for token in found if token.type == "heading_open"]
    assert levels.count("h1") == 1
    assert levels.count("h2") <= 2
    assert len(told) <= levels.count("h3") <= len(told) + 3
    assert levels.count("h4") <= 3
    assert not {"h5", "h6"} & set(levels)
    links = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
    assert all(link.startswith(("#", WEB)) for link in links), links
    assert not [token for token in found if token.type == "image"]
    markup = {token.content for token in found if token.type in ("html_block", "html_inline")}
    assert all(re.fullmatch(r'<a id="[0-9a-f]{7,40}-*">|</a>', piece) for piece in markup), markup
    cells, rows = (sum(token.type in kinds for token in found) for kinds in (("td_open", "th_open"), ("tr_open",)))
    assert cells == 3 * rows
    assert not re.search("<(?:!|@|#|https?:)", markdown)  # what Slack would ping or link in the file


def _tokens(markdown: str) -> list[Token]:
    parser = MarkdownIt("gfm-like")
    assert parser.linkify
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    return [token for block in parser.parse(markdown) for token in (block, *(block.children or ()))]


class _Reader(HTMLParser):
    """The elements, attributes and links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@examples(8)
@given(DAYS)
def test_any_day_is_a_page_of_our_own_elements(language: Language, told: list[dict[str, Any]]) -> None:
    """No commit opens, closes or changes an element of the page, and every link leads to the commits or into the page."""
    page = _Reader(report_page(reported(told, language)))
    assert page.open == []
    assert page.elements <= ELEMENTS
    assert page.attributes <= ATTRIBUTES
    assert all(link.startswith(("#", WEB)) for link in page.links), page.links


@examples(8)
@given(DAYS)
def test_a_terminal_and_a_program_get_any_day(language: Language, told: list[dict[str, Any]]) -> None:
    """Nothing is sent to a terminal that it would obey; the JSON is UTF-8 and has every commit."""
    report = reported(told, language)
    printed = StringIO()
    print_report(Console(file=printed, width=100), report)
    assert not OBEYED.search(printed.getvalue())
    found = json.loads("".join(json_lines(report)).encode())
    assert [each["sha"] for each in found["commits"]] == [each["sha"] for each in told]
