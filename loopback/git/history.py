"""The git history of recorded commits.

A commit's tree is its first parent's with the commit's patches applied. What lies before the first recorded commit is a
commit of its own: its files have the lines that the patches show, and empty ones between them. So the history has the
recorded patches, and the SHAs that git computes for it; recorded SHAs may be those (see `loopback.sample`) or made up.
Its objects become a bare repository of loose ones (gitformat-loose, git-hash-object(1)).
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loopback.git.patches import File, Unreproducible

Recorded = Mapping[str, Any]
_Tree = dict[str, File | str]  # path -> the file, or for one without a patch the path that it was added at
_ROLES = ("author", "committer")
_BEFORE_DATE = datetime(2026, 1, 19, 12, tzinfo=UTC)
_NOT_IN_NAMES = re.compile(r"[<>\n\0]")  # git leaves them out, too
_BINARY = (".png",)
_FILE, _FOLDER = "100644", "40000"
_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[http]
\treceivepack = false
"""


class Objects:
    """Objects by SHA."""

    def __init__(self) -> None:
        self._stored: dict[str, bytes] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Store a blob, tree or commit; return its SHA."""
        data = b"%s %d\0%s" % (kind.encode(), len(content), content)
        sha = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        self._stored[sha] = data
        return sha

    def tree(self, blobs: Mapping[str, str]) -> str:
        """Store the trees of path -> SHA of a blob; return the SHA of the topmost."""
        entries: dict[str, tuple[str, str]] = {}
        folders: dict[str, dict[str, str]] = {}
        for path, sha in blobs.items():
            folder, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(folder, {})[rest] = sha
            else:
                entries[path] = (_FILE, sha)
        # git sorts folders as if their names ended with a slash.
        entries |= {f"{name}/": (_FOLDER, self.tree(inside)) for name, inside in folders.items()}
        rows = (
            f"{mode} {name.rstrip('/')}\0".encode() + bytes.fromhex(sha)
            for name, (mode, sha) in sorted(entries.items(), key=lambda entry: entry[0].encode())
        )
        return self.add("tree", b"".join(rows))

    def write(self, folder: Path, branches: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Write a bare repository that serves partial clones; the first branch is the default."""
        for sha, data in self._stored.items():
            _write(folder / "objects" / sha[:2] / sha[2:], zlib.compress(data, 1))
        refs = {f"heads/{name}": sha for name, sha in branches.items()} | {
            f"tags/{name}": sha for name, sha in tags.items()
        }
        for name, sha in refs.items():
            _write(folder / "refs" / name, f"{sha}\n".encode())
        _write(folder / "config", _CONFIG.encode())
        _write(folder / "HEAD", f"ref: refs/heads/{next(iter(branches))}\n".encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class History:
    """The objects of recorded commits, which are given oldest first. `shas` maps recorded SHAs to git's."""

    def __init__(self, commits: Iterable[Recorded]) -> None:
        self.objects = Objects()
        self.shas: dict[str, str] = {}
        self._trees: dict[str, _Tree] = {}
        self._before: dict[str, _Tree] = {}
        recorded = list(commits)
        applied = [(self._apply(commit), commit) for commit in recorded]
        for tree, commit in applied:
            _name_sections(tree, commit)
        for parent, tree in self._before.items():
            self.shas[parent] = self._add_before(tree)
        for commit in recorded:
            self.shas[commit["sha"]] = self._add(commit)

    def write(self, folder: Path, branches: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Write a bare repository. Raise `Unreproducible` if the recorded SHAs are not git's."""
        if any(recorded != sha for recorded, sha in self.shas.items()) or not {*branches.values()} <= {*self.shas}:
            raise Unreproducible("the recorded SHAs are not those of git")
        self.objects.write(folder, branches, tags)

    def message(self, commit: Recorded) -> str:
        """Return a commit's message with git's SHAs of earlier commits in place of the recorded ones."""
        text = str(commit["message"])
        for recorded, sha in self.shas.items():
            text = text.replace(recorded, sha)
        return text

    def _apply(self, commit: Recorded) -> _Tree:
        """Make the commit's tree; return its first parent's."""
        before = self._parent_tree(commit)
        tree = dict(before)
        for change in commit["files"]:
            path, old, patch = change["filename"], change.get("previous_filename"), change.get("patch")
            if change["status"] == "added":
                tree[path] = File.added(patch) if patch else path
                continue
            source = old or path
            file = tree.pop(source, None)
            if file is None:
                file = before.get(source) or self._discover(source, known=bool(patch) or change["status"] == "modified")
            tree.pop(source, None)
            if change["status"] != "removed":
                tree[path] = file.patched(patch) if patch and isinstance(file, File) else file
            elif patch and isinstance(file, File):
                file.patched(patch)  # which tells its lines
        self._trees[commit["sha"]] = tree
        return before

    def _discover(self, path: str, *, known: bool) -> File | str:
        """Return a file that is met for the first time: every commit so far had it, and what came before them."""
        if not self._before:
            raise Unreproducible(f"{path} is changed before it is added")
        file = File.unknown() if known else path
        for tree in (*self._before.values(), *self._trees.values()):
            tree[path] = file
        return file

    def _parent_tree(self, commit: Recorded) -> _Tree:
        if not commit["parents"]:
            return {}
        parent = commit["parents"][0]
        return self._trees[parent] if parent in self._trees else self._before.setdefault(parent, {})

    def _add(self, commit: Recorded) -> str:
        people = {
            role: (_NOT_IN_NAMES.sub("", commit[role]["name"]).strip(), datetime.fromisoformat(commit[role]["date"]))
            for role in _ROLES
        }
        parents = [self.shas.get(parent, parent) for parent in commit["parents"]]
        return self._add_commit(self._trees[commit["sha"]], parents, people, self.message(commit))

    def _add_before(self, tree: _Tree) -> str:
        people = dict.fromkeys(_ROLES, ("GitHub", _BEFORE_DATE))
        return self._add_commit(tree, [], people, "Lantern 0.8.2\n")

    def _add_commit(
        self, tree: _Tree, parents: list[str], people: Mapping[str, tuple[str, datetime]], message: str
    ) -> str:
        blobs = {path: self.objects.add("blob", _content(file)) for path, file in tree.items()}
        lines = [f"tree {self.objects.tree(blobs)}", *(f"parent {parent}" for parent in parents)]
        lines += [
            f"{role} {name} <> {instant.timestamp():.0f} {instant:%z}" for role, (name, instant) in people.items()
        ]
        return self.objects.add("commit", "\n".join([*lines, "", message]).encode())


def with_git_shas(commits: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Return recorded commits, oldest first, with git's SHAs as theirs, as their parents', and in their messages."""
    history = History(commits)
    return [
        {
            **commit,
            "sha": history.shas[commit["sha"]],
            "parents": [history.shas[parent] for parent in commit["parents"]],
            "message": history.message(commit),
        }
        for commit in commits
    ]


def _name_sections(before: _Tree, commit: Recorded) -> None:
    for change in commit["files"]:
        file = before.get(change.get("previous_filename") or change["filename"])
        if change.get("patch") and isinstance(file, File):
            file.name_sections(change["patch"])
            if change.get("previous_filename"):
                file.lengthen(change["filename"])


def _content(file: File | str) -> bytes:
    """Return a file's content. One that no patch shows has its first path: its renames are found by their content."""
    if isinstance(file, File):
        return file.content()
    return (
        f"\0{file}\n".encode()
        if file.endswith(_BINARY)
        else b""
        if file.endswith("__init__.py")
        else f"{file}\n".encode()
    )
