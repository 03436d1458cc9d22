"""The only door to GitHub's API. It returns our models, redacted and in UTC, and raises our errors.

Requests: one per hundred listed commits, one per commit read (one more for every 300 files beyond 300), and with a
token one more for its pull request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import islice
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import quote

from analysis.errors import AccessDenied, DigestError, Misuse, UnknownBranch, UnknownCommit, UnknownRepository
from analysis.locale import Phrase
from analysis.models import MOST_FILES, Commit, Frozen, PullRequest, ReleaseTag, Repository
from analysis.sources.github_client import Client
from analysis.sources.github_errors import not_github, rate_limited, status_of
from analysis.sources.github_replies import (
    Allowance,
    CommitPage,
    ComparisonPage,
    ListedCommit,
    PullReply,
    ReleaseReply,
    RepositoryReply,
    Sha,
)
from analysis.sources.release_tags import main_releases
from analysis.sources.sanitize import sanitized, sanitized_title
from analysis.window import Window

T = TypeVar("T")

_PAGE = 100
_FILES_PAGE = 300
_MOST_RELEASES = 500  # of a repository, the newest
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class Comparison(Frozen):
    """The commits added to a branch since an older head; `rewritten` if the branch no longer contains that head."""

    commits: tuple[Commit, ...]
    rewritten: bool


class Release(Frozen):
    """A published release: its tag, its notes in Markdown, and its page."""

    tag: str
    notes: str
    published_at: datetime
    prerelease: bool = False
    url: str = ""


class PullState(Frozen):
    """A pull request as it stands: its redacted title and its page; `merged_as` is the SHA of its merge, if it was merged."""

    number: int
    title: str
    url: str
    closed: bool
    merged_as: str | None


class GitHub:
    """A GitHub server, with or without a token; `timeout` is in seconds until a response, `retries` come after it.

    `max_wait` is the longest wait, in seconds, that GitHub may ask for; `on_wait` hears of waits of a second or more.
    `instead` maps repositories to the servers that host them.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None = None,
        *,
        max_wait: float = 60,
        timeout: int = 15,
        retries: int = 4,
        on_wait: Callable[[float], None] | None = None,
        instead: Mapping[str, "GitHub"] = MappingProxyType({}),
    ) -> None:
        self._client = Client(api_url, token, max_wait=max_wait, timeout=timeout, retries=retries, on_wait=on_wait)
        self._instead = instead
        self._releases: dict[str, tuple[tuple[Release, ...], str]] = {}  # as last listed, with the ETag

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def list_commits(self, repository: Repository, window: Window) -> tuple[Commit, ...]:
        """List the window's commits by committer date, newest first: unread, without files."""
        # GitHub includes both ends, to the second.
        asked = {"since": f"{window.start:{_TIME}}", "until": f"{window.end - timedelta(seconds=1):{_TIME}}"}
        if repository.branch:
            asked["sha"] = repository.branch
        try:
            pages = list(self._pages(tuple[ListedCommit, ...], repository, "/commits", **asked, per_page=_PAGE))
        except DigestError as exc:
            if status_of(exc) != HTTPStatus.CONFLICT:
                raise
            pages = []  # an empty repository
        commits = {found.sha: sanitized(found.listed()) for page in pages for found in page}
        inside = [commit for commit in commits.values() if commit.committed_at in window]
        return tuple(sorted(inside, key=lambda commit: commit.committed_at, reverse=True))

    def read_commit(self, repository: Repository, ref: str, *, pull: bool = True) -> Commit:
        """Read a commit (`ref`: a SHA or an unambiguous prefix) with its files and, if asked and given a token, its pull request."""
        path = f"/commits/{quote(ref, safe='')}"
        pages = self._pages(CommitPage, repository, path, commit=ref, per_page=_FILES_PAGE)
        first = next(pages)
        if not first.sha.startswith(ref.lower()):
            raise not_github(self._at(repository).host)
        files = [*first.files]
        while len(files) < MOST_FILES and (page := next(pages, None)):
            files += page.files
        found = self.pull_request(repository, first.sha) if pull else None
        return sanitized(first.whole(files[:MOST_FILES]).model_copy(update={"pull": found}))

    def pull_request(self, repository: Repository, sha: str) -> PullRequest | None:
        """Return the pull request that introduced a commit, unredacted.

        None if there is none, if the token may not read it, or without a token.
        """
        if not self._client.has_token:
            return None
        try:
            pulls = self._get(tuple[PullReply, ...], repository, f"/commits/{sha}/pulls", commit=sha, per_page=_PAGE)
        except Misuse:
            return None
        merged = [pull for pull in pulls if pull.merge_commit_sha == sha]
        for pull in merged or pulls:
            return PullRequest(number=pull.number, title=pull.title or "", body=pull.body or "")
        return None

    def pull_state(self, repository: Repository, number: int) -> PullState:
        """Return how pull request `number` stands, by one request; `UnknownCommit` if it is missing."""
        pull = self._get(PullReply, repository, f"/pulls/{number}", commit=f"#{number}")
        return PullState(
            number=number,
            title=sanitized_title(pull.title or ""),
            url=pull.html_url or "",
            closed=pull.state == "closed",
            merged_as=(pull.merge_commit_sha or None) if pull.merged else None,
        )

    def allowance(self) -> Allowance | None:
        """Return the request limit (a free call), or None if there is none; raises `RateLimited` when it is used up."""
        try:
            rate = self._client.get(Allowance, "/rate_limit")
        except DigestError as exc:
            if status_of(exc) == HTTPStatus.NOT_FOUND:
                return None  # Enterprise Server without a limit
            raise
        if not rate.remaining:
            raise rate_limited(rate.reset, with_token=self._client.has_token)
        return rate

    def is_public(self, repository: Repository) -> bool:
        """Return whether the repository is public; one that the token may not read is not."""
        try:
            return not self.described(repository).private
        except AccessDenied as exc:
            if status_of(exc) == HTTPStatus.FORBIDDEN:
                return False
            raise

    @property
    def api_url(self) -> str:
        """The API's address, which the token is for."""
        return self._client.api_url

    def api_url_of(self, repository: Repository) -> str:
        """Return the address of the API that hosts the repository; no request."""
        return self._at(repository).api_url

    def host_of(self, repository: Repository) -> str:
        """Return the host of the API that hosts the repository; no request."""
        return self._at(repository).host

    def described(self, repository: Repository) -> RepositoryReply:
        """Return the repository as GitHub shows it: its name, addresses, default branch and size.

        Raise `UnknownRepository` or `AccessDenied` if it does not.
        """
        return self._get(RepositoryReply, repository)

    def canonical_name(self, repository: Repository) -> Repository:
        """Return the repository with GitHub's spelling; `UnknownRepository` or `UnknownBranch` if it does not exist."""
        full_name = self.described(repository).full_name
        try:
            spelled = Repository.parse(full_name)
        except Misuse as exc:
            raise not_github(self._at(repository).host) from exc
        if repository.branch:
            try:
                self._get(dict[str, object], repository, f"/branches/{quote(repository.branch)}")
            except UnknownRepository as exc:
                raise UnknownBranch(
                    Phrase("GitHub has no branch {repository}; check the spelling", repository=repository)
                ) from exc
        return repository.model_copy(update={"owner": spelled.owner, "name": spelled.name})

    def head(self, repository: Repository) -> str:
        """Return the SHA of the branch's head."""
        found = self._latest(repository)
        if found is None:
            raise not_github(self._at(repository).host)
        return found

    def commit_before(self, repository: Repository, instant: datetime) -> str | None:
        """Return the SHA of the branch's last commit before an instant, by committer date; None if there is none."""
        # The instant itself is included.
        return self._latest(repository, until=f"{instant - timedelta(seconds=1):{_TIME}}")

    def resolve(self, repository: Repository, name: str) -> str:
        """Return the SHA of a tag, a branch, a SHA or the prefix of one; raises `UnknownCommit`."""
        return self._get(Sha, repository, f"/commits/{quote(name, safe='')}", commit=name).sha

    def merge_base(self, repository: Repository, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits; None if they have none."""
        path = f"/compare/{quote(one)}...{quote(other)}"
        try:
            found = self._get(ComparisonPage, repository, path, commit=one, per_page=1).merge_base_commit
        except UnknownCommit:
            return None
        return found.sha if found else None

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Return the commits in `head` but not in `base`, unread. A base unknown to GitHub counts as rewritten."""
        path = f"/compare/{quote(base)}...{quote(head)}"
        try:
            pages = list(self._pages(ComparisonPage, repository, path, commit=base))
        except UnknownCommit:
            return Comparison(commits=(), rewritten=True)
        commits = tuple(sanitized(each.listed()) for page in pages for each in page.commits)
        return Comparison(commits=commits, rewritten=pages[0].status in ("diverged", "behind"))

    def releases(self, repository: Repository) -> tuple[Release, ...]:
        """Return the newest five hundred published releases, newest first, pre-releases among them.

        A list that has not changed since it was last asked for is kept: it does not count against GitHub's limit.
        """
        kept, etag = self._releases.get(repository.full_name, ((), ""))
        path, form = f"/repos/{repository.full_name}/releases", tuple[ReleaseReply, ...]
        answer = self._at(repository).get_changed(form, path, {"per_page": _PAGE}, etag, repository)
        if answer is None:
            return kept
        replies, current = answer[0][:_PAGE], answer[1]
        if len(replies) == _PAGE:
            pages = self._pages(form, repository, "/releases", per_page=_PAGE, page=2)
            replies += tuple(each for page in islice(pages, _MOST_RELEASES // _PAGE - 1) for each in page)
        found = tuple(sorted(_published(replies), key=lambda release: release.published_at, reverse=True))
        self._releases[repository.full_name] = found, current
        return found

    def release_tags(self, repository: Repository, prefix: str | None = None) -> tuple[ReleaseTag, ...]:
        """Return the main releases and their candidates, by version, the oldest first; of the newest five hundred.

        GitHub lists no commits of releases: `sha` is the tag's name, which stands for it in a comparison.
        """
        tags = (
            ReleaseTag(name=each.tag, sha=each.tag, date=each.published_at, is_candidate=each.prerelease)
            for each in self.releases(repository)
        )
        return main_releases(tags, repository.name, prefix)

    def is_ancestor(self, repository: Repository, sha: str, head: str) -> bool:
        """Return whether a tag, a branch or another commit has a commit, by one request."""
        path = f"/compare/{quote(head)}...{quote(sha)}"
        return not self._get(ComparisonPage, repository, path, commit=sha, per_page=1).commits

    def branch_without(self, repository: Repository, sha: str) -> str | None:
        """Return the branch's name if it lacks the commit, else None: GitHub serves commits of forks upstream, too."""
        branch = repository.branch or self.described(repository).default_branch
        path = f"/compare/{quote(sha)}...{quote(branch)}"
        status = self._get(ComparisonPage, repository, path, commit=sha, per_page=1).status
        return None if status in ("ahead", "identical") else branch

    def _latest(self, repository: Repository, **parameters: str) -> str | None:
        """Return the SHA of the branch's newest commit; None if there is none."""
        asked = {"sha": repository.branch, **parameters} if repository.branch else parameters
        found = self._get(tuple[Sha, ...], repository, "/commits", **asked, per_page=1)
        return found[0].sha if found else None

    def _get(
        self, form: type[T], repository: Repository, path: str = "", commit: str | None = None, **parameters: str | int
    ) -> T:
        """Return the body at a path below the repository's own as `form`."""
        return next(self._pages(form, repository, path, commit, **parameters))

    def _pages(
        self, form: type[T], repository: Repository, path: str = "", commit: str | None = None, **parameters: str | int
    ) -> Iterator[T]:
        return self._at(repository).pages(form, f"/repos/{repository.full_name}{path}", parameters, repository, commit)

    def _at(self, repository: Repository) -> Client:
        """Return the client of the server that hosts the repository."""
        return self._instead.get(repository.full_name, self)._client  # noqa: SLF001 (one of this class)


def _published(replies: Iterable[ReleaseReply]) -> Iterator[Release]:
    """Yield the releases that are no drafts."""
    for each in replies:
        if each.published_at and not each.draft:
            yield Release(
                tag=each.tag_name,
                notes=each.body or "",
                published_at=each.published_at,
                prerelease=each.prerelease,
                url=each.html_url or "",
            )
