"""A repository that can be written to through GitHub's git-data API, as GitHub answers, beside the recorded ones."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from hashlib import sha1
from typing import Any

from bot.publishing.folder import blob_sha
from loopback.github import Handler, RecordedRepository, Reply
from tests.servers.github import FaultyGitHub

NAME = "acme/reports"
_NOT_FOUND = Reply(404, {"message": "Not Found"})
_EMPTY = Reply(409, {"message": "Git Repository is empty."})
_NO_ACCESS = Reply(403, {"message": "Resource not accessible by personal access token"})
_ARCHIVED = Reply(403, {"message": "Repository was archived so is read-only."})
_RULES = Reply(422, {"message": "Repository rule violations found\n\nChanges must be made through a pull request.\n\n"})


class WritableRepository:
    """Commits, trees (path -> content, flat) and branches; `before_moving` is called once before the next branch is moved."""

    def __init__(self, files: Mapping[str, str] | None = None, *, empty: bool = False) -> None:
        self.trees: dict[str, dict[str, str]] = {}
        self.commits: dict[str, dict[str, Any]] = {}
        self.branches: dict[str, str] = {}
        self.private = self.archived = self.protected = False
        self.may_push = True
        self.before_moving: Callable[[], object] | None = None
        if not empty:
            self.push(files or {"README.md": "Ours.\n"}, "Begin")

    def push(self, files: Mapping[str, str | None], message: str = "Edit", branch: str = "main") -> None:
        """Commit files as somebody else would; None removes one."""
        head = self.branches.get(branch)
        tree = {**(self.files(branch) if head else {}), **files}
        found = self._tree({path: text for path, text in tree.items() if text is not None})
        self.branches[branch] = self._commit(found, [head] if head else [], message)

    def files(self, branch: str = "main") -> dict[str, str]:
        """The files of a branch by path."""
        return self.trees[self.commits[self.branches[branch]]["tree"]]

    def messages(self, branch: str = "main") -> list[str]:
        """The messages of a branch's commits, oldest first."""
        found, sha = [], self.branches.get(branch, "")
        while sha:
            found.append(self.commits[sha]["message"])
            sha = next(iter(self.commits[sha]["parents"]), "")
        return found[::-1]

    def answer(self, method: str, path: str, body: Any) -> Reply:
        """Answer a request for a path below the repository's own."""
        if method == "GET" and not path.startswith("/git/"):
            return self._describe(path)
        if method != "GET" and (self.archived or not self.may_push):
            return _ARCHIVED if self.archived else _NO_ACCESS
        if method == "PUT" and path.startswith("/contents/"):
            return self._put(path.removeprefix("/contents/"), body)
        if not self.branches:
            return _EMPTY
        return self._read(path) if method == "GET" else self._write(method, path, body)

    def _read(self, path: str) -> Reply:
        kind, name = path.removeprefix("/git/").split("/", 1)
        if kind == "ref":
            sha = self.branches.get(name.removeprefix("heads/"))
            return Reply(200, {"ref": f"refs/{name}", "object": {"sha": sha, "type": "commit"}}) if sha else _NOT_FOUND
        if kind == "commits" and name in self.commits:
            commit = self.commits[name]
            return Reply(200, {"sha": name, "message": commit["message"], "tree": {"sha": commit["tree"]}})
        if kind == "trees":
            return self._folder(name)
        blobs = {blob_sha(text.encode()): text for tree in self.trees.values() for text in tree.values()}
        if kind == "blobs" and name in blobs:
            return Reply(200, {"encoding": "base64", "content": b64encode(blobs[name].encode()).decode()})
        return _NOT_FOUND

    def _folder(self, name: str) -> Reply:
        """One level of a tree; the SHA of a folder within is its tree's with the path."""
        sha, _, inside = name.partition(":")
        if sha not in self.trees:
            return _NOT_FOUND
        entries: dict[str, dict[str, str]] = {}
        for path, text in self.trees[sha].items():
            if path.startswith(inside):
                first, slash, _ = path.removeprefix(inside).partition("/")
                tree = {"type": "tree", "mode": "040000", "sha": f"{sha}:{inside}{first}/"}
                blob = {"type": "blob", "mode": "100644", "sha": blob_sha(text.encode())}
                entries[first] = {"path": first, **(tree if slash else blob)}
        return Reply(200, {"sha": name, "tree": list(entries.values()), "truncated": False})

    def _write(self, method: str, path: str, body: Any) -> Reply:
        if path == "/git/trees":
            base = self.trees[body["base_tree"]] if "base_tree" in body else {}
            return Reply(201, {"sha": self._tree({**base, **{each["path"]: each["content"] for each in body["tree"]}})})
        if path == "/git/commits":
            return Reply(201, {"sha": self._commit(body["tree"], body["parents"], body["message"])})
        hook, self.before_moving = self.before_moving, None
        if hook:
            hook()
        branch = (body["ref"] if method == "POST" else path).partition("/heads/")[2]
        if self.protected:
            return _RULES
        if method == "POST" and branch in self.branches:
            return Reply(422, {"message": "Reference already exists"})
        if method == "PATCH" and self.branches[branch] not in self.commits[body["sha"]]["parents"]:
            return Reply(422, {"message": "Update is not a fast forward"})
        self.branches[branch] = body["sha"]
        return Reply(200, {"ref": f"refs/heads/{branch}", "object": {"sha": body["sha"], "type": "commit"}})

    def _put(self, path: str, body: Any) -> Reply:
        self.push({path: b64decode(body["content"]).decode()}, body["message"])
        return Reply(201, {"content": {"path": path}})

    def _describe(self, path: str) -> Reply:
        """Describe the repository, or one of its branches."""
        branch = path.removeprefix("/branches/")
        if path and branch not in self.branches:
            return _NOT_FOUND
        if path:
            return Reply(200, {"name": branch, "protected": self.protected})
        known = {"full_name": NAME, "html_url": f"https://github.example/{NAME}", "default_branch": "main"}
        can = {"private": self.private, "archived": self.archived, "permissions": {"push": self.may_push}}
        return Reply(200, {**known, **can})

    def _tree(self, files: Mapping[str, str]) -> str:
        sha = _sha(sorted(files.items()))
        self.trees[sha] = dict(files)
        return sha

    def _commit(self, tree: str, parents: list[str], message: str) -> str:
        commit = {"tree": tree, "parents": parents, "message": message}
        sha = _sha([commit, len(self.commits)])
        self.commits[sha] = commit
        return sha


class PublishingGitHub(FaultyGitHub):
    """The loopback GitHub with one repository that can be written to; `target` is that repository."""

    def __init__(self, repositories: Mapping[str, RecordedRepository], target: WritableRepository) -> None:
        super().__init__(repositories)
        self.target = target

    def dispatch(self, handler: Handler, path: str, query: Mapping[str, str]) -> None:
        if not path.startswith(f"/repos/{NAME}"):
            super().dispatch(handler, path, query)
            return
        with self._lock:
            body = json.loads(handler.body or b"{}")
            reply = self.target.answer(handler.command, path.removeprefix(f"/repos/{NAME}"), body)
        handler.send(reply, path, query)


def _sha(value: Any) -> str:
    return sha1(json.dumps(value).encode()).hexdigest()
