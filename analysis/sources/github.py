"""The only door to GitHub. What passes it is ours: models, redacted, in UTC; errors in words for people.

Requests: one a hundred commits listed, one a commit (one more for every 300 files over 300), and with a token one
more for its pull request. Waits are GitHub's own (Retry-After, the reset of the limit) up to `max_wait` seconds each;
a longer one is `RateLimited`. A PyGithub client serves one thread at a time, as PyGithub asks, and is used again with
its connection when that one is done.
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
from analysis.models import Commit, FileChange, Frozen, PullRequest, Repository
from analysis.paths import Kind, kind
from analysis.phrases import Phrase
from analysis.sources.secrets import redacted
from analysis.text import scalar
from analysis.window import Window

# PyGithub prints what it logs to standard error, from INFO on, by itself. Printing is for whoever set up logging.
_vendor_log = logging.getLogger("github")
_vendor_log.handlers.clear()
_vendor_log.setLevel(logging.NOTSET)

_TIMEOUT = 15  # seconds for an answer to begin
_RETRIES = 4
_PAGE = 100
_FILES_PAGE = 300
_LOOKED_UP = 5  # files a commit, a request each
_MOST_FILES = 3_000  # of a commit, GitHub lists no more
_MOST_PAGES = 100  # of a list; no day has ten thousand commits


class Comparison(Frozen):
    """What a branch gained since an older head. `rewritten` says that the older head is no longer part of it."""

    commits: tuple[Commit, ...]
    rewritten: bool


class Release(Frozen):
    """A published release: the tag that it was made from, and its notes in Markdown."""

    tag: str
    notes: str
    published_at: datetime


class Allowance(Frozen):
    """How many requests an hour GitHub allows, and how many of them are left."""

    limit: int
    remaining: int


class _Patience(github.GithubRetry):
    """PyGithub's retries, with a cap on every wait that a server asks for and word of those that are waited."""

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
    """One GitHub server, seen with or without a token. `timeout` is in seconds, for an answer to begin; `retries` follow its end.

    `instead` names repositories that another server has.
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
        """Ends the connections that are idle."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def list_commits(self, repository: Repository, window: Window) -> tuple[Commit, ...]:
        """The commits of the window by committer date, newest first, as the list gives them: unread, without files."""
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
                commits = {}  # a repository without any commit
        inside = [commit for commit in commits.values() if commit.committed_at in window]
        return tuple(sorted(inside, key=lambda commit: commit.committed_at, reverse=True))

    def read_commit(self, repository: Repository, ref: str) -> Commit:
        """The commit called `ref` (a SHA or an unambiguous prefix) with its files and, given a token, its pull request."""
        with self._client(repository, commit=ref) as client:
            found = _vendor(client, repository).get_commit(ref, commit_files_per_page=_FILES_PAGE)
            commit = _read(found)
            if not commit.sha.startswith(ref.lower()):
                raise ValueError("the answer is about another commit")
            pull = self._pull(repository, found) if self._token else None
        return redacted(commit.model_copy(update={"pull": pull}))

    def contents(self, repository: Repository, commit: Commit) -> str:
        """The text of the first source files that the commit changes, as they are at that commit; what cannot be had is left out."""
        changed = [file.path for file in commit.files if file.status != "removed" and kind(file.path) is Kind.SOURCE]
        texts = []
        for path in changed[:_LOOKED_UP]:
            try:
                with self._client(repository, commit=commit.sha) as client:
                    found = _vendor(client, repository).get_contents(path, ref=commit.sha)
                    if not isinstance(found, list):
                        texts.append(scalar(found.decoded_content.decode("utf-8", "replace")))
            except DigestError:
                continue
        return "\n".join(texts)

    def merged_as(self, repository: Repository, number: int) -> str:
        """The SHA of the commit that pull request `number` became; `UnknownCommit` when it is not merged or not there."""
        with self._client(repository, commit=f"#{number}") as client:
            pull = _vendor(client, repository).get_pull(number)
            if not pull.merged or not pull.merge_commit_sha:
                raise UnknownCommit(Phrase("not_merged", number=number, repository=repository.full_name))
            return pull.merge_commit_sha

    def allowance(self) -> Allowance | None:
        """How much may be asked of the server, which costs nothing to ask; None where there is no limit. `RateLimited` at its end."""
        with self._client() as client:
            try:
                rate = client.get_rate_limit().resources.core
            except github.UnknownObjectException:
                return None  # Enterprise Server, where no limit is set
            if not rate.remaining:
                raise _rate_limited(_utc(rate.reset), self._token)
            return Allowance(limit=rate.limit, remaining=rate.remaining)

    def is_public(self, repository: Repository) -> bool:
        """Whether everybody may read the repository; what the token may not read is not public to it."""
        try:
            with self._client(repository) as client:
                return not _vendor(client, repository).private
        except AccessDenied as exc:
            if isinstance(exc.__cause__, github.GithubException) and exc.__cause__.status == requests.codes.forbidden:
                return False
            raise

    def spelled(self, repository: Repository) -> Repository:
        """The repository as GitHub writes it; `UnknownRepository` or `UnknownBranch` where there is none."""
        with self._client(repository) as client:
            vendor = _vendor(client, repository).complete()
            owner, _, name = vendor.full_name.partition("/")
            if repository.branch:
                try:
                    vendor.get_branch(repository.branch)
                except github.UnknownObjectException as exc:
                    raise UnknownBranch(Phrase("no_branch", repository=repository)) from exc
            return repository.model_copy(update={"owner": owner, "name": name})

    def head(self, repository: Repository) -> str:
        """The SHA that the branch points to now."""
        with self._client(repository) as client:
            return _vendor(client, repository).get_commits(repository.branch or NotSet)[0].sha

    def gained(self, repository: Repository, base: str, head: str) -> Comparison:
        """What `head` holds and `base` does not, unread. A base that GitHub has forgotten was rewritten away."""
        try:
            with self._client(repository, commit=base) as client:
                found = _vendor(client, repository).compare(base, head)
                commits = tuple(_listed(each) for each in found.commits)
                return Comparison(commits=commits, rewritten=found.status in ("diverged", "behind"))
        except UnknownCommit:
            return Comparison(commits=(), rewritten=True)

    def releases(self, repository: Repository) -> tuple[Release, ...]:
        """The newest hundred published releases, newest first, without drafts and previews."""
        with self._client(repository) as client:
            found = islice(_vendor(client, repository).get_releases(), _PAGE)
            kept = [
                Release(tag=each.tag_name, notes=scalar(each.body or ""), published_at=_utc(each.published_at))
                for each in found
                if each.published_at and not each.draft and not each.prerelease
            ]
        return tuple(sorted(kept, key=lambda release: release.published_at, reverse=True))

    def branch_without(self, repository: Repository, sha: str) -> str | None:
        """The branch's name if it does not contain the commit: GitHub also serves commits of forks under the upstream's name."""
        with self._client(repository, commit=sha) as client:
            vendor = _vendor(client, repository)
            branch = repository.branch or vendor.default_branch
            status = vendor.compare(sha, branch, comparison_commits_per_page=1).status
            return None if status in ("ahead", "identical") else branch

    def _pull(self, repository: Repository, commit: VendorCommit) -> PullRequest | None:
        """The pull request that brought the commit, or None where there is none or the token may not see it."""
        try:
            with self._translated(repository, commit=commit.sha):
                pulls = list(commit.get_pulls())
        except Misuse:
            return None
        merged = [pull for pull in pulls if pull.merge_commit_sha == commit.sha]
        for pull in merged or pulls:
            return PullRequest(number=pull.number, title=scalar(pull.title or ""), body=scalar(pull.body or ""))
        return None

    @contextmanager
    def _client(self, repository: Repository | None = None, commit: str | None = None) -> Iterator[github.Github]:
        """A client for this thread alone, for as long as the block lasts, with its errors translated."""
        other = self._instead.get(repository.full_name) if repository else None
        if other:
            with other._client(repository, commit) as client:  # noqa: SLF001 (one of this class)
                yield client
            return
        with self._translated(repository, commit):
            try:
                client = self._idle.get_nowait()
            except Empty:
                client = self._new_client()
            try:
                yield client
            finally:
                self._idle.put(client)

    def _new_client(self) -> github.Github:
        patience = _Patience(
            total=self._retries,
            read=max(0, self._retries - 1),
            backoff_factor=0.5,
            max_rate_limit_wait=self._max_wait,
        )
        patience.on_wait = self._on_wait
        return github.Github(
            auth=Token(self._token) if self._token else None,
            base_url=self._api_url,
            lazy=True,  # a repository is only a name until something of its own is asked for
            per_page=_PAGE,
            retry=patience,
            seconds_between_requests=None,
            timeout=self._timeout,
            user_agent="vllm-digest",
        )

    @contextmanager
    def _translated(self, repository: Repository | None, commit: str | None = None) -> Iterator[None]:
        """Turns whatever PyGithub and its HTTP client raise into our errors: the one place where that is done."""
        host = urlsplit(self._api_url).netloc
        try:
            yield
        except RateLimitExceededExceedsMaxWait as exc:
            raise _rate_limited(_reset(exc.headers or {}), self._token) from exc
        except github.GithubException as exc:
            raise self._from_status(exc, repository, commit) from exc
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as exc:
            raise Unreachable(Phrase("no_answer", host=host, cause=_cause(exc))) from exc
        except (
            github.BadAttributeException,
            *(AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError),
        ) as exc:
            raise Unreachable(Phrase("not_github", host=host)) from exc

    def _from_status(self, exc: github.GithubException, repository: Repository | None, commit: str | None) -> Exception:
        status = exc.status
        if isinstance(exc, github.RateLimitExceededException) or status == requests.codes.too_many:
            return _rate_limited(_reset(exc.headers or {}), self._token)
        if status == requests.codes.unauthorized:
            return AccessDenied(Phrase("bad_token"))
        if repository and status == requests.codes.forbidden:
            return AccessDenied(Phrase("forbidden", repository=repository.full_name))
        if status in (requests.codes.not_found, requests.codes.unprocessable) and commit and repository:
            missing = "no_pull" if commit.startswith("#") else "no_commit"
            return UnknownCommit(Phrase(missing, repository=repository.full_name, commit=commit))
        gone = (requests.codes.not_found, requests.codes.gone, requests.codes.unavailable_for_legal_reasons)
        if repository and status in gone:
            missing = "no_repository_or_branch" if repository.branch else "no_repository"
            return UnknownRepository(Phrase(missing, repository=repository.full_name, branch=repository.branch))
        return Unreachable(Phrase("status", host=urlsplit(self._api_url).netloc, status=status))


def _vendor(client: github.Github, repository: Repository) -> VendorRepository:
    return client.get_repo(repository.full_name)


def _pages(vendor: VendorRepository, asked: dict[str, str]) -> Iterator[VendorCommit]:
    """The commits of a list, page by page. Only a list is one: PyGithub's own paging takes any other answer for an end."""
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
    """Relation -> address, of a Link header."""
    return (
        {each["rel"]: each["url"] for each in requests.utils.parse_header_links(text) if "rel" in each} if text else {}
    )


def _listed(found: VendorCommit) -> Commit:
    return redacted(Commit.model_validate({**_header(found), "read": False}))


def _read(found: VendorCommit) -> Commit:
    # PyGithub asks for a commit when its first attribute is read: the header comes before the files, whose first page
    # would otherwise be asked for a second time.
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
    """What the list and the commit itself both tell. An author or a date that git lacks is taken from the other person."""
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
    when = Phrase("limit_resets", at=resets_at) if resets_at else ""
    return RateLimited(Phrase("limit", when=when, advice=Phrase("limit_again" if token else "limit_token")), resets_at)


def _reset(headers: dict[str, str]) -> datetime | None:
    """The instant at which a limit ends, to the second, by Retry-After (seconds or a date) or X-RateLimit-Reset (Unix time)."""
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
    """The plainest words for a failed request, without the address that vendors put in theirs."""
    text = f"{type(exc).__name__} {exc}".lower()
    for sign, cause in (
        ("refused", "refused"),
        ("timed out", "timed_out"),
        ("timeout", "timed_out"),
        ("name or service", "unknown_host"),
        ("resolve", "unknown_host"),
        ("certificate", "untrusted"),
        ("too many 5", "server_errors"),
        ("aborted", "dropped"),
        ("reset", "dropped"),
        ("disconnected", "dropped"),
    ):
        if sign in text:
            return Phrase(cause)
    return type(exc).__name__
