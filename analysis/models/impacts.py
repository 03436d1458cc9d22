"""Impacts: where a commit breaks the code of a downstream repository."""

from datetime import date
from enum import StrEnum
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from analysis.locale import Language, Phrase
from analysis.models.commits import Repository
from analysis.models.frozen import Frozen
from analysis.models.reports import Entry, Failure


class Certainty(StrEnum):
    """Whether both sides prove an impact. The values are part of the JSON report."""

    PROVEN = "proven"
    LIKELY = "likely"


class ImpactKind(StrEnum):
    """What of the downstream code breaks. The values are part of the JSON report."""

    IMPORT = "import"
    CALL = "call"
    ATTRIBUTE = "attribute"
    OVERRIDE = "override"
    REQUIRED_METHOD = "required method"
    REPLACEMENT = "replaced function"


class Cause(StrEnum):
    """What the commit did to the name."""

    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    PARAMETER_REMOVED = "parameter removed"
    PARAMETER_RENAMED = "parameter renamed"
    PARAMETER_ADDED = "parameter added"
    PARAMETER_REQUIRED = "parameter required"
    POSITION_CHANGED = "position changed"
    FEWER_POSITIONS = "fewer positional parameters"
    RETURNS = "return type changed"
    RETYPED = "type changed"
    MAY_BE_NONE = "may be None"
    MADE_ABSTRACT = "made abstract"
    MADE_PROPERTY = "made a property"
    MADE_METHOD = "made a method"
    MADE_ASYNC = "made async"
    MADE_SYNC = "no longer async"
    NEWLY_USED = "newly used"
    MERGED = "merged"


class UpstreamPlace(Frozen):
    """The place in the upstream commit: `path` and `line` (from 1) before it, and the line's code before and after."""

    path: str
    line: int | None = None
    before: str | None = None
    after: str | None = None


class DownstreamPlace(Frozen):
    """The place in the downstream tree."""

    path: str
    line: int
    code: str


class Impact(Frozen):
    """A commit breaks a line of downstream code.

    `name` is the upstream name as it is imported; `subjects` are the parameters that the cause is about; `new` is what takes
    the place of either; `advice` the code to write instead of the line, which parses.
    """

    kind: ImpactKind
    certainty: Certainty
    cause: Cause
    name: str
    upstream: UpstreamPlace
    downstream: DownstreamPlace
    subjects: tuple[str, ...] = ()
    new: str | None = None
    advice: str | None = None

    @property
    def in_parent(self) -> bool:
        """Whether the upstream line is one of the commit's parent, rather than of the commit itself."""
        return self.cause not in _IN_COMMIT


_IN_COMMIT = (Cause.MADE_ABSTRACT, Cause.NEWLY_USED, Cause.MERGED)


class Downstream(Frozen):
    """A downstream tree as it was compared: `name` is owner/name[@ref], or the folder as it was given.

    `packages` are those of upstream; `uses` counts what its code uses of them. What could not be is named: Python files that do not parse, folders with a copy of upstream, submodules,
    and the number of other files that were not read. `files_url` is the address of its files as of `sha`, without a slash.
    """

    name: str
    repository: Repository | None = None
    sha: str | None = None
    files_url: str | None = None
    packages: tuple[str, ...]
    files: int
    python_files: int
    uses: int
    unparsed: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    unread: int = 0

    def url(self, place: DownstreamPlace) -> str | None:
        """Return the address of a place; None for a folder on disk."""
        if self.files_url is None:
            return None
        return f"{self.files_url}/{quote(place.path, errors='replace')}#L{place.line}"


class DownstreamImpacts(Frozen):
    """What a commit breaks of one downstream tree, what is proven first."""

    downstream: Downstream
    impacts: tuple[Impact, ...]


class CommitImpacts(Frozen):
    """A commit that breaks something, and what it breaks of each downstream tree."""

    entry: Entry
    found: tuple[DownstreamImpacts, ...]


class UnlistedDay(Frozen, arbitrary_types_allowed=True):
    """A day whose commits could not be listed, and why."""

    date: date
    reason: str | Phrase


class ImpactReport(Frozen):
    """What the commits of a period break of downstream trees; `period` are its days, or the commit's SHA.

    `commits` has those that break something, newest first, `compared` counts all that were compared. Of those that break
    nothing as far as is proven, `touching` has the SHAs of those that change modules from which the code imports.
    """

    repository: Repository
    period: str
    timezone: str
    language: Language
    downstreams: Annotated[tuple[Downstream, ...], Field(min_length=1)]
    compared: int
    commits: tuple[CommitImpacts, ...] = ()
    touching: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    unlisted: tuple[UnlistedDay, ...] = ()
