"""Facts about Python modules from their whole files before and after a commit.

A fact is yielded only if both sides can be parsed and the thing cannot be found any more: neither under another binding
nor inherited. What only its own file uses is nobody else's break.
"""

from typing import NamedTuple

from analysis.facts.change import Change, is_module
from analysis.facts.whole_files.calls import UncalledMethods
from analysis.facts.whole_files.comparison import FileComparison, modules_of
from analysis.facts.whole_files.module import Class
from analysis.facts.whole_files.repository import Found, Revision
from analysis.facts.whole_files.uses import Uses, is_internal, without_lone_additions
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
_FIELDS = frozenset({FactKind.REMOVED_KEY, FactKind.RENAMED_KEY, FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD})
_MAX_FACTS = 100  # of one commit: a whole subsystem that goes


class FilesProof(NamedTuple):
    """What whole files prove: the facts, and the modules after the commit of the files that were compared."""

    facts: tuple[Fact, ...]
    after: Revision | None
    compared: frozenset[str]

    def replaces(self, file: FileChange, fact: Fact) -> bool:
        """Return whether the whole files override a fact of the patch: they decide facts of its kind, or its field is inherited."""
        if self.after is None or file.path not in self.compared:
            return False
        return fact.kind in _DECIDED or (fact.kind in _FIELDS and self._still_declared(file, fact.name))

    def _still_declared(self, file: FileChange, name: str) -> bool:
        owner, _, field = name.rpartition(".")
        module = self.after.module(file.path) if self.after else None
        found = module.members.get(owner) if module else None
        return bool(
            module and self.after and isinstance(found, Class) and self.after.declares(Found(module, found), field)
        )


UNREAD = FilesProof((), None, frozenset())


def compare(change: Change, trees: Trees) -> FilesProof:
    """Compare the commit's public Python files before and after; a file that cannot be parsed is left out."""
    before, after = Revision(trees.before), Revision(trees.after)
    uses = Uses(change)
    compared: set[str] = set()
    found: list[tuple[FileChange, Fact]] = []
    for file in change.commit.files:
        if file.status == "added" or not file.size or not is_module(file):
            continue
        if modules := modules_of(file, before, after):
            compared.add(file.path)
            comparison = FileComparison(change, file, before, after, *modules)
            changed = comparison.facts(uses)
            found += [(file, each) for each in changed if not is_internal(each, file, modules[0], uses)]
    facts = without_lone_additions(found, uses)
    facts += UncalledMethods(change, before, after, trees.after).facts(may_be_alone=not uses.alters_one_source)
    return FilesProof(tuple(facts[:_MAX_FACTS]), after, frozenset(compared))
