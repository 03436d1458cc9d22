"""The context of a rule besides the file it looks at: the commit, and all words that it adds."""

import re
from collections.abc import Iterator
from functools import cached_property

from analysis.models import Commit, FileChange
from analysis.paths import Kind, kind

_SHIPPED = (Kind.SOURCE, Kind.BUILD, Kind.DATA)
_WHERE_NAMES_LIVE = (Kind.SOURCE, Kind.BUILD, Kind.DATA, Kind.CI, Kind.EXAMPLE)
# Folders of a project's own machinery, and what an underscore or a dot hides.
_PRIVATE = re.compile(
    r"^(tools?|scripts?|hack|misc|utils/ci|csrc|cmake|build|packaging)/|(^|/)(_(?!_init__\.py)|\.)|^setup\.py$"
)
_DEFINES = re.compile(
    r"^-(?:\s*(?:async |def |class |export |pub |func |type |@)| {0,4}[A-Za-z][\w.-]*\s*[:=\s]|\s{0,4}[\"'])",
    re.MULTILINE,
)
_TWICE = re.compile(r"\b(?:redundant|duplicat\w*)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")


class Change:
    """A commit, prepared once for all rules. Lines are taken from the patches as they are, which costs next to nothing."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit

    @cached_property
    def gained(self) -> str:
        """Every line that comes, whatever file it is in."""
        return "\n".join(line for file in self.commit.files for line in _lines(file, "+"))

    @cached_property
    def lost(self) -> str:
        """Every line that goes."""
        return "\n".join(line for file in self.commit.files for line in _lines(file, "-"))

    @cached_property
    def added(self) -> str:
        """All that the commit adds outside tests and documentation, where a name that moved would turn up."""
        lines = (_lines(file, "+") for file in self.commit.files if kind(file.path) in _WHERE_NAMES_LIVE)
        return "\n".join(line for some in lines for line in some)

    @cached_property
    def loses_nothing(self) -> bool:
        """Whether the author says that what goes was there twice, which the diff need not show."""
        return bool(_TWICE.search(self.commit.subject))

    def adds(self, name: str) -> bool:
        """Whether an added line mentions the name: then it may only have moved."""
        if _WORD.fullmatch(name):
            return name in self._words
        return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.added))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.added))


def is_shipped(file: FileChange) -> bool:
    """Whether the file is part of what people get, and its patch is here."""
    return bool(file.patch) and kind(file.path) in _SHIPPED


def loses(file: FileChange) -> bool:
    """Whether it was there before and loses lines: nothing else can take anything from others."""
    return is_shipped(file) and file.status != "added" and "\n-" in (file.patch or "")


def undefines(file: FileChange) -> bool:
    """Whether a line goes that may have defined something others see: most patches have none, and need not be read."""
    return loses(file) and bool(_DEFINES.search(file.patch or ""))


def is_public(file: FileChange) -> bool:
    """Whether others may depend on what the file defines, as far as its path tells."""
    path = old_path(file)
    return kind(path) is Kind.SOURCE and not _PRIVATE.search(path)


def is_module(file: FileChange) -> bool:
    """Whether it is a Python module that others may import."""
    return file.path.endswith((".py", ".pyi")) and is_public(file)


def old_path(file: FileChange) -> str:
    """Where the file was before: what is gone is found there."""
    return file.previous_path or file.path


def _lines(file: FileChange, sign: str) -> Iterator[str]:
    return (line[1:] for line in (file.patch or "").split("\n") if line.startswith(sign))
