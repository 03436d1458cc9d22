"""What the rules look at: a commit, its files that others may depend on, and all the words that it adds."""

import re
from functools import cached_property

from analysis.diff import changed_lines
from analysis.models import Commit, FileChange
from analysis.paths import Kind, kind

_PUBLIC = (Kind.SOURCE, Kind.BUILD, Kind.DATA)
_WHERE_NAMES_LIVE = (Kind.SOURCE, Kind.BUILD, Kind.DATA, Kind.CI, Kind.EXAMPLE)
# Folders of a project's own machinery, and what an underscore or a dot hides.
_PRIVATE = re.compile(
    r"^(tools?|scripts?|hack|misc|utils/ci|csrc|cmake|build|packaging)/|(^|/)(_(?!_init__\.py)|\.)|^setup\.py$"
)
_TWICE = re.compile(r"\b(?:redundant|duplicat\w*)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")


class Change:
    """A commit, prepared once for all rules."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self.files = tuple(file for file in commit.files if file.patch and kind(file.path) in _PUBLIC)

    @cached_property
    def added(self) -> str:
        """All that the commit adds outside tests and documentation, where a name that moved would turn up."""
        return "\n".join(
            line.text
            for file in self.commit.files
            if kind(file.path) in _WHERE_NAMES_LIVE
            for line in changed_lines(file)
            if line.sign == "+"
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.added))

    @cached_property
    def loses_nothing(self) -> bool:
        """Whether the author says that what goes was there twice, which the diff need not show."""
        return bool(_TWICE.search(self.commit.subject))

    def adds(self, name: str) -> bool:
        """Whether an added line mentions the name: then it may only have moved."""
        return name in self._words if _WORD.fullmatch(name) else name in self.added

    @cached_property
    def losing(self) -> tuple[FileChange, ...]:
        """The files that were there before and lose lines: nothing else can take anything from others."""
        return tuple(file for file in self.files if file.status != "added" and "\n-" in (file.patch or ""))

    @cached_property
    def modules(self) -> tuple[FileChange, ...]:
        """The Python modules among them that others may import."""
        return tuple(file for file in self.losing if file.path.endswith((".py", ".pyi")) and is_public(file))


def is_public(file: FileChange) -> bool:
    """Whether others may depend on what the file defines, as far as its path tells."""
    path = old_path(file)
    return kind(path) is Kind.SOURCE and not _PRIVATE.search(path)


def old_path(file: FileChange) -> str:
    """Where the file was before: what is gone is found there."""
    return file.previous_path or file.path
