"""The errors of GitHub's API: a table from what PyGithub and its HTTP client raise to ours.

The table is applied around the one call of the vendor (`github_client`), the most specific type first. An exception that is
not in it is raised as it is: it is a bug.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.errors import (
    AccessDenied,
    DigestError,
    NotGitHub,
    RateLimited,
    UnknownCommit,
    UnknownRepository,
    Unreachable,
    translated_by,
)
from analysis.locale import Phrase, mark
from analysis.models import Repository
from analysis.sources.publishing_errors import publishing_error

if TYPE_CHECKING:
    from github import GithubException

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


class Subject(NamedTuple):
    """What a request is about, for the error's words: the server, and the repository and commit (a SHA, or #123).

    `publishing` if the repository is one that reports are published to.
    """

    host: str
    with_token: bool
    repository: Repository | None = None
    commit: str | None = None
    publishing: bool = False


def translated_errors(subject: Subject) -> AbstractContextManager[None]:
    """Raise the vendor's errors as ours."""
    return translated_by(_table(), subject)


def status_of(error: DigestError) -> int | None:
    """Return the HTTP status that an error was translated from, if it was one."""
    from github import GithubException

    return error.__cause__.status if isinstance(error.__cause__, GithubException) else None


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


def _limit(exc: "GithubException", subject: Subject) -> DigestError:
    return rate_limited(_reset(exc.headers or {}), with_token=subject.with_token)


def _status(exc: "GithubException", subject: Subject) -> DigestError:
    status, (host, _, repository, commit, publishing) = exc.status, subject
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return _limit(exc, subject)
    found = publishing_error(status, exc.message or "", repository) if repository and publishing else None
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


def _no_answer(exc: Exception, subject: Subject) -> DigestError:
    return Unreachable(
        Phrase(
            "{host} did not respond ({cause}); check GITHUB_API_URL and the network",
            host=subject.host,
            cause=_cause(exc),
        )
    )


def _odd_answer(_: Exception, subject: Subject) -> DigestError:
    return not_github(subject.host)


@cache
def _table() -> Mapping[type[Exception], Callable[[Any, Subject], DigestError]]:
    import github
    import requests
    import urllib3

    return {
        github.GithubException: _status,
        github.RateLimitExceededException: _limit,
        github.BadAttributeException: _odd_answer,
        requests.RequestException: _no_answer,
        urllib3.exceptions.HTTPError: _no_answer,
        OSError: _no_answer,
        # PyGithub raises these itself: of a redirect to another server, and of rate limit headers that are no figures.
        RuntimeError: _odd_answer,
        ValueError: _odd_answer,
        OverflowError: _odd_answer,
    }


def _reset(headers: Mapping[str, str]) -> datetime | None:
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


def _cause(exc: Exception) -> Phrase | str:
    """Return a plain description of a failed request, without the URL that vendors include."""
    return known_cause(f"{type(exc).__name__} {exc}") or type(exc).__name__
