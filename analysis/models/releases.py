"""Releases of a repository: its tags, and the first of them that has a commit."""

from collections.abc import Sequence
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
    """Whether a release has a commit, or a pick of it, and the first that does; candidates do not count.

    `having` and `lacking` are the names of the known tags that do and that do not, candidates among them.
    """

    state: ReleaseState = ReleaseState.UNKNOWN
    tag: str | None = None
    date: AwareDatetime | None = None
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @classmethod
    def by(cls, having: Sequence[ReleaseTag], lacking: Sequence[ReleaseTag]) -> "Released":
        """Return the state of a commit that these tags have, and those do not; all of them are known."""
        first = min((each for each in having if not each.is_candidate), key=lambda tag: tag.date, default=None)
        return cls(
            state=ReleaseState.RELEASED if first else ReleaseState.UNRELEASED,
            tag=first and first.name,
            date=first and first.date,
            having=tuple(each.name for each in having),
            lacking=tuple(each.name for each in lacking),
        )


class FoundCommit(NamedTuple):
    """A commit that a search found, the key of its repository, and in which release it was first."""

    repository: str
    commit: Commit
    released: Released = Released()
