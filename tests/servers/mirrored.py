"""A repository, the server that serves it to git, and a folder of mirrors of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

from analysis.errors import DigestError
from analysis.models import Commit, Repository
from analysis.sources.git.objects import Limits
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from tests.servers.bare import BareRepository, GitServer

REPOSITORY = Repository.parse("o/n")
TOKEN = "ghp_" + "a1B2" * 9


def read_commits(mirror: Mirror, shas: Sequence[str]) -> Iterator[tuple[str, Commit | DigestError]]:
    """Fetch what commits change, then yield each SHA with its commit, or with the reason why it cannot be read."""
    mirror.fetch_blobs(shas)
    for sha in shas:
        try:
            yield sha, mirror.read_commit(sha)
        except DigestError as exc:
            yield sha, exc


class Place:
    """A repository, the server that serves it, and a folder of mirrors."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.bare = BareRepository(folder / "source.git")
        self.first = self.bare.commit({"a.py": b"one\n", "b.py": b"b\n"})
        self.second = self.bare.commit({"a.py": b"two\n", "b.py": b"b\n"}, self.first)
        self.server = ending.enter_context(GitServer({"o/n": self.bare, "o/other": self.bare}))
        self.folder = folder / "mirrors"
        self.mirror_path = self.folder / "o+n.git"
        self._ending = ending

    def mirrors(
        self,
        token: str | None = None,
        *,
        git: str = "git",
        on_progress: Callable[[str], None] | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        **limits: Any,
    ) -> Mirrors:
        github = GitHub(self.server.url, token, retries=0)
        self._ending.callback(github.close)
        return Mirrors(
            self.folder,
            github,
            token,
            git=git,
            on_progress=on_progress,
            environment=environment,
            limits=Limits(**limits),
        )

    def cloned(self, repository: Repository = REPOSITORY, token: str | None = None, **options: Any) -> Mirror:
        mirror = self.mirrors(token, **options).updated(repository, create=True)
        assert mirror
        return self._ending.enter_context(mirror)

    def asked(self, what: str) -> int:
        """How many requests there were to `api` or to `git` since the last time."""
        count = self.server.asked(r"^/repos/" if what == "api" else r"\.git/")
        self.server.requests.clear()
        return count


def fake_git(folder: Path, script: str) -> str:
    path = folder / "fake-git"
    path.write_text(f"#!/bin/sh\ncase $* in *version*) exec git version;; esac\n{script}\n")
    path.chmod(0o755)
    return str(path)
