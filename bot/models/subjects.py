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
_PERIOD = re.compile(r"(?:week|([2-7])days)\|")  # begins the value of a week; no repository's name has a bar
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
    """Seven days of a repository from `first` on, in a time zone and a language, filtered by a subscription if given.

    Of a subscription that has weekdays it is the digest of the days since the one before, which are `covered` by it.
    """

    repository: Repository
    first: date
    timezone: str
    language: Language
    subscription: int | None = None
    covered: int = 0

    @property
    def tz(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)

    @property
    def last(self) -> date:
        """The last of the days."""
        return self.first + timedelta(days=self.size - 1)

    @property
    def size(self) -> int:
        """The number of days."""
        return self.covered or _DAYS_OF_WEEK

    @property
    def days(self) -> tuple[DayRef, ...]:
        """The days, oldest first, each filtered alike."""
        return tuple(
            DayRef(self.repository, self.first + timedelta(days=place), self.timezone, self.language, self.subscription)
            for place in range(self.size)
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


def day_value(report: DayReport) -> str:
    """Encode a report's day: `owner/name@branch|2026-02-05|Asia/Shanghai|zh`."""
    return value_of(DayRef(report.repository, report.date, report.timezone, report.language))


def value_of(ref: DayRef | WeekRef | ReleaseRef) -> str:
    """Encode a day reference, as `day_value` does for a report, plus `|s12` if filtered by subscription 12.

    A week's begins with `week|` or `3days|`, and has its first day; a release's with `release|`, its tag and the one since which it is told.
    """
    match ref:
        case DayRef():
            start = f"{ref.repository}|{ref.day}"
        case WeekRef():
            start = f"{f'{ref.covered}days' if ref.covered else 'week'}|{ref.repository}|{ref.first}"
        case ReleaseRef():
            start = f"{_RELEASE}{ref.repository}|{ref.tag}|{ref.since}"
    value = f"{start}|{ref.timezone}|{ref.language}"
    return value if ref.subscription is None else f"{value}|s{ref.subscription}"


def parse_day_value(value: str) -> DayRef:
    """Parse a value of `day_value`. Raise `Misuse` for anything else."""
    start, timezone, language, subscription = _parse_ending(value)
    repository, _, day = start.rpartition("|")
    try:
        return DayRef(Repository.parse(repository), date.fromisoformat(day), timezone, language, subscription)
    except ValueError as exc:
        raise Misuse(Phrase(_OLD_BUTTON)) from exc


def _parse_ending(value: str) -> tuple[str, str, Language, int | None]:
    """Return what a value begins with, its time zone, its language and its subscription. Raise `Misuse` without them."""
    # Split from the right: a branch name may contain a bar.
    rest, _, last = value.rpartition("|")
    subscription = int(last[1:]) if re.fullmatch(r"s\d{1,18}", last) else None
    match (value if subscription is None else rest).rsplit("|", 2):
        case [start, timezone, language]:
            return start, zone(timezone).key, _language(language), subscription
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
    found = _PERIOD.match(value)
    if found is None:
        raise Misuse(Phrase(_OLD_BUTTON))
    return WeekRef(*parse_day_value(value[found.end() :]), covered=int(found[1] or 0))


def _parse_release_value(value: str) -> ReleaseRef:
    """Parse the value of a release. Raise `Misuse` for anything else."""
    start, timezone, language, subscription = _parse_ending(value)
    match start.removeprefix(_RELEASE).split("|"):
        case [repository, tag, since]:
            return ReleaseRef(Repository.parse(repository), tag, since, timezone, language, subscription)
    raise Misuse(Phrase(_OLD_BUTTON))


def parse_value(value: str) -> Subject:
    """Parse a value of `value_of` or `commit_value`. Raise `Misuse` for anything else."""
    if value.startswith(_RELEASE):
        return _parse_release_value(value)
    if _PERIOD.match(value):
        return parse_week_value(value)
    try:
        return parse_day_value(value)
    except Misuse:
        return parse_commit_value(value)


def days_told(ref: Subject) -> tuple[DayRef, ...]:
    """Return the days that a digest tells of for the first time: its day or those that it covers, none of a week."""
    match ref:
        case DayRef():
            return (ref,)
        case WeekRef() if ref.covered:
            return ref.days
    return ()


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
