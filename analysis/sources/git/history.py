"""The commits of a mirror: found by name, and by `git log` and `git diff-tree` read as our models, as GitHub's API gives them.

Statuses, counts and patches are those of the API: a rename is found at 50 % (up to 1,000 files on each side), a merge is
compared with its first parent, a file that changes between a file and a link is `changed` and has the patch of the second,
and there is no patch for a binary, a pure rename, a changed mode, or one of more than `MAX_PATCH` characters.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any

from analysis.models import MOST_FILES, Commit, FileChange
from analysis.sources.git.errors import GitCause, GitFailed, MirrorDamaged, ObjectMissing, TreeRefused
from analysis.sources.git.objects import Objects, RawChange, text

MAX_PATCH = 400_000  # characters of a file's part of the diff, from its names on
_FIELDS = ("%H", "%P", "%an", "%at", "%cn", "%ct", "%B")
_FORM = "".join(f"{field}%x00" for field in _FIELDS)

_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}
_EPOCH = datetime.fromtimestamp(0, UTC)
_PART = re.compile(rb"^diff --git ", re.MULTILINE)  # names are quoted, and the lines of hunks begin with their sign
_COMPARED = ("diff-tree", "--stdin", "--root", "--diff-merges=first-parent", "-r", "-z", "--raw")
# `--unified` would imply patches.
_AS_WRITTEN = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_COUNTS = (*_COMPARED, *_AS_WRITTEN, "-M50%", "--always", "--numstat", f"--format={_FORM}")
_PATCHES_OF_PATH = (*_COMPARED[:-2], *_AS_WRITTEN, "--no-renames", "--patch", "--format=%x00%H%x00")
_PATCHES = (*_COMPARED[:-2], *_AS_WRITTEN, "--no-renames", "--patch")
_LOG = ("log", f"--format={_FORM}", "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap")
_MOST_COMPARED = 64_000_000  # bytes of a commit's files, before and after; of more, only the lines are counted
_MOST_SEARCHED = 300  # commits of a path whose blobs are fetched to find a symbol in them
_SEARCHED_AT_ONCE = 100  # whose blobs one request fetches
_COUNT = re.compile(rb"(?:-|\d+)\t(?:-|\d+)\t")
_PATCH_OF = re.compile(rb"\0([0-9a-f]{40})\0")
_SHA = re.compile(r"[0-9a-f]{40}")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")


def is_sha(name: str) -> bool:
    """Return whether a name is a whole SHA, in lower case."""
    return bool(_SHA.fullmatch(name))


class Commits:
    """Finds commits by name, lists and reads them, as they are: nothing is redacted.

    The mirror follows `branch`; `web_url` is the repository's address for people.
    """

    def __init__(self, objects: Objects, branch: str, web_url: str) -> None:
        self._objects = objects
        self._branch = branch
        self._web_url = web_url

    def known(self, name: str) -> str | None:
        """Return the SHA of a name that the mirror knows."""
        if is_sha(name) and self._objects.root(name):
            return name
        branch = f"refs/heads/{name}" if name == self._branch else None
        refs = (f"refs/tags/{name}", branch)
        found = next((found for each in refs if each and (found := self.sha_of(each))), None)
        return found or self.beginning_with(name.lower())

    def beginning_with(self, prefix: str) -> str | None:
        """Return the SHA of the only commit that begins so (4 hexadecimal digits or more), as far as the mirror knows."""
        return self.sha_of(prefix) if _SHA_PREFIX.fullmatch(prefix) else None

    def fetched(self, name: str) -> str | None:
        """Fetch a commit by its whole SHA, a tag or a branch; return its SHA, or None if the server has none."""
        if is_sha(name.lower()):
            self._objects.fetch(name.lower())
            return self.sha_of(name.lower())
        for ref in (f"refs/tags/{name}", f"refs/heads/{name}"):
            found = text(self._objects.ask_server("ls-remote", "--end-of-options", "origin", ref)).split()
            if ref in found:
                sha = found[found.index(ref) - 1]
                self._objects.fetch(f"+{ref}:{ref}" if ref.startswith("refs/tags/") else sha)
                return self.sha_of(sha)
        return None

    def sha_of(self, name: str) -> str | None:
        """Return the SHA of the commit that a ref or a SHA means, if the mirror has it."""
        try:
            found = self._objects.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except GitFailed as exc:
            if exc.cause is GitCause.BROKEN:
                raise
            return None
        return text(found).strip()

    def log(self, revision: str, *options: str, paths: Sequence[str] = ()) -> list[Commit]:
        """List the commits of a revision or a range of them, those of some paths if given, newest first, without files."""
        literals = [each for path in paths for each in _literal(path)]
        output = self._objects.run(*_LOG, *options, "--end-of-options", revision, "--", *literals)
        return list(_listed_commits(output, self._web_url))

    def showing(self, revision: str, words: Sequence[str], path: str) -> Iterator[Commit]:
        """Yield the commits whose diff of a file shows one of some words, newest first; of its latest 300."""
        pattern = re.compile(
            rb"(?<!\w)(?:%s)(?!\w)" % b"|".join(re.escape(word.encode("utf-8", "replace")) for word in words)
        )
        commits = self.log(revision, f"--max-count={_MOST_SEARCHED}", paths=[path])
        for start in range(0, len(commits), _SEARCHED_AT_ONCE):
            batch = commits[start : start + _SEARCHED_AT_ONCE]
            shas = [each.sha for each in batch if self._changes(each.sha) is not None]
            self.bring_changes(shas, path)
            _, *parts = _PATCH_OF.split(self._objects.run(*_PATCHES_OF_PATH, "--", *_literal(path), stdin=_lines(shas)))
            showing = {text(sha) for sha, patch in zip(parts[::2], parts[1::2], strict=True) if pattern.search(patch)}
            yield from (each for each in batch if each.sha in showing)

    def read(self, sha: str) -> Commit | None:
        """Read a commit with its files and patches, having fetched what it changes; None if the mirror lacks it.

        Raise `ObjectMissing` if the server lacks what it changes.
        """
        if self._objects.root(sha) is None:
            return None
        if self._changes(sha) is None:  # only the names of its first files are read
            files = tuple(map(changed_file, islice(self._objects.changes(sha), MOST_FILES)))
            return self.log(sha, "--max-count=1")[0].model_copy(update={"files": files, "read": True})
        self.bring_changes([sha])
        sizes = self._objects.sizes(self._blobs([sha])).values()
        if None in sizes:
            raise ObjectMissing
        patches = ("--patch",) if sum(size or 0 for size in sizes) <= _MOST_COMPARED else ()
        return _whole_commit(self._objects.run(*_COUNTS, *patches, stdin=_lines([sha])), self._web_url)

    def bring_changes(self, shas: Sequence[str], path: str = "") -> None:
        """Fetch the blobs that commits change, before and after, in one request; those of one path if it is given."""
        self._objects.bring(self._blobs(shas, path))

    def same_patch(self, shas: Sequence[str], others: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each of other commits that has the patch of one of these, by `git patch-id`, and that one.

        The blobs are fetched of those alone that change the same paths.
        """
        by_paths = defaultdict[tuple[str, ...], list[str]](list)
        for each in others:
            by_paths[self._paths(each)].append(each)
        alike = {sha: found for sha in shas if (paths := self._paths(sha)) and (found := by_paths[paths])}
        wanted = list(dict.fromkeys([*alike, *chain.from_iterable(alike.values())]))
        self.bring_changes(wanted)
        patches = self._objects.run(*_PATCHES, stdin=_lines(wanted))
        rows = (line.split() for line in text(self._objects.run("patch-id", "--stable", stdin=patches)).splitlines())
        ids = {commit: patch for patch, commit in rows}
        for sha in alike.keys() & ids.keys():
            yield from ((each, sha) for each in alike[sha] if each != sha and ids.get(each) == ids[sha])

    def _paths(self, sha: str) -> tuple[str, ...]:
        return tuple(each.path for each in self._changes(sha) or ())

    def _changes(self, sha: str, path: str = "") -> Sequence[RawChange] | None:
        """Return what a commit changes, of a path if it is given; None if it changes too much to be read."""
        with suppress(TreeRefused):
            found = list(islice(self._objects.changes(sha), MOST_FILES + 1))
            if len(found) <= MOST_FILES:
                return [each for each in found if not path or f"{each.path}/".startswith(f"{path}/")]
        return None

    def _blobs(self, shas: Sequence[str], path: str = "") -> dict[str, None]:
        changes = (change for sha in shas for change in self._changes(sha, path) or ())
        return dict.fromkeys(blob for change in changes for blob in change.blobs)


def _lines(shas: Sequence[str]) -> bytes:
    return "".join(f"{sha}\n" for sha in shas).encode()


def _literal(path: str) -> list[str]:
    """Return the pathspec of a path in which git sees no pattern; none without a path."""
    return [f":(top,literal){path}"] if path else []


def _listed_commits(output: bytes, web_url: str) -> Iterator[Commit]:
    """Yield the commits of `git log` with _FORM, without files; `web_url` is the repository's address for people."""
    fields = output.split(b"\0")
    for start in range(0, len(fields) - len(_FIELDS) + 1, len(_FIELDS)):
        yield Commit(
            **_header([field.strip(b"\n") for field in fields[start : start + len(_FIELDS)]], web_url), read=False
        )


def _whole_commit(record: bytes, web_url: str) -> Commit:
    """Return the commit of a record of `git diff-tree`: its header, raw changes and counts, and patches if it has them."""
    fields = deque(record.split(b"\0"))
    header = [fields.popleft().strip(b"\n") for _ in _FIELDS]
    if not fields[0]:
        fields.popleft()
    fields[0] = fields[0].lstrip(b"\n")
    changes = list(_raw_changes(fields))
    counts = _counts(fields)
    if not fields[0]:
        fields.popleft()
    patches = _patches(b"\0".join(fields), changes)
    files = [changed_file(change, counts.get(change.path), patches.get(change.path)) for change in changes]
    return Commit(
        **_header(header, web_url),
        files=tuple(files),
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
    )


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


def _raw_changes(fields: deque[bytes]) -> Iterator[RawChange]:
    """Take the changed files from the fields of a record."""
    while fields[0].startswith(b":"):
        letter = chr(fields.popleft().split()[-1][0])
        previous = text(fields.popleft()) if letter in "RC" else None
        yield RawChange(letter, text(fields.popleft()), previous)


def _counts(fields: deque[bytes]) -> Mapping[str, tuple[int, int]]:
    """Take path -> added and removed lines from the fields of a record; no lines of a binary."""
    counts = {}
    while _COUNT.match(fields[0]):
        added, removed, path = fields.popleft().split(b"\t", 2)
        if not path:
            fields.popleft()
            path = fields.popleft()
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
