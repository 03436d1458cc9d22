"""The only module that calls GitHub. It returns our models, redacted and in UTC, and raises our errors.

Requests: one per hundred listed commits, one per commit read (one more for every 300 files beyond 300), and with a
token one more for its pull request. It waits as GitHub asks (Retry-After, reset of the limit) up to `max_wait` seconds
each time; a longer wait raises `RateLimited`. A PyGithub client serves one thread at a time, as PyGithub requires, and
is reused with its connection afterwards.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from queue import Empty, LifoQueue
from types import MappingProxyType, TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import github
import requests
import urllib3
from github.Auth import Token
from github.Commit import Commit as VendorCommit
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.GithubObject import NotSet
from github.Repository import Repository as VendorRepository

from analysis.errors import (
    AccessDenied,
    DigestError,
    Misuse,
    RateLimited,
    UnknownBranch,
    UnknownCommit,
    UnknownRepository,
    Unreachable,
)
from analysis.locale import Phrase, mark
from analysis.models import Commit, FileChange, Frozen, PullRequest, Repository
from analysis.paths import Kind, kind
from analysis.sources.secrets import redacted
from analysis.text import scalar
from analysis.window import Window

# PyGithub prints its log to standard error from INFO on. Handlers are up to whoever configures logging.
_vendor_log = logging.getLogger("github")
_vendor_log.handlers.clear()
_vendor_log.setLevel(logging.NOTSET)

_TIMEOUT = 15  # seconds until the response begins
_RETRIES = 4
_PAGE = 100
_FILES_PAGE = 300
_MAX_CONTENTS = 5  # maximum files per commit, one request each
_MOST_FILES = 3_000  # GitHub lists no more files of a commit
_MOST_PAGES = 100  # maximum pages of a list; no day has ten thousand commits

_NO_COMMIT = mark(
    "{repository} has no commit {commit}, or several begin like it; give more of the SHA, or check the repository"
)
_NO_PULL_REQUEST = mark("{repository} has no pull request {commit}; check the number, or the repository")
_NO_REPOSITORY = mark("GitHub has no repository {repository}; check the spelling, and GITHUB_TOKEN if it is private")
_NO_REPOSITORY_OR_BRANCH = mark(
    "GitHub has no repository {repository} with a branch {branch}; check the spelling, and GITHUB_TOKEN if it is private"
)
_RETRY = mark("run it again then")
_SET_TOKEN = mark("set GITHUB_TOKEN for 5,000 requests an hour, or run it again then")
_CAUSES = (  # what the text of a vendor's exception contains -> the cause of a failed request
    ("refused", mark("connection refused")),
    ("timed out", mark("timed out")),
    ("timeout", mark("timed out")),
    ("name or service", mark("unknown host")),
    ("resolve", mark("unknown host")),
    ("certificate", mark("certificate not trusted")),
    ("too many 5", mark("repeated server errors")),
    ("aborted", mark("connection dropped")),
    ("reset", mark("connection dropped")),
    ("disconnected", mark("connection dropped")),
)


class Comparison(Frozen):
    """The commits added to a branch since an older head; `rewritten` if the branch no longer contains that head."""

    commits: tuple[Commit, ...]
    rewritten: bool


class Release(Frozen):
    """A published release: its tag, and its notes in Markdown."""

    tag: str
    notes: str
    published_at: datetime


class Allowance(Frozen):
    """GitHub's hourly request limit, and the requests that remain."""

    limit: int
    remaining: int


class _CappedRetry(github.GithubRetry):
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


class GitHub:
    """A GitHub server, with or without a token; `timeout` is in seconds until a response, `retries` come after it.

    `instead` maps repositories to the servers that host them.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None = None,
        *,
        max_wait: float = 60,
        timeout: int = _TIMEOUT,
        retries: int = _RETRIES,
        on_wait: Callable[[float], None] | None = None,
        instead: Mapping[str, "GitHub"] = MappingProxyType({}),
    ) -> None:
        self._api_url = api_url.rstrip("/")
        self._token = token
        self._max_wait = max_wait
        self._timeout = timeout
        self._retries = retries
        self._on_wait = on_wait
        self._instead = instead
        self._idle: LifoQueue[github.Github] = LifoQueue()

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def list_commits(self, repository: Repository, window: Window) -> tuple[Commit, ...]:
        """List the window's commits by committer date, newest first: unread, without files."""
        # GitHub includes both ends, to the second.
        span = {"since": window.start, "until": window.end - timedelta(seconds=1)}
        asked = {name: f"{instant:%Y-%m-%dT%H:%M:%SZ}" for name, instant in span.items()}
        if repository.branch:
            asked["sha"] = repository.branch
        with self._client(repository) as client:
            try:
                commits = {found.sha: _listed(found) for found in _pages(_vendor(client, repository), asked)}
            except github.GithubException as exc:
                if exc.status != requests.codes.conflict:
                    raise
                commits = {}  # an empty repository
        inside = [commit for commit in commits.values() if commit.committed_at in window]
        return tuple(sorted(inside, key=lambda commit: commit.committed_at, reverse=True))

    def read_commit(self, repository: Repository, ref: str) -> Commit:
        """Read a commit (`ref`: a SHA or an unambiguous prefix) with its files and, given a token, its pull request."""
        with self._client(repository, commit=ref) as client:
            found = _vendor(client, repository).get_commit(ref, commit_files_per_page=_FILES_PAGE)
            commit = _read(found)
            if not commit.sha.startswith(ref.lower()):
                raise ValueError("the answer is about another commit")
            pull = self._pull(repository, found) if self._token else None
        return redacted(commit.model_copy(update={"pull": pull}))

    def contents(self, repository: Repository, commit: Commit) -> str:
        """Return the text of the first changed source files as of that commit, without those that cannot be read."""
        changed = [file.path for file in commit.files if file.status != "removed" and kind(file.path) is Kind.SOURCE]
        texts = []
        for path in changed[:_MAX_CONTENTS]:
            try:
                with self._client(repository, commit=commit.sha) as client:
                    found = _vendor(client, repository).get_contents(path, ref=commit.sha)
                    if not isinstance(found, list):
                        texts.append(scalar(found.decoded_content.decode("utf-8", "replace")))
            except DigestError:
                continue
        return "\n".join(texts)

    def merged_as(self, repository: Repository, number: int) -> str:
        """Return the SHA that pull request `number` was merged as; `UnknownCommit` if it is missing or not merged."""
        with self._client(repository, commit=f"#{number}") as client:
            pull = _vendor(client, repository).get_pull(number)
            if not pull.merged or not pull.merge_commit_sha:
                raise UnknownCommit(
                    Phrase(
                        "pull request #{number} of {repository} is not merged; ask again when it is",
                        number=number,
                        repository=repository.full_name,
                    )
                )
            return pull.merge_commit_sha

    def allowance(self) -> Allowance | None:
        """Return the request limit (a free call), or None if there is none; raises `RateLimited` when it is used up."""
        with self._client() as client:
            try:
                rate = client.get_rate_limit().resources.core
            except github.UnknownObjectException:
                return None  # Enterprise Server without a limit
            if not rate.remaining:
                raise _rate_limited(_utc(rate.reset), self._token)
            return Allowance(limit=rate.limit, remaining=rate.remaining)

    def is_public(self, repository: Repository) -> bool:
        """Return whether the repository is public; one that the token may not read is not."""
        try:
            with self._client(repository) as client:
                return not _vendor(client, repository).private
        except AccessDenied as exc:
            if isinstance(exc.__cause__, github.GithubException) and exc.__cause__.status == requests.codes.forbidden:
                return False
            raise

    def canonical_name(self, repository: Repository) -> Repository:
        """Return the repository with GitHub's spelling; `UnknownRepository` or `UnknownBranch` if it does not exist."""
        with self._client(repository) as client:
            vendor = _vendor(client, repository).complete()
            owner, _, name = vendor.full_name.partition("/")
            if repository.branch:
                try:
                    vendor.get_branch(repository.branch)
                except github.UnknownObjectException as exc:
                    raise UnknownBranch(
                        Phrase("GitHub has no branch {repository}; check the spelling", repository=repository)
                    ) from exc
            return repository.model_copy(update={"owner": owner, "name": name})

    def head(self, repository: Repository) -> str:
        """Return the SHA of the branch's head."""
        with self._client(repository) as client:
            return _vendor(client, repository).get_commits(repository.branch or NotSet)[0].sha

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Return the commits in `head` but not in `base`, unread. A base unknown to GitHub counts as rewritten."""
        try:
            with self._client(repository, commit=base) as client:
                found = _vendor(client, repository).compare(base, head)
                commits = tuple(_listed(each) for each in found.commits)
                return Comparison(commits=commits, rewritten=found.status in ("diverged", "behind"))
        except UnknownCommit:
            return Comparison(commits=(), rewritten=True)

    def releases(self, repository: Repository) -> tuple[Release, ...]:
        """Return the newest hundred published releases, newest first, without drafts and prereleases."""
        with self._client(repository) as client:
            found = islice(_vendor(client, repository).get_releases(), _PAGE)
            kept = [
                Release(tag=each.tag_name, notes=scalar(each.body or ""), published_at=_utc(each.published_at))
                for each in found
                if each.published_at and not each.draft and not each.prerelease
            ]
        return tuple(sorted(kept, key=lambda release: release.published_at, reverse=True))

    def branch_without(self, repository: Repository, sha: str) -> str | None:
        """Return the branch's name if it lacks the commit, else None: GitHub serves commits of forks upstream, too."""
        with self._client(repository, commit=sha) as client:
            vendor = _vendor(client, repository)
            branch = repository.branch or vendor.default_branch
            status = vendor.compare(sha, branch, comparison_commits_per_page=1).status
            return None if status in ("ahead", "identical") else branch

    def _pull(self, repository: Repository, commit: VendorCommit) -> PullRequest | None:
        """Return the pull request that introduced the commit; None if there is none or the token may not read it."""
        try:
            with self._translated_errors(repository, commit=commit.sha):
                pulls = list(commit.get_pulls())
        except Misuse:
            return None
        merged = [pull for pull in pulls if pull.merge_commit_sha == commit.sha]
        for pull in merged or pulls:
            return PullRequest(number=pull.number, title=scalar(pull.title or ""), body=scalar(pull.body or ""))
        return None

    @contextmanager
    def _client(self, repository: Repository | None = None, commit: str | None = None) -> Iterator[github.Github]:
        """Yield a client reserved for this thread, with its errors translated."""
        other = self._instead.get(repository.full_name) if repository else None
        if other:
            with other._client(repository, commit) as client:  # noqa: SLF001 (one of this class)
                yield client
            return
        with self._translated_errors(repository, commit):
            try:
                client = self._idle.get_nowait()
            except Empty:
                client = self._new_client()
            try:
                yield client
            finally:
                self._idle.put(client)

    def _new_client(self) -> github.Github:
        patience = _CappedRetry(
            total=self._retries,
            read=max(0, self._retries - 1),
            backoff_factor=0.5,
            max_rate_limit_wait=self._max_wait,
        )
        patience.on_wait = self._on_wait
        return github.Github(
            auth=Token(self._token) if self._token else None,
            base_url=self._api_url,
            lazy=True,  # a repository is not requested until one of its own attributes is read
            per_page=_PAGE,
            retry=patience,
            seconds_between_requests=None,
            timeout=self._timeout,
            user_agent="vllm-digest",
        )

    @contextmanager
    def _translated_errors(self, repository: Repository | None, commit: str | None = None) -> Iterator[None]:
        """Translate the errors of PyGithub and its HTTP client into ours; nothing else does."""
        host = urlsplit(self._api_url).netloc
        try:
            yield
        except RateLimitExceededExceedsMaxWait as exc:
            raise _rate_limited(_reset(exc.headers or {}), self._token) from exc
        except github.GithubException as exc:
            raise self._from_status(exc, repository, commit) from exc
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as exc:
            raise Unreachable(
                Phrase(
                    "{host} does not answer ({cause}); check GITHUB_API_URL and the network",
                    host=host,
                    cause=_cause(exc),
                )
            ) from exc
        except (
            github.BadAttributeException,
            *(AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError),
        ) as exc:
            raise Unreachable(
                Phrase("{host} does not answer like GitHub's REST API; check GITHUB_API_URL", host=host)
            ) from exc

    def _from_status(self, exc: github.GithubException, repository: Repository | None, commit: str | None) -> Exception:
        status = exc.status
        if isinstance(exc, github.RateLimitExceededException) or status == requests.codes.too_many:
            return _rate_limited(_reset(exc.headers or {}), self._token)
        if status == requests.codes.unauthorized:
            return AccessDenied(Phrase("GitHub refuses the token; check GITHUB_TOKEN"))
        if repository and status == requests.codes.forbidden:
            return AccessDenied(
                Phrase(
                    "GITHUB_TOKEN may not read {repository}; give it read access to contents and pull requests",
                    repository=repository.full_name,
                )
            )
        if status in (requests.codes.not_found, requests.codes.unprocessable) and commit and repository:
            missing = _NO_PULL_REQUEST if commit.startswith("#") else _NO_COMMIT
            return UnknownCommit(Phrase(missing, repository=repository.full_name, commit=commit))
        gone = (requests.codes.not_found, requests.codes.gone, requests.codes.unavailable_for_legal_reasons)
        if repository and status in gone:
            missing = _NO_REPOSITORY_OR_BRANCH if repository.branch else _NO_REPOSITORY
            return UnknownRepository(Phrase(missing, repository=repository.full_name, branch=repository.branch))
        return Unreachable(
            Phrase(
                "{host} answers with status {status}; try again later",
                host=urlsplit(self._api_url).netloc,
                status=status,
            )
        )


def _vendor(client: github.Github, repository: Repository) -> VendorRepository:
    return client.get_repo(repository.full_name)


def _pages(vendor: VendorRepository, asked: dict[str, str]) -> Iterator[VendorCommit]:
    """Yield the commits of a list, page by page. PyGithub's paging would treat a malformed response as the end."""
    url, parameters = f"{vendor.url}/commits", {**asked, "per_page": str(_PAGE)}
    for _ in range(_MOST_PAGES):
        headers, data = vendor.requester.requestJsonAndCheck("GET", url, parameters=parameters)
        if not isinstance(data, list):
            raise TypeError("the answer is no list")
        yield from (VendorCommit(vendor.requester, headers, each) for each in data)
        url = _links(headers.get("link", "")).get("next", "")
        parameters = {}
        if not url:
            return
    raise ValueError("the list does not end")


def _links(text: str) -> dict[str, str]:
    """Map each relation of a Link header to its URL."""
    return (
        {each["rel"]: each["url"] for each in requests.utils.parse_header_links(text) if "rel" in each} if text else {}
    )


def _listed(found: VendorCommit) -> Commit:
    return redacted(Commit.model_validate({**_header(found), "read": False}))


def _read(found: VendorCommit) -> Commit:
    # PyGithub requests a commit when its first attribute is read: read the header before the files, whose first page
    # would otherwise be requested twice.
    header = _header(found)
    files = tuple(
        FileChange(
            path=scalar(file.filename),
            previous_path=scalar(file.previous_filename) if file.previous_filename else None,
            status=file.status,
            additions=file.additions,
            deletions=file.deletions,
            patch=scalar(file.patch) if file.patch else None,
        )
        for file in islice(found.files, _MOST_FILES)
    )
    counts = {"additions": found.stats.additions, "deletions": found.stats.deletions}
    return Commit.model_validate({**header, **counts, "files": files})


def _header(found: VendorCommit) -> dict[str, Any]:
    """Return the fields of both a listed and a read commit.

    A missing author or date is taken from the committer, and conversely.
    """
    people = [person for person in (found.commit.author, found.commit.committer) if person]
    dates = [person.date for person in people if person.date] or [datetime.fromtimestamp(0, UTC)]
    return {
        "sha": found.sha,
        "url": found.html_url,
        "parents": tuple(parent.sha for parent in found.parents),
        "author": scalar(next((person.name for person in people if person.name), "unknown")),
        "authored_at": _utc(dates[0]),
        "committed_at": _utc(dates[-1]),
        "message": scalar(found.commit.message or ""),
    }


def _utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _rate_limited(resets_at: datetime | None, token: str | None) -> RateLimited:
    when = Phrase("; it resets at {at:%H:%M} UTC", at=resets_at) if resets_at else ""
    advice = Phrase(_RETRY if token else _SET_TOKEN)
    return RateLimited(Phrase("GitHub's request limit is used up{when}; {advice}", when=when, advice=advice), resets_at)


def _reset(headers: dict[str, str]) -> datetime | None:
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


def _cause(exc: BaseException) -> Phrase | str:
    """Return a plain description of a failed request, without the URL that vendors include."""
    text = f"{type(exc).__name__} {exc}".lower()
    for sign, cause in _CAUSES:
        if sign in text:
            return Phrase(cause)
    return type(exc).__name__
