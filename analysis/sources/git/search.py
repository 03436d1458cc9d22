"""A search in the files of a commit, by `git grep`, and for the commits whose diffs show a symbol."""

import re
from collections.abc import Iterator, Sequence

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.sources.git.errors import GitFailed
from analysis.sources.git.objects import NO_LINES, Objects, text

_PER_FILE = 20  # matches
_GREP = ("grep", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1")
_ROW = re.compile(rb"[0-9a-f]{40}:([^\0]+)\0(\d+)\0([^\n]*)\n")
_INVALID = "fatal: -e option"  # what git begins with when it cannot compile an expression
_NO_MATCH = 1  # git's status, also where it could not read a file
_UNREAD = re.compile(r"'[0-9a-f]{40}:(.+)': unable to read")


def matches(
    objects: Objects,
    commit: str,
    what: str,
    *,
    regex: bool,
    folders: Sequence[str] = (),
    per_file: int = _PER_FILE,
) -> Iterator[tuple[str, int, str]]:
    """Yield path, number and text of each line with a text, or a POSIX extended expression; lines are counted from 1.

    Searched are the files in some folders (or single files), or all; they must have been fetched.
    Raise `Misuse` for an invalid expression.
    """
    names = [_literal(folder.strip("/")) for folder in folders]
    paths = [*names, *(f"{name}/**" for name in names)]
    try:
        output = _grep(
            objects, "-n", "-E" if regex else "-F", f"--max-count={per_file}", "-e", what, commit, "--", *paths
        )
    except GitFailed as exc:
        if regex and _INVALID in exc.words:
            raise Misuse(
                Phrase("{text!r} is not a valid regular expression; escape special characters", text=what)
            ) from exc
        raise
    for match in _ROW.finditer(output):
        yield text(match[1]), int(match[2]), text(match[3])


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
