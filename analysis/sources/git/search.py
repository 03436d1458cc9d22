"""A search in the files of a commit, by `git grep`."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.sources.git.errors import GitFailed
from analysis.sources.git.objects import Objects
from analysis.sources.git.records import text

_PER_FILE = 20  # matches
_GREP = ("grep", "-n", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1")
_GREP_PATHS = ("grep", "-l", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1")
_ROW = re.compile(rb"[0-9a-f]{40}:([^\0]+)\0(\d+)\0[^\n]*\n")
_INVALID = "fatal: -e option"  # what git begins with when it cannot compile an expression
_NO_MATCH = 1  # git's status


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
        output = objects.run(*_GREP, *how, "-e", query.what, commit, "--", *paths)
    except GitFailed as exc:
        if exc.status == _NO_MATCH:
            return
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
    try:
        output = objects.run(*_GREP_PATHS, "-F", "-w", "-e", word, commit, "--", *paths)
    except GitFailed as exc:
        if exc.status == _NO_MATCH:
            return
        raise
    for row in output.split(b"\0")[:-1]:
        yield text(row.partition(b":")[2])


def _escaped(path: str) -> str:
    """Return a path in which git sees no pattern."""
    return re.sub(r"[*?\[\\]", r"\\\g<0>", path)
