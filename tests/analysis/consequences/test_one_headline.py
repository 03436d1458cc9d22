"""The same commits, whatever shows them: one headline each."""

import html
import json
import re
from datetime import date
from io import StringIO
from zoneinfo import ZoneInfo

import feedparser
import pytest
from rich.console import Console

from analysis.consequences import headline
from analysis.consequences.upgrade import group_by_consequence
from analysis.models import (
    Analysis,
    DayReport,
    Entry,
    Fact,
    FactKind,
    Importance,
    Language,
    PublishedYear,
    Ranked,
    Repository,
)
from analysis.models.upgrades import RangeEnd, UpgradeReport
from analysis.models.weeks import WeekReport
from analysis.report.as_json import json_lines
from analysis.report.escape import as_plain
from analysis.report.feeds import FeedAddresses, daily_feed, published_day
from analysis.report.markdown import Report, reports_markdown
from analysis.report.page import report_page
from analysis.report.terminal import print_report
from analysis.report.week_report import week_report
from analysis.window import window
from bot.slack.messages.digest import digest_messages
from bot.slack.messages.upgrades import upgrade_messages
from bot.slack.messages.week import week_message
from tests.factories import NOON, commit, file
from tests.slack_checks import read

REPOSITORY, DAY = Repository.parse("acme/engine"), date(2026, 2, 5)
CHANGES = (
    Fact(kind=FactKind.RENAMED_FLAG, name="--old-pool", new="--pool", path="engine/args.py", line=7),
    Fact(kind=FactKind.DEFAULT_CHANGED, name="PoolConfig.size", old="8", new="16", path="engine/config.py", line=9),
    Fact(kind=FactKind.REQUIRED_PARAMETER, name="Pool.take(count)", path="engine/pool.py", line=3),
)
ENTRIES = tuple(
    Entry(
        commit=commit(f"Rework part {number}", [file(fact.path or "")], sha=f"{number:040x}"),
        facts=(fact,),
        ranked=Ranked(score=0, importance=Importance.HIGH),
    )
    for number, fact in enumerate(CHANGES, 1)
)


def terminal(report: Report) -> str:
    written = StringIO()
    print_report(Console(file=written, width=1_000), report)
    return written.getvalue()


def reports(language: Language) -> tuple[DayReport, WeekReport, UpgradeReport]:
    """A day, its week, and an upgrade, of the same commits."""
    day = DayReport(
        repository=REPOSITORY,
        date=DAY,
        timezone="UTC",
        language=language,
        window=window(DAY, ZoneInfo("UTC")),
        entries=ENTRIES,
    )
    week = week_report(REPOSITORY, DAY, [day], timezone="UTC", language=language, today=DAY, net_facts={})
    upgrade = UpgradeReport(
        repository=REPOSITORY,
        start=RangeEnd(name="v1", sha="a" * 40),
        end=RangeEnd(name="v2", sha="b" * 40),
        timezone="UTC",
        language=language,
        commits=len(ENTRIES),
        groups=group_by_consequence(ENTRIES, {}, (), {}, language),
    )
    return day, week, upgrade


def text(page: str) -> str:
    """What a page or a feed shows."""
    return html.unescape(re.sub("<[^>]+>", "", page))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_surface_shows_the_same_headlines(language: Language) -> None:
    """A commit's headline is the same sentence for people, wherever they read it."""
    day, week, upgrade = reports(language)
    year = PublishedYear(repository=str(REPOSITORY), language=language, timezone="UTC")
    feed = daily_feed([year.with_day(published_day(day, NOON))], FeedAddresses(None, "", "engine", ".md"))
    surfaces = {
        "Slack's day": read(digest_messages(day)[:1]),
        "Slack's week": read(week_message(week)),
        "Slack's upgrade": read(upgrade_messages(upgrade)[:1]),
        "page": text(report_page(day)),
        "feed": text(feedparser.parse(feed).entries[0].content[0].value),
    }
    for each in (day, week, upgrade):
        surfaces[f"terminal, {type(each).__name__}"] = terminal(each)
        surfaces[f"Markdown, {type(each).__name__}"] = reports_markdown([each])
    lines = [as_plain(headline(each, language)) for each in ENTRIES]
    assert {name: [line for line in lines if line not in told.replace("`", "")] for name, told in surfaces.items()} == {
        name: [] for name in surfaces
    }


def test_a_models_headline_stands_above_its_text() -> None:
    """In the thread, on the page and in the terminal, where its analysis is read."""
    day, *_ = reports("en")
    written = Analysis(by="model", headline="Pools are rebuilt", summary="They grow.")
    day = day.model_copy(update={"entries": (day.entries[0].model_copy(update={"analysis": written}),)})
    for told in (read(digest_messages(day)[1:]), text(report_page(day)), terminal(day)):
        assert re.search(r"Pools are rebuilt\s*They grow", told)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_programs_get_the_same_headlines(language: Language) -> None:
    """The JSON of a day, of a week and of an upgrade has the headlines that people read."""
    lines = {each.commit.sha: headline(each, language) for each in ENTRIES}
    day, week, upgrade = (json.loads("".join(json_lines(each))) for each in reports(language))
    for commits in (day["commits"], week["commits"]):
        assert {each["sha"]: each["headline"] for each in commits} == lines
    rows = [row for group in upgrade["groups"].values() for row in group]
    assert {each["sha"]: each["consequence"] for each in rows} == lines
