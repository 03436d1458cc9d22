"""Parsers of git's output about commits; they return our models with the fields and files that GitHub's API gives.

Statuses, counts and patches are those of the API: a rename is found at 50 % (up to 1,000 files on each side), a merge is
compared with its first parent, a file that changes between a file and a link is `changed` and has the patch of the second,
and there is no patch for a binary, a pure rename, a changed mode, or one of more than `MAX_PATCH` characters.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from analysis.models import Commit, FileChange
from analysis.sources.git.errors import MirrorDamaged

MAX_PATCH = 400_000  # characters of a file's part of the diff, from its names on
FIELDS = ("%H", "%P", "%an", "%at", "%cn", "%ct", "%B")
FORM = "".join(f"{field}%x00" for field in FIELDS)

_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}
_EPOCH = datetime.fromtimestamp(0, UTC)
_PART = re.compile(rb"^diff --git ", re.MULTILINE)  # names are quoted, and the lines of hunks begin with their sign


class RawChange(NamedTuple):
    """A changed file: the letter of its status, its paths, and its blobs before and after, if they are known."""

    letter: str
    path: str
    previous_path: str | None = None
    blobs: tuple[str, ...] = ()


def listed_commits(output: bytes, web_url: str) -> Iterator[Commit]:
    """Yield the commits of `git log` with FORM, without files; `web_url` is the repository's address for people."""
    fields = output.split(b"\0")
    for start in range(0, len(fields) - len(FIELDS) + 1, len(FIELDS)):
        yield Commit(
            **_header([field.strip(b"\n") for field in fields[start : start + len(FIELDS)]], web_url), read=False
        )


def whole_commit(record: bytes, web_url: str) -> Commit:
    """Return the commit of a record of `git diff-tree` with FORM, raw changes and counts, and patches if it has them."""
    cursor = _Cursor(record)
    fields = [cursor.field().strip(b"\n") for _ in FIELDS]
    for sign in (b"\0", b"\n"):
        cursor.skip(sign)
    changes = list(_raw_changes(cursor))
    counts = _counts(cursor)
    cursor.skip(b"\0")
    patches = _patches(cursor.rest(), changes)
    files = [changed_file(change, counts.get(change.path), patches.get(change.path)) for change in changes]
    return Commit(
        **_header(fields, web_url),
        files=tuple(files),
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
    )


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _header(fields: list[bytes], web_url: str) -> dict[str, Any]:
    """Return the fields of a `Commit` that a list has, with the same replacements for missing ones as for the API's."""
    sha, parents, author, authored, committer, committed, message = map(text, fields)
    dates = [date for date in map(_instant, (authored, committed)) if date] or [_EPOCH]
    return {
        "sha": sha,
        "url": f"{web_url}/commit/{sha}",
        "parents": tuple(parents.split()),
        "author": author or committer or "unknown",
        "authored_at": dates[0],
        "committed_at": dates[-1],
        "message": message,
    }


def _instant(seconds: str) -> datetime | None:
    try:
        return _EPOCH + timedelta(seconds=int(seconds))
    except (ValueError, OverflowError):
        return None


class _Cursor:
    """A place in data whose fields end with NUL."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def at(self, signs: bytes) -> bool:
        """Return whether the next byte is one of `signs`."""
        return self._data[self._place : self._place + 1] in [bytes([sign]) for sign in signs]

    def field(self) -> bytes:
        end = self._data.find(b"\0", self._place)
        if end < 0:
            raise MirrorDamaged
        start, self._place = self._place, end + 1
        return self._data[start:end]

    def skip(self, sign: bytes) -> None:
        """Pass over the next byte if it is `sign`."""
        self._place += self.at(sign)

    def rest(self) -> bytes:
        return self._data[self._place :]


def _raw_changes(cursor: _Cursor) -> Iterator[RawChange]:
    while cursor.at(b":"):
        letter = chr(cursor.field().split()[-1][0])
        previous = text(cursor.field()) if letter in "RC" else None
        yield RawChange(letter, text(cursor.field()), previous)


def _counts(cursor: _Cursor) -> Mapping[str, tuple[int, int]]:
    """Return path -> added and removed lines, none for a binary."""
    counts = {}
    while cursor.at(b"-0123456789"):
        added, removed, path = cursor.field().split(b"\t", 2)
        if not path:
            cursor.field()
            path = cursor.field()
        counts[text(path)] = (int(added), int(removed)) if added.isdigit() else (0, 0)
    return counts


def _patches(data: bytes, changes: list[RawChange]) -> dict[str, str]:
    """Return path -> patch. The parts of the diff come in the order of the changes; a change of type has two."""
    if not data:
        return {}
    ends = [match.start() for match in _PART.finditer(data)]
    parts = [data[start + len(b"diff --git ") : end] for start, end in zip(ends, [*ends[1:], len(data)], strict=True)]
    owners = [change for change in changes for _ in range(1 + (change.letter == "T"))]
    if len(owners) != len(parts):
        raise MirrorDamaged
    return {
        change.path: patch for change, part in zip(owners, parts, strict=True) if (patch := _hunks(part)) is not None
    }


def _hunks(part: bytes) -> str | None:
    """Return the hunks of a file's part of a diff; None if there are none, or too much of them."""
    start = part.find(b"\n@@ ")
    if start < 0 or len(text(part)) > MAX_PATCH:
        return None
    return text(part[start + 1 :]).rstrip("\n")


def changed_file(change: RawChange, counts: tuple[int, int] | None = None, patch: str | None = None) -> FileChange:
    """Return our model of a change, with its added and removed lines and its patch as far as they are known."""
    additions, deletions = counts or (0, 0)
    return FileChange(
        path=change.path,
        previous_path=change.previous_path or None,
        status=_STATUS.get(change.letter, "modified"),
        additions=additions,
        deletions=deletions,
        patch=patch or None,
    )
