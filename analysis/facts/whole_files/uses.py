"""Users of what a commit changed, as far as the commit shows them: other files, other classes, or only its own file.

A commit leaves its repository consistent: where a definition is gone or is called otherwise, the files that use it had
to change with it. What no other file had to follow, and its own file uses, is an internal of that file.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from analysis.facts.change import Change
from analysis.facts.whole_files.module import Module
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_PRIVATE = re.compile(r"_(?!_)")
_WORD = re.compile(r"\w+")
_DEPRECATED = re.compile(r"\s*@.*\bdeprecat")
_DECORATORS = 3  # lines above a definition in which one says that it is deprecated
_IMPORTED = re.compile(r"^-\s*(?:from\s.*\bimport\b|import\b).*|^-\s+\w+,$", re.MULTILINE)


class Uses:
    """The words of a commit's patches, file by file."""

    def __init__(self, change: Change) -> None:
        self._files = change.commit.files

    @cached_property
    def alters_one_source(self) -> bool:
        return sum(kind(file.path) is Kind.SOURCE for file in self._files) == 1

    @cached_property
    def _imported(self) -> dict[str, frozenset[str]]:
        return {
            file.path: frozenset(_WORD.findall(" ".join(_IMPORTED.findall(file.patch or "")))) for file in self._files
        }

    def imported_elsewhere(self, name: str, file: FileChange) -> bool:
        """Return whether another file of the commit stops importing a name."""
        return any(name in words for path, words in self._imported.items() if path != file.path)


def is_internal(fact: Fact, module: Module, uses: Uses) -> bool:
    """Return whether only its own file uses what changed.

    So it is if no other source file changes, and the definition is used in the rest of the file or is private. What was
    marked as deprecated was everybody's.
    """
    above = module.lines[max((fact.line or 1) - 1 - _DECORATORS, 0) : fact.line]
    if not uses.alters_one_source or any(map(_DEPRECATED.match, above)):
        return False
    names = fact.name.partition("(")[0].split(".")
    private = any(_PRIVATE.match(name) for name in names)
    return private or module.uses_beside(names[0])


def without_lone_additions(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out the new parameters of a method that no other class gained: those that several gained at once are
    an interface, which each implementation has to follow.
    """
    counts = Counter(_method_of(each) for each in facts if each.kind is FactKind.ADDED_PARAMETER)
    return [each for each in facts if each.kind is not FactKind.ADDED_PARAMETER or counts[_method_of(each)] > 1]


def _method_of(fact: Fact) -> str:
    return fact.name.rpartition(".")[2]
