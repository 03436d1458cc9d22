"""Every error of PyGithub and of its HTTP client becomes one of ours."""

import inspect
from collections.abc import Iterator
from http import HTTPStatus

import github
import pytest
import requests
import urllib3
from github import GithubException

from analysis.errors import DigestError, RateLimited
from analysis.models import Repository
from analysis.sources.github_errors import Subject
from analysis.sources.pygithub import translated_errors

REPOSITORY = Repository(owner="o", name="n")


def subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for each in kind.__subclasses__():
        yield from subclasses(each)


VENDORS = [
    *subclasses(GithubException),
    github.BadAttributeException,
    *subclasses(requests.RequestException),
    *subclasses(urllib3.exceptions.HTTPError),
]


def made(kind: type[Exception], status: int = 500) -> Exception:
    """An error of that kind, made with whatever its class asks for."""
    if issubclass(kind, GithubException):
        return kind(status, {"message": "vendor's words"}, {})
    error = kind.__new__(kind)
    Exception.__init__(error, "vendor's words")
    vars(error).update(partial=0, expected=1, length=b"1")  # what some of them print
    return error


def translated(error: Exception, commit: str | None = None) -> BaseException:
    subject = Subject("127.0.0.1:9", with_token=False, repository=REPOSITORY, commit=commit)
    with pytest.raises(DigestError) as told, translated_errors(subject):
        raise error
    return told.value


@pytest.mark.parametrize("kind", dict.fromkeys(VENDORS), ids=lambda kind: kind.__name__)
def test_no_vendor_error_is_forgotten(kind: type[Exception]) -> None:
    """Whatever PyGithub, requests or urllib3 may raise comes out as one of our errors, with words of our own."""
    assert not inspect.isabstract(kind)
    told = translated(made(kind))
    assert "vendor's words" not in str(told)
    assert len(str(told)) > 20


@pytest.mark.parametrize("kind", [AttributeError, KeyError, TypeError, AssertionError])
def test_a_bug_stays_a_bug(kind: type[Exception]) -> None:
    """An exception that the vendor does not raise is not translated."""
    with pytest.raises(kind), translated_errors(Subject("127.0.0.1:9", with_token=False)):
        raise kind("ours")


@pytest.mark.parametrize("status", [int(status) for status in HTTPStatus if status >= 400])
@pytest.mark.parametrize("commit", [None, "abcdef0"])
def test_every_status_has_words(status: int, commit: str | None) -> None:
    """Each status that GitHub might answer with, for a list or for a commit, is an error that says what to do."""
    assert ";" in str(translated(GithubException(status, {"message": "x"}, {}), commit))


@pytest.mark.parametrize(
    "headers", [{}, {"Retry-After": "soon"}, {"X-RateLimit-Reset": "99999999999999999999"}, {"retry-after": "-1"}]
)
def test_a_limit_without_a_sensible_reset_is_still_a_limit(headers: dict[str, str]) -> None:
    """A reset that cannot be read is left out, not guessed."""
    told = translated(GithubException(429, {}, headers))
    assert isinstance(told, RateLimited)
    assert told.resets_at is None
