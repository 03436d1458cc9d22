"""Git's objects: their SHAs, and a bare repository of loose ones (gitformat-loose, git-hash-object(1))."""

import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path

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
