"""References to days and commits, encoded as one-line values of buttons, threads and deliveries."""

import re
from datetime import date, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.locale import Phrase, mark
from analysis.models import Commit, DayReport, Language, Repository
from analysis.window import zone

_SUBJECT = 12  # characters of a SHA in keys and headings
_OLD_BUTTON = mark("this button has expired")
_WEEK = "week|"  # begins the value of a week; no repository's name has a bar
_RELEASE = "release|"  # likewise
_DAYS_OF_WEEK = 7


class DayRef(NamedTuple):
    """A day of a repository in a time zone and a language, filtered by a subscription if given."""

    repository: Repository
    day: date
    timezone: str
    language: Language
    subscription: int | None = None

    @property
    def tz(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)


class WeekRef(NamedTuple):
    """Seven days of a repository from `first` on, in a time zone and a language, filtered by a subscription if given."""

    repository: Repository
    first: date
    timezone: str
    language: Language
    subscription: int | None = None

    @property
    def tz(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)

    @property
    def last(self) -> date:
        """The last of the days."""
        return self.first + timedelta(days=6)

    @property
    def days(self) -> tuple[DayRef, ...]:
        """The days, oldest first, each filtered alike."""
        return tuple(
            DayRef(self.repository, self.first + timedelta(days=place), *self[2:]) for place in range(_DAYS_OF_WEEK)
        )


class CommitRef(NamedTuple):
    """A commit of a repository, and the language of its message."""

    repository: Repository
    sha: str
    language: Language


class ReleaseRef(NamedTuple):
    """A release of a repository since another one, "" for the one before it, in a time zone and a language, for a subscription."""

    repository: Repository
    tag: str
    since: str
    timezone: str
    language: Language
    subscription: int | None = None

    @property
    def tz(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)


Subject = DayRef | WeekRef | ReleaseRef | CommitRef


def day_value(report: DayReport, subscription: int | None = None) -> str:
    """Encode a report's day: `owner/name@branch|2026-02-05|Asia/Shanghai|zh`, plus `|s12` if filtered by subscription 12."""
    ref = DayRef(report.repository, report.date, report.timezone, report.language, subscription)
    return value_of(ref)


def value_of(ref: DayRef | WeekRef | ReleaseRef) -> str:
    """Encode a day reference, as `day_value` does for a report; a week's begins with `week|`, and has its first day.

    A release's begins with `release|`, and has its tag and the one since which it is told.
    """
    match ref:
        case DayRef():
            start = f"{ref.repository}|{ref.day}"
        case WeekRef():
            start = f"{_WEEK}{ref.repository}|{ref.first}"
        case ReleaseRef():
            start = f"{_RELEASE}{ref.repository}|{ref.tag}|{ref.since}"
    value = f"{start}|{ref.timezone}|{ref.language}"
    return value if ref.subscription is None else f"{value}|s{ref.subscription}"


def parse_day_value(value: str) -> DayRef:
    """Parse a value of `day_value`. Raise `Misuse` for anything else."""
    # Split from the right: a branch name may contain a bar.
    rest, _, last = value.rpartition("|")
    subscription = int(last[1:]) if re.fullmatch(r"s\d{1,18}", last) else None
    match (value if subscription is None else rest).rsplit("|", 3):
        case [repository, day, timezone, language]:
            try:
                parsed = Repository.parse(repository), date.fromisoformat(day), zone(timezone).key, _language(language)
            except ValueError as exc:
                raise Misuse(Phrase(_OLD_BUTTON)) from exc
            return DayRef(*parsed, subscription)
    raise Misuse(Phrase(_OLD_BUTTON))


def commit_value(repository: Repository, commit: Commit, language: Language) -> str:
    """Encode a commit: `owner/name@branch|sha|zh`."""
    return f"{repository}|{commit.sha}|{language}"


def parse_commit_value(value: str) -> CommitRef:
    """Parse a value of `commit_value`. Raise `Misuse` for anything else."""
    match value.rsplit("|", 2):
        case [repository, sha, language] if re.fullmatch(r"[0-9a-f]{4,64}", sha):
            return CommitRef(Repository.parse(repository), sha, _language(language))
    raise Misuse(Phrase(_OLD_BUTTON))


def parse_week_value(value: str) -> WeekRef:
    """Parse the value of a week. Raise `Misuse` for anything else."""
    if not value.startswith(_WEEK):
        raise Misuse(Phrase(_OLD_BUTTON))
    return WeekRef(*parse_day_value(value.removeprefix(_WEEK)))


def _parse_release_value(value: str) -> ReleaseRef:
    """Parse the value of a release. Raise `Misuse` for anything else."""
    rest, _, last = value.rpartition("|")
    subscription = int(last[1:]) if re.fullmatch(r"s\d{1,18}", last) else None
    match (value if subscription is None else rest).removeprefix(_RELEASE).split("|"):
        case [repository, tag, since, timezone, language]:
            return ReleaseRef(
                Repository.parse(repository), tag, since, zone(timezone).key, _language(language), subscription
            )
    raise Misuse(Phrase(_OLD_BUTTON))


def parse_value(value: str) -> Subject:
    """Parse a value of `value_of` or `commit_value`. Raise `Misuse` for anything else."""
    if value.startswith(_RELEASE):
        return _parse_release_value(value)
    if value.startswith(_WEEK):
        return parse_week_value(value)
    try:
        return parse_day_value(value)
    except Misuse:
        return parse_commit_value(value)


def subject_of(ref: Subject) -> str:
    """Return a day as an ISO date, a week as its first and last one, a release as its tag, a commit as an abbreviated SHA."""
    if isinstance(ref, ReleaseRef):
        return ref.tag
    if isinstance(ref, WeekRef):
        return f"{ref.first}..{ref.last}"
    return ref.day.isoformat() if isinstance(ref, DayRef) else ref.sha[:_SUBJECT]


def kind_of(ref: Subject) -> Literal["digest", "week", "release", "commit"]:
    """Return what a delivery of the subject is, as it begins the keys of its messages."""
    match ref:
        case DayRef():
            return "digest"
        case WeekRef():
            return "week"
        case ReleaseRef():
            return "release"
        case CommitRef():
            return "commit"


def _language(text: str) -> Language:
    match text:
        case "zh" | "en":
            return text
    raise Misuse(Phrase("{text!r} is not supported; use zh or en", text=text))
