"""A commit with its files and pull request, as a source reads it, and its links to other commits."""

import re
from typing import Self

from pydantic import AwareDatetime

from analysis.errors import Misuse
from analysis.models.frozen import Frozen
from analysis.phrases import Phrase

SHORT_SHA = 7


class Repository(Frozen):
    """`owner/name`, or `owner/name@branch` where a branch other than the default one is read."""

    owner: str
    name: str
    branch: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `owner/name[@branch]`; `Misuse` when it is something else."""
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)(?:@([^\s~^:?*\[\\]+))?", text.strip())
        if not match or {match[1], match[2]} & {".", "..", ".git"}:
            raise Misuse(Phrase("repository", text=text))
        return cls(owner=match[1], name=match[2].removesuffix(".git"), branch=match[3])

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """The name under which the store knows it: GitHub's names do not differ by case, branches do."""
        return self.full_name.lower() + (f"@{self.branch}" if self.branch else "")

    def __str__(self) -> str:
        return self.full_name + (f"@{self.branch}" if self.branch else "")


class FileChange(Frozen):
    """One file of a commit. `patch` is GitHub's: hunks only, None for a binary, a pure rename or one left out as too large."""

    path: str
    previous_path: str | None = None
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None


class PullRequest(Frozen):
    number: int
    title: str
    body: str = ""


class Commit(Frozen):
    """A commit as GitHub serves it; a merge is compared with its first parent. `read` is False while only listed.

    `not_on` names the branch that was looked at and does not hold it; None where nothing speaks against it.
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
    def is_merge(self) -> bool:
        return len(self.parents) > 1

    @property
    def subject(self) -> str:
        """The title that says what was done: for GitHub's merge commits the pull request's, in the body's first line."""
        if self.is_merge and self.title.startswith("Merge pull request #") and self.body:
            return self.body.split("\n", 1)[0].strip()
        return self.title

    @property
    def pr(self) -> int | None:
        """The pull request's number: as GitHub tells it, else as the title ends with it."""
        if self.pull:
            return self.pull.number
        match = re.search(r"\(#(\d{1,9})\)\s*$", self.title) or re.match(r"Merge pull request #(\d{1,9}) ", self.title)
        return int(match[1]) if match else None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


class Series(Frozen):
    """A commit's place in a "[2/N]" series; `commits` are the known ones of the series, oldest first, itself included."""

    part: int
    of: int | None
    commits: tuple[str, ...] = ()


class Links(Frozen):
    """Other commits that this one is tied to, by SHA."""

    reverts: str | None = None
    reverts_also: tuple[str, ...] = ()
    reverted_by: str | None = None
    series: Series | None = None
    fixes: tuple[str, ...] = ()
    fixed_by: tuple[str, ...] = ()

    @property
    def all_reverted(self) -> tuple[str, ...]:
        return ((self.reverts,) if self.reverts else ()) + self.reverts_also
