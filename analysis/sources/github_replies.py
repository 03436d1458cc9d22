"""The bodies of GitHub's replies, as far as they are read. A body that does not fit raises pydantic's `ValidationError`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from analysis.models import Commit, FileChange
from analysis.text import scalar


def _scalar(value: Any) -> Any:
    return scalar(value) if isinstance(value, str) else value


def _utc(instant: datetime) -> datetime:
    try:
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError("the time is out of range") from exc


Text = Annotated[str, BeforeValidator(_scalar)]  # without lone surrogates
Instant = Annotated[datetime, AfterValidator(_utc)]


class Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class Sha(Reply):
    sha: Text


class Person(Reply):
    name: Text | None = None
    date: Instant | None = None


class CommitText(Reply):
    author: Person | None = None
    committer: Person | None = None
    message: Text | None = None


class ListedCommit(Reply):
    sha: Text
    html_url: Text
    parents: tuple[Sha, ...]
    commit: CommitText

    def header(self) -> dict[str, Any]:
        """Return the fields of a `Commit` that a list has.

        A missing author or date is taken from the committer, and conversely.
        """
        people = [person for person in (self.commit.author, self.commit.committer) if person]
        dates = [person.date for person in people if person.date] or [datetime.fromtimestamp(0, UTC)]
        return {
            "sha": self.sha,
            "url": self.html_url,
            "parents": tuple(parent.sha for parent in self.parents),
            "author": next((person.name for person in people if person.name), "unknown"),
            "authored_at": dates[0],
            "committed_at": dates[-1],
            "message": self.commit.message or "",
        }

    def listed(self) -> Commit:
        return Commit(**self.header(), read=False)


class ChangedFile(Reply):
    path: Text = Field(validation_alias="filename")
    previous_path: Text | None = Field(None, validation_alias="previous_filename")
    status: Text
    additions: int
    deletions: int
    patch: Text | None = None

    def change(self) -> FileChange:
        given = self.model_dump()
        return FileChange(**{**given, "previous_path": self.previous_path or None, "patch": self.patch or None})


class LineCounts(Reply):
    additions: int
    deletions: int


class CommitPage(ListedCommit):
    """A commit with one page of its files."""

    stats: LineCounts
    files: tuple[ChangedFile, ...]

    def whole(self, files: Sequence[ChangedFile]) -> Commit:
        """Return the commit with all its `files`."""
        changes = tuple(file.change() for file in files)
        return Commit(**self.header(), additions=self.stats.additions, deletions=self.stats.deletions, files=changes)


class PullReply(Reply):
    number: int
    title: Text | None = None
    body: Text | None = None
    html_url: Text | None = None
    merge_commit_sha: Text | None = None
    merged: bool = False
    state: Text = ""


class Permissions(Reply):
    push: bool = False


class RepositoryReply(Reply):
    """A repository as GitHub shows it; `size` is in kilobytes, `permissions` are the token's."""

    full_name: Text
    private: bool
    html_url: Text = ""
    clone_url: Text = ""
    default_branch: Text = ""
    size: int = 0
    archived: bool = False
    permissions: Permissions | None = None


class ComparisonPage(Reply):
    """A comparison with one page of its commits."""

    status: Literal["ahead", "behind", "diverged", "identical"]
    commits: tuple[ListedCommit, ...]
    merge_base_commit: Sha | None = None


class ReleaseReply(Reply):
    tag_name: Text
    body: Text | None = None
    html_url: Text | None = None
    published_at: Instant | None = None
    draft: bool
    prerelease: bool


class Allowance(Reply):
    """GitHub's hourly request limit, the requests that remain, and when it resets."""

    limit: int = Field(validation_alias=AliasPath("resources", "core", "limit"))
    remaining: int = Field(validation_alias=AliasPath("resources", "core", "remaining"))
    reset: Instant = Field(validation_alias=AliasPath("resources", "core", "reset"))
