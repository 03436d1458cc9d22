"""The folder of mirrors: repositories are cloned into it, fetched, and removed from it.

GitHub's API is asked about a repository before its first clone, and again when git is refused; otherwise git alone is asked.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from analysis.errors import AccessDenied, MirrorUnavailable, UnknownRepository
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.sources.git.errors import (
    GitCause,
    GitFailed,
    GitTooLarge,
    LockTimedOut,
    translated_errors,
    unknown_branch,
)
from analysis.sources.git.folder import MirrorFolder, MirrorState, check_size, ref, save_state
from analysis.sources.git.objects import Limits
from analysis.sources.git.program import Git, Remote, is_clonable, is_ref_name, is_server_of
from analysis.sources.github import GitHub
from analysis.sources.github_replies import RepositoryReply
from analysis.sources.mirror import FoundLines, Mirror

_REMOTE_HEAD = "refs/remote-head"
_ASK_AGAIN = (GitCause.REFUSED, GitCause.MOVED, GitCause.NO_REF)
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})
_LIMITS = Limits()


class Mirrors:
    """The mirrors in a folder, of the repositories that `github` shows; `token` is the one for its server.

    `git` is the program, and of `environment` git gets the proxies and certificates.
    """

    def __init__(
        self,
        folder: Path,
        github: GitHub,
        token: str | None,
        *,
        on_progress: Callable[[str], None] | None = None,
        git: str = "git",
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        limits: Limits = _LIMITS,
    ) -> None:
        self._folder = folder.absolute()
        self._github = github
        self._token = token
        self._git = Git(git, environment, on_progress)
        self._limits = limits
        self._found: FoundLines = {}

    def existing(self, repository: Repository) -> Mirror | None:
        """Return a repository's mirror as it is; None if there is none, or none of that branch, or GitHub hides it now."""
        folder = MirrorFolder(self._folder, repository.full_name)
        with translated_errors(repository, self._github.host_of(repository)):
            state = self._state(folder, repository)
            if state is None or state.hidden or not folder.has(repository.branch or state.default_branch):
                return None
        return self._mirror(folder, repository, state)

    def updated(self, repository: Repository, *, create: bool) -> Mirror | None:
        """Fetch a repository's branch and return its mirror, cloned if `create`; None if there is none otherwise.

        Raises `MirrorUnavailable`; `UnknownRepository`, `UnknownBranch` or `AccessDenied` for what GitHub does not show; the
        API's errors if it must be asked and fails.
        """
        if repository.branch and not is_ref_name(repository.branch):
            raise unknown_branch(repository)
        folder = MirrorFolder(self._folder, repository.full_name)
        if not create and not folder.is_there:
            return None
        with (
            translated_errors(repository, self._github.host_of(repository)),
            folder.writing(self._limits.lock) as lock,
        ):
            state = self._state(folder, repository)
            if state is None and not create and not folder.damaged:
                return None
            state = self._fetched(folder, repository, state, lock) if state else self._cloned(folder, repository, lock)
            return self._mirror(folder, repository, state)

    def check(self) -> dict[str, int]:
        """Return owner/name of each mirror and its size in bytes. Raise `MirrorUnavailable` if git is missing or too old."""
        with translated_errors(None):
            self._git.check()
        return {name: folder.size for name, folder in MirrorFolder.all_in(self._folder).items()}

    def remove_unless(self, kept: Callable[[Repository], bool]) -> list[str]:
        """Remove the mirrors of the repositories that are not kept, each when nobody reads it any more.

        Return their names, owner/name in lower case. One that is written for long stays until the next time.
        """
        every = [(Repository.parse(name), folder) for name, folder in MirrorFolder.all_in(self._folder).items()]
        unused = [(repository, folder) for repository, folder in every if not kept(repository)]
        return [repository.full_name for repository, folder in unused if self._removed(repository, folder, kept)]

    def _removed(self, repository: Repository, folder: MirrorFolder, kept: Callable[[Repository], bool]) -> bool:
        """Remove a mirror; return False if it is written for long, or is kept by now."""
        with translated_errors(repository, self._github.host_of(repository)):
            try:
                with folder.writing(self._limits.lock):
                    if kept(repository):
                        return False
                    folder.remove()
            except LockTimedOut:
                return False
        return True

    def _cloned(self, folder: MirrorFolder, repository: Repository, lock: int) -> MirrorState:
        """Clone a repository in place of whatever is there."""
        source = self._github.described(repository)
        if source.size > self._limits.repository_megabytes * 1_000:
            raise GitTooLarge(limit=self._limits.repository_megabytes)
        state = self._state_of(source, repository)
        with folder.drafting() as draft:
            self._git.run(draft, "init", "--quiet", "--bare", "--template=", timeout=self._limits.command)
            save_state(draft, state)
            self._fetch(draft, repository, state, lock, self._limits.clone)
        return state

    def _fetched(self, folder: MirrorFolder, repository: Repository, state: MirrorState, lock: int) -> MirrorState:
        """Fetch into a mirror; clone it anew if it is damaged, and ask GitHub about the repository if git is refused."""
        try:
            self._fetch(folder.path, repository, state, lock, self._limits.fetch)
            head, known = ref(folder.path, _REMOTE_HEAD), ref(folder.path, f"refs/heads/{state.default_branch}")
            moved = repository.branch is None and head != known  # the branch that used to be the default
            current = self._asked(folder, repository, state) if moved else state
        except GitFailed as exc:
            if exc.cause is GitCause.BROKEN:
                return self._cloned(folder, repository, lock)
            if exc.cause not in _ASK_AGAIN:
                raise
            current = self._asked(folder, repository, state)
            if current == state.model_copy(update={"hidden": False}):
                raise
        if current != state:
            self._fetch(folder.path, repository, current, lock, self._limits.fetch)
        current = current.model_copy(update={"hidden": False})
        if current != state:
            save_state(folder.path, current)
        return current

    def _asked(self, folder: MirrorFolder, repository: Repository, state: MirrorState) -> MirrorState:
        """Return what GitHub says about a repository now. One that it hides or renamed is not served any more."""
        try:
            return self._state_of(self._github.described(repository), repository)
        except (UnknownRepository, AccessDenied, MirrorUnavailable):
            save_state(folder.path, state.model_copy(update={"hidden": True}))
            raise

    def _fetch(self, path: Path, repository: Repository, state: MirrorState, lock: int, timeout: float) -> None:
        """Fetch a branch and the tags with all their commits and folders, but without files; and which commit is GitHub's default."""
        branch = repository.branch or state.default_branch
        heads = [f"+refs/heads/{branch}:refs/heads/{branch}", "+refs/tags/*:refs/tags/*"]
        if repository.branch is None:
            heads.append(f"+HEAD:{_REMOTE_HEAD}")
        before = ref(path, f"refs/heads/{branch}")
        wanted, remote = ("--prune", "--end-of-options", "origin", *heads), self._remote(state)
        tick = partial(check_size, path, self._limits.megabytes)
        self._git.fetch(path, remote, *wanted, timeout=timeout, on_tick=tick, lock=lock)
        if before != ref(path, f"refs/heads/{branch}"):
            self._tidy(path, remote)

    def _tidy(self, path: Path, remote: Remote) -> None:
        """Index the commits, so that listing and searching them is fast, and unite the packs of many fetches."""
        if len([*path.glob("objects/pack/*.pack")]) > self._limits.packs:
            # Objects of a partial clone stay, reachable or not: commits that a force push left can still be read.
            repack = ("-c", "repack.writeBitmaps=false", "repack", "-a", "-d", "-q")
            self._git.run(path, *repack, remote=remote, timeout=self._limits.fetch)
        self._git.run(path, "commit-graph", "write", "--reachable", "--no-progress", timeout=self._limits.command)

    def _mirror(self, folder: MirrorFolder, repository: Repository, state: MirrorState) -> Mirror:
        return Mirror(self._git, folder, repository, state, self._remote(state), self._limits, self._found)

    def _state(self, folder: MirrorFolder, repository: Repository) -> MirrorState | None:
        """Return what is known about a mirror; None if there is none, or if it is of another server."""
        state = folder.state()
        return state if state and state.api_url == self._github.api_url_of(repository) else None

    def _state_of(self, source: RepositoryReply, repository: Repository) -> MirrorState:
        if source.full_name.lower() != repository.full_name.lower():
            raise MirrorUnavailable(
                Phrase(
                    "{repository} was renamed to {name}; use the new name",
                    repository=repository.full_name,
                    name=source.full_name,
                )
            )
        if not is_clonable(source.clone_url) or not is_ref_name(source.default_branch):
            raise MirrorUnavailable(
                Phrase("GitHub returned no usable git URL for {repository}", repository=repository.full_name)
            )
        return MirrorState(
            api_url=self._github.api_url_of(repository),
            full_name=source.full_name,
            clone_url=source.clone_url,
            web_url=source.html_url,
            default_branch=source.default_branch,
        )

    def _remote(self, state: MirrorState) -> Remote:
        """Return where a repository is fetched from, with the token if that server is the one that the token is for."""
        trusted = is_server_of(self._github.api_url, state.clone_url)
        return Remote(state.clone_url, self._token if trusted else None)
