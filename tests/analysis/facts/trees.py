"""A commit of whole files: its trees, and the patches between them."""

from collections.abc import Mapping
from difflib import unified_diff

from analysis.models import Commit, FileChange, Trees
from tests.factories import commit, file

Files = Mapping[str, str]


class RecordedTree:
    """A tree of files in memory; it remembers what was read."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.read_paths: list[str] = []

    def read(self, path: str) -> str | None:
        self.read_paths.append(path)
        return self._files.get(path)


def trees(before: Files, after: Files) -> Trees:
    return Trees(RecordedTree(before), RecordedTree(after))


def commit_between(before: Files, after: Files, title: str = "Do it", **fields: str) -> Commit:
    """The commit that turns the files of one tree into those of another."""
    paths = sorted({*before, *after})
    return commit(title, [each for path in paths if (each := _change(path, before, after))], **fields)  # type: ignore[arg-type]


def _change(path: str, before: Files, after: Files) -> FileChange | None:
    old, new = before.get(path), after.get(path)
    if old == new:
        return None
    lines = unified_diff((old or "").splitlines(), (new or "").splitlines(), lineterm="", n=3)
    text = "\n".join(list(lines)[2:])
    return file(path, text, status="added" if old is None else "removed" if new is None else "modified")
