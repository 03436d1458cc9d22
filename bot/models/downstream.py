"""The check of a channel's downstream repositories: the impacts of commits, shown in that channel and stored nowhere."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from analysis.impact.surface.model import SurfaceIndex
from analysis.locale import Phrase
from analysis.models import Failure, Repository
from analysis.models.impacts import Downstream, DownstreamImpacts


class Unchecked(NamedTuple):
    """A downstream repository whose code could not be compared, and why."""

    repository: Repository | Path
    reason: str | Phrase


class DownstreamCheck(NamedTuple):
    """The trees that were compared with commits, what these break, by SHA, worst first, and others that are `touching` imports.

    `dismissed` are the names that commits break as well, but that are no concern of the channel. `surfaces` are what the trees use.
    """

    compared: tuple[Downstream, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    commits: Mapping[str, tuple[DownstreamImpacts, ...]] = MappingProxyType({})
    failed: tuple[Failure, ...] = ()
    touching: tuple[str, ...] = ()
    dismissed: frozenset[str] = frozenset()
    surfaces: tuple[SurfaceIndex, ...] = ()

    def of(self, sha: str) -> tuple[DownstreamImpacts, ...]:
        """Return what a commit breaks."""
        return self.commits.get(sha, ())

    def without(self, names: Collection[str]) -> "DownstreamCheck":
        """Return the same check without what commits break by these upstream names, which are dismissed."""
        left = {
            sha: tuple(filter(None, (_without(each, names) for each in found))) for sha, found in self.commits.items()
        }
        every = {each.name for found in self.commits.values() for of in found for each in of.impacts}
        commits = {sha: found for sha, found in left.items() if found}
        return self._replace(commits=commits, dismissed=frozenset(every.intersection(names)))


def _without(found: DownstreamImpacts, names: Collection[str]) -> DownstreamImpacts | None:
    impacts = tuple(each for each in found.impacts if each.name not in names)
    return found.model_copy(update={"impacts": impacts}) if impacts else None


UNASKED = DownstreamCheck()
