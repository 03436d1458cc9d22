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
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from analysis.models import Repository
from analysis.sources.github_errors import Subject, not_github

if TYPE_CHECKING:
    from github import Github

T = TypeVar("T")
Parameters = Mapping[str, str | int]

_MOST_PAGES = 100  # maximum pages of a list; no day has ten thousand commits
_NONE: Parameters = MappingProxyType({})


class Client:
    """A GitHub server, with or without a token; `timeout` is in seconds until a response, `retries` come after it.

    `write_gap` is the least number of seconds between requests that write. All methods raise our errors, about the
    `repository` and `commit` (a SHA, or #123) if given; `publishing` if they are those of a publication's target.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None,
        *,
        max_wait: float = 60,
        timeout: int = 15,
        retries: int = 4,
        on_wait: Callable[[float], None] | None = None,
        write_gap: float = 0,
        publishing: bool = False,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self.host = urlsplit(self.api_url).netloc
        self.has_token = token is not None
        self._token = token
        self._patience: dict[str, Any] = {
            "max_wait": max_wait,
            "timeout": timeout,
            "retries": retries,
            "on_wait": on_wait,
        }
        self._write_gap = write_gap
        self._publishing = publishing
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
        repository: Repository | None = None,
    ) -> T:
        """Return the body at a path as `form`, a model."""
        return next(self.pages(form, path, parameters, repository))

    def get_changed(
        self, form: type[T], path: str, parameters: Parameters, etag: str, repository: Repository
    ) -> tuple[T, str] | None:
        """Return the body at a path as `form`, with its ETag ("" without one); None if it still is `etag`."""
        headers = {"If-None-Match": etag} if etag else {}
        status, answered, text = self._request(self._subject(repository), "GET", path, parameters, headers)
        if etag and status == HTTPStatus.NOT_MODIFIED:
            return None
        return self._body(form, text), answered.get("etag", "")

    def pages(
        self,
        form: type[T],
        path: str,
        parameters: Parameters = _NONE,
        repository: Repository | None = None,
        commit: str | None = None,
    ) -> Iterator[T]:
        """Yield the bodies of a list, page by page. Raise `NotGitHub` for a list that does not end."""
        url = path
        for _ in range(_MOST_PAGES):
            _, headers, text = self._request(self._subject(repository, commit), "GET", url, parameters)
            yield self._body(form, text)
            url, parameters = _next_url(headers), _NONE  # the next page's address has them
            if not url:
                return
            if not url.startswith(f"{self.api_url}/"):
                break
        raise not_github(self.host)

    def send(self, form: type[T], method: str, path: str, body: Mapping[str, Any], repository: Repository) -> T:
        """Send a body to a path and return the answer as `form`."""
        _, _, text = self._request(self._subject(repository), method, path, body=body)
        return self._body(form, text)

    def _subject(self, repository: Repository | None, commit: str | None = None) -> Subject:
        return Subject(self.host, self.has_token, repository, commit, self._publishing)

    def _request(
        self,
        subject: Subject,
        method: str,
        url: str,
        parameters: Parameters = _NONE,
        headers: Mapping[str, str] = MappingProxyType({}),
        body: Mapping[str, Any] | None = None,
    ) -> tuple[int, Mapping[str, str], str]:
        """Return the status, which is below 400, the headers by lower-case name, and the text of a response."""
        from analysis.sources import pygithub

        try:
            client = self._idle.get_nowait()
        except Empty:
            client = pygithub.client(self.api_url, self._token, write_gap=self._write_gap, **self._patience)
        try:
            with pygithub.translated_errors(subject):
                status, answered, text = client.requester.requestJson(method, url, {**parameters}, {**headers}, body)
                if status >= HTTPStatus.BAD_REQUEST:
                    raise pygithub.error(status, answered, _message(text))
        finally:
            self._idle.put(client)
        return status, answered, text

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
