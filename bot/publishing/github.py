"""A branch of a repository on GitHub as a target, read and written through the git-data API: each publication is one commit.

A commit is built apart (tree, then commit) and shown by moving the branch last, and only forward. Whoever is interrupted
before leaves nothing behind that anybody sees.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Literal, TypeVar
from urllib.parse import quote

from pydantic import Base64Bytes

from analysis.errors import DigestError, Misuse, UnknownRepository
from analysis.models import PublishedYear, Repository
from analysis.sources.github_client import Client
from analysis.sources.github_errors import archived, no_write_access, status_of
from analysis.sources.github_replies import Reply, RepositoryReply, Sha, Text
from bot.publishing.folder import foreign

T = TypeVar("T")

_FILE = "100644"
_LINK = "120000"
_START = "Begin the reports"


class _Reference(Reply):
    object: Sha


class _GitCommit(Reply):
    sha: Text
    tree: Sha


class _Entry(Reply):
    """A name in a folder: a file, a folder (`tree`), or a submodule (`commit`)."""

    path: Text
    mode: Text = ""
    type: Literal["blob", "tree", "commit"]
    sha: Text


class _Tree(Reply):
    tree: tuple[_Entry, ...]


class _Blob(Reply):
    content: Base64Bytes


class _Protection(Reply):
    protected: bool = False


class GitHubTarget:
    """A branch, which is created if the repository has commits but not that branch. The token of `client` may write."""

    def __init__(self, client: Client, repository: Repository) -> None:
        self._client = client
        self._repository = repository
        self.name = str(repository)

    @contextmanager
    def opened(self) -> Iterator["BranchFiles"]:
        """Open the branch at its present head. Raise our errors if it cannot be read or written."""
        yield BranchFiles(self)

    def check(self) -> None:
        """Raise our errors if the repository does not exist or cannot be written."""
        _ = self._found

    def is_private(self) -> bool:
        """Return whether the repository is private."""
        return self._found.private

    def is_protected(self) -> bool:
        """Return whether the branch has a protection rule, which may keep the token out; False if there is no branch yet."""
        try:
            return self.get(_Protection, f"/branches/{quote(self.branch)}").protected
        except UnknownRepository:
            return False

    def address(self, path: str, *, raw: bool = False) -> str:
        """Return the web address of a file: its page, or the file itself."""
        kind = "raw" if raw else "blob"
        return f"{self._found.html_url}/{kind}/{quote(self.branch)}/{quote(path)}"

    def has_default_branch(self) -> bool:
        """Return whether the branch is the repository's default one."""
        return self.branch == self._found.default_branch

    def get(self, form: type[T], path: str) -> T:
        """Return the answer at a path below the repository's own as `form`."""
        return self._client.get(form, f"/repos/{self.repository.full_name}{path}", repository=self.repository)

    def send(self, form: type[T], method: str, path: str, body: Mapping[str, object]) -> T:
        """Send a body to a path below the repository's own and return the answer as `form`."""
        return self._client.send(form, method, f"/repos/{self.repository.full_name}{path}", body, self.repository)

    @property
    def branch(self) -> str:
        """The name of the branch, the default one if none was named."""
        return self._repository.branch or self._found.default_branch

    @cached_property
    def repository(self) -> Repository:
        """The repository as GitHub spells it, with its branch."""
        owner, _, name = self._found.full_name.partition("/")
        return Repository(owner=owner, name=name, branch=self.branch)

    @cached_property
    def _found(self) -> RepositoryReply:
        found = self._client.get(RepositoryReply, f"/repos/{self._repository.full_name}", repository=self._repository)
        if found.archived:
            raise archived(self._repository)
        if found.permissions and not found.permissions.push:
            raise no_write_access(self._repository)
        return found


class BranchFiles:
    """The files of a branch as of one commit, read when they are asked for."""

    ours: Mapping[str, str] = {}

    def __init__(self, target: GitHubTarget) -> None:
        self._target = target
        self._name = str(target.repository)
        self._folders: dict[str, Mapping[str, _Entry]] = {}
        self._head, self._empty = None, False
        try:
            self._head = self._read_head()
        except DigestError as exc:
            # GitHub's git-data API does not serve a repository that has no commit yet.
            if status_of(exc) != HTTPStatus.CONFLICT:
                raise
            if not target.has_default_branch():
                raise Misuse(
                    f"{target.repository.full_name} has no commit yet; publish to its default branch first"
                ) from None
            self._empty = True

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder; none if there is no such folder."""
        return sorted(name for name, each in self._folder(path).items() if each.type == "tree")

    def sha(self, path: str) -> str | None:
        """Return the git blob SHA of a file, None if nothing is there. Raise `Misuse` if it is no ordinary file."""
        found = self._entry(path)
        if found and (found.type != "blob" or found.mode == _LINK):
            raise foreign(path, self._name)
        return found.sha if found else None

    def read(self, path: str) -> bytes:
        """Return the content of a file that is there."""
        found = self._entry(path)
        if found is None:
            raise foreign(path, self._name)
        return bytes(self._target.get(_Blob, f"/git/blobs/{found.sha}").content)

    def write(self, files: Mapping[str, str], message: str) -> None:
        """Commit files on top of what was read. Raise `BranchMoved` if the branch has moved since; then nothing is written."""
        head = self._head
        if self._empty:
            # An empty repository takes one file only: an index without days, which the commit of the day completes.
            first = next(path for path in files if path.endswith("/index.json"))
            content = b64encode(_without_days(files[first]).encode()).decode()
            self._target.send(
                dict[str, object], "PUT", f"/contents/{quote(first)}", {"message": _START, "content": content}
            )
            head = self._read_head()
        entries = [{"path": path, "mode": _FILE, "type": "blob", "content": text} for path, text in files.items()]
        base = {"base_tree": head.tree.sha} if head else {}
        tree = self._target.send(Sha, "POST", "/git/trees", {**base, "tree": entries}).sha
        body = {"message": message, "tree": tree, "parents": [head.sha] if head else []}
        commit = self._target.send(Sha, "POST", "/git/commits", body).sha
        branch = f"heads/{self._target.branch}"
        if head:
            self._target.send(_Reference, "PATCH", f"/git/refs/{quote(branch)}", {"sha": commit, "force": False})
        else:
            self._target.send(_Reference, "POST", "/git/refs", {"ref": f"refs/{branch}", "sha": commit})

    def _read_head(self) -> _GitCommit | None:
        """Return the commit that the branch points to; None if there is no such branch."""
        try:
            ref = self._target.get(_Reference, f"/git/ref/heads/{quote(self._target.branch)}")
        except DigestError as exc:
            if status_of(exc) == HTTPStatus.NOT_FOUND:
                return None
            raise
        return self._target.get(_GitCommit, f"/git/commits/{ref.object.sha}")

    def _entry(self, path: str) -> _Entry | None:
        place = PurePosixPath(path)
        return self._folder(str(place.parent)).get(place.name)

    def _folder(self, path: str) -> Mapping[str, _Entry]:
        """Return what a folder holds; nothing if it is not there. Raise `Misuse` for a file in its place."""
        if path not in self._folders:
            tree = self._tree(path)
            entries = self._target.get(_Tree, f"/git/trees/{tree}").tree if tree else ()
            self._folders[path] = {each.path: each for each in entries}
        return self._folders[path]

    def _tree(self, path: str) -> str | None:
        if self._head is None:
            return None
        if path == ".":
            return self._head.tree.sha
        found = self._entry(path)
        if found and found.type != "tree":
            raise foreign(path, self._name)
        return found.sha if found else None


def _without_days(index: str) -> str:
    year = PublishedYear.model_validate_json(index)
    return year.model_copy(update={"days": (), "files": {}}).model_dump_json(indent=1) + "\n"
