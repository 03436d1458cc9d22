"""A GitHub that serves a real repository to git: a local clone if the settings name one, or else the sample's history."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from itertools import cycle, islice
from pathlib import Path
from subprocess import run
from typing import NamedTuple

from loopback.github import LoopbackGitHub
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from tests.bench.real_diffs import CLONE
from tests.bench.served import NAME
from tests.servers.bare import BareRepository, GitServer


class GitSource(NamedTuple):
    """A server, the repository that it serves, its newest commit, and whose history it is, in words."""

    server: GitServer
    bare: BareRepository
    head: str
    told: str

    def shas(self, count: int) -> list[str]:
        """The newest commits, newest first."""
        return self.bare.git("rev-list", "--first-parent", f"--max-count={count}", self.head).split()

    def committed_at(self, sha: str) -> int:
        """The committer date of a commit, in seconds."""
        return int(self.bare.git("log", "-1", "--format=%ct", sha))

    def publish(self, sha: str) -> None:
        """Let the branch end at a commit."""
        self.bare.git("update-ref", "refs/heads/main", sha)

    def write_day(self, day: date, count: int) -> tuple[str, str]:
        """Commit the newest trees and messages anew, all on one day (UTC); return the commit before that day and the last."""
        before, *newest = reversed(self.shas(count + 1))
        begin, apart = datetime.combine(day, time(1), UTC), timedelta(hours=20) / count
        last = before
        for place, sha in enumerate(islice(cycle(newest), count)):  # the sample may have fewer
            when = f"{int((begin + place * apart).timestamp())} +0000"
            people = {f"GIT_{role}_{part}": "core" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
            dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
            message = self.bare.git("log", "-1", "--format=%B", sha).encode("utf-8", "surrogateescape")
            tree = ("commit-tree", f"{sha}^{{tree}}", "-p", last, "-F", "-")
            last = self.bare.git(*tree, stdin=message, environment={**people, **dates})
        return before, last


@contextmanager
def git_source(folder: Path, settings: Mapping[str, str] = os.environ) -> Iterator[GitSource]:
    """Serve the history as `NAME` until the block ends; the clone is only read."""
    clone, _, ref = settings.get(CLONE, "").partition("@")
    source = Path(clone) if clone else _sample(folder / "sample.git")
    bare = BareRepository(folder / "served.git")
    objects = _git(source, "rev-parse", "--git-path", "objects")
    (bare.folder / "objects" / "info" / "alternates").write_text(f"{(source / objects).resolve()}\n")
    head = _git(source, "rev-parse", "--verify", "--end-of-options", f"{ref or 'HEAD'}^{{commit}}")
    bare.git("update-ref", "refs/heads/main", head)
    with GitServer({NAME: bare}) as server:
        yield GitSource(server, bare, head, f"{source.name}@{head[:9]}" if clone else f"the sample; {CLONE}=PATH[@REF]")


def _sample(folder: Path) -> Path:
    with LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as server:
        run(
            ["git", "clone", "--quiet", "--bare", f"{server.url}/{SAMPLE_REPOSITORY}.git", str(folder)],
            check=True,
            capture_output=True,
        )
    return folder


def _git(folder: Path, *arguments: str) -> str:
    return run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True).stdout.strip()
