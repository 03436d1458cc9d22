"""Users of a changed definition, as far as the commit shows them: other files, other classes, or only its own file.

A commit leaves its repository consistent: where a definition is gone or is called otherwise, the files that use it had
to change with it. What no other file had to follow, and its own file uses, is an internal of that file.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.diff import changed_lines
from analysis.facts.change import Change, Sides, is_module, old_path
from analysis.facts.whole_files.module import Class, Function, Module
from analysis.facts.whole_files.repository import Found
from analysis.models import Fact, FactKind, FileChange, Proof, Tree
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
    if fact.kind is FactKind.REMOVED_ATTRIBUTE and _is_state(fact, file, module, uses):
        return True
    above = module.lines[max((fact.line or 1) - 1 - _DECORATORS, 0) : fact.line]
    if not uses.alters_one_source or any(map(_DEPRECATED.match, above)):
        return False
    names = fact.name.partition("(")[0].split(".")
    private = any(_PRIVATE.match(name) for name in names)
    return private or module.uses_beside(names[0])


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


def _method_of(fact: Fact) -> str:
    return fact.name.rpartition(".")[2]


_CALL = re.compile(r"(?<!super\(\))\.(_?[A-Za-z]\w*)\(")
_DEFINITION = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)\(", re.MULTILINE)
# Of any other decorator the method may be called by what it registers it with.
_PLAIN_DECORATORS = frozenset({"abstractmethod", "classmethod", "staticmethod", "override", "final"})
_MENTION = re.compile(r"(?<!\bdef )\b\w+")
_MAX_FILES = 200  # of a commit; one that changes more reformats
_MAX_NAMES = 20  # of one commit, each a search of the tree


def uncalled_methods(change: Change, tree: Tree) -> Iterator[Fact]:
    """Yield the methods of public classes that a commit's changed modules define and that nothing calls any more."""
    if change.whole:
        changed = sum(kind(file.path) is Kind.SOURCE for file in change.commit.files)
        yield from _UncalledMethods(change, change.whole, tree).facts(may_be_alone=changed != 1)


class _Call(NamedTuple):
    """A removed line that calls a method; the path and the line are those before the commit."""

    path: str
    line: int


class _Mentions(NamedTuple):
    """How often a method is defined in some sources, and whether they mention it in any other way."""

    definitions: int
    others: bool


class _UncalledMethods:
    """The methods that a commit's changed modules define and that nothing in its tree calls any more."""

    def __init__(self, change: Change, sides: Sides, tree: Tree) -> None:
        self._files = [file for file in change.commit.files if is_module(file)]
        self._before, self._after = sides
        self._tree = tree

    def facts(self, *, may_be_alone: bool) -> Iterator[Fact]:
        """Yield such methods; a fact's place is a call that the commit removes.

        A public method counts only if it is overridden, since programs call it, too; a private one that is not may be a
        detail of its file, and counts only if other sources change with it.
        """
        calls = self._removed_calls()
        candidates = [name for name in self._defined(calls) if not self._mentions(name, self._changed_texts()).others]
        for name in candidates[:_MAX_NAMES]:
            found = self._everywhere(name)
            overridable = found and (found.definitions > 1 or (may_be_alone and name.startswith("_")))
            owner = self._owner(name) if found and not found.others and overridable else None
            if owner and not owner.member.name.startswith("_"):
                full_name, (path, line) = f"{owner.member.name}.{name}", calls[name]
                yield Fact(kind=FactKind.UNCALLED_METHOD, name=full_name, path=path, line=line, proof=Proof.FILES)

    def _removed_calls(self) -> dict[str, _Call]:
        """Return the first removed call of each method that no added line of its file mentions but to define it."""
        found: dict[str, _Call] = {}
        for file in self._files if len(self._files) <= _MAX_FILES else ():
            names = _names_no_longer_called(file)
            for line in changed_lines(file, "-") if names else ():
                for name in names.intersection(_CALL.findall(line.text.partition("#")[0])):
                    found.setdefault(name, _Call(old_path(file), line.number))
        return found

    def _changed_texts(self) -> Iterator[str]:
        left = (file for file in self._files if file.status != "removed")
        return filter(None, (self._after.text(file.path) for file in left))

    def _defined(self, calls: dict[str, _Call]) -> list[str]:
        """Return the called methods that the changed modules still define."""
        if not calls:
            return []
        return sorted({name for text in self._changed_texts() for name in _DEFINITION.findall(text) if name in calls})

    def _mentions(self, name: str, texts: Iterator[str]) -> _Mentions:
        word = re.compile(rf"(super\(\)\.|def[ \t]+)?\b{name}\b")
        prefixes = [
            match[1]
            for text in texts
            for line in text.split("\n")
            if name in line
            for match in word.finditer(line.partition("#")[0])
        ]
        definitions = sum((each or "").startswith("def") for each in prefixes)
        return _Mentions(definitions, not all(prefixes))

    def _everywhere(self, name: str) -> _Mentions | None:
        """Return a method's mentions in the whole tree, of a public one in tests, too; None if they are unknown."""
        paths = self._tree.paths_with(name)
        if paths is None:
            return None
        counted = [each for each in paths if not name.startswith("_") or kind(each) is Kind.SOURCE]
        return self._mentions(name, filter(None, map(self._tree.read, counted)))

    def _owner(self, name: str) -> Found[Class] | None:
        """Return the class that defines a method first, before the commit as well; None if others may call it there."""
        for file in self._files:
            module = self._after.module(file.path) if file.status != "removed" else None
            for each in module.members.values() if module else ():
                if module and isinstance(each, Class) and name in each.members and self._was_there(file, each, name):
                    return self._first(Found(module, each), name)
        return None

    def _was_there(self, file: FileChange, owner: Class, name: str) -> bool:
        old: Module | None = self._before.module(old_path(file))
        before = old.members.get(owner.name) if old else None
        return isinstance(before, Class) and name in before.members

    def _first(self, owner: Found[Class], name: str) -> Found[Class] | None:
        """Return the topmost class that defines a method; None if a class outside the repository may."""
        first = owner
        for above in self._after.bases(owner):
            if above is None:
                return None
            if name in above.member.members:
                first = above
        method = first.member.members[name]
        if not isinstance(method, Function) or self._after.inherits_from_library(owner, name):
            return None
        plain = all(each.partition("(")[0].rpartition(".")[2] in _PLAIN_DECORATORS for each in method.decorators)
        return first if plain else None


def _names_no_longer_called(file: FileChange) -> set[str]:
    """Return the methods that removed lines call and that no added line mentions but to define them."""
    lines = (file.patch or "").split("\n")
    called = {name for line in lines if line.startswith("-") for name in _CALL.findall(line)}
    mentioned = {name for line in lines if line.startswith("+") for name in _MENTION.findall(line)} if called else set()
    return called - mentioned
