"""The compatibility of downstream code with upstream's releases: the range without a proven break, and the nearest breaks beside it.

The files of each release are compared with the surface; single commits only between two releases of which one breaks.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.impact.surface.model import Surface
from analysis.impact.versions import (
    Fit,
    UpstreamVersion,
    VersionComparison,
    commit_breaks,
    judged_surface,
    widest_range,
)
from analysis.locale import Language
from analysis.models import SHORT_SHA, Repository
from analysis.models.compatibility import CompatibilityReport, NearestBreak, Version
from analysis.models.releases import ReleaseTag
from analysis.models.upgrades import Pinned, Proposal
from analysis.sources.mirror import Mirror
from bot.models.progress import SILENT, Progress
from bot.services.commit_sources import CommitSources
from bot.services.impact import ImpactService
from bot.services.surfaces import ComparedSurface, pinned_version, upstream_tree

_MOST_RELEASES = 10  # looked at, the newest
_MOST_COMMITS = 200  # looked at between two versions


class CompatibilityRequest(NamedTuple):
    """What is asked of a downstream tree, and when; candidates are looked at as releases are if `candidates`."""

    upstream: Repository
    downstream: Repository | Path
    language: Language
    now: datetime
    candidates: bool = False


class CompatibilityService:
    """Compares downstream trees with upstream's releases. No model is asked, and nothing is stored but surfaces."""

    def __init__(self, sources: CommitSources, impacts: ImpactService) -> None:
        self._sources = sources
        self._impacts = impacts

    def report(self, asked: CompatibilityRequest, progress: Progress = SILENT) -> CompatibilityReport:
        """Return between which versions there is no proven break. Raise the errors of `ImpactService.surface`."""
        upstream, now = asked.upstream, asked.now
        mirror = self._impacts.mirror(upstream, now)
        source = self._sources.stored(upstream)
        compared = self._impacts.surface(asked.downstream, upstream, (), now)
        judged = judged_surface(compared.uses.surface)
        tags = [each for each in source.release_tags() if asked.candidates or not each.is_candidate]
        pin = None
        with suppress(Misuse):
            pin = pinned_version(self._impacts.mirror, asked.downstream, upstream, source, now)
        report = CompatibilityReport(
            repository=upstream,
            downstream=compared.downstream,
            language=asked.language,
            checked_at=now,
            pinned=pin and pin[0],
            pinned_sha=pin and pin[1],
            older=max(0, len(tags) - _MOST_RELEASES),
            guarded=sum(each.guarded for each in judged.uses),
        )
        if not tags:
            return report
        progress.stage(f"{upstream}")
        listed = _versions(tags[-_MOST_RELEASES:], pin, mirror)
        versions, found = _compared(listed, compared.uses.surface, mirror)
        first, last = widest_range(versions)
        return report.model_copy(
            update={
                "versions": versions,
                "first": first,
                "last": last,
                "before": _nearest(versions[first], versions[first - 1], judged, mirror) if first else None,
                "after": _nearest(versions[last], versions[last + 1], judged, mirror) if versions[last + 1 :] else None,
                "unseen": found.unseen,
                "unknown": found.unknown,
            }
        )

    def proposal(
        self, upstream: Repository, surfaces: Sequence[ComparedSurface], start: str, now: datetime
    ) -> Proposal | None:
        """Return the newest release, of those that are not older than `start`, that breaks the least of some surfaces.

        None if there is no such release, or nothing to compare.
        """
        mirror = self._impacts.mirror(upstream, now)
        tags = [each for each in self._sources.stored(upstream).release_tags() if not each.is_candidate]
        tags = tags[_place_of(start, tags, mirror) :][-_MOST_RELEASES:]
        if not tags or not surfaces:
            return None
        listed = [_version(each) for each in tags]
        compared = [_compared(listed, each.uses.surface, mirror)[0] for each in surfaces]
        places = [sum(len(version.lines) for version in same) for same in zip(*compared, strict=True)]
        fewest = min(places)
        newest = max(place for place, count in enumerate(places) if count == fewest)
        return Proposal(name=tags[newest].name, sha=tags[newest].sha, places=fewest)


def _version(tag: ReleaseTag) -> Version:
    return Version(name=tag.name, sha=tag.sha, date=tag.date)


def _versions(tags: Sequence[ReleaseTag], pin: tuple[Pinned, str] | None, mirror: Mirror) -> list[Version]:
    """Return what is looked at, the oldest first: releases, the pinned commit among them, and the branch's head."""
    versions = [_version(each) for each in tags]
    if pin and pin[1] not in {each.sha for each in tags}:
        versions.insert(_place_of(pin[1], tags, mirror), _unreleased(pin[0].pin.ref[:SHORT_SHA], pin[1], mirror))
    head = mirror.head()
    if head not in {each.sha for each in versions}:
        versions.append(_unreleased(mirror.branch, head, mirror))
    return versions


def _unreleased(name: str, sha: str, mirror: Mirror) -> Version:
    [commit] = mirror.history("", at=sha, limit=1)
    return Version(name=name, sha=sha, date=commit.committed_at, is_release=False)


def _place_of(sha: str, tags: Sequence[ReleaseTag], mirror: Mirror) -> int:
    """Return the place of the first tag that has a commit; the number of tags if none has it."""
    having = (place for place, tag in enumerate(tags) if mirror.merge_base(sha, tag.sha) == sha)
    return next(having, len(tags))


def _compared(versions: Sequence[Version], surface: Surface, mirror: Mirror) -> tuple[tuple[Version, ...], Fit]:
    """Return the versions with what each breaks. Their files are fetched in one request."""
    shas = [each.sha for each in versions]
    trees = [mirror.trees_between(None, sha, strict=True).after for sha in shas]
    upstreams = [UpstreamVersion(tree, upstream_tree(mirror, sha).roots) for tree, sha in zip(trees, shas, strict=True)]
    packages = sorted({f"{root}/{name}".lstrip("/") for each in upstreams for name, root in each.roots.items()})
    mirror.fetch_code(shas, packages)
    found = VersionComparison(upstreams, judged_surface(surface)).fit()
    broken = zip(versions, found.breaks, strict=True)
    return tuple(each.model_copy(update={"breaks": breaks}) for each, breaks in broken), found


def _nearest(near: Version, far: Version, surface: Surface, mirror: Mirror) -> NearestBreak:
    """Return what `far`, the version beside the range, breaks in addition to `near`, and the single commit nearest to that."""
    further = tuple(each for each in far.breaks if each.line not in near.lines)
    for early in (True, False):
        wanted = [each for each in further if each.early is early]
        ends = (far.sha, near.sha) if early else (near.sha, far.sha)
        commits = mirror.changing(*ends, sorted({each.impact.upstream.path for each in wanted})) if wanted else ()
        walked = (commits if early else commits[::-1])[:_MOST_COMMITS]
        mirror.fetch_blobs([each.sha for each in walked])
        roots = upstream_tree(mirror, near.sha).roots
        for each in walked:
            commit = mirror.read_commit(each.sha)
            if found := commit_breaks(commit, mirror.trees(commit, strict=True), wanted, surface, roots):
                return NearestBreak(version=far, breaks=found, commit=commit)
    return NearestBreak(version=far, breaks=further)
