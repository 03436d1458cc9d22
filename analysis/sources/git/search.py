"""A search in the files of a commit, by `git grep`, and for the commits whose diffs show a symbol."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

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
    objects: Objects, commit: str, what: str, *, regex: bool, folders: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """Yield path and line of each line with a text, or a POSIX extended expression, counted from 1, at most 20 a file.

    Searched are the files in some folders (or single files), or all; they must have been fetched.
    Raise `Misuse` for an invalid expression.
    """
    names = [_literal(folder.strip("/")) for folder in folders]
    paths = [*names, *(f"{name}/**" for name in names)]
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


def symbol_history(
    objects: Objects, commits: Commits, head: str, name: str, paths: Sequence[str], *, oldest: bool
) -> list[Commit]:
    """Return the latest commits up to `head` that touch a symbol or a flag, or the oldest, as `Mirror.symbol_history` does."""
    words = _spellings(name)
    listed = commits.log(head, "--fixed-strings", f"--grep={name}", f"--max-count={_COMMITS}")
    naming = _showing(commits, listed, words)
    defining = matches(objects, head, _DEFINED.format(name=words[-1]), regex=True)
    having = chain(defining, *(matches(objects, head, word, regex=False) for word in words))
    sources = sorted(dict.fromkeys(path for path, _ in having), key=lambda path: kind(path) is not Kind.SOURCE)
    files = [*paths, *sources, *(file.path for each in naming for file in each.files)]
    for path in list(dict.fromkeys(files))[:_FILES]:
        showing = commits.showing(head, words, path)
        listed += list(showing)[-_COMMITS:] if oldest else islice(showing, _COMMITS)
    order = sorted(listed, key=lambda each: each.committed_at, reverse=not oldest)
    return _showing(commits, list(dict.fromkeys(order))[:_COMMITS], words)


def _showing(commits: Commits, listed: Sequence[Commit], words: Sequence[str]) -> list[Commit]:
    """Read commits, with only the files whose diff shows one of some words; those without any are left out."""
    commits.bring_changes([each.sha for each in listed])
    found = []
    for each in listed:
        commit = commits.read(each.sha) or each
        files = tuple(file for file in commit.files if any(word in (file.patch or "") for word in words))
        found += [commit.model_copy(update={"files": files})] if files else []
    return found


def _spellings(name: str) -> tuple[str, ...]:
    """Return how a name is written in code: a flag also as the field behind it, one with dots by its last part, which comes last."""
    return tuple(dict.fromkeys((name, re.split(r"[./]", name.lstrip("-").replace("-", "_"))[-1])))
