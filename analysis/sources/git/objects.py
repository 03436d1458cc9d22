"""The objects of a mirror: blobs and trees, read by one long process of git, and fetched in one request where they lack."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import lru_cache, partial
from pathlib import PurePosixPath
from threading import Event
from typing import NamedTuple

from analysis.paths import Kind, kind
from analysis.sources.git.errors import GitCause, GitFailed, GitTimedOut, MirrorDamaged, ObjectMissing, TreeRefused
from analysis.sources.git.folder import MirrorFolder, check_size
from analysis.sources.git.object_reader import GitObject, ObjectReader
from analysis.sources.git.program import Git, Remote

MAX_FILE = 2_000_000  # bytes; a longer file is not read
NO_LINES = re.compile(r"\.(?:png|jpe?g|gif|webp|ico|pdf|mp[34]|wav|ttf|woff2?)$", re.IGNORECASE)

_MAX_TREE = 10_000_000  # bytes of a commit's or a folder's object
_MOST_LOOKED_AT = 5_000_000  # of entries, each as often as its folder's path has bytes: vLLM has 0.2 million, Linux 4
_LONGEST_PATH = 4_096  # bytes, as on Linux; git's own recursion is as deep as a path
_MOST_KIN = 20_000
_CACHED_FOLDERS = 1_024
_BINARY_HEAD = 8_000  # bytes in which git looks for a NUL
_FOLDER_MODE = b"40000"
_FILE_MODES = (b"100644", b"100755", b"100664")
_SUBMODULE = b"160000"
_Node = tuple[bytes, str]  # a mode and the SHA of an object
_NOTHING = (b"", "")
_TREE_LINE = re.compile(rb"tree ([0-9a-f]{40})\n")
_PARENT_LINE = re.compile(rb"tree [0-9a-f]{40}\nparent ([0-9a-f]{40})\n")


class Limits(NamedTuple):
    """The megabytes of a mirror, and of the whole repository as GitHub tells it; seconds; and packs before they are united.

    The seconds are those of a clone, of a fetch, of any other run of git, and of waiting while others write.
    """

    megabytes: int = 2_000
    repository_megabytes: int = 20_000
    clone: float = 1_800
    fetch: float = 600
    command: float = 60
    lock: float = 120
    packs: int = 60


class RawChange(NamedTuple):
    """A changed file: the letter of its status, its paths, and its blobs before and after, if they are known."""

    letter: str
    path: str
    previous_path: str | None = None
    blobs: tuple[str, ...] = ()


class EntryKind(Enum):
    """What a commit has at a path: a regular file, a symbolic link, or another repository's commit."""

    FILE = "file"
    LINK = "link"
    SUBMODULE = "submodule"


_ENTRY_KINDS = {b"120000": EntryKind.LINK, _SUBMODULE: EntryKind.SUBMODULE}


class TreeEntry(NamedTuple):
    """What a commit has at a path; `sha` is that of a file's blob."""

    path: str
    sha: str
    kind: EntryKind


class Objects:
    """Reads and fetches the objects of the mirror in `folder`. Threads may share it."""

    def __init__(self, git: Git, folder: MirrorFolder, remote: Remote, limits: Limits) -> None:
        self._git = git
        self._folder = folder
        self._remote = remote
        self._limits = limits
        self._reader = ObjectReader(partial(git.start, folder.path))
        self._unreachable = Event()
        self._entries = lru_cache(_CACHED_FOLDERS)(self._read_entries)

    def close(self) -> None:
        """End the idle process."""
        self._reader.close()

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return what git prints about the mirror; nothing is fetched, removed or replaced meanwhile."""
        with self._folder.reading():
            return self._git.run(self._folder.path, *arguments, stdin=stdin, timeout=self._limits.command)

    def ask_server(self, *arguments: str) -> bytes:
        """Return what git prints when it asks the server."""
        return self._git.run(self._folder.path, *arguments, remote=self._remote, timeout=self._limits.fetch)

    def fetch(self, wanted: str) -> None:
        """Fetch a commit with its folders, but without files."""
        with self._folder.writing(self._limits.fetch) as lock:
            self._fetch(lock, "--end-of-options", "origin", wanted)

    def sizes(self, shas: Iterable[str]) -> dict[str, int | None]:
        """Return the bytes of each object; None for those that the mirror lacks."""
        with self._folder.reading():
            return {sha: self._reader.size(sha) for sha in shas}

    def bring(self, shas: Collection[str]) -> None:
        """Fetch the objects that the mirror lacks in one request. If the server lacks one too, all of them stay missing."""
        if not self._missing(shas):
            return
        with self._folder.writing(self._limits.fetch) as lock:
            wanted = self._missing(shas)  # another may have been faster
            if not wanted:
                return
            try:
                self._fetch(lock, "--stdin", "origin", stdin="".join(f"{sha}\n" for sha in wanted).encode())
            except GitFailed as exc:
                if exc.cause is not GitCause.NO_OBJECT:
                    raise

    def _missing(self, shas: Iterable[str]) -> list[str]:
        return [sha for sha, size in self.sizes(shas).items() if size is None]

    def _fetch(self, lock: int, *wanted: str, stdin: bytes = b"") -> None:
        path, limits = self._folder.path, self._limits
        tick = partial(check_size, path, limits.megabytes)
        self._git.fetch(path, self._remote, *wanted, stdin=stdin, timeout=limits.fetch, on_tick=tick, lock=lock)

    def file(self, root: str, path: str) -> str | None:
        """Return the text of a file below a folder's object; None if there is none, or if it is binary or too large.

        Raise `ObjectMissing` if it is neither here nor at the server.
        """
        found = self._find(root, path)
        if found is None:
            return None
        answer = self._read(found, MAX_FILE) or self._brought(found, self._kin(root, path))
        return _text_of(answer)

    def files(self, commit: str, folders: Sequence[str] = (), suffixes: Sequence[str] = ()) -> dict[str, None]:
        """Return the blobs of a commit's files that have lines: all, or those at or below one of `folders` and with one of `suffixes`."""
        below = tuple(f"{folder.strip('/')}/" for folder in folders)
        return dict.fromkeys(
            each.sha
            for each in self.entries(commit)
            if each.kind is not EntryKind.SUBMODULE
            and not NO_LINES.search(each.path)
            and (not below or f"{each.path}/".startswith(below))
            and (not suffixes or each.path.endswith(tuple(suffixes)))
        )

    def entries(self, commit: str) -> Iterator[TreeEntry]:
        """Yield what a commit, or a folder's object, has at each path. Raise `TreeRefused`."""
        for path, _, (mode, sha) in self._differences(None, self.root(commit) or commit):
            yield TreeEntry(text(path), sha, _ENTRY_KINDS.get(mode, EntryKind.FILE))

    def changes(self, commit: str) -> Iterator[RawChange]:
        """Yield what a commit changes against its first parent, by path and without renames. Raise `TreeRefused`."""
        parent = self.root(commit, _PARENT_LINE)
        for path, old, new in self._differences(parent and self.root(parent), self.root(commit)):
            letter = "A" if old == _NOTHING else "D" if new == _NOTHING else "M" if old[0][:2] == new[0][:2] else "T"
            blobs = tuple(sha for mode, sha in (old, new) if sha and mode != _SUBMODULE)
            yield RawChange(letter, text(path), blobs=blobs)

    def _differences(self, *roots: str | None) -> Iterator[tuple[bytes, _Node, _Node]]:
        """Yield the paths at which two folders differ, with what is there, not folders; None is a folder without anything.

        A few objects can have any number of paths, and git lists a whole difference before it prints the first path.
        """
        left = _MOST_LOOKED_AT
        waiting = [(b"", [(_FOLDER_MODE, root) if root else _NOTHING for root in roots])]
        while waiting:
            path, nodes = waiting.pop()
            old, new = (_NOTHING if node[0] == _FOLDER_MODE else node for node in nodes)
            if old != new:
                yield path[1:], old, new
            before, after = (self._entries(sha) if mode == _FOLDER_MODE else {} for mode, sha in nodes)
            left -= (len(before) + len(after)) * (len(path) + 1)
            if left < 0 or len(path) > _LONGEST_PATH:
                raise TreeRefused
            names = sorted({name for name, _ in before.items() ^ after.items()}, reverse=True)
            waiting += [(path + b"/" + name, [each.get(name, _NOTHING) for each in (before, after)]) for name in names]

    def texts(self, blobs: Sequence[str]) -> Iterator[str | None]:
        """Fetch the blobs that the mirror lacks, in one request, and yield the text of each.

        None for one that is binary, too large, or lacking at the server as well.
        """
        self.bring(dict.fromkeys(blobs))
        for sha in blobs:
            answer = self._read(sha, MAX_FILE)
            yield _text_of(answer) if answer else None

    def root(self, commit: str, line: re.Pattern[bytes] = _TREE_LINE) -> str | None:
        """Return the object of a commit's topmost folder, or another that a line names; None if the mirror lacks the commit."""
        answer = self._read(commit, _MAX_TREE)
        match = line.match(answer.content) if answer and answer.kind == b"commit" and answer.content else None
        return text(match[1]) if match else None

    def _kin(self, root: str, path: str) -> Collection[str]:
        """Return the files that will be read as well: of source, those with the same suffix, unless there are very many."""
        suffix = PurePosixPath(path).suffix
        with suppress(TreeRefused):
            found = self.files(root, suffixes=(suffix,)) if kind(path) is Kind.SOURCE and suffix else {}
            return found if len(found) <= _MOST_KIN else ()
        return ()

    def _brought(self, sha: str, kin: Collection[str]) -> GitObject:
        """Fetch and read a file that is missing, with its kin. After a failure no other is fetched: each might wait as long."""
        if self._unreachable.is_set():
            raise ObjectMissing
        try:
            self.bring([sha, *kin])
            self.bring([sha])  # which the server may have even if it lacks one of the others
        except (GitFailed, GitTimedOut):
            self._unreachable.set()
            raise
        answer = self._read(sha, MAX_FILE)
        if answer is None:
            raise ObjectMissing
        return answer

    def _find(self, root: str, path: str) -> str | None:
        """Return the blob of a regular file."""
        *folders, name = path.encode("utf-8", "replace").split(b"/")
        for folder in folders:
            mode, root = self._entries(root).get(folder, (b"", ""))
            if mode != _FOLDER_MODE:
                return None
        mode, sha = self._entries(root).get(name, (b"", ""))
        return sha if mode in _FILE_MODES else None

    def _read_entries(self, sha: str) -> Mapping[bytes, _Node]:
        """Return name -> mode and SHA of what is in a folder."""
        answer = self._read(sha, _MAX_TREE)
        if answer is None or answer.content is None:
            raise TreeRefused if answer else MirrorDamaged
        entries, place, data = {}, 0, answer.content
        while place < len(data):
            space = data.index(b" ", place)
            end = data.index(b"\0", space)
            if data[space + 1 : end] in entries:
                raise TreeRefused
            entries[data[space + 1 : end]] = (data[place:space].lstrip(b"0"), data[end + 1 : end + 21].hex())
            place = end + 21
        return entries

    def _read(self, sha: str, limit: int) -> GitObject | None:
        with self._folder.reading():
            return self._reader.read(sha, limit)


def _text_of(answer: GitObject) -> str | None:
    """Return the text of a blob; None if it is binary, or longer than was asked for."""
    if answer.content is None or is_binary(answer.content):
        return None
    return text(answer.content)


def is_binary(content: bytes) -> bool:
    """Return whether git takes a file's content for binary."""
    return b"\0" in content[:_BINARY_HEAD]


def text(data: bytes) -> str:
    """Return git's output as text; bytes that are no UTF-8 are replaced."""
    return data.decode("utf-8", "replace")
