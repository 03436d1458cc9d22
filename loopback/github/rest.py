"""Recorded commits as a repository, and the part of GitHub's REST API that a commit reader uses: a GET request -> its response."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

Recorded = Mapping[str, Any]

_WEB = "https://github.example"
_FILES_PAGE = 300


class RecordedRepository:
    """Commits as {sha, parents, author, committer, message, files, stats, pull}, and the branches that point to them.

    `branches` maps names to SHAs; by default `main` points to the last commit. Commits on no branch are served
    by SHA only, as GitHub serves those of forks. `tags` has the form of `branches`; `releases` are {tag_name, body, published_at}.
    """

    def __init__(
        self,
        commits: Iterable[Recorded],
        branches: Mapping[str, str] | None = None,
        *,
        web: str = _WEB,
        tags: Mapping[str, str] | None = None,
        releases: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.commits = {commit["sha"]: commit for commit in commits}
        self.branches = dict(branches or {"main": next(reversed(self.commits), "")})
        self.web = web
        self.tags = dict(tags or {})
        self.releases = releases

    @property
    def default_branch(self) -> str:
        return next(iter(self.branches))

    def find(self, ref: str) -> Recorded | None:
        """Return the commit of a branch, a tag or an unambiguous SHA prefix, or None."""
        names = {**self.tags, **self.branches}
        sha = names.get(self.default_branch if ref == "HEAD" else ref, ref.lower())
        if sha in self.commits:
            return self.commits[sha]
        found = [commit for key, commit in self.commits.items() if len(sha) >= 4 and key.startswith(sha)]  # noqa: PLR2004
        return found[0] if len(found) == 1 else None

    def reachable(self, sha: str) -> set[str]:
        """Return the SHAs of the commit and all its recorded ancestors."""
        seen: set[str] = set()
        waiting = [sha]
        while waiting:
            each = waiting.pop()
            if each in self.commits and each not in seen:
                seen.add(each)
                waiting += self.commits[each]["parents"]
        return seen

    def log(self, shas: Iterable[str]) -> list[Recorded]:
        """Return the commits, newest first by committer date; for equal dates later recorded ones first."""
        place = {sha: number for number, sha in enumerate(self.commits)}
        return [
            self.commits[sha]
            for sha in sorted(shas, key=lambda sha: (date_of(self.commits[sha]), place[sha]), reverse=True)
        ]

    @cached_property
    def pulls(self) -> dict[int, Recorded]:
        """Return number -> the commit of the pull request."""
        return {commit["pull"]["number"]: commit for commit in self.commits.values() if commit.get("pull")}


def date_of(commit: Recorded) -> datetime:
    """Return the committer date."""
    return datetime.fromisoformat(commit["committer"]["date"])


class Reply(NamedTuple):
    """A response: status, JSON body, and the number of the next page if there is one."""

    status: int
    body: Any
    next_page: int | None = None


NOT_FOUND = Reply(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


class Request(NamedTuple):
    """A request about a repository; `parts` are what varies in its path."""

    server: str
    name: str
    repository: RecordedRepository
    query: Mapping[str, str]
    parts: tuple[str, ...] = ()

    @property
    def web(self) -> str:
        return f"{self.repository.web}/{self.name}"


def answer(request: Request, rest: str) -> Reply:
    """Return the response to a request for the path `rest` below the repository's own."""
    for pattern, route in _ROUTES:
        found = re.fullmatch(pattern, rest)
        if found:
            try:
                return route(request._replace(parts=found.groups()))
            except (ValueError, TypeError):  # an invalid number or timestamp
                return Reply(422, {"message": "Validation Failed"})
    return NOT_FOUND


def _repository(request: Request) -> Reply:
    owner, name = request.name.split("/")
    body = {"id": 1, "name": name, "full_name": request.name, "private": False, "owner": {"login": owner}}
    addresses = {"html_url": request.web, "clone_url": f"{request.server}/{request.name}.git"}
    return Reply(200, {**body, **addresses, "default_branch": request.repository.default_branch})


def _branch(request: Request) -> Reply:
    name = request.parts[0]
    sha = request.repository.branches.get(name)
    found = request.repository.commits.get(sha) if sha else None
    return Reply(200, {"name": name, "commit": _header(request, found)}) if found else NOT_FOUND


def _commits(request: Request) -> Reply:
    head = request.repository.find(request.query.get("sha") or "HEAD")
    if head is None:
        return NOT_FOUND
    since, until = (_instant(request.query.get(name)) for name in ("since", "until"))
    found = [
        commit
        for commit in request.repository.log(request.repository.reachable(head["sha"]))
        if (since is None or date_of(commit) >= since) and (until is None or date_of(commit) <= until)
    ]
    return _paged([_header(request, commit) for commit in found], request.query, 30)


def _commit(request: Request) -> Reply:
    found = request.repository.find(request.parts[0])
    if found is None:
        return Reply(422, {"message": f"No commit found for SHA: {request.parts[0]}"})
    files = _paged(
        list(found["files"]),
        {**request.query, "per_page": request.query.get("per_page", str(_FILES_PAGE))},
        _FILES_PAGE,
    )
    return files._replace(body={**_header(request, found), "stats": found["stats"], "files": files.body})


def _commit_pulls(request: Request) -> Reply:
    found = request.repository.find(request.parts[0])
    if found is None:
        return Reply(422, {"message": f"No commit found for SHA: {request.parts[0]}"})
    return Reply(200, [_pull_body(request, found)] if found.get("pull") else [])


def _pull(request: Request) -> Reply:
    found = request.repository.pulls.get(int(request.parts[0]))
    return Reply(200, _pull_body(request, found)) if found else NOT_FOUND


def _compare(request: Request) -> Reply:
    repository = request.repository
    base, head = (repository.find(part) for part in request.parts)
    if base is None or head is None:
        return NOT_FOUND
    old, new = repository.reachable(base["sha"]), repository.reachable(head["sha"])
    ahead, behind = new - old, old - new
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    page = _paged([_header(request, commit) for commit in reversed(repository.log(ahead))], request.query, 250)
    counts = {"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead)}
    return page._replace(body={**counts, "commits": page.body, "files": []})


def _releases(request: Request) -> Reply:
    plain = {"draft": False, "prerelease": False, "name": "", "assets": []}
    found = [{**plain, "id": place, **each} for place, each in enumerate(request.repository.releases, 1)]
    return _paged(found, request.query, 30)


def _header(request: Request, commit: Recorded) -> dict[str, Any]:
    sha = commit["sha"]
    people = {
        role: {"email": "", **commit[role], "date": _utc(commit[role]["date"])} for role in ("author", "committer")
    }
    return {
        "sha": sha,
        "commit": {**people, "message": commit["message"]},
        "url": f"/repos/{request.name}/commits/{sha}",
        "html_url": f"{request.web}/commit/{sha}",
        "parents": [{"sha": parent} for parent in commit["parents"]],
    }


def _pull_body(request: Request, commit: Recorded) -> dict[str, Any]:
    merged = {"merged": True, "merge_commit_sha": commit["sha"], "state": "closed"}
    return {**commit["pull"], **merged, "html_url": f"{request.web}/pull/{commit['pull']['number']}"}


def _paged(items: list[Any], query: Mapping[str, str], default: int) -> Reply:
    size, page = int(query.get("per_page", default)), int(query.get("page", 1))
    more = len(items) > size * page
    return Reply(200, items[size * (page - 1) : size * page], page + 1 if more else None)


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _utc(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_ROUTES = (
    (r"", _repository),
    (r"/branches/(.+)", _branch),
    (r"/commits", _commits),
    (r"/commits/([^/]+)/pulls", _commit_pulls),
    (r"/commits/(.+)", _commit),
    (r"/pulls/(\d+)", _pull),
    (r"/compare/(.+)\.\.\.(.+)", _compare),
    (r"/releases", _releases),
)
