"""Upgrades: the changes between two upstream versions, grouped by their consequence for a downstream tree."""

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from analysis.locale import Language, Phrase
from analysis.models.commits import Repository
from analysis.models.consequences import Consequence
from analysis.models.facts import Fact
from analysis.models.frozen import Frozen
from analysis.models.impacts import Downstream, DownstreamImpacts
from analysis.models.reports import Entry, Failure


class UpgradeGroup(StrEnum):
    """The groups of an upgrade, the worst first. The values are part of the JSON report."""

    BREAKS_YOU = "breaks_you"
    BREAKING = "breaking"
    BEHAVIOUR = "behaviour"
    SECURITY = "security"
    ADDITIONS = "additions"


class PinKind(StrEnum):
    """Where a downstream tree pins an upstream version, what binds its users most first."""

    SUBMODULE = "submodule"
    REQUIREMENT = "requirement"
    COMMIT_FILE = "commit file"
    LOCK = "lock file"
    IMAGE = "image"
    WORKFLOW = "workflow"
    SCRIPT = "script"


class Pin(Frozen):
    """An upstream version that a downstream tree names: `ref` is the tag, version or SHA as it is written there.

    It is not `exact` where the tree asks for this version or a later one.
    """

    ref: str
    kind: PinKind
    path: str
    line: int | None = None
    exact: bool = True

    @property
    def place(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Pinned(Frozen):
    """The pin that an upgrade begins at, how many places name it, and the others, one of each other version.

    `url` is the address of its place; `missing` are pins that upstream has no such version for.
    """

    pin: Pin
    places: int = 1
    others: tuple[Pin, ...] = ()
    missing: tuple[Pin, ...] = ()
    url: str | None = None


class RangeEnd(Frozen):
    """One end of an upgrade: the tag, SHA, date or pin as it was named, and the commit that it stands for."""

    name: str
    sha: str


class Proposal(RangeEnd):
    """The release that a pin should name: the newest that breaks the fewest `places` of the downstream code, none at best."""

    places: int = 0


class UpgradeRow(Frozen):
    """A commit of an upgrade: `facts` are those that stand at its end, `found` what it breaks of downstream trees.

    `consequences` are those of the facts, in the language of the report.
    """

    entry: Entry
    facts: tuple[Fact, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    found: tuple[DownstreamImpacts, ...] = ()


class ReleaseNotes(Frozen):
    """A release of which an upgrade tells: its tag, date and page, and its highlights, what matters most first.

    These are those that its notes name and no group has, or its fixes without `notes`. `is_first` if there was none before.
    """

    tag: str
    date: AwareDatetime
    url: str = ""
    notes: bool = False
    highlights: tuple[UpgradeRow, ...] = ()
    is_first: bool = False


class UpgradeReport(Frozen, arbitrary_types_allowed=True):
    """What lies between two upstream revisions. Each commit is in one group, its worst; within a group the worst first.

    `commits` counts what is new at the end, also what is in no group. `picked` counts pull requests that the start already
    has on a branch of its own, which left the branch at `merge_base`. `reverted` counts commits that the range takes back,
    `ungrouped` those without a consequence that is worth telling.
    `unchecked` are downstream trees that could not be compared, with the reason. In the digest of a `release` what breaks
    the downstream code is that since its pin.
    """

    repository: Repository
    start: RangeEnd
    end: RangeEnd
    timezone: str
    language: Language
    pinned: Pinned | None = None
    release: ReleaseNotes | None = None
    merge_base: str | None = None
    commits: int = 0
    picked: int = 0
    reverted: int = 0
    ungrouped: int = 0
    groups: dict[UpgradeGroup, tuple[UpgradeRow, ...]] = Field(default={})
    downstreams: tuple[Downstream, ...] = ()
    unchecked: tuple[tuple[str, str | Phrase], ...] = ()
    proposal: Proposal | None = None
    failed: Annotated[tuple[Failure, ...], Field(description="commits that could not be read or compared")] = ()

    def group(self, group: UpgradeGroup) -> tuple[UpgradeRow, ...]:
        """Return the commits of a group."""
        return self.groups.get(group, ())
