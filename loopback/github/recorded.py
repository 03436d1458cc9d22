"""Recorded commits as the repository that they are of."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

Recorded = Mapping[str, Any]

_WEB = "https://github.example"


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
