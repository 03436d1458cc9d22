"""The two ends of an upgrade: tags, SHAs or days, or the version that downstream code pins."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Language, Repository
from analysis.models.upgrades import Pinned, Revision
from analysis.window import parse_day, window
from bot.services.commit_sources import CommitSource
from bot.services.pins import PinService

_HEAD = "HEAD"


class UpgradeRequest(NamedTuple):
    """What is asked: from `start`, by default what the downstream code pins, to `end`, by default the branch's head.

    Each is a tag, a SHA or a day. At most `most_commits` may lie between them. If `partial`, a downstream tree that cannot
    be compared is named in the report; otherwise its error is raised. `allow` raises `UnknownRepository` for one that must
    not be seen.
    """

    upstream: Repository
    start: str
    end: str
    downstreams: Sequence[Repository | Path]
    language: Language
    tz: ZoneInfo
    now: datetime
    most_commits: int | None = None
    partial: bool = False
    allow: Callable[[Repository], None] = lambda _: None


class Ends(NamedTuple):
    """The two ends, and the pin that the first comes from, if it does."""

    start: Revision
    end: Revision
    pinned: Pinned | None


def parse_span(text: str) -> tuple[str, str]:
    """Parse `FROM`, `FROM..TO`, `..TO` or nothing into two names; what is not named is empty."""
    start, _, end = text.strip().partition("..")
    return start, end.strip(".")


def find_ends(asked: UpgradeRequest, source: CommitSource, pins: PinService) -> Ends:
    """Return the ends of an upgrade. Raise `Misuse` if the first is not named and nothing pins it."""
    end = _revision(asked.end or _HEAD, asked, source, is_start=False)
    if asked.start:
        return Ends(_revision(asked.start, asked, source, is_start=True), end, None)
    if not asked.downstreams:
        raise Misuse(
            Phrase("give the version to upgrade from (upgrade FROM), or the code that pins it: owner/name or a folder")
        )
    pinned, sha = _pinned(asked, source, pins)
    return Ends(Revision(name=pinned.pin.ref, sha=sha), end, pinned)


def allow(asked: UpgradeRequest, downstream: Repository | Path) -> None:
    """Raise `UnknownRepository` for a downstream repository that must not be seen."""
    if isinstance(downstream, Repository):
        asked.allow(downstream)


def _pinned(asked: UpgradeRequest, source: CommitSource, pins: PinService) -> tuple[Pinned, str]:
    """Return the pin of the first downstream tree that has one, and its SHA; raise the error of the last if none has."""
    for each in asked.downstreams[:-1]:
        with suppress(Misuse):
            allow(asked, each)
            return pins.pinned(each, asked.upstream, source, asked.now)
    last = asked.downstreams[-1]
    allow(asked, last)
    return pins.pinned(last, asked.upstream, source, asked.now)


def _revision(name: str, asked: UpgradeRequest, source: CommitSource, *, is_start: bool) -> Revision:
    """Return the commit of a tag or a SHA; of a day, which belongs to the range, the last one before or of it."""
    if name == _HEAD:
        return Revision(name=asked.upstream.branch or _HEAD, sha=source.head())
    day = _day(name, asked)
    if day is None:
        return Revision(name=name, sha=source.resolve(name))
    whole = window(day, asked.tz)
    sha = source.commit_before(whole.start if is_start else whole.end)
    if sha is None:
        raise Misuse(
            Phrase("{repository} has no commit before {day}", repository=asked.upstream.full_name, day=f"{day}")
        )
    return Revision(name=f"{day}", sha=sha)


def _day(name: str, asked: UpgradeRequest) -> date | None:
    """Return the day that a name stands for, as everywhere else; None if it is none."""
    try:
        return parse_day(name, asked.now.astimezone(asked.tz).date())
    except Misuse:
        if name.count("-") == 2 and name.replace("-", "").isdigit():  # noqa: PLR2004 (a date, which is in the future)
            raise
        return None
