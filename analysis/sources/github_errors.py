"""The errors of GitHub's API in our words: by status, and where one means several things by GitHub's message."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NamedTuple

from analysis.errors import (
    AccessDenied,
    BranchMoved,
    DigestError,
    Misuse,
    NotGitHub,
    RateLimited,
    UnknownCommit,
    UnknownRepository,
    Unreachable,
)
from analysis.locale import Phrase, mark
from analysis.models import Repository

_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS)
_NO_COMMIT = (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
_WHOLE_SHA = 40
_UNKNOWN_COMMIT = mark("{repository} has no commit {commit}; check the SHA, or the repository")
_UNKNOWN_PREFIX = mark(
    "{repository} has no commit {commit}, or several start with it; use a longer SHA, or check the repository"
)
_UNKNOWN_PULL_REQUEST = mark("{repository} has no pull request {commit}; check the number, or the repository")
_NO_REPOSITORY = mark("GitHub has no repository {repository}; check the spelling, and GITHUB_TOKEN if it is private")
_NO_REPOSITORY_OR_BRANCH = mark(
    "GitHub has no repository {repository} with a branch {branch}; check the spelling, and GITHUB_TOKEN if it is private"
)
_RETRY = mark("try again then")
_SET_TOKEN = mark("set GITHUB_TOKEN for 5,000 requests an hour, or try again then")
_CAUSES = (  # what the text of a vendor's exception contains -> the cause of a failed request
    ("refused", mark("connection refused")),
    ("couldn't connect", mark("no connection")),
    ("timed out", mark("timed out")),
    ("too slow", mark("timed out")),
    ("timeout", mark("timed out")),
    ("name or service", mark("unknown host")),
    ("resolve", mark("unknown host")),
    ("certificate", mark("certificate not trusted")),
    ("too many 5", mark("repeated server errors")),
    ("aborted", mark("connection dropped")),
    ("reset", mark("connection dropped")),
    ("disconnected", mark("connection dropped")),
)

# The branch is no longer what it was: seen as 409 and 422.
_MOVED = re.compile(
    r"fast.forward|reference (?:already exists|does not exist|cannot be updated)|is at \w+ but expected", re.IGNORECASE
)
# Branch protection and rulesets say so in many words, as 403, 409 and 422.
_PROTECTED = re.compile(
    r"protected|rule violation|required status check|through a pull request|not authorized to push|approving review"
    r"|signed commits|reference update failed|linear history|branch is locked|GH00[36]|GH013",
    re.IGNORECASE,
)
_ARCHIVED = re.compile(r"archived|read.only", re.IGNORECASE)
_REFUSED = (HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.LOCKED)


class Subject(NamedTuple):
    """What a request is about, for the error's words: the server, and the repository and commit (a SHA, or #123).

    `publishing` if the repository is one that reports are published to.
    """

    host: str
    with_token: bool
    repository: Repository | None = None
    commit: str | None = None
    publishing: bool = False


def status_of(error: DigestError) -> int | None:
    """Return the HTTP status that an error was translated from, if it was one."""
    return getattr(error.__cause__, "status", None)


def known_cause(words: str) -> Phrase | None:
    """Return the cause of a failed request from a vendor's words; None if they tell none that we know."""
    low = words.lower()
    return next((Phrase(cause) for sign, cause in _CAUSES if sign in low), None)


def rate_limited(resets_at: datetime | None, *, with_token: bool) -> RateLimited:
    when = Phrase("; it resets at {at:%H:%M} UTC", at=resets_at) if resets_at else ""
    advice = Phrase(_RETRY if with_token else _SET_TOKEN)
    return RateLimited(Phrase("GitHub's rate limit is reached{when}; {advice}", when=when, advice=advice), resets_at)


def unknown_commit(repository: Repository, name: str, unknown_sha: str = _UNKNOWN_COMMIT) -> UnknownCommit:
    """Return the error for a SHA, a prefix of one or #123 that no commit has; `unknown_sha` is the sentence for a whole SHA."""
    words = unknown_sha if len(name) == _WHOLE_SHA else _UNKNOWN_PREFIX
    words = _UNKNOWN_PULL_REQUEST if name.startswith("#") else words
    return UnknownCommit(Phrase(words, repository=repository.full_name, commit=name))


def not_github(host: str) -> NotGitHub:
    return NotGitHub(Phrase("{host} does not respond like GitHub's REST API; check GITHUB_API_URL", host=host))


def no_answer(subject: Subject, words: str, name: str) -> Unreachable:
    """Return the error for a request that failed, from a vendor's words, which may include the URL, and its error's name."""
    cause = known_cause(f"{name} {words}") or name
    return Unreachable(
        Phrase("{host} did not respond ({cause}); check GITHUB_API_URL and the network", host=subject.host, cause=cause)
    )


def status_error(subject: Subject, status: int, message: str, headers: Mapping[str, str]) -> DigestError:
    """Return the error for a response with a status from 400 on."""
    host, with_token, repository, commit, publishing = subject
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return rate_limited(reset_time(headers), with_token=with_token)
    found = _publishing_error(status, message, repository) if repository and publishing else None
    if found or status == HTTPStatus.UNAUTHORIZED:
        return found or AccessDenied(Phrase("GitHub rejected the token; check GITHUB_TOKEN"))
    if repository and status == HTTPStatus.FORBIDDEN:
        return AccessDenied(
            Phrase(
                "GITHUB_TOKEN has no access to {repository}; grant it read access to contents and pull requests",
                repository=repository.full_name,
            )
        )
    if repository and commit and status in _NO_COMMIT:
        return unknown_commit(repository, commit)
    if repository and status in _GONE:
        missing = _NO_REPOSITORY_OR_BRANCH if repository.branch else _NO_REPOSITORY
        return UnknownRepository(Phrase(missing, repository=repository.full_name, branch=repository.branch))
    return Unreachable(Phrase("{host} returned status {status}; try again later", host=host, status=status))


def reset_time(headers: Mapping[str, str]) -> datetime | None:
    """Return when a limit resets, from Retry-After (seconds or a date) or X-RateLimit-Reset (Unix time), or None."""
    low = {name.lower(): value for name, value in headers.items()}
    after, reset = low.get("retry-after", ""), low.get("x-ratelimit-reset", "")
    try:
        if after:
            return (
                datetime.now(UTC) + timedelta(seconds=int(after))
                if after.isdigit()
                else parsedate_to_datetime(after).astimezone(UTC)
            )
        return datetime.fromtimestamp(int(reset), UTC) if reset else None
    except (ValueError, OverflowError):
        return None


def _publishing_error(status: int, message: str, repository: Repository) -> DigestError | None:
    """Return what a status means to whoever publishes to a repository; None if it means the same to everybody."""
    if status == HTTPStatus.UNAUTHORIZED:
        return AccessDenied("GitHub rejected the token; check DIGEST_PUBLISH_TOKEN")
    if status in _REFUSED:
        return _refusal(status, message, repository)
    if status == HTTPStatus.NOT_FOUND:
        return UnknownRepository(
            f"{repository.full_name} does not exist, or the token may not write to it; "
            "check the spelling, and that DIGEST_PUBLISH_TOKEN has write access to its contents"
        )
    return None


def _refusal(status: int, message: str, repository: Repository) -> DigestError:
    if _ARCHIVED.search(message):
        return archived(repository)
    if _MOVED.search(message):
        return BranchMoved(f"{repository} moved while its commit was made")
    if _PROTECTED.search(message):
        branch = f"branch {repository.branch}" if repository.branch else "the default branch"
        return AccessDenied(
            f"{branch} of {repository.full_name} is protected; let the owner of DIGEST_PUBLISH_TOKEN push to it, or publish to another branch"
        )
    if status == HTTPStatus.FORBIDDEN:
        return no_write_access(repository)
    return Misuse(
        f"GitHub refused the commit to {repository}; check the rules of its branch, and that DIGEST_PUBLISH_TOKEN may write to it"
    )


def archived(repository: Repository) -> AccessDenied:
    return AccessDenied(f"{repository.full_name} is archived; unarchive it, or publish elsewhere")


def no_write_access(repository: Repository) -> AccessDenied:
    return AccessDenied(
        f"the token may not write to {repository.full_name}; give DIGEST_PUBLISH_TOKEN write access to its contents"
    )
