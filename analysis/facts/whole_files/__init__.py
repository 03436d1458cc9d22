"""Facts about Python modules from their whole files before and after a commit.

A fact is yielded only if both sides can be parsed and the thing cannot be found any more: neither under another binding
nor inherited. What only its own file uses is nobody else's break.
"""

from typing import NamedTuple

from analysis.facts.change import Change, is_module, old_path
from analysis.facts.whole_files.comparison import FileComparison
from analysis.facts.whole_files.relevance import may_change_interface
from analysis.facts.whole_files.repository import Revision
from analysis.facts.whole_files.uses import Uses, in_many_classes, is_internal
from analysis.models import Fact, FactKind, FileChange, Trees

__all__ = ["UNREAD", "FilesProof", "compare"]

# The kinds that whole files decide: where they can be read, the patch's facts of these kinds do not count.
_DECIDED = frozenset(
    {
        FactKind.REMOVED_NAME,
        FactKind.RENAMED_NAME,
        FactKind.MOVED_NAME,
        FactKind.REMOVED_PARAMETER,
        FactKind.RENAMED_PARAMETER,
        FactKind.REQUIRED_PARAMETER,
        FactKind.REQUIRED_METHOD,
    }
)
_MAX_FACTS = 100  # of one commit: a whole subsystem that goes


class FilesProof(NamedTuple):
    """What whole files prove: the facts, and the paths of the files that were compared."""

    facts: tuple[Fact, ...]
    compared: frozenset[str]

    def replaces(self, file: FileChange, fact: Fact) -> bool:
        """Return whether a fact of the file's patch gives way to what its whole versions prove."""
        if file.path not in self.compared:
            return False
        return fact.kind in _DECIDED


UNREAD = FilesProof((), frozenset())


def compare(change: Change, trees: Trees) -> FilesProof:
    """Compare the commit's public Python files before and after; a file that cannot be parsed is left undecided."""
    before, after = Revision(trees.before), Revision(trees.after)
    uses = Uses(change)
    compared: set[str] = set()
    found: list[Fact] = []
    for file in change.commit.files:
        if file.status == "added" or not file.size or not is_module(file):
            continue
        texts = before.text(old_path(file)), after.text(file.path)
        if all(text is not None for text in texts) and not may_change_interface(file, *map(str, texts)):
            compared.add(file.path)
            continue
        comparison = FileComparison(change, file, before, after, uses)
        if comparison.readable:
            compared.add(file.path)
            old = before.module(old_path(file))
            found += [each for each in comparison.facts() if old and not is_internal(each, old, uses)]
    interfaces = in_many_classes(found)
    found = [
        each
        for each in found
        if each.kind is not FactKind.ADDED_PARAMETER or each.name.rpartition(".")[2] in interfaces
    ]
    return FilesProof(tuple(found[:_MAX_FACTS]), frozenset(compared))
