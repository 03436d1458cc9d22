"""Users of a changed definition, as far as the commit shows them: other files, other classes, or only its own file.

A commit leaves its repository consistent: where a definition is gone or is called otherwise, the files that use it had
to change with it. What no other file had to follow, and its own file uses, is an internal of that file.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from analysis.facts.change import Change
from analysis.facts.python.module import Module
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

    @cached_property
    def _changed(self) -> dict[str, dict[str, frozenset[str]]]:
        """The words of each source file's removed lines and of its added ones."""
        sources = (file for file in self._files if kind(file.path) is Kind.SOURCE)
        return {file.path: {sign: _words(file, sign) for sign in "-+"} for file in sources}

    def mentioned_elsewhere(self, name: str, file: FileChange, signs: str) -> bool:
        """Return whether a removed or an added line of another source file mentions a name."""
        others = (words for path, words in self._changed.items() if path != file.path)
        return any(name in words[sign] for words in others for sign in signs)

    def used_beyond_folder(self, name: str, file: FileChange) -> bool:
        """Return whether a source file of another folder stops mentioning a name."""
        folder = file.path.rpartition("/")[0]
        others = (words for path, words in self._changed.items() if path.rpartition("/")[0] != folder)
        return any(name in words["-"] for words in others)

    def imported_elsewhere(self, name: str, file: FileChange) -> bool:
        """Return whether another file of the commit stops importing a name."""
        return any(name in words for path, words in self._imported.items() if path != file.path)


def _words(file: FileChange, sign: str) -> frozenset[str]:
    lines = (line for line in (file.patch or "").split("\n") if line.startswith(sign))
    return frozenset(_WORD.findall("\n".join(lines)))


def is_internal(fact: Fact, file: FileChange, module: Module, uses: Uses) -> bool:
    """Return whether only its own file uses what changed.

    So it is if no other source file changes, and the definition is used in the rest of the file or is private. What was
    marked as deprecated was everybody's. An attribute that is assigned, not declared, is state of its file if it is
    read there, and no other source stops mentioning it.
    """
    if fact.kind is FactKind.REMOVED_ATTRIBUTE and _is_passed(fact, module):
        return False
    if fact.kind is FactKind.REMOVED_ATTRIBUTE and _is_state(fact, file, module, uses):
        return True
    above = module.lines[max((fact.line or 1) - 1 - _DECORATORS, 0) : fact.line]
    if not uses.alters_one_source or any(map(_DEPRECATED.match, above)):
        return False
    names = fact.name.partition("(")[0].split(".")
    private = any(_PRIVATE.match(name) for name in names)
    return private or module.uses_beside(names[0])


def _is_passed(fact: Fact, module: Module) -> bool:
    """Return whether an attribute is what its constructor is given under the same name."""
    name = re.escape(fact.name.rpartition(".")[2])
    return bool(re.match(rf"\s*self\.{name}\b[^=]*=\s*{name}\b", module.lines[(fact.line or 1) - 1]))


def _is_state(fact: Fact, file: FileChange, module: Module, uses: Uses) -> bool:
    name = fact.name.rpartition(".")[2]
    line = module.lines[(fact.line or 1) - 1].strip()
    by_method = line.startswith("self.")
    if not by_method and not re.match(rf"{re.escape(name)}\s*=", line):
        return False
    return module.reads(name, in_body=not by_method) and not uses.mentioned_elsewhere(name, file, "-")


def without_lone_additions(found: Sequence[tuple[FileChange, Fact]], uses: Uses) -> list[Fact]:
    """Leave out the new parameters of a method that is no interface, which each implementation has to follow.

    It is one if several classes gain the parameter, and not all in the only source that mentions the method; and so is
    `__post_init__`, which has to follow its base's.
    """
    gained: dict[str, list[FileChange]] = {}
    for file, fact in found:
        if fact.kind is FactKind.ADDED_PARAMETER:
            gained.setdefault(_method_of(fact), []).append(file)

    def is_interface(fact: Fact) -> bool:
        method = _method_of(fact)
        files = gained[method]
        if method.startswith("__post_init__("):
            return True
        everywhere = len({file.path for file in files}) > 1
        return len(files) > 1 and (everywhere or uses.mentioned_elsewhere(method.partition("(")[0], files[0], "-+"))

    return [fact for _, fact in found if fact.kind is not FactKind.ADDED_PARAMETER or is_interface(fact)]


def with_overrides(found: Sequence[Fact]) -> list[Fact]:
    """Mark the facts about a private method's parameters that change alike in several classes: it is there to be overridden."""
    classes: dict[tuple[FactKind, str], set[str]] = {}
    for fact in found:
        classes.setdefault((fact.kind, _method_of(fact)), set()).add(fact.name.rpartition(".")[0])
    return [
        fact.model_copy(update={"overridden": True})
        if _PRIVATE.match(_method_of(fact)) and "(" in fact.name and len(classes[fact.kind, _method_of(fact)]) > 1
        else fact
        for fact in found
    ]


def _method_of(fact: Fact) -> str:
    return fact.name.rpartition(".")[2]
