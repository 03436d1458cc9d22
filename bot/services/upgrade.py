"""Upgrades: the changes between two upstream versions, read, netted and compared with downstream code. No model is asked."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from analysis.consequences.upgrade import group_by_consequence
from analysis.errors import DigestError, Misuse
from analysis.impact.netting import undone_commits
from analysis.impact.picks import picks
from analysis.locale import Phrase
from analysis.models import Commit, Entry, Fact, Failure
from analysis.models.upgrades import UpgradeReport
from bot.services.analyst import Analyst
from bot.services.commit_reader import Progress, current_commits, read_commits
from bot.services.commit_sources import CommitSource, CommitSources
from bot.services.impact import ComparedSurface, ImpactService, ImpactsFound, Span
from bot.services.net_changes import net_changes
from bot.services.pins import PinService
from bot.services.upgrade_ends import Ends, UpgradeRequest, allow, find_ends
from bot.store import Store


class UpgradeProgress(Progress, Protocol):
    """Progress of an upgrade, stage by stage."""

    def stage(self, title: str) -> None:
        """Report the start of a stage, by what is done in it."""


class _Read(NamedTuple):
    """The commits of a range that could be read, oldest first, those that could not, and what the range changes in sum."""

    entries: tuple[Entry, ...]
    failed: tuple[Failure, ...]
    net_facts: Mapping[str, tuple[Fact, ...]]


class _Compared(NamedTuple):
    """What a range was compared with, what was found, and the trees that could not be compared, with the reason."""

    surfaces: Sequence[ComparedSurface] = ()
    found: ImpactsFound = ImpactsFound(())
    unchecked: tuple[tuple[str, str | Phrase], ...] = ()


class UpgradeService:
    """Reads the commits of a range into the store, and groups them by consequence."""

    def __init__(self, sources: CommitSources, store: Store, impacts: ImpactService) -> None:
        self._sources = sources
        self._store = store
        self._impacts = impacts
        self._pins = PinService(impacts)

    def report(self, asked: UpgradeRequest, progress: UpgradeProgress | None = None) -> UpgradeReport:
        """Return what lies between two versions.

        Raise `Misuse` if there is no pin, for a range the wrong way round or with too many commits, `UnknownCommit` for a
        version that does not exist, and if not `partial` the errors of `ImpactService.surface`.
        """
        source = self._sources.current(asked.upstream, asked.now, asked.now)
        ends = find_ends(asked, source, self._pins)
        new = source.compare(ends.start.sha, ends.end.sha).commits
        own = source.compare(ends.end.sha, ends.start.sha).commits  # of a release branch
        base = _merge_base(source, ends, new, own)
        picked = picks(own)
        listed = [each for each in new if not picked.has(each)]
        _check_size(asked, ends, len(listed))
        read = self._read(listed, source, asked, progress)
        undone = undone_commits(read.entries)
        compared = self._compare(Span(base, ends.end.sha, read.entries, read.net_facts, undone), asked, progress)
        found = {each.entry.commit.sha: each.found for each in compared.found.commits}
        times = [each.committed_at for each in listed]
        return UpgradeReport(
            repository=asked.upstream,
            start=ends.start,
            end=ends.end,
            timezone=asked.tz.key,
            language=asked.language,
            pinned=ends.pinned,
            merge_base=base if own else None,
            oldest=min(times, default=None),
            newest=max(times, default=None),
            commits=len(listed),
            picked=len(new) - len(listed),
            reverted=len(undone),
            groups=group_by_consequence(read.entries, read.net_facts, undone, found),
            downstreams=tuple(each.downstream for each in compared.surfaces),
            unchecked=compared.unchecked,
            failed=(*read.failed, *compared.found.failed),
        )

    def _read(
        self,
        listed: Sequence[Commit],
        source: CommitSource,
        asked: UpgradeRequest,
        progress: UpgradeProgress | None,
    ) -> _Read:
        """Read those commits that are not stored yet, and store them."""
        upstream = asked.upstream
        stored_ids = self._store.read_ids(upstream, [each.sha for each in listed])
        unread = [each for each in listed if each.sha not in stored_ids]
        if progress:
            progress.stage("commits")
            progress.expect(len(unread))
        unfinished = read_commits(self._store, source, upstream, unread, asked.tz, progress, pulls=False)
        ids = self._store.read_ids(upstream, [each.sha for each in listed])
        stored = current_commits(self._store, [ids[each.sha] for each in listed if each.sha in ids], source)
        with Analyst(self._store, upstream, asked.language, None, source.contents, ask=False) as analyst:
            entries = analyst.entries(stored)
        if progress:
            progress.stage("net changes")
        return _Read(entries, unfinished.failures, net_changes(self._store, source, stored, entries))

    def _compare(self, span: Span, asked: UpgradeRequest, progress: UpgradeProgress | None) -> _Compared:
        """Compare a range with the downstream trees."""
        surfaces: list[ComparedSurface] = []
        unchecked: list[tuple[str, str | Phrase]] = []
        for each in asked.downstreams:
            if progress:
                progress.stage(str(each))
            try:
                allow(asked, each)
                surfaces.append(self._impacts.surface(each, asked.upstream, span.entries, asked.now))
            except DigestError as exc:
                if not asked.partial:
                    raise
                unchecked.append((str(each), exc.what))
        if not surfaces:
            return _Compared(unchecked=tuple(unchecked))
        found = self._impacts.net_impacts(asked.upstream, span, surfaces, asked.now, progress)
        return _Compared(surfaces, found, tuple(unchecked))


def _merge_base(source: CommitSource, ends: Ends, new: Sequence[Commit], own: Sequence[Commit]) -> str:
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


def _check_size(asked: UpgradeRequest, ends: Ends, commits: int) -> None:
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
