"""Digests of releases: what a release brings since the one before, and what it breaks of downstream code since its pin."""

from collections.abc import Sequence

import structlog

from analysis.errors import DigestError, Misuse, UnknownCommit
from analysis.locale import Phrase
from analysis.models import ReleaseTag, Repository
from analysis.models.upgrades import UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.sources.github import GitHub
from analysis.sources.release_notes import named
from bot.models.progress import SILENT, Progress
from bot.services.commit_sources import CommitSources
from bot.services.versions.upgrade import AnnouncedRelease, FindSurfaces, UpgradeRequest, UpgradeService

_SUGGESTED = 3  # tags, for an unknown one

log = structlog.get_logger(__name__)


class ReleaseDigests:
    """Reports releases, by their tags in a mirror and their notes on GitHub. No model is asked."""

    def __init__(self, github: GitHub, sources: CommitSources, upgrades: UpgradeService) -> None:
        self._github = github
        self._sources = sources
        self._upgrades = upgrades

    def report(
        self, asked: UpgradeRequest, progress: Progress = SILENT, find_surfaces: FindSurfaces | None = None
    ) -> UpgradeReport:
        """Return what the release `asked.end` brings since `asked.start`, by default the release before it.

        What breaks the downstream code is told since the version that it pins, if that is known, and within the most commits.
        Raise `Misuse` for a tag that is none of a release, and the errors of `UpgradeService.report`.
        """
        mirror = self._sources.mirror(asked.upstream, asked.now)
        tag, since = _choose(
            asked.upstream, self._sources.stored(asked.upstream).release_tags(), asked.end, asked.start
        )
        request = asked._replace(
            start=since.name if since else mirror.first_commit(tag.sha),
            end=tag.name,
            release=self._announced(asked.upstream, tag, is_first=not since),
        )
        pinned = self._since_pin(request, progress, find_surfaces) if asked.downstreams else None
        if pinned is None:
            return self._upgrades.report(request, progress, find_surfaces)
        report = self._upgrades.report(request._replace(downstreams=()), progress, lambda _: ((), ()))
        return _with_breaks(report, pinned)

    def _since_pin(
        self, request: UpgradeRequest, progress: Progress, find_surfaces: FindSurfaces | None
    ) -> UpgradeReport | None:
        """Return the upgrade of the downstream code from its pin to the release; None if there is no such upgrade."""
        try:
            return self._upgrades.report(request._replace(start="", release=None), progress, find_surfaces)
        except (Misuse, UnknownCommit) as exc:
            log.info("not compared since the pin", repository=str(request.upstream), why=str(exc))
            return None

    def _announced(self, upstream: Repository, tag: ReleaseTag, *, is_first: bool) -> AnnouncedRelease:
        """Return a release with what its notes name; nothing if it has no notes (yet), or GitHub does not tell them."""
        try:
            releases = self._github.releases(upstream)
        except DigestError as exc:
            log.warning("release notes not read", repository=str(upstream), why=str(exc))
            releases = ()
        found = next((each for each in releases if each.tag == tag.name), None)
        notes = named(found.notes if found else "", upstream)
        return AnnouncedRelease(tag, found.url if found else "", notes.breaking, notes.every, is_first=is_first)


def _with_breaks(report: UpgradeReport, pinned: UpgradeReport) -> UpgradeReport:
    """Return a release's report with what breaks the downstream code since its pin, which is told there alone."""
    breaking = pinned.group(UpgradeGroup.BREAKS_YOU)
    shas = {row.entry.commit.sha for row in breaking}

    def others(rows: Sequence[UpgradeRow]) -> tuple[UpgradeRow, ...]:
        return tuple(row for row in rows if row.entry.commit.sha not in shas)

    groups = {**{group: others(rows) for group, rows in report.groups.items()}, UpgradeGroup.BREAKS_YOU: breaking}
    release = report.release and report.release.model_copy(update={"highlights": others(report.release.highlights)})
    shared = {name: getattr(pinned, name) for name in ("pinned", "downstreams", "unchecked")}
    return report.model_copy(update={**shared, "groups": groups, "release": release})


def _choose(
    upstream: Repository, tags: Sequence[ReleaseTag], name: str, since: str
) -> tuple[ReleaseTag, ReleaseTag | None]:
    """Return the release called `name`, and the one called `since`, or else the one before it; None before the first.

    Candidates count for candidates.
    """
    tag = _find(upstream, tags, name)
    if since:
        return tag, _find(upstream, tags, since)
    older = [each for each in tags[: tags.index(tag)] if tag.is_candidate or not each.is_candidate]
    return tag, older[-1] if older else None


def _find(upstream: Repository, tags: Sequence[ReleaseTag], name: str) -> ReleaseTag:
    """Return the tag called `name`, which may lack its `v`."""
    for each in tags:
        if name in (each.name, each.name.removeprefix("v")):
            return each
    if not tags:
        raise Misuse(Phrase("{repository} has no release tags", repository=upstream))
    newest = ", ".join(each.name for each in tags[: -_SUGGESTED - 1 : -1])
    raise Misuse(
        Phrase(
            "{repository} has no release {name!r}; the newest are {newest}",
            repository=upstream,
            name=name,
            newest=newest,
        )
    )
