"""The net impacts of a range of commits on a surface: uses that no longer fit at its end, and the commits that broke them.

Every use is looked up at both ends, so that what one commit breaks and another mends is no impact of the range. Only the
commits that touch what a broken use relies on are then compared one by one.
"""

import re
from collections.abc import Mapping, Sequence

from analysis.facts.change import old_path
from analysis.facts.python.revision import Revision
from analysis.impact.matching import MAX_CHARACTERS, impacts, worst_first
from analysis.impact.matching.broken_uses import Matching, inherited_abstract_methods
from analysis.impact.matching.changes import ChangedNames, Successors
from analysis.impact.matching.upstream import Upstream
from analysis.impact.surface.model import DownstreamLine, SurfaceIndex
from analysis.models import Commit, Fact, Trees
from analysis.models.impacts import Impact

_DEFINED = r"^-\s*(?:(?:async )?def |class )(?:{0})\b|^-\s*(?:self\.)?(?:{0})\s*[:=]"


class NetImpacts:
    """The impacts of a whole range on a surface: of Python code exactly those that stand at its end."""

    def __init__(self, trees: Trees, index: SurfaceIndex, roots: Mapping[str, str]) -> None:
        """Compare the ends of a range of commits, given the trees before and after it."""
        revisions = [Revision(tree, MAX_CHARACTERS) for tree in trees]
        before, after = (Upstream(each, roots, index.surface.subclasses) for each in revisions)
        matching = Matching(before, after, Successors((), (), before, after), None, index)
        subclasses = index.surface.subclasses.values()
        abstract = frozenset(name for each in subclasses for name in inherited_abstract_methods(after, each))
        names = frozenset(name for each in index.surface.uses for name in each.target)
        found = worst_first(matching.impacts(ChangedNames(names, abstract)), index)
        self._lines = frozenset(map(line_of, found))
        self._paths = {each.upstream.path for each in found}
        self._packages = tuple(path.removesuffix("__init__.py") for path in self._paths if path.endswith("__init__.py"))
        last_names = sorted({each.name.rpartition(".")[2] for each in found})
        self._definition = re.compile(_DEFINED.format("|".join(map(re.escape, last_names)) or r"\Z."), re.MULTILINE)
        self._index = SurfaceIndex(index.surface, self._lines)
        self._roots = roots

    def impacts_of(self, commit: Commit, trees: Trees, facts: Sequence[Fact]) -> tuple[Impact, ...]:
        """Return what a commit of the range, with its patches, breaks that is still broken at the end; ask for the oldest first."""
        if not self._may_break(commit):
            return ()
        found = impacts(commit, trees, self._index, self._roots, facts)
        return tuple(each for each in found if line_of(each) in self._lines)

    def _may_break(self, commit: Commit) -> bool:
        self._paths |= {each.path for each in commit.files if each.previous_path in self._paths}  # it can break there
        return any(
            file.path in self._paths
            or (file.status != "modified" and old_path(file).startswith(self._packages))
            or bool(self._definition.search(file.patch or ""))
            for file in commit.files
            if file.status != "added"
        )


def line_of(impact: Impact) -> DownstreamLine:
    return impact.downstream.path, impact.downstream.line
