"""Compatibility of a downstream tree with upstream's releases: where its code has no proven break, and what breaks beside that."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from analysis.locale import Language
from analysis.models.commits import Commit, Repository
from analysis.models.frozen import Frozen
from analysis.models.impacts import Downstream, Impact
from analysis.models.upgrades import Pinned, RangeEnd


class VersionBreak(Frozen):
    """A line of downstream code that fails at an upstream version, and that another version is right for.

    `early` is true if that is a later version: what the code needs is not there yet. The upstream place of the impact is one of
    the version that is right.
    """

    impact: Impact
    early: bool = False

    @property
    def line(self) -> tuple[str, int]:
        """The downstream path, and the number of the line."""
        return self.impact.downstream.path, self.impact.downstream.line


class Version(RangeEnd):
    """An upstream version that downstream code was compared with: a release, the pinned commit, or the branch's head."""

    date: AwareDatetime
    is_release: bool = True
    breaks: tuple[VersionBreak, ...] = ()

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """The downstream lines that fail."""
        return frozenset(each.line for each in self.breaks)


class NearestBreak(Frozen):
    """What breaks next to the range: `version` is the nearest that does, `breaks` are those of its single `commit` nearest to it.

    If no single commit was found, they are all those that the range does not have.
    """

    version: Version
    breaks: tuple[VersionBreak, ...]
    commit: Commit | None = None


class UnseenName(Frozen):
    """An upstream name that a line of downstream code uses, and that no version has as far as its files tell."""

    name: str
    path: str
    line: int


class CompatibilityReport(Frozen):
    """Between which upstream versions a downstream tree has no proven break, or the fewest.

    `versions` are those that were looked at, the oldest first; none if upstream has no release. `first` and `last` count the
    range among them. Code of tests, examples and documentation was not compared. `older` counts releases before those.
    """

    repository: Repository
    downstream: Downstream
    language: Language
    checked_at: AwareDatetime
    versions: tuple[Version, ...] = ()
    first: int = 0
    last: int = 0
    before: NearestBreak | None = None
    after: NearestBreak | None = None
    pinned: Pinned | None = None
    pinned_sha: str | None = None
    older: int = 0
    unseen: Annotated[tuple[UnseenName, ...], Field(description="names that no version has")] = ()
    unknown: Annotated[int, Field(description="uses that could not be followed to a definition")] = 0
    guarded: int = 0

    @property
    def within(self) -> tuple[Version, ...]:
        """The versions without a further break."""
        return self.versions[self.first : self.last + 1]

    @property
    def range(self) -> tuple[Version, ...]:
        """The releases without a further break; other versions if there are none."""
        return tuple(each for each in self.within if each.is_release) or self.within

    @property
    def failing(self) -> tuple[VersionBreak, ...]:
        """What fails at the versions of the range as well."""
        return min((each.breaks for each in self.within), key=len, default=())

    @property
    def newest(self) -> Version | None:
        """The newest release that was looked at."""
        return next((each for each in reversed(self.versions) if each.is_release), None)

    @property
    def pinned_version(self) -> Version | None:
        """What the pin stands for."""
        return next((each for each in self.versions if each.sha == self.pinned_sha), None)

    @property
    def agrees(self) -> bool | None:
        """Whether the pinned version is within the range; None without a pin."""
        found = self.pinned_version
        return None if found is None else found in self.within
