"""The page of a day: its content once, no text of a commit as markup, nothing from elsewhere."""

from html.parser import HTMLParser
from typing import Literal

import pytest

from analysis.models import DayReport, Repository
from analysis.report.page import report_page
from analysis.sources.github import GitHub
from analysis.text import one_line
from bot.local import SAMPLE_DAY, SAMPLE_REPOSITORY
from bot.models.subjects import DayRef
from bot.publishing.folder import blob_sha
from bot.services.factory import Services
from bot.store import Store
from loopback.github import LoopbackGitHub
from tests.bot.publishing.reports import NOW, sample_report
from tests.data import hostile_sample
from tests.own_markup import ATTRIBUTES, ELEMENTS


class _Reader(HTMLParser):
    """The elements of a page with their attributes, its links, its ids, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def hostile(store: Store) -> DayReport:
    """The sample day with hostile commits among its own."""
    with LoopbackGitHub({SAMPLE_REPOSITORY: hostile_sample()}) as server:
        github = GitHub(server.url, "token")
        ref = DayRef(Repository.parse(SAMPLE_REPOSITORY), SAMPLE_DAY, "Asia/Shanghai", "en")
        found = Services(github, store).digests.report(ref, NOW)
        github.close()
    return found


def test_text_of_a_commit_is_no_markup(hostile: DayReport) -> None:
    """Only our own elements and attributes are there, and links lead to the web or to the page itself."""
    page = _Reader(report_page(hostile))
    assert page.tags == ELEMENTS
    assert page.attributes <= ATTRIBUTES
    assert all(each.startswith(("https://", "#")) for each in page.links)
    for entry in hostile.entries:
        assert one_line(entry.commit.author) in page.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_commit_is_there_once(language: Literal["en", "zh"]) -> None:
    """Every highlight leads to its commit, and the page says its language."""
    text = report_page(sample_report(language))
    page = _Reader(text)
    assert sorted(page.ids) == sorted(f"c{each.commit.short_sha}" for each in sample_report().entries)
    assert {each[1:] for each in page.links if each.startswith("#")} <= set(page.ids)
    assert f'<html lang="{"zh-Hans" if language == "zh" else "en"}">' in text


def test_the_same_report_gives_the_same_page() -> None:
    """It holds no time of its writing."""
    assert blob_sha(report_page(sample_report()).encode()) == blob_sha(report_page(sample_report()).encode())


def test_a_day_without_commits_says_so() -> None:
    """It has a heading and one line."""
    empty = sample_report().model_copy(update={"entries": (), "net_facts": {}})
    assert "<p>No commits on this day.</p>" in report_page(empty)
