"""The record of a repository's published days: the data of its index and feeds, and the files that were written.

It is stored beside the reports, one file a year, so that an index and a feed need no other source.
"""

from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import AwareDatetime

from analysis.locale import Language
from analysis.models.frozen import Frozen
from analysis.models.reports import Stats


class PublishedBreak(Frozen):
    """A commit that breaks something, as the feed of breaking changes shows it. `line` is plain text with `code` spans."""

    sha: str
    url: str
    pr: int | None = None
    committed_at: AwareDatetime
    line: str
    updated: AwareDatetime


class PublishedDay(Frozen):
    """A published day. `lines` are its most important headlines; `updated` is when its files last changed.

    `failed` counts the commits that could not be read.
    """

    date: date
    updated: AwareDatetime
    stats: Stats
    failed: int = 0
    lines: tuple[str, ...] = ()
    breaking: tuple[PublishedBreak, ...] = ()


class PublishedRelease(Frozen):
    """A published release: its tag and date, its first lines, and when its files last changed."""

    tag: str
    date: date
    updated: AwareDatetime
    lines: tuple[str, ...] = ()


class PublishedYear(Frozen):
    """The published days and releases of a year, newest first, and path -> git blob SHA of the files written for them."""

    format: Literal[1] = 1
    repository: str
    language: Language
    timezone: str
    days: tuple[PublishedDay, ...] = ()
    releases: tuple[PublishedRelease, ...] = ()
    files: Mapping[str, str] = {}

    @property
    def entries(self) -> "tuple[PublishedDay | PublishedRelease, ...]":
        """All that was published."""
        return (*self.days, *self.releases)

    def day(self, day: date) -> PublishedDay | None:
        """Return a published day, None if it is not."""
        return next((each for each in self.days if each.date == day), None)

    def release(self, tag: str) -> PublishedRelease | None:
        """Return a published release, None if it is not."""
        return next((each for each in self.releases if each.tag == tag), None)

    def with_release(self, release: PublishedRelease) -> "PublishedYear":
        """Return the year with a release added or replaced."""
        others = [each for each in self.releases if each.tag != release.tag]
        kept = sorted([*others, release], key=lambda each: (each.date, each.tag), reverse=True)
        return self.model_copy(update={"releases": tuple(kept)})

    def with_day(self, day: PublishedDay) -> "PublishedYear":
        """Return the year with a day added or replaced."""
        others = [each for each in self.days if each.date != day.date]
        return self.model_copy(update={"days": tuple(sorted([*others, day], key=lambda each: each.date, reverse=True))})
