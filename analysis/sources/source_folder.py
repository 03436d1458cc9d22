"""A folder on disk with the files of a repository, read as they are: git never runs there, and no link is followed."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.paths import path_patterns
from analysis.sources.git.objects import MAX_FILE, is_binary

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MOST_ENTRIES = 300_000  # visited
_MAX_DEPTH = 60  # folders
_MAX_IGNORE = 200_000  # bytes of a .gitignore
_MADE = ("__pycache__", "node_modules", "site-packages")  # by a program, wherever they are
_MADE_AT_ROOT = ("build", "dist")
_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")  # of a folder that a program made


class FolderListing(NamedTuple):
    """The paths of a folder's files, sorted, and those of the repositories in it."""

    files: tuple[str, ...]
    repositories: tuple[str, ...]


class SourceFolder:
    """A folder of source files. Hidden, ignored and installed files, links and other repositories in it are left out."""

    def __init__(self, path: Path) -> None:
        self._root = path
        self._visited = 0
        self._places: dict[str, Path] = {}
        self._repositories: list[str] = []

    def list_files(self) -> FolderListing:
        """List the files. Raise `Misuse` if there is no such folder, if it is empty, or if it has too many."""
        if not self._root.is_dir():
            raise Misuse(Phrase("folder {folder} does not exist", folder=str(self._root)))
        try:
            self._visit(self._root, "", [], 0)
        except OSError as exc:
            raise Misuse(
                Phrase("{folder} cannot be read ({reason})", folder=str(self._root), reason=exc.strerror or "")
            ) from exc
        if not self._places:
            raise Misuse(Phrase("the folder {folder} has no files to read", folder=str(self._root)))
        return FolderListing(tuple(sorted(self._places)), tuple(sorted(self._repositories)))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the path and text of each file; no text of one that is binary, too large or not readable."""
        for path in paths:
            yield path, _text(self._places[path])

    def _visit(self, folder: Path, path: str, ignoring: list[tuple[str, "GitIgnoreSpec"]], depth: int) -> None:
        own = [*ignoring, *((path, spec) for spec in _ignored(folder))]
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            self._visited += 1
            if self._visited > _MOST_ENTRIES:
                raise Misuse(
                    Phrase("{folder} has too many files; name the folder of one repository", folder=str(self._root))
                )
            inner = path + os.fsencode(entry.name).decode("utf-8", "replace")
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(".") or _is_ignored(inner + "/" * is_folder, own):
                continue
            if entry.is_file(follow_symlinks=False):
                self._places[inner] = Path(entry.path)
            elif is_folder and depth < _MAX_DEPTH and not _is_made(entry, depth):
                if os.path.lexists(Path(entry.path, ".git")):
                    self._repositories.append(inner)
                elif os.access(entry.path, os.R_OK | os.X_OK):
                    self._visit(Path(entry.path), f"{inner}/", own, depth + 1)


def _ignored(folder: Path) -> Iterator["GitIgnoreSpec"]:
    place = folder / ".gitignore"
    if place.is_file() and not place.is_symlink() and place.stat().st_size <= _MAX_IGNORE:
        lines = place.read_text("utf-8", "replace").splitlines()
        yield path_patterns(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        path_patterns([line])
    except ValueError:  # git ignores what is no pattern
        return False
    return True


def _is_ignored(path: str, ignoring: Sequence[tuple[str, "GitIgnoreSpec"]]) -> bool:
    """Return whether the innermost .gitignore with a matching pattern ignores the path."""
    for base, spec in reversed(ignoring):
        found = spec.check_file(path.removeprefix(base)).include
        if found is not None:
            return found
    return False


def _is_made(entry: os.DirEntry[str], depth: int) -> bool:
    """Return whether a folder is generated: an environment, a cache, a build or an installation."""
    if entry.name in _MADE or entry.name.endswith(".egg-info") or (depth == 0 and entry.name in _MADE_AT_ROOT):
        return True
    return any(Path(entry.path, mark).exists() for mark in _MARKS)


def _text(place: Path) -> str | None:
    try:
        # A file that was replaced by a link or a pipe meanwhile is neither followed nor waited for.
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(MAX_FILE + 1)
    except OSError:
        return None
    return None if len(content) > MAX_FILE or is_binary(content) else content.decode("utf-8", "replace")
