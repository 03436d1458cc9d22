"""Commits, files and questions for tests, named by what a test cares about and plain in everything else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from analysis.facts import facts
from analysis.models import Commit, Entry, FileChange, Language, PullRequest, Repository, Statement, Turn
from analysis.questions.answering import Answering
from analysis.questions.question import Question, parse_question
from analysis.ranking import rank

NOON = datetime(2026, 2, 5, 12, 0, tzinfo=UTC)
SHA = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = Repository(owner="acme", name="engine")


def commit(
    title: str = "Do something",
    files: Sequence[FileChange] = (),
    *,
    body: str = "",
    pull: str | PullRequest | None = None,
    sha: str = SHA,
    author: str = "Ada",
    at: datetime = NOON,
    parents: Sequence[str] = ("f" * 40,),
    read: bool = True,
) -> Commit:
    """A commit that was read; `pull` is its pull request, or the text of pull request 123."""
    return Commit(
        sha=sha,
        url=f"https://github.com/acme/engine/commit/{sha}",
        parents=tuple(parents),
        author=author,
        authored_at=at,
        committed_at=at,
        message=f"{title}\n\n{body}" if body else title,
        files=tuple(files),
        additions=sum(each.additions for each in files),
        deletions=sum(each.deletions for each in files),
        pull=PullRequest(number=123, title=title, body=pull) if isinstance(pull, str) else pull,
        read=read,
    )


def file(
    path: str,
    patch: str | None = None,
    *,
    status: str = "modified",
    was: str | None = None,
    additions: int | None = None,
    deletions: int | None = None,
) -> FileChange:
    """A file of a commit, its counts those of the patch unless given."""
    lines = (patch or "").split("\n")
    return FileChange(
        path=path,
        previous_path=was,
        status=status,
        additions=sum(line.startswith("+") for line in lines) if additions is None else additions,
        deletions=sum(line.startswith("-") for line in lines) if deletions is None else deletions,
        patch=patch,
    )


def patch(*lines: str, old: int = 1, new: int = 1) -> str:
    """One hunk of `lines`, each with its sign in front, under a header that counts them right."""
    before = sum(not line.startswith("+") for line in lines)
    after = sum(not line.startswith("-") for line in lines)
    return "\n".join([f"@@ -{old},{before} +{new},{after} @@", *lines])


def new_file(path: str, *lines: str) -> FileChange:
    """A file that a commit adds."""
    header = f"@@ -0,0 +1,{len(lines)} @@"
    return file(path, "\n".join([header, *(f"+{line}" for line in lines)]), status="added")


def entry(told: Commit, **known: Any) -> Entry:
    """A commit with its facts, its rank, and what else is known of it."""
    found = facts(told)
    return Entry(**{"commit": told, "facts": found, "ranked": rank(told, found), **known})


def question(text: str, *entries: Entry, thread: Sequence[Turn] = ()) -> Question:
    """A question about commits of one repository."""
    return Question(parse_question(text, thread), REPOSITORY, entries)


def answered(text: str, *entries: Entry, language: Language = "en") -> list[Statement]:
    """The answer to a question by rules."""
    return list(Answering(question(text, *entries), language))
