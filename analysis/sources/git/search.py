"""A search in the files of a commit, by `git grep`, and for the commits whose diffs show a symbol."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.sources.git.errors import GitFailed
from analysis.sources.git.history import Commits
from analysis.sources.git.objects import NO_LINES, Objects, text

_PER_FILE = 20  # matches
_GREP = ("grep", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1")
_ROW = re.compile(rb"[0-9a-f]{40}:([^\0]+)\0(\d+)\0[^\n]*\n")
_INVALID = "fatal: -e option"  # what git begins with when it cannot compile an expression
_NO_MATCH = 1  # git's status, also where it could not read a file
_UNREAD = re.compile(r"'[0-9a-f]{40}:(.+)': unable to read")
_FILES = 2  # whose history is searched
_COMMITS = 20  # that touch it in each, and in all
_DEFINED = r"(def|class)[[:space:]]+{name}[(:]|^[[:space:]]*{name}[[:space:]]*:"  # a POSIX extended expression


def matches(
    objects: Objects, commit: str, what: str, *, regex: bool, folders: Sequence[str] = (), suffixes: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """Yield path and line of each line with a text, or a POSIX extended expression, counted from 1, at most 20 a file.

    Searched are the files in some folders (or single files), or with some endings, or all; they must have been fetched.
    Raise `Misuse` for an invalid expression.
    """
    names = [_literal(folder.strip("/")) for folder in folders]
    paths = [*names, *(f"{name}/**" for name in names), *_with_endings(suffixes)]
    try:
        output = _grep(
            objects, "-n", "-E" if regex else "-F", f"--max-count={_PER_FILE}", "-e", what, commit, "--", *paths
        )
    except GitFailed as exc:
        if regex and _INVALID in exc.words:
            raise Misuse(
                Phrase("{text!r} is not a valid regular expression; escape special characters", text=what)
            ) from exc
        raise
    for match in _ROW.finditer(output):
        yield text(match[1]), int(match[2])


def paths_with(objects: Objects, commit: str, word: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield the paths of a commit's files that contain a word and have one of the endings. They must have been fetched."""
    output = _grep(objects, "-l", "-F", "-w", "-e", word, commit, "--", *_with_endings(suffixes))
    for row in output.split(b"\0")[:-1]:
        yield text(row.partition(b":")[2])


def _grep(objects: Objects, *arguments: str) -> bytes:
    """Return what `git grep` prints; nothing if there is no match in files that could all be read."""
    try:
        return objects.run(*_GREP, *arguments)
    except GitFailed as exc:
        if exc.status == _NO_MATCH and all(map(NO_LINES.search, _UNREAD.findall(exc.words))):
            return b""
        raise


def _literal(path: str) -> str:
    """Return the pathspec of a path in which git sees no pattern, to which one may be appended."""
    escaped = re.sub(r"[*?\[\\]", r"\\\g<0>", path)
    return f":(top,glob){escaped}"


def _with_endings(suffixes: Sequence[str]) -> list[str]:
    return [f":(top,glob)**/*{suffix}" for suffix in suffixes]


class SymbolHistory(NamedTuple):
    """Finds the commits up to `head` that touch a symbol; the files at `head` with one of `suffixes` must have been fetched."""

    objects: Objects
    commits: Commits
    head: str
    suffixes: Sequence[str]

    def find(self, name: str, paths: Sequence[str], *, oldest: bool) -> list[Commit]:
        """Return the latest commits that touch a symbol or a flag, or the oldest, as `Mirror.symbol_history` does."""
        words = _spellings(name)
        listed = self.commits.log(self.head, "--fixed-strings", f"--grep={name}", f"--max-count={_COMMITS}")
        naming = self._showing(listed, words)
        files = [*paths, *self._files_with(words), *(file.path for each in naming for file in each.files)]
        for path in list(dict.fromkeys(files))[:_FILES]:
            showing = self.commits.showing(self.head, words, path)
            listed += list(showing)[-_COMMITS:] if oldest else islice(showing, _COMMITS)
        order = sorted(listed, key=lambda each: each.committed_at, reverse=not oldest)
        return self._showing(list(dict.fromkeys(order))[:_COMMITS], words)

    def _showing(self, commits: Sequence[Commit], words: Sequence[str]) -> list[Commit]:
        """Read commits, with only the files whose diff shows one of some words; those without any are left out."""
        self.commits.bring_changes([each.sha for each in commits])
        found = []
        for each in commits:
            commit = self.commits.read(each.sha) or each
            files = tuple(file for file in commit.files if any(word in (file.patch or "") for word in words))
            found += [commit.model_copy(update={"files": files})] if files else []
        return found

    def _files_with(self, words: Sequence[str]) -> list[str]:
        """Return the files that have one of some words, those first that define the last of them, and sources before others."""
        definition = _DEFINED.format(name=words[-1])
        found = matches(self.objects, self.head, definition, regex=True, suffixes=self.suffixes)
        defining = {path for path, _ in found}
        using = {path for word in words for path in paths_with(self.objects, self.head, word, self.suffixes)}
        return sorted(defining | using, key=lambda path: (kind(path) is not Kind.SOURCE, path not in defining, path))


def _spellings(name: str) -> tuple[str, ...]:
    """Return how a name is written in code: a flag also as the field behind it, one with dots by its last part, which comes last."""
    return tuple(dict.fromkeys((name, re.split(r"[./]", name.lstrip("-").replace("-", "_"))[-1])))
