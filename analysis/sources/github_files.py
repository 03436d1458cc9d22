"""The files of a branch on GitHub, read and written through its git-data API: several files are one commit.

A commit is built apart (tree, then commit) and shown by moving the branch last, and only forward. Whoever is interrupted
before leaves nothing behind that anybody sees.
"""

from base64 import b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import Base64Bytes

from analysis.errors import DigestError, UnknownRepository
from analysis.models import Repository
from analysis.sources.github_client import Client
from analysis.sources.github_errors import status_of
from analysis.sources.github_replies import Reply, Sha, Text
from analysis.sources.publishing_errors import archived, no_write_access

T = TypeVar("T")

_TIMEOUT = 30  # seconds until the response begins; a tree holds whole pages
_RETRIES = 4
_WRITE_GAP = 1  # seconds, as GitHub's "Best practices for using the REST API" asks
_FILE = "100644"


class Permissions(Reply):
    push: bool = False


class _Repository(Reply):
    full_name: Text
    html_url: Text
    default_branch: Text
    private: bool = False
    archived: bool = False
    permissions: Permissions | None = None


class _Reference(Reply):
    object: Sha


class _GitCommit(Reply):
    sha: Text
    tree: Sha


class TreeEntry(Reply):
    """A name in a folder: a file, a folder (`tree`), or a submodule (`commit`)."""

    path: Text
    mode: Text = ""
    type: Literal["blob", "tree", "commit"]
    sha: Text

    @property
    def is_file(self) -> bool:
        """Whether it is an ordinary file, and no symbolic link."""
        return self.type == "blob" and self.mode != "120000"


class _Tree(Reply):
    tree: tuple[TreeEntry, ...]


class _Blob(Reply):
    content: Base64Bytes


class _Protection(Reply):
    protected: bool = False


class Place(NamedTuple):
    """A branch that can be written to: the repository as GitHub spells it, whether it is private, and its page's address."""

    repository: Repository
    branch: str
    web_url: str
    private: bool
    is_default: bool


class Head(NamedTuple):
    """The commit that a branch points to, and its tree."""

    commit: str
    tree: str


class EmptyRepositoryError(Exception):
    """The repository has no commit yet, and GitHub's git-data API does not serve it."""


class GitHubFiles:
    """A GitHub server with a token that may write; `max_wait` is the longest wait, in seconds, that it may ask for.

    `write_gap` is the pause, in seconds, that GitHub wants between requests that write, lest it limits them.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None,
        *,
        max_wait: float = 60,
        timeout: int = _TIMEOUT,
        retries: int = _RETRIES,
        write_gap: float = _WRITE_GAP,
    ) -> None:
        self._client = Client(
            api_url, token, max_wait=max_wait, timeout=timeout, retries=retries, on_wait=None, write_gap=write_gap
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def place(self, repository: Repository) -> Place:
        """Return the branch, the default one if none is named. Raise `AccessDenied` if it cannot be written to."""
        found = self._get(_Repository, repository, "")
        if found.archived:
            raise archived(repository)
        if found.permissions and not found.permissions.push:
            raise no_write_access(repository)
        owner, _, name = found.full_name.partition("/")
        branch = repository.branch or found.default_branch
        spelled = Repository(owner=owner, name=name, branch=branch)
        return Place(spelled, branch, found.html_url, found.private, branch == found.default_branch)

    def is_protected(self, place: Place) -> bool:
        """Return whether the branch has a protection rule, which may forbid to push; False if there is no branch yet."""
        try:
            return self._get(_Protection, place.repository, f"/branches/{quote(place.branch)}").protected
        except UnknownRepository:
            return False

    def head(self, place: Place) -> Head | None:
        """Return the head of the branch, None if there is no such branch; raise `EmptyRepositoryError`."""
        try:
            ref = self._get(_Reference, place.repository, f"/git/ref/heads/{quote(place.branch)}")
        except DigestError as exc:
            if status_of(exc) == HTTPStatus.CONFLICT:
                raise EmptyRepositoryError from exc
            if status_of(exc) == HTTPStatus.NOT_FOUND:
                return None
            raise
        return Head(ref.object.sha, self._get(_GitCommit, place.repository, f"/git/commits/{ref.object.sha}").tree.sha)

    def folder(self, place: Place, tree: str) -> dict[str, TreeEntry]:
        """Return what a tree holds, by name."""
        return {each.path: each for each in self._get(_Tree, place.repository, f"/git/trees/{tree}").tree}

    def read(self, place: Place, blob: str) -> bytes:
        """Return the content of a file."""
        return bytes(self._get(_Blob, place.repository, f"/git/blobs/{blob}").content)

    def start(self, place: Place, path: str, text: str, message: str) -> None:
        """Make the first commit of an empty repository, on its default branch: one file, since GitHub allows no more."""
        body = {"message": message, "content": b64encode(text.encode()).decode()}
        self._send(dict[str, object], "PUT", place.repository, f"/contents/{quote(path)}", body)

    def commit(self, place: Place, head: Head | None, files: Mapping[str, str], message: str) -> str:
        """Commit files on top of the head, or as the first commit of a new branch; return the SHA.

        Raise `BranchMoved` if the branch is no longer at that head.
        """
        entries = [{"path": path, "mode": _FILE, "type": "blob", "content": text} for path, text in files.items()]
        base = {"base_tree": head.tree} if head else {}
        tree = self._send(Sha, "POST", place.repository, "/git/trees", {**base, "tree": entries}).sha
        body = {"message": message, "tree": tree, "parents": [head.commit] if head else []}
        commit = self._send(Sha, "POST", place.repository, "/git/commits", body).sha
        if head:
            where = f"/git/refs/heads/{quote(place.branch)}"
            self._send(_Reference, "PATCH", place.repository, where, {"sha": commit, "force": False})
        else:
            ref = {"ref": f"refs/heads/{place.branch}", "sha": commit}
            self._send(_Reference, "POST", place.repository, "/git/refs", ref)
        return commit

    def _get(self, form: type[T], repository: Repository, path: str) -> T:
        whole = f"/repos/{repository.full_name}{path}"
        return self._client.get(form, whole, repository=repository, publishing=True)

    def _send(self, form: type[T], method: str, repository: Repository, path: str, body: Mapping[str, object]) -> T:
        return self._client.send(form, method, f"/repos/{repository.full_name}{path}", body, repository=repository)
