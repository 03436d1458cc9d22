"""The files of a repository as of a commit, whole: what a patch does not show."""

from typing import NamedTuple, Protocol


class Tree(Protocol):
    """The files of one revision."""

    def read(self, path: str) -> str | None:
        """Return a file's text; None if there is no such file, or if it is binary, too large or cannot be read."""


class Trees(NamedTuple):
    """The files before a commit, which are its first parent's, and after it."""

    before: Tree
    after: Tree
