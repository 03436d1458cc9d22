"""Upgrades: the changes between two upstream versions, read, netted and compared with downstream code. No model is asked.

The versions are tags, SHAs or days; the first may be the one that downstream code pins.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.consequences import consequences
from analysis.consequences.upgrade import group_by_consequence, row_order
from analysis.errors import Misuse
from analysis.impact.reversal import picks, undone_commits
from analysis.locale import Phrase
from analysis.models import ChangeType, Commit, Entry, Failure, Language, ReleaseTag, Repository
from analysis.models.upgrades import Pinned, Proposal, RangeEnd, ReleaseNotes, UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.window import parse_day, window
from bot.models.downstream import Unchecked
from bot.models.progress import SILENT, Progress
from bot.services.analyst import Analyst, net_changes
from bot.services.commit_reader import current_commits, read_commits
from bot.services.commit_sources import CommitSource, CommitSources
from bot.services.impact import ImpactService, Span
from bot.services.surfaces import ComparedSurface, pinned_version
from bot.services.versions.compatibility import CompatibilityService
from bot.store import Store

_HEAD = "HEAD"


class AnnouncedRelease(NamedTuple):
    """A release, its page, and the numbers of the pull requests that its notes name, under breaking changes and in all."""

    tag: ReleaseTag
    url: str
    breaking: frozenset[int]
    every: frozenset[int]
    is_first: bool = False


class UpgradeRequest(NamedTuple):
    """What is asked: from `start`, by default what the downstream code pins, to `end`, by default the branch's head.

    Each is a tag, a SHA or a day. At most `most_commits` may lie between them. `release` is the one that the end is.
    """

    upstream: Repository
    start: str
    end: str
    downstreams: Sequence[Repository | Path]
    language: Language
    tz: ZoneInfo
    now: datetime
    most_commits: int | None = None
    release: AnnouncedRelease | None = None


# Returns the surfaces of downstream trees before these commits, and the trees that could not be compared, with the reason.
FindSurfaces = Callable[[Sequence[Entry]], tuple[Sequence[ComparedSurface], Sequence[Unchecked]]]


class _Ends(NamedTuple):
    """The two ends, and the pin that the first comes from, if it does."""

    start: RangeEnd
    end: RangeEnd
    pinned: Pinned | None


def parse_span(text: str) -> tuple[str, str]:
    """Parse `FROM`, `FROM..TO`, `..TO` or nothing into two names; what is not named is empty."""
    start, _, end = text.strip().partition("..")
    return start, end.strip(".")


@dataclass(eq=False)
class UpgradeService:
    """Reads the commits of a range into the store, and groups them by consequence."""

    _sources: CommitSources
    _store: Store
    _impacts: ImpactService
    _compatibility: CompatibilityService

    def report(
        self, asked: UpgradeRequest, progress: Progress = SILENT, find_surfaces: FindSurfaces | None = None
    ) -> UpgradeReport:
        """Return what lies between two versions, compared with what `find_surfaces` finds, by default the downstream trees.

        Raise `Misuse` if there is no pin, for a range the wrong way round or with too many commits, `UnknownCommit` for a
        version that does not exist, and the errors of `find_surfaces`, by default those of `ImpactService.surface`.
        """
        source = self._sources.current(asked.upstream, asked.now, asked.now)
        ends = _find_ends(asked, source, self._impacts)
        new = source.compare(ends.start.sha, ends.end.sha).commits
        own = source.compare(ends.end.sha, ends.start.sha).commits  # of a release branch
        base = _merge_base(source, ends, new, own)
        picked = picks(own)
        listed = [each for each in new if not picked.has(each)]
        _check_size(asked, ends, len(listed))
        span, failed = self._read(listed, base, ends.end.sha, source, asked, progress)
        surfaces, unchecked = (find_surfaces or partial(self._surfaces, asked))(span.entries)
        compared = self._impacts.net_impacts(asked.upstream, span, surfaces, asked.now, progress)
        found = {each.entry.commit.sha: each.found for each in compared.commits}
        groups = group_by_consequence(span.entries, span.net_facts, span.undone, found, asked.language)
        return UpgradeReport(
            repository=asked.upstream,
            start=ends.start,
            end=ends.end,
            timezone=asked.tz.key,
            language=asked.language,
            pinned=ends.pinned,
            release=asked.release and _release_notes(asked.release, span, groups, asked.language),
            merge_base=base if own else None,
            commits=len(listed),
            picked=len(new) - len(listed),
            reverted=len(span.undone),
            ungrouped=len(listed) - len(span.undone) - sum(map(len, groups.values())),
            groups=groups,
            downstreams=tuple(each.downstream for each in surfaces),
            unchecked=tuple((str(each.repository), each.reason) for each in unchecked),
            proposal=self._proposal(asked, surfaces, ends.start),
            failed=(*failed, *compared.failed),
        )

    def _read(
        self,
        listed: Sequence[Commit],
        base: str,
        end: str,
        source: CommitSource,
        asked: UpgradeRequest,
        progress: Progress,
    ) -> tuple[Span, tuple[Failure, ...]]:
        """Read and store those commits that are not stored yet. Return the range, and the commits that could not be read."""
        upstream, shas = asked.upstream, [each.sha for each in listed]
        stored_ids = self._store.read_ids(upstream, shas)
        unread = [each for each in listed if each.sha not in stored_ids]
        progress.stage("commits")
        progress.expect(len(unread))
        unfinished = read_commits(self._store, source, upstream, unread, asked.tz, progress, pulls=False)
        ids = self._store.read_ids(upstream, shas)
        stored = current_commits(self._store, [ids[sha] for sha in shas if sha in ids], source)
        with Analyst(self._store, upstream, asked.language, None, source, ask=False) as analyst:
            entries = analyst.entries(stored)
        progress.stage("net changes")
        changes = net_changes(self._store, source, stored, entries)
        return Span(base, end, entries, changes, undone_commits(entries)), unfinished.failures

    def _proposal(self, asked: UpgradeRequest, surfaces: Sequence[ComparedSurface], start: RangeEnd) -> Proposal | None:
        if asked.release or not surfaces:  # a digest of a release is about that one
            return None
        return self._compatibility.proposal(asked.upstream, surfaces, start.sha, asked.now)

    def _surfaces(
        self, asked: UpgradeRequest, entries: Sequence[Entry]
    ) -> tuple[Sequence[ComparedSurface], Sequence[Unchecked]]:
        return [self._impacts.surface(each, asked.upstream, entries, asked.now) for each in asked.downstreams], ()


def _release_notes(
    release: AnnouncedRelease, span: Span, groups: Mapping[UpgradeGroup, Sequence[UpgradeRow]], language: Language
) -> ReleaseNotes:
    """Return a release with the commits that its notes name, or else its fixes, or whatever it has; all stand.

    Those that a group tells are left out.
    """
    standing = [each for each in span.entries if each.commit.sha not in span.undone]
    named = [each for each in standing if each.commit.pr in release.every]
    fixes = [each for each in standing if ChangeType.BUG_FIX in each.ranked.change_types]
    grouped = {row.entry.commit.sha for rows in groups.values() for row in rows}
    rows = []
    for each in named or fixes or standing:
        facts = tuple(span.net_facts.get(each.commit.sha, each.facts))
        if each.commit.sha not in grouped:
            rows.append(UpgradeRow(entry=each, facts=facts, consequences=consequences(each, language, facts)))
    rows.sort(key=lambda row: (row.entry.commit.pr not in release.breaking, *row_order(row)))
    tag = release.tag
    return ReleaseNotes(
        tag=tag.name,
        date=tag.date,
        url=release.url,
        notes=bool(named),
        highlights=tuple(rows),
        is_first=release.is_first,
    )


def _merge_base(source: CommitSource, ends: _Ends, new: Sequence[Commit], own: Sequence[Commit]) -> str:
    """Return where the range begins. Raise `Misuse` if it runs backwards, or if its ends have nothing in common."""
    if own and not new:
        raise Misuse(
            Phrase("{end} is older than {start}; use {end}..{start}", start=ends.start.name, end=ends.end.name)
        )
    if not own:
        return ends.start.sha
    base = source.merge_base(ends.start.sha, ends.end.sha)
    if base is None:
        raise Misuse(Phrase("{start} and {end} have no commit in common", start=ends.start.name, end=ends.end.name))
    return base


def _check_size(asked: UpgradeRequest, ends: _Ends, commits: int) -> None:
    if asked.most_commits is not None and commits > asked.most_commits:
        raise Misuse(
            Phrase(
                "there are {count} commits between {start} and {end}, more than {most}; choose a shorter range: FROM..TO",
                count=f"{commits:,}",
                start=ends.start.name,
                end=ends.end.name,
                most=f"{asked.most_commits:,}",
            )
        )


def _find_ends(asked: UpgradeRequest, source: CommitSource, impacts: ImpactService) -> _Ends:
    """Return the ends of an upgrade. Raise `Misuse` if the first is not named and nothing pins it."""
    end = _revision(asked.end or _HEAD, asked, source, is_start=False)
    if asked.start:
        return _Ends(_revision(asked.start, asked, source, is_start=True), end, None)
    if not asked.downstreams:
        raise Misuse(
            Phrase("give the version to upgrade from (upgrade FROM), or the code that pins it: owner/name or a folder")
        )
    pinned, sha = _pinned(asked, source, impacts)
    return _Ends(RangeEnd(name=pinned.pin.ref, sha=sha), end, pinned)


def _pinned(asked: UpgradeRequest, source: CommitSource, impacts: ImpactService) -> tuple[Pinned, str]:
    """Return the pin of the first downstream tree that has one, and its SHA; raise the error of the last if none has."""
    for each in asked.downstreams[:-1]:
        with suppress(Misuse):
            return pinned_version(impacts.mirror, each, asked.upstream, source, asked.now)
    return pinned_version(impacts.mirror, asked.downstreams[-1], asked.upstream, source, asked.now)


def _revision(name: str, asked: UpgradeRequest, source: CommitSource, *, is_start: bool) -> RangeEnd:
    """Return the commit of a tag or a SHA; of a day, which belongs to the range, the last one before or of it."""
    if name == _HEAD:
        return RangeEnd(name=asked.upstream.branch or _HEAD, sha=source.head())
    day: date | None = None
    with suppress(Misuse):
        day = parse_day(name, asked.now.astimezone(asked.tz).date())
    if day is None:
        return RangeEnd(name=name, sha=source.resolve(name))
    whole = window(day, asked.tz)
    sha = source.commit_before(whole.start if is_start else whole.end)
    if sha is None:
        raise Misuse(
            Phrase("{repository} has no commit before {day}", repository=asked.upstream.full_name, day=f"{day}")
        )
    return RangeEnd(name=f"{day}", sha=sha)
