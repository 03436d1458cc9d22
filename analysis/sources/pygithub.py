"""PyGithub, set up as the client of GitHub needs it, and its errors as ours.

The table of errors is applied around the one call of the vendor (`github_client`), the most specific type first. An exception
that is not in it is raised as it is: it is a bug. PyGithub takes a quarter of a second to import: this module is imported where
it is used.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

import requests
import urllib3
from github import BadAttributeException, Github, GithubException, GithubRetry, RateLimitExceededException
from github.Auth import Token
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import Requester

from analysis.errors import DigestError, translated_by
from analysis.sources.github_errors import Subject, no_answer, not_github, rate_limited, reset_time, status_error

# PyGithub prints its log to standard error from INFO on. Handlers are up to whoever configures logging.
_vendor_log = logging.getLogger("github")
_vendor_log.handlers.clear()
_vendor_log.setLevel(logging.NOTSET)


def client(
    api_url: str,
    token: str | None,
    *,
    max_wait: float,
    timeout: int,
    retries: int,
    on_wait: Callable[[float], None] | None,
    write_gap: float,
) -> Github:
    """Return a client that retries and waits; the parameters are those of `github_client.Client`."""
    patience = _CappedRetry(
        total=retries,
        read=max(0, retries - 1),
        backoff_factor=0.5,
        max_rate_limit_wait=max_wait,
    )
    patience.on_wait = on_wait
    return Github(
        auth=Token(token) if token else None,
        base_url=api_url,
        retry=patience,
        seconds_between_requests=None,
        seconds_between_writes=write_gap or None,
        timeout=timeout,
        user_agent="vllm-digest",
    )


def error(status: int, headers: Mapping[str, Any], body: Mapping[str, str]) -> GithubException:
    """Return PyGithub's error for a response from status 400 on."""
    return Requester.createException(status, dict(headers), dict(body))


class _CappedRetry(GithubRetry):
    """PyGithub's retries, with a maximum for each wait and a callback for waits of a second or more."""

    on_wait: Callable[[float], None] | None = None

    def increment(  # type: ignore[override]  # PyGithub's own signature differs from urllib3's
        self,
        method: str | None = None,
        url: str | None = None,
        response: urllib3.HTTPResponse | None = None,
        error: Exception | None = None,
        _pool: urllib3.connectionpool.ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> urllib3.Retry:
        if response is not None and self.max_rate_limit_wait is not None:
            wait = self.get_retry_after(response)
            if wait is not None and wait > self.max_rate_limit_wait:
                response.close()
                raise RateLimitExceededExceedsMaxWait(response.status, {}, dict(response.headers), wait=wait)
        return super().increment(method, url, response, error, _pool, _stacktrace)

    def new(self, **kwargs: Any) -> Self:
        retry = super().new(**kwargs)
        retry.on_wait = self.on_wait
        return retry

    def sleep(self, response: urllib3.BaseHTTPResponse | None = None) -> None:
        seconds = (self.get_retry_after(response) if response else None) or self.get_backoff_time()
        if self.on_wait and seconds >= 1:
            self.on_wait(seconds)
        super().sleep(response)


def translated_errors(subject: Subject) -> AbstractContextManager[None]:
    """Raise the errors of PyGithub and of its HTTP client as ours."""
    return translated_by(_TABLE, subject)


def _limit(exc: RateLimitExceededException, subject: Subject) -> DigestError:
    return rate_limited(reset_time(exc.headers or {}), with_token=subject.with_token)


def _status(exc: GithubException, subject: Subject) -> DigestError:
    return status_error(subject, exc.status, exc.message or "", exc.headers or {})


def _no_answer(exc: Exception, subject: Subject) -> DigestError:
    return no_answer(subject, str(exc), type(exc).__name__)


def _odd_answer(_: Exception, subject: Subject) -> DigestError:
    return not_github(subject.host)


_TABLE: Mapping[type[Exception], Callable[[Any, Subject], DigestError]] = {
    GithubException: _status,
    RateLimitExceededException: _limit,
    BadAttributeException: _odd_answer,
    requests.RequestException: _no_answer,
    urllib3.exceptions.HTTPError: _no_answer,
    OSError: _no_answer,
    # PyGithub raises these itself: of a redirect to another server, and of rate limit headers that are no figures.
    RuntimeError: _odd_answer,
    ValueError: _odd_answer,
    OverflowError: _odd_answer,
}
