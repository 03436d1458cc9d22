"""A search in the files of a commit, by `git grep`, and for the commits whose diffs show a symbol."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.sources.git.commits import Commits
from analysis.sources.git.errors import GitFailed
from analysis.sources.git.objects import Objects, text

_PER_FILE = 20  # matches
_GREP = ("grep", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1")
_ROW = re.compile(rb"[0-9a-f]{40}:([^\0]+)\0(\d+)\0[^\n]*\n")
_INVALID = "fatal: -e option"  # what git begins with when it cannot compile an expression
_NO_MATCH = 1  # git's status
_FILES = 4  # whose history is searched
_COMMITS = 20  # that touch it in each, and in all
_DEFINED = r"(def|class)[[:space:]]+{name}[(:]|^[[:space:]]*{name}[[:space:]]*:"  # a POSIX extended expression


class Query(NamedTuple):
    """A text, or a POSIX extended expression, and the folders (or single files) and endings to search: all without any."""

    what: str
    regex: bool = False
    ignore_case: bool = False
    folders: Sequence[str] = ()
    suffixes: Sequence[str] = ()


def matches(objects: Objects, commit: str, query: Query) -> Iterator[tuple[str, int]]:
    """Yield path and line of each match, counted from 1, at most 20 a file; raises `Misuse` for an invalid expression.

    The files must have been fetched.
    """
    names = [f":(top,glob){_escaped(folder.strip('/'))}" for folder in query.folders]
    below = [f"{name}/**" for name in names] or [":(top,glob)**"]
    paths = [f"{each}/*{_escaped(suffix)}" for each in below for suffix in query.suffixes] or [*below, *names]
    how = ("-E" if query.regex else "-F", *(("-i",) if query.ignore_case else ()), f"--max-count={_PER_FILE}")
    try:
        output = _grep(objects, "-n", *how, "-e", query.what, commit, "--", *paths)
    except GitFailed as exc:
        if query.regex and _INVALID in exc.words:
            raise Misuse(
                Phrase("{text!r} is not a valid regular expression; escape special characters", text=query.what)
            ) from exc
        raise
    for match in _ROW.finditer(output):
        yield text(match[1]), int(match[2])


def paths_with(objects: Objects, commit: str, word: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield the paths of a commit's files that contain a word and have one of the endings. They must have been fetched."""
    paths = [f":(top,glob)**/*{_escaped(suffix)}" for suffix in suffixes]
    output = _grep(objects, "-l", "-F", "-w", "-e", word, commit, "--", *paths)
    for row in output.split(b"\0")[:-1]:
        yield text(row.partition(b":")[2])


def _grep(objects: Objects, *arguments: str) -> bytes:
    """Return what `git grep` prints; nothing if there is no match."""
    try:
        return objects.run(*_GREP, *arguments)
    except GitFailed as exc:
        if exc.status == _NO_MATCH:
            return b""
        raise


def _escaped(path: str) -> str:
    """Return a path in which git sees no pattern."""
    return re.sub(r"[*?\[\\]", r"\\\g<0>", path)


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
        definition = Query(_DEFINED.format(name=words[-1]), regex=True, suffixes=self.suffixes)
        defining = {path for path, _ in matches(self.objects, self.head, definition)}
        using = {path for word in words for path in paths_with(self.objects, self.head, word, self.suffixes)}
        return sorted(defining | using, key=lambda path: (kind(path) is not Kind.SOURCE, path not in defining, path))


def _spellings(name: str) -> tuple[str, ...]:
    """Return how a name is written in code: a flag also as the field behind it, one with dots by its last part, which comes last."""
    return tuple(dict.fromkeys((name, re.split(r"[./]", name.lstrip("-").replace("-", "_"))[-1])))
