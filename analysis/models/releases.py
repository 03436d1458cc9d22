"""Releases of a repository: its tags, and the first of them that has a commit."""

from enum import StrEnum
from typing import NamedTuple

from pydantic import AwareDatetime

from analysis.models.commits import Commit
from analysis.models.frozen import Frozen


class ReleaseTag(Frozen):
    """A tag of a release or, if `is_candidate`, of a version before one; `sha` is the commit that it names."""

    name: str
    sha: str
    date: AwareDatetime
    is_candidate: bool = False


class ReleaseState(StrEnum):
    RELEASED = "released"
    UNRELEASED = "unreleased"
    UNKNOWN = "unknown"  # no tag is known


class Released(Frozen):
    """Whether a release has a commit, or a pick of it, and the first that does; candidates do not count."""

    state: ReleaseState = ReleaseState.UNKNOWN
    tag: str | None = None
    date: AwareDatetime | None = None

    @classmethod
    def by(cls, tag: ReleaseTag | None) -> "Released":
        """Return the state of a commit that this release had first, or that none of the known ones has."""
        if tag is None:
            return cls(state=ReleaseState.UNRELEASED)
        return cls(state=ReleaseState.RELEASED, tag=tag.name, date=tag.date)


class FoundCommit(NamedTuple):
    """A commit that a search found, the key of its repository, and in which release it was first."""

    repository: str
    commit: Commit
    released: Released = Released()
