"""Atom feeds of all published days and of the commits that break something, and the record of a day that they are made of.

An entry keeps its id for ever, and its time as long as its content is the same, so that the same days give the same feed.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from feedgenerator import Atom1Feed

from analysis.consequences.period import group_lines, shown_lines
from analysis.locale import Phrase, catalogue
from analysis.models import DayReport, Failure, PublishedBreak, PublishedDay, PublishedRelease, PublishedYear
from analysis.models.consequences import Effect
from analysis.models.upgrades import UpgradeGroup, UpgradeReport
from analysis.report.counts import tiers
from analysis.report.escape import as_html, as_plain
from analysis.report.upgrades import consequence_line, file_name, summary

_DAYS = 31  # entries of the feed of all days
_RELEASES = 20  # likewise
_BREAKS = 100  # entries of the feed of breaking changes
_TAG = "tag:github.com,2026:vllm-digest"  # RFC 4151; the date only has to lie before the first id
_AUTHOR = "vllm-digest"
_LINES = 5  # headlines of a day


def published_form(report: DayReport) -> DayReport:
    """Return the report with general words for what failed: the reasons name the operator's hosts and settings."""
    return report.model_copy(
        update={
            "failed": _in_general(report.failed, Phrase("its changes were not available")),
            "replaced": _in_general(report.replaced, Phrase("the model did not analyse it")),
        }
    )


def _in_general(failures: Iterable[Failure], reason: Phrase) -> tuple[Failure, ...]:
    return tuple(each.model_copy(update={"reason": reason}) for each in failures)


def published_day(report: DayReport, now: datetime, before: PublishedDay | None = None) -> PublishedDay:
    """Return a day as published at `now`; what is unchanged since `before` keeps the time of its last change."""
    known = {each.sha: each for each in before.breaking} if before else {}
    breaking = []
    lines = (each for lines in group_lines(report).values() for each in lines)
    for each in (each for each in lines if any(one.effect is Effect.BREAK for one in each.consequences)):
        commit = each.entry.commit
        found = PublishedBreak(
            sha=commit.sha,
            url=commit.url,
            pr=commit.pr,
            committed_at=commit.committed_at,
            line=each.headline,
            updated=now,
        )
        same = known.get(commit.sha)
        breaking.append(same if same and same == found.model_copy(update={"updated": same.updated}) else found)
    told = [each.headline for group in shown_lines(report) for each in group.lines]
    return PublishedDay(
        date=report.date,
        updated=now,
        stats=report.stats,
        failed=len(report.failed),
        lines=tuple(told[:_LINES]),
        breaking=tuple(breaking),
    )


def published_release(report: UpgradeReport, now: datetime) -> PublishedRelease:
    """Return a release as published at `now`."""
    assert report.release
    rows = [row for group in UpgradeGroup for row in report.group(group)] or report.release.highlights
    lines = [consequence_line(row, report.language) for row in rows[:_LINES]]
    return PublishedRelease(
        tag=report.release.tag, date=report.release.date.date(), updated=now, lines=(summary(report), *lines)
    )


class FeedAddresses(NamedTuple):
    """The addresses in a feed. `own` is its own, None where that is not known; `folder` is that of the reports, absolute or
    relative to the feed, and ends with a slash unless empty; `suffix` is that of a day's report which people open there.
    """

    own: str | None
    folder: str
    name: str
    suffix: str

    def day(self, day: PublishedDay) -> str:
        """Return the address of a day's report."""
        return f"{self.folder}{day.date.year}/{self.name}/{day.date}{self.suffix}"

    def release(self, release: PublishedRelease) -> str:
        """Return the address of a release's report."""
        return f"{self.folder}{release.date.year}/{self.name}/{quote(file_name(release.tag))}{self.suffix}"

    def year_index(self, year: int) -> str:
        """Return the address of a year's index."""
        return f"{self.folder}{year}/{self.name}/README.md"


def daily_feed(years: Sequence[PublishedYear], addresses: FeedAddresses) -> str:
    """Write the feed of all days, newest first, and of releases; `years` have a day or a release at least."""
    say = catalogue(years[0].language)
    title = say("Daily digests of {repository}", repository=years[0].repository)
    days = _days(years)[:_DAYS]
    releases = sorted((each for year in years for each in year.releases), key=lambda each: each.date, reverse=True)
    feed = _feed(years, addresses, title, "", max(each.updated for year in years for each in year.entries))
    for release in releases[:_RELEASES]:
        lines = "".join(f"<li>{as_html(line)}</li>" for line in release.lines)
        feed.add_item(
            title=as_plain(f"{years[0].repository} {release.tag}"),
            link=addresses.release(release),
            description=None,
            content=f"<ul>{lines}</ul>",
            unique_id=f"{_id(years[0])}/release/{quote(release.tag)}",
            updateddate=release.updated,
        )
    for day in days:
        lines = "".join(f"<li>{as_html(line)}</li>" for line in day.lines)
        feed.add_item(
            title=f"{years[0].repository} · {day.date} · {tiers(day.stats, say.language)}",
            link=addresses.day(day),
            description=None,
            content=f"<p>{as_html(tiers(day.stats, say.language))}</p>" + (f"<ul>{lines}</ul>" if lines else ""),
            unique_id=f"{_id(years[0])}/{day.date}",
            updateddate=day.updated,
        )
    return str(feed.writeString("utf-8"))


def breaking_feed(years: Sequence[PublishedYear], addresses: FeedAddresses) -> str:
    """Write the feed of the commits that break something, those of the newest day first."""
    say = catalogue(years[0].language)
    title = say("Breaking changes of {repository}", repository=years[0].repository)
    breaks = _breaks(years)[:_BREAKS]
    others = [each.updated for year in years for each in year.entries]
    updated = max((commit.updated for _, commit in breaks), default=min(others))
    feed = _feed(years, addresses, title, "/breaking", updated)
    for day, commit in breaks:
        name = f"#{commit.pr}" if commit.pr else commit.sha[:7]
        report = f'<a href="{as_html(addresses.day(day))}">{as_html(say("Digest of {day}", day=day.date))}</a>'
        feed.add_item(
            title=f"{as_plain(commit.line)} ({name})",
            link=commit.url,
            description=None,
            content=f"<p>{as_html(commit.line)}</p><p>{report}</p>",
            unique_id=f"{_id(years[0])}/breaking/{commit.sha}",
            pubdate=commit.committed_at,
            updateddate=commit.updated,
        )
    return str(feed.writeString("utf-8"))


class _Feed(Atom1Feed):  # type: ignore[misc]  # feedgenerator has no types
    """An Atom feed that was updated when its entries were, never at the time of writing."""

    def __init__(self, *, updated: datetime, **options: object) -> None:
        super().__init__(**options)
        self._updated = updated

    def latest_post_date(self) -> datetime:
        return self._updated


def _feed(years: Sequence[PublishedYear], addresses: FeedAddresses, title: str, kind: str, updated: datetime) -> _Feed:
    return _Feed(
        updated=updated,
        title=title,
        link=addresses.year_index(max(each.date.year for year in years for each in year.entries)),
        description=None,
        language={"zh": "zh-Hans", "en": "en"}[years[0].language],
        author_name=_AUTHOR,
        feed_url=addresses.own,
        feed_guid=f"{_id(years[0])}{kind}",
    )


def _id(year: PublishedYear) -> str:
    """Return the id of a repository's feed in a language, which begins those of its entries."""
    return f"{_TAG}/{year.repository}/{year.language}"


def _days(years: Sequence[PublishedYear]) -> list[PublishedDay]:
    return sorted((day for year in years for day in year.days), key=lambda day: day.date, reverse=True)


def _breaks(years: Sequence[PublishedYear]) -> list[tuple[PublishedDay, PublishedBreak]]:
    """Return the commits with their days, each once: what landed late is of the day that listed it first."""
    found = {commit.sha: (day, commit) for day in _days(years) for commit in day.breaking}
    return sorted(found.values(), key=lambda each: each[0].date, reverse=True)
