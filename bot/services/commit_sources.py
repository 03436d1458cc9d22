"""Sources of a repository's commits: its git mirror if there is one, otherwise GitHub's API.

A mirror that fails is replaced by the API for the rest of the reading; a commit that the mirror cannot read is read through the API.
GitHub is still asked for what git does not know: the pull request of a commit, given a token.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import structlog

from analysis.errors import BadSetting, DigestError, MirrorUnavailable, OutsideFailure, UnknownCommit
from analysis.impact.first_release import first_release_at_github, first_releases
from analysis.locale import Phrase
from analysis.models import (
    Commit,
    Entry,
    FoundCommit,
    PullRequest,
    ReadFrom,
    Released,
    ReleaseState,
    ReleaseTag,
    Repository,
    Trees,
)
from analysis.paths import Kind, kind
from analysis.sources.github import Comparison, GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from analysis.window import Window

if TYPE_CHECKING:
    from analysis.questions.definitions import CodeLine

_T = TypeVar("_T")

_RECENT = timedelta(minutes=10)  # so soon a mirror is not fetched again for a day that was over, nor one that failed
_MAX_CONTENTS = 5  # changed files of a commit whose whole text is of interest

log = structlog.get_logger(__name__)


class ReadCommit(NamedTuple):
    """A commit with its files and patches, and the whole files before and after if they can be read."""

    commit: Commit
    trees: Trees | None = None


class CommitSource:
    """The commits of one repository, from its mirror if there is one, otherwise through GitHub's API.

    Once the mirror fails, the API takes its place. `read_from` says where the commits come from. The methods raise the errors
    of `analysis.errors`; all texts but files' are redacted.
    """

    def __init__(
        self,
        github: GitHub,
        repository: Repository,
        mirror: Mirror | None = None,
        read_from: ReadFrom = ReadFrom.API,
        tag_prefix: str | None = None,
    ) -> None:
        self._github = github
        self._repository = repository
        self._mirror = mirror
        self._tag_prefix = tag_prefix
        self.read_from = ReadFrom.MIRROR if mirror else read_from

    @property
    def mirror(self) -> Mirror | None:
        """The mirror that is read from; None if the API is."""
        return self._mirror if self.read_from is ReadFrom.MIRROR else None

    def list_commits(self, window: Window) -> tuple[Commit, ...]:
        """List the window's commits by committer date, newest first: unread, without files."""
        return self._read(
            lambda mirror: mirror.list_commits(window), lambda: self._github.list_commits(self._repository, window)
        )

    def head(self) -> str:
        """Return the SHA of the branch's head."""
        return self._read(Mirror.head, lambda: self._github.head(self._repository))

    def commit_before(self, instant: datetime) -> str | None:
        """Return the SHA of the branch's last commit before an instant; None if there is none."""
        return self._read(
            lambda mirror: mirror.commit_before(instant), lambda: self._github.commit_before(self._repository, instant)
        )

    def resolve(self, name: str) -> str:
        """Return the SHA of a tag, a branch, a SHA or the prefix of one, on the branch or not; raises `UnknownCommit`."""
        return self._read(lambda mirror: mirror.resolve(name), lambda: self._github.resolve(self._repository, name))

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits; None if they have none."""
        return self._read(
            lambda mirror: mirror.merge_base(one, other), lambda: self._github.merge_base(self._repository, one, other)
        )

    def compare(self, base: str, head: str) -> Comparison:
        """Return the commits in `head` but not in `base`, unread."""
        return self._read(
            lambda mirror: mirror.compare(base, head), lambda: self._github.compare(self._repository, base, head)
        )

    def prepare(self, shas: Sequence[str]) -> None:
        """Prepare the reading of these commits, all at once."""
        self._read(lambda mirror: mirror.fetch_blobs(shas), lambda: None)

    def prepare_window(self, window: Window) -> None:
        """Prepare the reading of all commits of a window."""
        self._read(lambda mirror: mirror.fetch_window(window), lambda: None)

    def read_commit(self, sha: str, *, pull: bool = True) -> ReadCommit:
        """Read a commit with its files and, if asked and given a token, its pull request."""
        return self._read(
            lambda mirror: self._read_mirrored(mirror, sha, pull=pull),
            lambda: ReadCommit(self._github.read_commit(self._repository, sha, pull=pull)),
        )

    def trees(self, commit: Commit) -> Trees | None:
        """Return the whole files before and after a commit; None if only its patch can be read: the API takes a request a file."""
        return self.mirror.trees(commit) if self.mirror else None

    def find_commit(self, ref: str) -> ReadCommit:
        """Read a commit (`ref`: a SHA or an unambiguous prefix) that may be on no branch, and note if it is not.

        One that the mirror's branch lacks is looked for at GitHub, which may have it since the last fetch or from a fork.
        """
        sha = self._read(lambda mirror: mirror.find(ref), lambda: None)
        if sha:
            return self.read_commit(sha)
        commit = self._github.read_commit(self._repository, ref)
        branch = self._github.branch_without(self._repository, commit.sha)
        return ReadCommit(commit.model_copy(update={"not_on": branch}))

    def release_tags(self) -> tuple[ReleaseTag, ...]:
        """Return the tags of the main releases and their candidates, by version, the oldest first; none without a mirror."""
        return self._read(lambda mirror: mirror.release_tags(self._tag_prefix), lambda: ())

    def first_releases(self, commits: Sequence[Commit]) -> dict[str, Released]:
        """Return SHA -> in which release each commit was first; without a mirror, or tags, nothing."""
        return self._read(lambda mirror: first_releases(mirror, commits, self._tag_prefix), dict)

    def first_release(self, commit: Commit) -> Released:
        """Return in which release a commit was first, by GitHub's releases without a mirror; unknown if that fails."""
        found = self.first_releases([commit])
        if self.read_from is ReadFrom.MIRROR:
            return found.get(commit.sha, Released())
        try:
            return first_release_at_github(self._github, self._repository, commit, self._tag_prefix)
        except DigestError as exc:
            log.warning("releases not read", repository=str(self._repository), why=str(exc))
            return Released()

    def with_release(self, entry: Entry) -> Entry:
        """Return an entry with the release that had its commit first, asking GitHub if the mirror's tags do not tell."""
        if entry.released.state is not ReleaseState.UNKNOWN:
            return entry
        return entry.model_copy(update={"released": self.first_release(entry.commit)})

    def knows_releases(self) -> bool:
        """Return whether the mirror has tags of releases, or without a mirror GitHub has releases; false if that fails."""
        try:
            return bool(self._read(Mirror.release_tags, lambda: self._github.release_tags(self._repository)))
        except DigestError as exc:
            log.warning("releases not read", repository=str(self._repository), why=str(exc))
            return False

    def contents(self, commit: Commit) -> str:
        """Return the text of the first changed source files as of that commit, as far as the mirror has it."""
        trees = self.trees(commit)
        changed = [file.path for file in commit.files if file.status != "removed" and kind(file.path) is Kind.SOURCE]
        return "\n".join(filter(None, map(trees.after.read, changed[:_MAX_CONTENTS]))) if trees else ""

    def uses(self, commit: Commit, name: str) -> "list[CodeLine]":
        """Return the lines that use a name in the files as of a commit, as far as the mirror has them."""
        from analysis.questions.files import FileAnswers  # a tenth of a second, of which a stored day needs nothing

        return self._read(lambda mirror: FileAnswers(mirror, commit, "en").uses(name), list)

    def _read_mirrored(self, mirror: Mirror, sha: str, *, pull: bool) -> ReadCommit:
        """Read a commit from the mirror, or through the API if it is this commit alone that the mirror cannot read."""
        try:
            commit = mirror.read_commit(sha, self._pull_request(sha) if pull else None)
        except (MirrorUnavailable, UnknownCommit) as exc:
            log.warning("not in the mirror", repository=str(self._repository), commit=sha, why=str(exc))
            mirror.head()  # which fails too if it is not this commit alone
            return ReadCommit(self._github.read_commit(self._repository, sha, pull=pull))
        return ReadCommit(commit, mirror.trees(commit))

    def _pull_request(self, sha: str) -> PullRequest | None:
        """Return a commit's pull request; None if GitHub fails, since the commit itself is there."""
        try:
            return self._github.pull_request(self._repository, sha)
        except OutsideFailure as exc:
            log.warning("pull request not read", repository=str(self._repository), commit=sha, why=str(exc))
            return None

    def _read(self, by_mirror: Callable[[Mirror], _T], by_api: Callable[[], _T]) -> _T:
        if mirror := self.mirror:
            try:
                return by_mirror(mirror)
            except MirrorUnavailable as exc:
                log.warning("no mirror", repository=str(self._repository), why=str(exc))
                self.read_from = ReadFrom.API_INSTEAD
        return by_api()


@dataclass(eq=False)
class CommitSources:
    """The sources of repositories. `mirrors` is None where mirrors are disabled; `mirrored` tells which repositories get one.

    `tag_prefixes` has what the tags of a repository's main releases begin with, by its lower-case full name, where it is set.
    """

    _github: GitHub
    _mirrors: Mirrors | None = None
    _mirrored: Callable[[Repository], bool] = lambda _: False
    _tag_prefixes: Mapping[str, str] = field(default_factory=dict)
    # Repository -> when this process fetched its mirror last, and when that failed.
    _fetched: dict[str, datetime] = field(default_factory=dict, init=False)
    _failed: dict[str, datetime] = field(default_factory=dict, init=False)

    def current(self, repository: Repository, now: datetime, day_end: datetime) -> CommitSource:
        """Return the source of a repository that knows all commits until `now`, or until `day_end` if that has passed.

        Its mirror is fetched, or cloned if the repository is to have one.
        """
        if self._mirrors is None or self._recently(self._fetched, repository, now, day_end):
            return self.stored(repository)
        if not self._recently(self._failed, repository, now):
            try:
                mirror = self._mirrors.updated(repository, create=self._mirrored(repository))
            except DigestError as exc:
                log.warning("no mirror", repository=str(repository), why=str(exc))
                self._failed[repository.key] = now
            else:
                if mirror:
                    self._fetched[repository.key] = now
                return self._source(repository, mirror)
        return self._source(repository, read_from=ReadFrom.API_INSTEAD)

    def mirror(self, repository: Repository, now: datetime) -> Mirror:
        """Return a repository's mirror, fetched at most ten minutes ago, cloned if there is none.

        Raise `BadSetting` where mirrors are disabled, and otherwise the errors of `Mirrors.updated`.
        """
        if self._mirrors is None:
            raise BadSetting(Phrase("this needs a git mirror, and mirrors are disabled; set DIGEST_MIRRORS"))
        if self._recently(self._fetched, repository, now) and (found := self._mirrors.existing(repository)):
            return found
        mirror = self._mirrors.updated(repository, create=True)
        assert mirror  # it is created
        self._fetched[repository.key] = now
        return mirror

    def existing_mirror(self, repository: Repository) -> Mirror | None:
        """Return a repository's mirror as it was last fetched; None if there is none."""
        return self._mirrors.existing(repository) if self._mirrors else None

    def remove_unused_mirrors(self) -> None:
        """Remove the mirrors of repositories that are to have none, such as those that nobody subscribes any more."""
        if self._mirrors is not None:
            try:
                removed = self._mirrors.remove_unless(self._mirrored)
            except DigestError as exc:
                log.warning("mirrors not removed", why=str(exc))
            else:
                for name in removed:
                    log.info("mirror removed", repository=name)

    def with_releases(self, found: Sequence[FoundCommit]) -> list[FoundCommit]:
        """Return commits that a search found with the releases that had them first, as far as mirrors know."""
        released: dict[str, Released] = {}
        for name in {each.repository for each in found}:
            commits = [each.commit for each in found if each.repository == name]
            released |= self.stored(Repository.parse(name)).first_releases(commits)
        return [each._replace(released=released.get(each.commit.sha, Released())) for each in found]

    def stored(self, repository: Repository) -> CommitSource:
        """Return the source of a repository as it was last fetched, without a request."""
        return self._source(repository, self.existing_mirror(repository))

    def _source(
        self, repository: Repository, mirror: Mirror | None = None, read_from: ReadFrom = ReadFrom.API
    ) -> CommitSource:
        prefix = self._tag_prefixes.get(repository.full_name.lower())
        return CommitSource(self._github, repository, mirror, read_from, prefix)

    @staticmethod
    def _recently(
        times: Mapping[str, datetime], repository: Repository, now: datetime, since: datetime | None = None
    ) -> bool:
        """Return whether a repository's time is at most ten minutes ago, and not before `since`."""
        last = times.get(repository.key)
        return last is not None and now - last <= _RECENT and (since is None or since <= last)
