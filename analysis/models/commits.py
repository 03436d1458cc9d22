"""A commit with its files and pull request, as read from a source, and its links to other commits."""

import re
from typing import Self

from pydantic import AwareDatetime

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models.frozen import Frozen

SHORT_SHA = 7
MOST_FILES = 3_000  # of a commit; GitHub lists no more


class Repository(Frozen):
    """A repository, `owner/name`, or `owner/name@branch` for a branch other than the default."""

    owner: str
    name: str
    branch: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `owner/name[@branch]`; raises `Misuse` for anything else."""
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)(?:@([^\s~^:?*\[\\]+))?", text.strip())
        name = match[2].removesuffix(".git") if match else ""
        if not match or {match[1], name} & {"", ".", "..", ".git"}:
            shown = re.sub(r"//[^/@]*@", "//", text)  # a password in an address is nobody's to read
            raise Misuse(Phrase("{text!r} is not a repository; use owner/name or owner/name@branch", text=shown))
        return cls(owner=match[1], name=name, branch=match[3])

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """The repository's key in the store: GitHub's names are case-insensitive, branches are not."""
        return self.full_name.lower() + (f"@{self.branch}" if self.branch else "")

    def __str__(self) -> str:
        return self.full_name + (f"@{self.branch}" if self.branch else "")


class FileChange(Frozen):
    """One file of a commit. `patch` is GitHub's, hunks only; None for a binary, a pure rename or one too large."""

    path: str
    previous_path: str | None = None
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None

    @property
    def size(self) -> int:
        """The number of added and removed lines."""
        return self.additions + self.deletions

    @property
    def paths(self) -> frozenset[str]:
        """The file's path, and of a moved one the previous."""
        return frozenset(path for path in (self.path, self.previous_path) if path)


class PullRequest(Frozen):
    number: int
    title: str
    body: str = ""


class Commit(Frozen):
    """A commit as GitHub serves it; a merge is diffed against its first parent. `read` is False if it was only listed.

    `not_on` names the checked branch if that does not contain the commit; else None.
    """

    sha: str
    url: str
    parents: tuple[str, ...] = ()
    author: str
    authored_at: AwareDatetime
    committed_at: AwareDatetime
    message: str
    files: tuple[FileChange, ...] = ()
    additions: int = 0
    deletions: int = 0
    pull: PullRequest | None = None
    not_on: str | None = None
    read: bool = True

    @property
    def short_sha(self) -> str:
        return self.sha[:SHORT_SHA]

    @property
    def title(self) -> str:
        return self.message.split("\n", 1)[0].strip()

    @property
    def body(self) -> str:
        return self.message.partition("\n")[2].strip()

    @property
    def texts(self) -> tuple[str, ...]:
        """The author's texts: the message, and the pull request's title and text if they were read."""
        return (self.message, *((self.pull.title, self.pull.body) if self.pull else ()))

    @property
    def size(self) -> int:
        """The number of added and removed lines."""
        return self.additions + self.deletions

    @property
    def is_cut(self) -> bool:
        """Whether it changes more files than are listed, as its counts tell, or as there are none."""
        listed = sum(file.size for file in self.files)
        return len(self.files) >= MOST_FILES and (self.size > listed or not self.size)

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1

    @property
    def subject(self) -> str:
        """The descriptive title: for GitHub's merge commits the pull request's, from the first line of the body."""
        if self.is_merge and self.title.startswith("Merge pull request ") and self.body:
            return self.body.split("\n", 1)[0].strip()
        return self.title

    @property
    def pr(self) -> int | None:
        """The pull request's number, from GitHub or else from the title; None without one."""
        if self.pull:
            return self.pull.number
        match = re.search(r"\(#(\d{1,9})\)\s*$", self.title) or re.match(r"Merge pull request #(\d{1,9}) ", self.title)
        return int(match[1]) if match else None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


class Series(Frozen):
    """A commit's place in a "[2/N]" series; `commits` are the known ones, oldest first, including itself."""

    part: int
    of: int | None
    commits: tuple[str, ...] = ()


class Links(Frozen):
    """The SHAs of related commits."""

    reverts: str | None = None
    reverts_also: tuple[str, ...] = ()
    reverted_by: str | None = None
    series: Series | None = None
    fixes: tuple[str, ...] = ()
    fixed_by: tuple[str, ...] = ()

    @property
    def all_reverted(self) -> tuple[str, ...]:
        return ((self.reverts,) if self.reverts else ()) + self.reverts_also
