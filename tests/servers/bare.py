"""Repositories written with git, commit by commit, and a GitHub that serves them to git."""

import base64
import os
import subprocess
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from loopback.git import backend
from loopback.github import Handler, RecordedRepository, Reply
from tests.servers.github import FaultyGitHub

_NOON = 1_770_000_000  # 2026-02-02T02:40:00Z
_MODES = {"file": "100644", "program": "100755", "link": "120000", "submodule": "160000"}


class Entry(NamedTuple):
    """What is at a path: the bytes of a file, a link's target, or the SHA of a submodule's commit."""

    content: bytes
    kind: str = "file"


class BareRepository:
    """A bare repository in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--bare", "--initial-branch=main")
        for key in ("allowFilter", "allowAnySHA1InWant"):
            self.git("config", f"uploadpack.{key}", "true")
        self._count = 0
        self._blobs: dict[bytes, str] = {}

    def git(self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] = MappingProxyType({})) -> str:
        """What git prints, with nobody's configuration."""
        plain = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        self.folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["git", f"--git-dir={self.folder}", *arguments],
            env={**plain, **environment},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(
        self,
        files: Mapping[str, Entry | bytes],
        *parents: str,
        message: bytes = b"Change something",
        at: int | None = None,
        author: str = "Ada",
        branch: str | None = "main",
    ) -> str:
        """Commit a whole tree; `at` is the committer date in seconds. A branch is moved to it."""
        self._count += 1
        when = _NOON + 60 * self._count if at is None else at
        rows = b""
        for path, given in files.items():
            entry = Entry(given) if isinstance(given, bytes) else given
            sha = entry.content.decode() if entry.kind == "submodule" else self.blob(entry.content)
            rows += f"{_MODES[entry.kind]} {sha}\t".encode() + os.fsencode(path) + b"\0"
        index = {"GIT_INDEX_FILE": str(self.folder / f"index-{self._count}")}
        self.git("update-index", "-z", "--index-info", stdin=rows, environment=index)
        tree = self.git("write-tree", "--missing-ok", environment=index)
        rows = b"".join(f"parent {parent}\n".encode() for parent in parents)
        people = f"author {author} <> {_NOON} +0800\ncommitter {author} <> {when} +0100\n".encode()
        content = f"tree {tree}\n".encode() + rows + people + b"\n" + message
        sha = self.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=content)
        if branch:
            self.git("update-ref", f"refs/heads/{branch}", sha)
        return sha

    def blob(self, content: bytes) -> str:
        """Store a file's content; return its SHA."""
        if content not in self._blobs:
            self._blobs[content] = self.git("hash-object", "-w", "--stdin", stdin=content)
        return self._blobs[content]

    def lose(self, sha: str) -> None:
        """Delete a loose object."""
        path = self.folder / "objects" / sha[:2] / sha[2:]
        path.unlink()


class GitServer(FaultyGitHub):
    """A GitHub that serves bare repositories: of its API what a clone needs, and git.

    `token` is what `private` ones ask for; `addresses` changes what the API says about a repository.
    """

    def __init__(self, bare: Mapping[str, BareRepository], *, token: str = "") -> None:
        super().__init__({name: RecordedRepository([], {"main": ""}) for name in bare})
        self._bare = {name.lower(): each for name, each in bare.items()}
        self.token = token
        self.said: dict[str, object] = {}

    def handle(self, handler: Handler, path: str, query: Mapping[str, str]) -> None:
        if self.token and self.token not in _given(handler):
            clone = backend.split_path(path)
            asks = {"WWW-Authenticate": 'Basic realm="GitHub"'} if clone else {}
            self.requests.append((path, query, handler.headers.get("Authorization")))
            handler.send(Reply(401 if clone else 404, {"message": "Not Found"}), path, query, asks)
        else:
            super().handle(handler, path, query)

    def answer(self, path: str, query: Mapping[str, str]) -> Reply:
        reply = super().answer(path, query)
        is_changed = reply.status == HTTPStatus.OK and isinstance(reply.body, dict)
        return reply._replace(body={**reply.body, **self.said}) if is_changed else reply

    def _clone(self, name: str) -> Path | None:
        return self._bare[name].folder if name in self._bare else None


def _given(handler: Handler) -> str:
    """The token of a request: plain, or the password of Basic."""
    scheme, _, value = (handler.headers.get("Authorization") or "").partition(" ")
    return base64.b64decode(value).decode() if scheme.lower() == "basic" else value
