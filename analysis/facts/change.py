"""The commit as context for the rules: its added and removed lines, and what each file may expose."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from analysis.facts.python.revision import Revision
from analysis.facts.syntax import Source
from analysis.models import Commit, FileChange, Trees
from analysis.paths import Kind, kind
from analysis.text import mentions

_SHIPPED_KINDS = (Kind.SOURCE, Kind.BUILD, Kind.DATA)
_DEFINING_KINDS = (Kind.SOURCE, Kind.BUILD, Kind.DATA, Kind.CI, Kind.EXAMPLE)
# Folders of a project's own tooling, and names that start with an underscore or a dot.
_TOOLING = re.compile(r"^(tools?|scripts?|hack|misc|utils/ci|csrc|cmake|build|packaging)/|(^|/)\.|^setup\.py$")
_UNDERSCORED = re.compile(r"(^|/)_(?!_init__\.py)")
_DUPLICATE = re.compile(r"\b(?:redundant|duplicat\w*)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")
_ADDED_NAME = re.compile(r"^\+(?:(?:async )?def |class )?(\w+)", re.MULTILINE)

Side = Literal["-", "+"]
SIDES: tuple[Side, Side] = ("-", "+")


class Sides(NamedTuple):
    """The Python files before and after a commit."""

    before: Revision
    after: Revision


class Change:
    """A commit, prepared once for all rules: its lines, and its Python files before and after it."""

    def __init__(self, commit: Commit, trees: Trees | None = None) -> None:
        self.commit = commit
        self._trees = trees
        self.whole = Sides(Revision(trees.before), Revision(trees.after)) if trees else None

    def sides(self, file: FileChange) -> Sides | None:
        """Return where a Python file is looked up before and after the commit; None if neither whole nor in a patch.

        It is looked up whole where both of its sides can be read and parsed, else as far as the patches show it.
        """
        if not file.path.endswith((".py", ".pyi")):
            return None
        if self.whole:
            read_before = file.status == "added" or self.whole.before.module(old_path(file))
            if read_before and (file.status == "removed" or self.whole.after.module(file.path)):
                return self.whole
        return self._patched if file.patch else None

    def source(self, file: FileChange, side: Side) -> Source | None:
        """Return one side of a Python file, parsed; None if there is none, or it cannot be parsed."""
        sides = self.sides(file)
        if sides is None:
            return None
        return sides.before.source(old_path(file)) if side == "-" else sides.after.source(file.path)

    @cached_property
    def _patched(self) -> Sides:
        files = [file for file in self.commit.files if file.path.endswith((".py", ".pyi")) and file.patch]
        before = {old_path(file): file.patch or "" for file in files}
        after = {file.path: file.patch or "" for file in files if file.status != "removed"}
        return Sides(Revision(None, patches=before, side="-"), Revision(None, patches=after))

    def read_before(self, path: str) -> str | None:
        """Return a whole file before the commit; None if it cannot be read."""
        return self._trees.before.read(path) if self._trees else None

    def read_after(self, path: str) -> str | None:
        """Return a whole file after the commit; None if it cannot be read."""
        return self._trees.after.read(path) if self._trees else None

    @cached_property
    def added_lines(self) -> str:
        """Return all added lines of the commit, in any file."""
        return "\n".join(line for file in self.commit.files for line in _lines_with_sign(file, "+"))

    @cached_property
    def removed_lines(self) -> str:
        """Return all removed lines of the commit, in any file."""
        return "\n".join(line for file in self.commit.files for line in _lines_with_sign(file, "-"))

    @cached_property
    def added(self) -> str:
        """Return the added lines outside tests and documentation, where a moved name would reappear."""
        lines = (_lines_with_sign(file, "+") for file in self.commit.files if kind(file.path) in _DEFINING_KINDS)
        return "\n".join(line for some in lines for line in some)

    @cached_property
    def modules_by_added_name(self) -> dict[str, list[FileChange]]:
        """The public modules with an added line that begins with a name, or with the head of its definition."""
        found: dict[str, list[FileChange]] = {}
        for file in filter(is_module, self.commit.files):
            for name in dict.fromkeys(_ADDED_NAME.findall(file.patch or "")):
                found.setdefault(name, []).append(file)
        return found

    @cached_property
    def removes_only_duplicates(self) -> bool:
        """Return whether the title calls the removed code a duplicate, which the diff need not show."""
        return bool(_DUPLICATE.search(self.commit.subject))

    def adds(self, name: str) -> bool:
        """Return whether an added line mentions the name, which may then only have moved."""
        if _WORD.fullmatch(name):
            return name in self._added_words
        return mentions(self.added, name)

    @cached_property
    def _added_words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.added))


def is_shipped(file: FileChange) -> bool:
    """Return whether the file is shipped to users and its patch is available."""
    return bool(file.patch) and kind(file.path) in _SHIPPED_KINDS


def removes_lines(file: FileChange) -> bool:
    """Return whether an existing file loses lines; only such a file can remove anything."""
    return is_shipped(file) and file.status != "added" and "\n-" in (file.patch or "")


def is_public(file: FileChange) -> bool:
    """Return whether others may depend on what the file defines, judging by its path."""
    return is_product(file) and not _UNDERSCORED.search(old_path(file))


def is_shared(file: FileChange) -> bool:
    """Return whether a file is a Python module that only its name calls private, so that other packages may use it."""
    folder, _, name = old_path(file).rpartition("/")
    return name.startswith("_") and name.endswith(".py") and is_product(file) and not _UNDERSCORED.search(folder)


def is_product(file: FileChange) -> bool:
    """Return whether the file is source of the product, rather than of the project's own tooling."""
    path = old_path(file)
    return kind(path) is Kind.SOURCE and not _TOOLING.search(path)


def is_module(file: FileChange) -> bool:
    """Return whether the file is a public Python module."""
    return file.path.endswith((".py", ".pyi")) and is_public(file)


def old_path(file: FileChange) -> str:
    """Return the file's path before the commit, where removed names are located."""
    return file.previous_path or file.path


def _lines_with_sign(file: FileChange, sign: str) -> Iterator[str]:
    return (line[1:] for line in (file.patch or "").split("\n") if line.startswith(sign))
