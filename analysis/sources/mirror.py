"""One repository read from its mirror: the commits, files and comparisons that GitHub's API would give, and whole files.

What git prints is text from outside: everything but `trees` is redacted here, as at GitHub's door. A SHA off the branch, a tag or
another branch is fetched when it is asked for; blobs are fetched in one request for many commits (`fetch_blobs`) or for a
tree that is searched, and otherwise one commit or file at a time, when they are read.
"""

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from analysis.errors import DigestError, UnknownCommit
from analysis.models import Commit, PullRequest, ReleaseTag, Repository, Trees
from analysis.sources.git.errors import GitCause, GitFailed, MirrorDamaged, translated_errors, unknown_commit
from analysis.sources.git.folder import MirrorFolder, MirrorState
from analysis.sources.git.history import Commits, is_sha
from analysis.sources.git.objects import Limits, Objects, TreeEntry, text
from analysis.sources.git.program import Git, Remote, is_ref_name
from analysis.sources.git.search import matches
from analysis.sources.git.tags import Parents, read_parents, read_tags
from analysis.sources.github import Comparison
from analysis.sources.release_tags import main_releases
from analysis.sources.sanitize import sanitized
from analysis.sources.secrets import Redactor
from analysis.window import Window

_COMMITS_AT_ONCE = 500  # whose blobs one request fetches
_MOST_MATCHES = 100
_MOST_LINES, _MOST_OF_FILE = 5_000, 500  # that have a text
_SEARCHES = 8  # whose lines are kept
_MOST_HISTORY = 50
_LONG_WORD = re.compile(r"[^\W_]{12}")


class FileMatch(NamedTuple):
    """A line of a file that a search found; lines are counted from 1."""

    path: str
    line: int
    text: str


FoundLines = dict[tuple[str, str], tuple[FileMatch, ...]]  # by commit and expression


class Mirror(AbstractContextManager["Mirror"]):
    """A repository's mirror, on one branch; `found` is shared with its others. Threads may share it; `close` ends its idle process, as does losing it."""

    def __init__(
        self,
        git: Git,
        folder: MirrorFolder,
        repository: Repository,
        state: MirrorState,
        remote: Remote,
        limits: Limits,
        found: FoundLines | None = None,
    ) -> None:
        self.repository = repository
        self.branch = repository.branch or state.default_branch
        self.web_url = state.web_url
        self._folder = folder
        self._host = remote.host
        self._objects = Objects(git, folder, remote, limits)
        self._commits = Commits(self._objects, self.branch, state.web_url)
        self._found: FoundLines = {} if found is None else found
        weakref.finalize(self, self._objects.close)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the idle process; the mirror can be used again."""
        self._objects.close()

    def head(self) -> str:
        """Return the SHA of the branch's head."""
        with self._translated():
            return self._commits.sha_of(f"refs/heads/{self.branch}") or _fail()

    def list_commits(self, window: Window) -> tuple[Commit, ...]:
        """List the window's commits by committer date, newest first, as GitHub does: unread, without files."""
        with self._translated():
            found = self._listed(window)
        return tuple(sanitized(each) for each in sorted(found, key=lambda each: each.committed_at, reverse=True))

    def compare(self, base: str, head: str) -> Comparison:
        """Return the commits in `head` but not in `base`, oldest first, unread. An unknown base counts as rewritten."""
        newest = self.resolve(head)
        try:
            oldest = self.resolve(base)
        except UnknownCommit:
            return Comparison(commits=(), rewritten=True)
        with self._translated():
            counts = self._objects.run("rev-list", "--left-right", "--count", f"{oldest}...{newest}", "--")
            found = [sanitized(each) for each in self._commits.log(f"{oldest}..{newest}")]
        return Comparison(commits=tuple(reversed(found)), rewritten=not counts.startswith(b"0"))

    def find(self, ref: str) -> str | None:
        """Return the SHA of the only commit on the branch that begins with `ref`, without a request; None if there is none."""
        with self._translated(ref):
            sha = self._commits.beginning_with(ref.lower())
        return sha if sha and self.contains(sha) else None

    def contains(self, sha: str) -> bool:
        """Return whether the branch contains the commit."""
        with self._translated(sha):
            if not is_sha(sha) or not self._commits.sha_of(sha):
                return False
            return self._ancestor("--is-ancestor", sha, f"refs/heads/{self.branch}") is not None

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits; None if they have none."""
        shas = self.resolve(one), self.resolve(other)
        with self._translated():
            found = self._ancestor(*shas)
        return text(found).split()[0] if found else None

    def commit_before(self, instant: datetime) -> str | None:
        """Return the SHA of the branch's last commit before an instant, by committer date; None if there is none."""
        before = f"--until={instant - timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"  # the instant itself is included
        with self._translated():
            found = self._commits.log(f"refs/heads/{self.branch}", "--first-parent", "--max-count=1", before)
        return found[0].sha if found else None

    def resolve(self, name: str) -> str:
        """Return the SHA of a tag, a branch, a SHA or the prefix of one; raises `UnknownCommit`.

        What the mirror lacks is asked for at the server: a whole SHA, or a name. A tag that was met once is not asked for again.
        """
        if not is_ref_name(name):
            raise unknown_commit(self.repository, name)
        with self._translated(name):
            found = self._commits.known(name) or self._commits.fetched(name)
        if found is None:
            raise unknown_commit(self.repository, name)
        return found

    def release_tags(self, prefix: str | None = None) -> tuple[ReleaseTag, ...]:
        """Return the tags of the main releases and their candidates as last fetched, by version, the oldest first.

        `prefix` is what they begin with, if that is known.
        """
        with self._translated():
            tags = read_tags(self._objects)
        return main_releases([each for each in tags if not _has_secret(each.name)], self.repository.name, prefix)

    def first_commit(self, sha: str) -> str:
        """Return the SHA of the oldest commit that a commit is built on."""
        with self._translated(sha):
            return self._commits.log(sha, "--max-parents=0")[-1].sha

    def released_commits(self, tags: Sequence[ReleaseTag], since: datetime) -> tuple[Parents, tuple[Commit, ...]]:
        """Return the parents of the commits that tags have since an instant, and those that the branch lacks, oldest first.

        These are not redacted: they are searched for what they pick, and not shown.
        """
        if not tags:
            return {}, ()
        shas = [each.sha for each in tags]
        recent = f"--max-age={since.timestamp():.0f}"
        with self._translated():
            parents = read_parents(self._objects, shas, since)
            picked = self._commits.log(shas[0], *shas[1:], f"^refs/heads/{self.branch}", recent)
        return parents, tuple(reversed(picked))

    def same_patch(self, shas: Sequence[str], others: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return each of other commits that makes the change of one of these, and that one; of the same paths blobs are fetched."""
        with self._translated():
            return tuple(self._commits.same_patch(shas, others))

    def fetch_blobs(self, shas: Sequence[str]) -> None:
        """Fetch what these commits change, before and after, in one request. What the server lacks fails with its commit."""
        with self._translated():
            self._commits.bring_changes(shas)

    def fetch_code(self, shas: Sequence[str], folders: Sequence[str]) -> None:
        """Fetch the Python files of some commits in these folders, all in one request."""
        commits = [self.resolve(each) for each in shas]
        with self._translated():
            files = (self._objects.files(each, folders, (".py",)) for each in commits)
            self._objects.bring({blob for each in files for blob in each})

    def fetch_window(self, window: Window) -> None:
        """Fetch what the commits of a window change, before and after, 500 commits a request."""
        with self._translated():
            shas = [commit.sha for commit in self._listed(window)]
        for start in range(0, len(shas), _COMMITS_AT_ONCE):
            self.fetch_blobs(shas[start : start + _COMMITS_AT_ONCE])

    def read_commit(self, ref: str, pull: PullRequest | None = None) -> Commit:
        """Read a commit (a SHA or an unambiguous prefix) with its files and patches, and with its pull request if given."""
        sha = ref.lower() if is_sha(ref.lower()) else self.resolve(ref)
        with self._translated(sha):
            found = self._commits.read(sha) or self._commits.read(self.resolve(sha))
        if found is None:
            raise unknown_commit(self.repository, ref)
        return sanitized(found.model_copy(update={"pull": pull}))

    def read_file(self, sha: str, path: str) -> str | None:
        """Return the text of a file as of a commit, redacted; None if there is none, or if it is binary or too large."""
        commit = self.resolve(sha)
        with self._translated(sha):
            found = self._objects.file(self._objects.root(commit) or _fail(), path)
        return None if found is None else Redactor(files=[(path, found)], file_names=[path])(found)

    def root(self, sha: str) -> str:
        """Return the SHA of a commit's topmost folder, which is the same wherever all files are."""
        commit = self.resolve(sha)
        with self._translated(sha):
            return self._objects.root(commit) or _fail()

    def list_files(self, sha: str) -> tuple[TreeEntry, ...]:
        """List what a commit has at each path, unread."""
        commit = self.resolve(sha)
        with self._translated(sha):
            return tuple(self._objects.entries(commit))

    def read_files(self, files: Sequence[TreeEntry]) -> Iterator[tuple[str, str | None]]:
        """Fetch files in one request, and yield the path and text of each; no text of one that cannot be read as such.

        As in `trees`, they are not scanned for secrets.
        """
        with self._translated():
            for file, found in zip(files, self._objects.texts([each.sha for each in files]), strict=True):
                yield file.path, found

    def trees(self, commit: Commit, *, strict: bool = False) -> Trees:
        """Return the files before and after a commit, each fetched and read when it is asked for.

        A file that cannot be fetched is as none, or an error if `strict`.

        They are not scanned for secrets, which would take longer than the facts: they are for rules only, and what a rule quotes
        is redacted by its caller.
        """
        return self.trees_between(commit.parents[0] if commit.parents else None, commit.sha, strict=strict)

    def trees_between(self, before: str | None, after: str, *, strict: bool = False) -> Trees:
        """Return the files as of two commits, as `trees` does; none as of no commit."""
        return Trees(
            _CommitFiles(self._objects, self._translated, before, strict=strict),
            _CommitFiles(self._objects, self._translated, after, strict=strict),
        )

    def lines_having(self, sha: str, what: str) -> tuple[FileMatch, ...]:
        """Return the lines, not redacted, in which a commit's files have a short POSIX extended expression; the last few are kept.

        An expression for what stands before a name as well takes git three times as long: filter the lines.
        """
        if (lines := self._found.get((sha, what))) is None:
            with self._translated(sha):
                self._objects.bring(self._objects.files(sha))
                found = matches(self._objects, sha, what, regex=True, per_file=_MOST_OF_FILE)
                lines = tuple(FileMatch(*each) for each in islice(found, _MOST_LINES))
            for oldest in list(self._found)[: len(self._found) + 1 - _SEARCHES]:
                self._found.pop(oldest, None)
            self._found[sha, what] = lines
        return lines

    def search(
        self,
        sha: str,
        what: str,
        *,
        regex: bool = False,
        folders: Sequence[str] = (),
        limit: int = _MOST_MATCHES,
    ) -> tuple[FileMatch, ...]:
        """Return the lines in which a commit's files have a text, or a POSIX extended expression.

        At most `limit`, 20 a file. `folders` may name single files. The files searched are fetched first, all in one request.
        """
        commit = self.resolve(sha)
        with self._translated(sha):
            self._objects.bring(self._objects.files(commit, folders))
            found = matches(self._objects, commit, what, regex=regex, folders=folders)
            lines = [FileMatch(*each) for each in islice(found, limit)]
        return self.redacted(commit, lines)

    def redacted(self, commit: str, lines: Sequence[FileMatch]) -> tuple[FileMatch, ...]:
        """Return lines of a commit's files, redacted. A secret is found by its whole file."""
        files = {path: (self.read_file(commit, path) or "").split("\n") for path in {each.path for each in lines}}
        names = {path: Redactor(file_names=[path])(path) for path in files}
        return tuple(
            FileMatch(names[each.path], each.line, files[each.path][each.line - 1])
            for each in lines
            if each.line <= len(files[each.path])
        )

    def history(self, path: str, *, at: str = "", symbol: str = "", limit: int = _MOST_HISTORY) -> tuple[Commit, ...]:
        """List the latest commits that changed a path, or whose diff of it shows `symbol`; up to the commit `at`, or the head."""
        start = self.resolve(at or self.branch)
        with self._translated(start):
            if symbol:
                found = list(islice(self._commits.showing(start, [symbol], path), limit))
            else:
                found = self._commits.log(start, f"--max-count={limit}", paths=[path])
        return tuple(sanitized(each) for each in found)

    def matching(
        self, at: str, words: Sequence[str], author: str, days: tuple[date | None, date | None], path: str
    ) -> tuple[Commit, ...]:
        """List the commits up to `at` whose messages have all of some words in any case, newest first, unread.

        If given, of an author whose name has a text, from a first to a last day in UTC, and changing a path.
        """
        options = [*(f"--grep={each}" for each in words), *([f"--author={author}"] if author else [])]
        first, last = days
        options += [f"--since-as-filter={first}T00:00:00Z"] if first else []
        options += [f"--until={last}T23:59:59Z"] if last else []
        with self._translated(at):
            found = self._commits.log(
                self.resolve(at), "-i", "-F", "--all-match", *options, paths=[path] if path else ()
            )
        return tuple(map(sanitized, found))

    def changing(self, base: str, head: str, paths: Sequence[str]) -> tuple[Commit, ...]:
        """List the commits in `head` but not in `base` that change one of some files, newest first, unread."""
        ends = self.resolve(base), self.resolve(head)
        with self._translated():
            found = self._commits.log("..".join(ends), paths=paths)
        return tuple(map(sanitized, found))

    def titles(self) -> list[tuple[str, str]]:
        """Return the SHA and the title, not redacted, of each commit on the branch, newest first."""
        with self._translated():
            rows = text(self._objects.run("log", "--format=%H %s", "--end-of-options", self.branch, "--")).splitlines()
        return [(sha, title) for sha, _, title in (row.partition(" ") for row in rows)]

    def _listed(self, window: Window) -> list[Commit]:
        """List the window's commits as git orders them; not redacted."""
        span = (
            f"--since-as-filter={window.start:%Y-%m-%dT%H:%M:%SZ}",  # all that is reachable, unlike `--since`
            f"--until={window.end - timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}",  # both ends are included
        )
        found = self._commits.log(f"refs/heads/{self.branch}", *span)
        return [commit for commit in found if commit.committed_at in window]

    def _ancestor(self, *arguments: str) -> bytes | None:
        """Return what `git merge-base` finds; None if it finds nothing."""
        try:
            return self._objects.run("merge-base", *arguments)
        except GitFailed as exc:
            if exc.status == 1:
                return None
            raise

    @contextmanager
    def _translated(self, commit: str | None = None) -> Iterator[None]:
        with translated_errors(self.repository, self._host, commit):
            try:
                yield
            except (GitFailed, MirrorDamaged) as exc:
                if isinstance(exc, MirrorDamaged) or exc.cause is GitCause.BROKEN:
                    self._folder.mark_damaged()
                raise


@dataclass(eq=False)
class _CommitFiles:
    """The files as of a commit; none before the first."""

    _objects: Objects
    _translated: Callable[[str | None], AbstractContextManager[None]]
    _commit: str | None
    strict: bool
    _root: str | None = None

    def read(self, path: str) -> str | None:
        if self._commit is None:
            return None
        try:
            with self._translated(self._commit):
                self._root = self._root or self._objects.root(self._commit)
                return self._objects.file(self._root, path) if self._root else None
        except DigestError:
            if self.strict:
                raise
            return None


def _has_secret(name: str) -> bool:
    """Return whether a tag's name has a secret; the scanners, which take time to load, are asked about long words alone."""
    return bool(_LONG_WORD.search(name)) and Redactor()(name) != name


def _fail() -> str:
    raise MirrorDamaged
