"""A client of GitHub's REST API: connections, retries and waits by PyGithub, bodies checked against a model.

It waits as GitHub asks (Retry-After, reset of the limit) up to `max_wait` seconds each time; a longer wait raises
`RateLimited`. A PyGithub client serves one thread at a time, as PyGithub requires, and is reused with its connection
afterwards. It is imported for the first request: a stored day needs none.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from queue import Empty, LifoQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from analysis.models import Repository
from analysis.sources.github_errors import Subject, not_github, translated_errors

if TYPE_CHECKING:
    from github import Github

T = TypeVar("T")
Parameters = Mapping[str, str | int]

_MOST_PAGES = 100  # maximum pages of a list; no day has ten thousand commits
_NONE: Parameters = MappingProxyType({})


class Changed(NamedTuple, Generic[T]):
    """The body of a response, and its ETag, "" without one."""

    body: T
    etag: str


class _Response(NamedTuple):
    """The status, the headers by lower-case name, and the text of a response."""

    status: int
    headers: Mapping[str, str]
    text: str


class Client:
    """A GitHub server, with or without a token; `timeout` is in seconds until a response, `retries` come after it.

    `write_gap` is the least number of seconds between requests that write.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None,
        *,
        max_wait: float,
        timeout: int,
        retries: int,
        on_wait: Callable[[float], None] | None,
        write_gap: float = 0,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self.host = urlsplit(self.api_url).netloc
        self._token = token
        self._max_wait = max_wait
        self._timeout = timeout
        self._retries = retries
        self._on_wait = on_wait
        self._write_gap = write_gap
        self._idle: LifoQueue[Github] = LifoQueue()

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def get(
        self,
        form: type[T],
        path: str,
        parameters: Parameters = _NONE,
        *,
        repository: Repository | None = None,
        commit: str | None = None,
        publishing: bool = False,
    ) -> T:
        """Return the body at a path as `form`, a model. Raise our errors, about `repository` and `commit` if given.

        `publishing` if the errors are those of a publication's target.
        """
        return next(self.pages(form, path, parameters, repository=repository, commit=commit, publishing=publishing))

    def get_changed(
        self, form: type[T], path: str, parameters: Parameters, etag: str, *, repository: Repository
    ) -> Changed[T] | None:
        """Return the body at a path as `form`, with its ETag; None if it still is `etag`. Raise the errors of `get`."""
        subject = Subject(self.host, self._token is not None, repository)
        response = self._request(path, parameters, subject, etag)
        if etag and response.status == HTTPStatus.NOT_MODIFIED:
            return None
        return Changed(self._body(form, response.text), response.headers.get("etag", ""))

    def pages(
        self,
        form: type[T],
        path: str,
        parameters: Parameters = _NONE,
        *,
        repository: Repository | None = None,
        commit: str | None = None,
        publishing: bool = False,
    ) -> Iterator[T]:
        """Yield the bodies of a list, page by page. Raise `NotGitHub` for a list that does not end."""
        subject = Subject(self.host, self._token is not None, repository, commit, publishing)
        url = path
        for _ in range(_MOST_PAGES):
            response = self._request(url, parameters, subject)
            yield self._body(form, response.text)
            url, parameters = _next_url(response.headers), _NONE  # the next page's address has them
            if not url:
                return
            if not url.startswith(f"{self.api_url}/"):
                raise not_github(self.host)
        raise not_github(self.host)

    def send(self, form: type[T], method: str, path: str, body: Mapping[str, Any], *, repository: Repository) -> T:
        """Send a body to a path and return the answer as `form`. Raise our errors, those of a publication to `repository`."""
        subject = Subject(self.host, self._token is not None, repository, publishing=True)
        return self._body(form, self._request(path, _NONE, subject, method=method, body=body).text)

    def _request(
        self,
        url: str,
        parameters: Parameters,
        subject: Subject,
        etag: str = "",
        *,
        method: str = "GET",
        body: Mapping[str, Any] | None = None,
    ) -> _Response:
        """Return a response, which may be 304 given an `etag`. Raise our errors for failures and for statuses from 400 on."""
        from analysis.sources import pygithub

        try:
            client = self._idle.get_nowait()
        except Empty:
            client = pygithub.client(
                self.api_url,
                self._token,
                max_wait=self._max_wait,
                timeout=self._timeout,
                retries=self._retries,
                on_wait=self._on_wait,
                write_gap=self._write_gap,
            )
        try:
            with translated_errors(subject):
                conditions = {"If-None-Match": etag} if etag else None
                status, headers, text = client.requester.requestJson(method, url, dict(parameters), conditions, body)
        finally:
            self._idle.put(client)
        if status >= HTTPStatus.BAD_REQUEST:
            with translated_errors(subject):
                raise pygithub.error(status, headers, _message(text))
        return _Response(status, headers, text)

    def _body(self, form: type[T], text: str) -> T:
        try:
            return TypeAdapter(form).validate_python(json.loads(text))
        except (ValueError, RecursionError) as exc:  # no JSON, JSON of another form, or nested beyond reason
            raise not_github(self.host) from exc


def _message(text: str) -> dict[str, str]:
    """Return the message of an error's body, by which PyGithub knows a rate limit."""
    try:
        message = json.loads(text)["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return {"message": message} if isinstance(message, str) else {}


def _next_url(headers: Mapping[str, str]) -> str:
    """Return the URL of the next page from the Link header, or "" after the last."""
    from requests.utils import parse_header_links

    links = parse_header_links(headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), "")
