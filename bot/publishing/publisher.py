"""Publishes a day or a release: its report as Markdown and as a page, the index of its year, and the feeds, in one commit.

    reports/2026/vllm/2026-02-05.md, 2026-02-05.html     the day
    reports/2026/vllm/v0.16.0.md, v0.16.0.html           a release
    reports/2026/vllm/README.md, index.json              the year: for people, and as data
    reports/vllm.atom, reports/vllm-breaking.atom        the feeds

`index.json` also records the git blob SHA of each file written, by which a file of somebody else is told from ours. What
is there already is compared with what is to be written: the same day published again changes nothing.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from random import uniform
from time import sleep
from typing import NamedTuple

from pydantic import ValidationError

from analysis.errors import BranchMoved, Misuse, OutsideFailure
from analysis.models import DayReport, Language, PublishedYear
from analysis.models.upgrades import UpgradeReport
from analysis.report.feeds import (
    FeedAddresses,
    breaking_feed,
    daily_feed,
    published_day,
    published_form,
    published_release,
)
from analysis.report.markdown import index_markdown, report_markdown
from analysis.report.page import release_page, report_page
from analysis.report.upgrades import file_name
from bot.publishing.folder import FolderFiles, FolderTarget, blob_sha, foreign
from bot.publishing.github import BranchFiles, GitHubTarget

_ATTEMPTS = 5  # of a branch that somebody else moves
_PAUSE = 0.5  # seconds; what GitHub says of a branch may be seconds old
_ROOT = "reports"
Target = FolderTarget | GitHubTarget
Files = FolderFiles | BranchFiles
Published = DayReport | UpgradeReport  # of a release
_LANGUAGES: dict[Language, str] = {"zh": "Chinese", "en": "English"}


class OtherTimezoneError(Misuse):
    """The target has the days of this repository in another time zone."""


class MoreCompleteError(OutsideFailure):
    """The target has the day with fewer unread commits, and keeps it."""


class _Shelf(NamedTuple):
    """Where a repository's reports in a language are in a target: their name there, and what is recorded of each year needed.

    `is_second` if the target had the repository in another language first.
    """

    name: str
    years: Mapping[int, PublishedYear]
    is_second: bool = False

    def folder(self, year: int) -> str:
        return f"{_ROOT}/{year}/{self.name}"

    @property
    def newest(self) -> int:
        return max(self.years)

    @property
    def recorded(self) -> dict[str, str]:
        """Path -> git blob SHA of the files written, the newest year's word before the others'."""
        return {path: sha for year in sorted(self.years) for path, sha in self.years[year].files.items()}


class Publication(NamedTuple):
    """The files of a target that a report changes, and the commit's message; no files if there is nothing to do."""

    files: Mapping[str, str]
    message: str


def publish(target: Target, report: Published, now: datetime, *, pause: float = _PAUSE) -> bool:
    """Publish a day or a release and return whether that changed anything. Raise `Misuse` if a file of somebody else is in the way.

    Raise `MoreCompleteError` if fewer commits of the published day could not be read.
    `pause` is in seconds, after a branch has moved; it is doubled with each attempt.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        with target.opened() as files:
            found = plan(target, files, report, now)
            try:
                if found.files:
                    files.write(found.files, found.message)
            except BranchMoved:
                if attempt == _ATTEMPTS:
                    raise
                sleep(uniform(0.5, 1) * pause * 2 ** (attempt - 1))  # noqa: S311 (two publications shall not meet again)
            else:
                return bool(found.files)
    raise AssertionError


def plan(target: Target, files: Files, report: Published, now: datetime) -> Publication:
    """Return what is to be written. Raise the errors of `publish` but `BranchMoved`."""
    number = _date(report).year
    shelf = _find_shelf(target, files, report)
    year, folder, at = shelf.years[number], shelf.folder(number), now.replace(microsecond=0)
    if isinstance(report, DayReport):
        found = _day(target, year, folder, report, at)
    else:
        found = _release(year, folder, report, at)
    shelf = shelf._replace(years={**shelf.years, number: found.year})
    written = {**found.files, **_overviews(target, shelf, number)}
    changed = {path: text for path, text in written.items() if _differs(files, path, text, shelf, target)}
    written = _indexes(files, shelf, written, number)
    language = f" in {_LANGUAGES[report.language]}" if shelf.is_second else ""
    return Publication({**changed, **written}, f"{found.message}{language}")


class _Pages(NamedTuple):
    """The files of a report, its year with it, and the commit's message."""

    files: dict[str, str]
    year: PublishedYear
    message: str


def _day(target: Target, year: PublishedYear, folder: str, report: DayReport, now: datetime) -> _Pages:
    before = year.day(report.date)
    if before and before.failed < len(report.failed):
        raise MoreCompleteError(
            f"{target.name} has {report.date} of {report.repository} with more commits read, and keeps it"
        )
    shown = published_form(report)
    written = {
        f"{folder}/{report.date}.md": report_markdown(shown),
        f"{folder}/{report.date}.html": report_page(shown),
    }
    day = published_day(report, now, before)
    if before and _is_same(year, written) and before == day.model_copy(update={"updated": before.updated}):
        day = before
    verb = "Update" if before else "Add"
    return _Pages(written, year.with_day(day), f"{verb} the digest of {report.date} of {report.repository}")


def _release(year: PublishedYear, folder: str, report: UpgradeReport, now: datetime) -> _Pages:
    release = published_release(report, now)
    before, path = year.release(release.tag), f"{folder}/{file_name(release.tag)}"
    written = {f"{path}.md": report_markdown(report), f"{path}.html": release_page(report)}
    if before and _is_same(year, written):
        release = before
    verb = "Update" if before else "Add"
    return _Pages(written, year.with_release(release), f"{verb} {release.tag} of {report.repository}")


def _is_same(year: PublishedYear, written: Mapping[str, str]) -> bool:
    """Return whether these files were written before as they are."""
    return all(year.files.get(path) == blob_sha(text.encode()) for path, text in written.items())


def _date(report: Published) -> date:
    """Return the date of a day, or of a release."""
    if isinstance(report, DayReport):
        return report.date
    assert report.release
    return report.release.date.date()


def _find_shelf(target: Target, files: Files, report: Published) -> _Shelf:
    """Return where the report belongs: the first language of a repository has its bare name, any other one a suffix."""
    bare = re.sub(r"[^A-Za-z0-9._-]", "-", str(report.repository).partition("/")[2])
    shelf = _read_shelf(target, files, bare, report)
    if shelf.years and shelf.years[shelf.newest].language != report.language:
        shelf = _read_shelf(target, files, f"{bare}.{report.language}", report)._replace(is_second=True)
    newest = shelf.years[shelf.newest] if shelf.years else None
    if newest and newest.timezone != report.timezone:
        raise OtherTimezoneError(
            f"{target.name} has the days of {newest.repository} in {newest.timezone}; publish those in {report.timezone} elsewhere"
        )
    repository = (
        newest.repository if newest else str(report.repository)
    )  # as it was spelled first: it is in the feeds' ids
    year = PublishedYear(repository=repository, language=report.language, timezone=report.timezone)
    return shelf._replace(years={_date(report).year: year, **shelf.years})


def _read_shelf(target: Target, files: Files, name: str, report: Published) -> _Shelf:
    """Read the day's year and the two newest ones, which the feeds are made of. Raise `Misuse` for another repository's."""
    known = [int(each) for each in files.folders(_ROOT) if re.fullmatch(r"\d{4}", each)]
    there = [year for year in sorted(known, reverse=True) if files.sha(f"{_ROOT}/{year}/{name}/index.json")]
    wanted = {*there[:2], *(year for year in there if year == _date(report).year)}
    years = {year: _read_year(target, files, f"{_ROOT}/{year}/{name}/index.json") for year in wanted}
    for each in years.values():
        if each.repository.lower() != str(report.repository).lower():
            raise Misuse(
                f"{_ROOT}/*/{name} of {target.name} has the reports of {each.repository}; publish {report.repository} elsewhere"
            )
    return _Shelf(name, years)


def _read_year(target: Target, files: Files, path: str) -> PublishedYear:
    try:
        return PublishedYear.model_validate_json(files.read(path))
    except ValidationError as exc:
        raise foreign(path, target.name) from exc


def _overviews(target: Target, shelf: _Shelf, year: int) -> dict[str, str]:
    """Return the year's index for people, and the feeds of the two newest years."""
    days, breaks = f"{_ROOT}/{shelf.name}.atom", f"{_ROOT}/{shelf.name}-breaking.atom"
    newest = [shelf.years[each] for each in sorted(shelf.years, reverse=True)[:2]]
    home = target.address(f"{_ROOT}/")
    suffix = ".html" if home is None else ".md"  # GitHub shows a page as its source

    def addresses(feed: str) -> FeedAddresses:
        return FeedAddresses(target.address(feed, raw=True), home or "", shelf.name, suffix)

    return {
        f"{shelf.folder(year)}/README.md": index_markdown(
            shelf.years[year], (f"../../{shelf.name}.atom", f"../../{shelf.name}-breaking.atom")
        ),
        days: daily_feed(newest, addresses(days)),
        breaks: breaking_feed(newest, addresses(breaks)),
    }


def _differs(files: Files, path: str, text: str, shelf: _Shelf, target: Target) -> bool:
    """Return whether a file is to be written. Raise `Misuse` if what is there is neither ours nor the same."""
    there = files.sha(path)
    if there == blob_sha(text.encode()):
        return False
    if there not in {None, shelf.recorded.get(path), files.ours.get(path)}:
        raise foreign(path, target.name)
    return True


def _indexes(files: Files, shelf: _Shelf, written: Mapping[str, str], year: int) -> dict[str, str]:
    """Return the `index.json` of the years that change: the day's, and the newest, which records the feeds."""
    shas = {path: blob_sha(text.encode()) for path, text in written.items()}
    feeds = {path: sha for path, sha in shas.items() if path.endswith(".atom")}
    changed = {}
    for each in {year, shelf.newest}:
        of_year = shas if each == year else {}
        own = {path: sha for path, sha in of_year.items() if path not in feeds}
        record = {**shelf.years[each].files, **own, **(feeds if each == shelf.newest else {})}
        found = shelf.years[each].model_copy(update={"files": dict(sorted(record.items()))})
        text, path = found.model_dump_json(indent=1) + "\n", f"{shelf.folder(each)}/index.json"
        if files.sha(path) != blob_sha(text.encode()):
            changed[path] = text
    return changed
