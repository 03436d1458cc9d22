"""The impacts of upstream commits on downstream trees: of single commits, of ranges in sum, and as reports of days."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from zoneinfo import ZoneInfo

import structlog

from analysis.errors import DigestError, MirrorUnavailable, OutsideFailure
from analysis.impact.matching import changes_imported_modules, impacts
from analysis.impact.net_impacts import NetImpacts
from analysis.impact.surface.extraction import UpstreamTree
from analysis.models import Commit, DayReport, Entry, Fact, Failure, Language, Repository, Trees
from analysis.models.impacts import (
    CommitImpacts,
    Downstream,
    DownstreamImpacts,
    Impact,
    ImpactReport,
    UnlistedDay,
)
from analysis.sources.mirror import Mirror
from analysis.sources.secrets import redacted_impacts
from bot.models.progress import SILENT, Progress
from bot.models.reference import Reference
from bot.models.subjects import DayRef
from bot.services.commit_sources import CommitSources
from bot.services.digest import DigestService
from bot.services.lookup import CommitLookup
from bot.services.surfaces import (
    ComparedSurface,
    compared_surface,
    downstream_commit,
    folder_surface,
    mirrored_surface,
    upstream_tree,
)
from bot.store import Store

_RECENT = timedelta(days=7)  # after a commit, in which the code is taken to be as it is today
_SHA = 9  # digits by which a tree of that day is named
_UPSTREAM_TREES = 64  # kept in memory, one a day of a repository

log = structlog.get_logger(__name__)


class ReportTerms(NamedTuple):
    """What a report compares commits with, its language and time zone, and the time at which it is made (UTC)."""

    downstreams: Sequence[Repository | Path | ComparedSurface]
    language: Language
    tz: ZoneInfo
    now: datetime


class ImpactsFound(NamedTuple):
    """The commits that break something, in the order in which they were given, and those that could not be compared.

    `touching` has the SHAs of those that break nothing as far as is proven, but change modules from which the code imports.
    """

    commits: tuple[CommitImpacts, ...] = ()
    failed: tuple[Failure, ...] = ()
    touching: tuple[str, ...] = ()


class Span(NamedTuple):
    """A range of stored commits, oldest first, after the commit `base` and up to the commit `end`.

    `net_facts` maps SHA -> facts of those whose facts do not all stand at the end; those that are `undone` break nothing.
    """

    base: str
    end: str
    entries: Sequence[Entry]
    net_facts: Mapping[str, Sequence[Fact]]
    undone: Collection[str]


# Yields what a commit, given with its patches and its trees, breaks of each downstream tree.
_Find = Callable[[Entry, Commit, Trees], Iterable[tuple[Downstream, Sequence[Impact]]]]


class ImpactService:
    """Compares commits with downstream trees, read from mirrors or from disk. No model is asked. Thread-safe.

    A surface is stored by its tree: it is extracted again when the branch moves to another one.
    """

    def __init__(self, sources: CommitSources, store: Store, digests: DigestService, commits: CommitLookup) -> None:
        self._sources = sources
        self._store = store
        self._digests = digests
        self._commits = commits
        self._extracting = Lock()  # one at a time in a process: it takes seconds of processor time and 300 MB
        self._upstream_trees: OrderedDict[tuple[str, date], UpstreamTree] = OrderedDict()

    def surface(
        self, downstream: Repository | Path, upstream: Repository, entries: Sequence[Entry], now: datetime
    ) -> ComparedSurface:
        """Return what a downstream tree uses of upstream as it was before these commits, or as it is if there are none.

        The branch of a downstream repository may be a tag or a SHA as well. Raise `UnknownRepository` or `UnknownCommit`
        if it does not exist, `Misuse` for a folder that cannot be read, `MirrorUnavailable` if either repository has no
        mirror and cannot be cloned, and `BadSetting` where mirrors are disabled.
        """
        mirror = self.mirror(upstream, now)
        if entries:  # the tree before the oldest, which still has what they break
            oldest = min(entries, key=lambda each: each.commit.committed_at)
            used = self._upstream_tree(mirror, upstream, oldest.commit)
        else:
            used = upstream_tree(mirror, mirror.head())
        if isinstance(downstream, Path):
            return folder_surface(downstream, used)
        return self._repository_surface(downstream, used, now)

    def impacts(
        self,
        upstream: Repository,
        entries: Sequence[Entry],
        surfaces: Sequence[ComparedSurface],
        now: datetime,
        progress: Progress = SILENT,
    ) -> ImpactsFound:
        """Return what commits break of these surfaces. Raise the errors of `surface` about the upstream repository.

        The entries must be in the store; one without files, because it could not be read, is passed over.
        """
        mirror = self.mirror(upstream, now)
        mirror.fetch_blobs([each.commit.sha for each in entries if each.commit.read])

        def find(entry: Entry, commit: Commit, trees: Trees) -> Iterator[tuple[Downstream, Sequence[Impact]]]:
            roots = self._upstream_tree(mirror, upstream, entry.commit).roots
            for downstream, uses in surfaces:
                yield downstream, impacts(commit, trees, uses, roots, entry.facts)

        found = self._compare(mirror, upstream, entries, find, progress)
        broken = {each.entry.commit.sha for each in found.commits}
        touching = []
        for commit in (each.commit for each in entries if each.commit.files and each.commit.sha not in broken):
            roots = self._upstream_tree(mirror, upstream, commit).roots
            if any(changes_imported_modules(commit, each.uses, roots) for each in surfaces):
                touching.append(commit.sha)
        return found._replace(touching=tuple(touching))

    def net_impacts(
        self,
        upstream: Repository,
        span: Span,
        surfaces: Sequence[ComparedSurface],
        now: datetime,
        progress: Progress = SILENT,
    ) -> ImpactsFound:
        """Return what a range of stored commits breaks of these surfaces in sum, as `impacts` does of each alone."""
        if not span.entries or not surfaces:
            return ImpactsFound()
        mirror = self.mirror(upstream, now)
        ends = mirror.trees_between(span.base, span.end, strict=True)
        roots = upstream_tree(mirror, span.base).roots
        nets = [(each.downstream, NetImpacts(ends, each.uses, roots)) for each in surfaces]

        def find(entry: Entry, commit: Commit, trees: Trees) -> Iterator[tuple[Downstream, Sequence[Impact]]]:
            for downstream, net in nets:
                yield downstream, net.impacts_of(commit, trees, entry.facts)

        standing = [each for each in span.entries if each.commit.sha not in span.undone]
        return self._compare(mirror, upstream, standing, find, progress)

    def _compare(
        self, mirror: Mirror, upstream: Repository, entries: Sequence[Entry], find: _Find, progress: Progress
    ) -> ImpactsFound:
        """Return what `find` finds of those entries that were read; a commit whose trees cannot be read is a failure."""
        ids = self._store.read_ids(upstream, [each.commit.sha for each in entries])
        read = [each for each in entries if each.commit.sha in ids]
        progress.expect(len(read))
        commits: list[CommitImpacts] = []
        failed: list[Failure] = []
        whole = self._store.whole_commits([ids[each.commit.sha] for each in read])
        for entry, commit in zip(read, whole, strict=True):
            try:
                found = tuple(
                    DownstreamImpacts(downstream=downstream, impacts=redacted_impacts(breaks))
                    for downstream, breaks in find(entry, commit, mirror.trees(commit, strict=True))
                    if breaks
                )
            except DigestError as exc:
                failed.append(Failure(sha=commit.sha, stage="read", reason=exc.what))
            else:
                commits += [CommitImpacts(entry=entry, found=found)] if found else []
            progress.advance()
        return ImpactsFound(tuple(commits), tuple(failed))

    def of_days(
        self, upstream: Repository, days: Sequence[date], terms: ReportTerms, progress: Progress = SILENT
    ) -> ImpactReport:
        """Report what the commits of these days, oldest first, break.

        A later day that cannot be listed is named in the report. Raise the errors of `surface`, and `OutsideFailure` if
        the first day cannot be listed.
        """
        # Facts are proven by whole files, which a day that is read before there is a mirror would not have.
        self._sources.mirror(upstream, terms.now)
        reports: list[DayReport] = []
        unlisted: list[UnlistedDay] = []
        for day in days:
            progress.day(upstream, day)
            ref = DayRef(upstream, day, terms.tz.key, terms.language)
            try:
                reports.append(self._digests.report(ref, terms.now, progress, ask=False))
            except OutsideFailure as exc:
                if not reports:
                    raise
                unlisted.append(UnlistedDay(date=day, reason=exc.what))
            progress.day_done()
        entries = {each.commit.sha: each for day in reports for each in (*day.entries, *day.late)}
        span = f"{days[0]}" if len(days) == 1 else f"{days[0]} – {days[-1]}"
        failed = tuple(each for day in reports for each in day.failed)
        report = self._report(upstream, f"{span} · {terms.tz.key}", list(entries.values()), terms, progress)
        return report.model_copy(update={"failed": failed + report.failed, "unlisted": tuple(unlisted)})

    def of_commit(self, reference: Reference, repositories: Sequence[Repository], terms: ReportTerms) -> ImpactReport:
        """Report what one commit breaks. Raise the errors of `surface` and of `CommitLookup.locate`."""
        for each in [reference.repository] if reference.repository else repositories:
            self._sources.mirror(each, terms.now)
        located = self._commits.locate(reference, repositories)
        entry = self._commits.entry(located, terms.language)
        return self._report(located.repository, entry.commit.short_sha, [entry], terms, SILENT)

    def _report(
        self, upstream: Repository, period: str, entries: Sequence[Entry], terms: ReportTerms, progress: Progress
    ) -> ImpactReport:
        surfaces = self.surfaces(upstream, entries, terms)
        progress.stage(f"{upstream}")
        found = self.impacts(upstream, entries, surfaces, terms.now, progress)
        return ImpactReport(
            repository=upstream,
            period=period,
            timezone=terms.tz.key,
            language=terms.language,
            downstreams=tuple(each.downstream for each in surfaces),
            compared=len(entries),
            commits=tuple(sorted(found.commits, key=lambda each: each.entry.commit.committed_at, reverse=True)),
            touching=found.touching,
            failed=found.failed,
        )

    def surfaces(self, upstream: Repository, entries: Sequence[Entry], terms: ReportTerms) -> list[ComparedSurface]:
        """Return the surfaces of a report's downstream trees, as `surface` does."""
        return [
            each if isinstance(each, ComparedSurface) else self.surface(each, upstream, entries, terms.now)
            for each in terms.downstreams
        ]

    def mirror(self, repository: Repository, now: datetime) -> Mirror:
        """Return a repository's mirror, as it was last fetched if it cannot be fetched now."""
        try:
            return self._sources.mirror(repository, now)
        except MirrorUnavailable as exc:
            existing = self._sources.existing_mirror(repository)
            if existing is None:
                raise
            log.warning("mirror not fetched", repository=str(repository), why=str(exc))
            return existing

    def as_of(
        self, trees: Sequence[Repository | Path], entries: Sequence[Entry], now: datetime
    ) -> list[Repository | Path]:
        """Return the trees whose head is long after the newest of these commits, as they stood when that landed."""
        landed = max(each.commit.committed_at for each in entries)
        heads = ((each, self.mirror(each, now)) for each in trees if isinstance(each, Repository) and not each.branch)
        old = [each for each in heads if each[1].history("", limit=1)[0].committed_at - landed > _RECENT]
        shas = ((each, mirror.commit_before(landed)) for each, mirror in old)
        return [each.model_copy(update={"branch": sha[:_SHA]}) for each, sha in shas if sha]

    def _upstream_tree(self, mirror: Mirror, upstream: Repository, commit: Commit) -> UpstreamTree:
        """Return the upstream tree before a commit, or before another one of its day: packages come and go rarely."""
        key = upstream.key, commit.committed_at.date()
        found = self._upstream_trees.get(key) or upstream_tree(mirror, next(iter(commit.parents), commit.sha))
        self._upstream_trees[key] = found
        if len(self._upstream_trees) > _UPSTREAM_TREES:
            self._upstream_trees.popitem(last=False)
        return found

    def _repository_surface(self, downstream: Repository, used: UpstreamTree, now: datetime) -> ComparedSurface:
        # One mirror has all branches; it is asked for by name alone, since the branch may be a tag or a SHA.
        mirror = self.mirror(downstream.model_copy(update={"branch": None}), now)
        sha = downstream_commit(mirror, downstream)
        tree = mirror.root(sha)
        surface = self._store.surfaces.get(downstream, tree, used.roots)
        if surface is None:
            with self._store.locks.alone(f"surface {downstream.full_name.lower()} {tree}"), self._extracting:
                surface = self._store.surfaces.get(downstream, tree, used.roots)  # another may have stored it meanwhile
                if surface is None:
                    surface = mirrored_surface(mirror, sha, used)
                    self._store.surfaces.save(downstream, tree, used.roots, surface, now)
        return compared_surface(surface, str(downstream), used, downstream, sha, f"{mirror.web_url}/blob/{sha}")
