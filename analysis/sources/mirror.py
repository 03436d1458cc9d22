"""One repository read from its mirror: the commits, files and comparisons that GitHub's API would give, and whole files.

What git prints is text from outside: everything but `trees` is redacted here, as at GitHub's door. A SHA off the branch, a tag or
another branch is fetched when it is asked for; blobs are fetched in one request for many commits (`fetch_blobs`) or for a
tree (`fetch_tree`), and otherwise one commit or file at a time, when they are read.
"""

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import NamedTuple, Self

from analysis.errors import DigestError, UnknownCommit
from analysis.models import Commit, PullRequest, Repository, Trees
from analysis.sources.git import Git
from analysis.sources.git_errors import (
    Cause,
    GitFailed,
    MirrorDamaged,
    ObjectMissing,
    translated_errors,
    unknown_commit,
)
from analysis.sources.git_processes import COUNTS, OBJECTS, DiffReader, Pool, ProcessEnded
from analysis.sources.git_records import FORM, changed_blobs, listed_commits, text, whole_commit
from analysis.sources.github import Comparison
from analysis.sources.mirror_folder import MirrorFolder, MirrorState
from analysis.sources.mirror_objects import Limits, Objects
from analysis.sources.remotes import Remote, is_ref_name
from analysis.sources.secrets import Redactor, redacted
from analysis.window import Window

_SHA = re.compile(r"[0-9a-f]{40}")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")
_LOG = ("log", f"--format={FORM}", "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap")
_MOST_MATCHES = 100
_MATCHES_PER_FILE = 20
_MOST_HISTORY = 50
_MOST_SEARCHED_HISTORY = 300  # commits of a path whose blobs are brought to find a symbol in them


class Match(NamedTuple):
    """A line of a file that a search found, redacted; lines are counted from 1."""

    path: str
    line: int
    text: str


class Mirror:
    """A repository's mirror, on one branch. Threads may share it; `close` ends its idle processes, as does losing it."""

    def __init__(
        self,
        git: Git,
        folder: MirrorFolder,
        repository: Repository,
        state: MirrorState,
        remote: Remote,
        limits: Limits,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self.repository = repository
        self.branch = repository.branch or state.default_branch
        self._git = git
        self._folder = folder
        self._state = state
        self._remote = remote
        self._limits = limits
        self._objects = Objects(git, folder, remote, limits, on_progress)
        self._diffs = Pool(lambda: DiffReader(git, folder.path, FORM))
        self._end = weakref.finalize(self, _close, self._diffs, self._objects)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the idle processes; the mirror can be used again."""
        _close(self._diffs, self._objects)

    def head(self) -> str:
        """Return the SHA of the branch's head."""
        with self._translated():
            return self._rev_parse(f"refs/heads/{self.branch}") or _fail()

    def list_commits(self, window: Window) -> tuple[Commit, ...]:
        """List the window's commits by committer date, newest first, as GitHub does: unread, without files."""
        span = (
            f"--since-as-filter={window.start:%Y-%m-%dT%H:%M:%SZ}",  # all that is reachable, unlike `--since`
            f"--until={window.end - timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}",  # both ends are included
        )
        with self._translated():
            found = self._log(*span, f"refs/heads/{self.branch}")
        inside = [commit for commit in found if commit.committed_at in window]
        return tuple(redacted(each) for each in sorted(inside, key=lambda each: each.committed_at, reverse=True))

    def compare(self, base: str, head: str) -> Comparison:
        """Return the commits in `head` but not in `base`, oldest first, unread. An unknown base counts as rewritten."""
        newest = self.resolve(head)
        try:
            oldest = self.resolve(base)
        except UnknownCommit:
            return Comparison(commits=(), rewritten=True)
        with self._translated():
            counts = self._objects.run("rev-list", "--left-right", "--count", f"{oldest}...{newest}", "--")
            found = [redacted(each) for each in self._log(f"{oldest}..{newest}")]
        return Comparison(commits=tuple(reversed(found)), rewritten=not counts.startswith(b"0"))

    def find(self, ref: str) -> str | None:
        """Return the SHA of the only commit on the branch that begins with `ref`, without a request; None if there is none."""
        if not _SHA_PREFIX.fullmatch(ref.lower()):
            return None
        with self._translated(ref):
            sha = self._known(ref.lower())
        return sha if sha and self.contains(sha) else None

    def contains(self, sha: str) -> bool:
        """Return whether the branch contains the commit."""
        with self._translated(sha):
            known = _SHA.fullmatch(sha) and self._rev_parse(sha)
            return bool(known) and self._answers("merge-base", "--is-ancestor", sha, f"refs/heads/{self.branch}")

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits; None if they have none."""
        shas = self.resolve(one), self.resolve(other)
        with self._translated():
            try:
                return text(self._objects.run("merge-base", *shas)).split()[0]
            except GitFailed as exc:
                if exc.status == 1:
                    return None
                raise

    def resolve(self, name: str) -> str:
        """Return the SHA of a tag, a branch, a SHA or the prefix of one; raises `UnknownCommit`.

        What the mirror lacks is asked for at the server: a whole SHA, or a name. A tag that was met once is not asked for again.
        """
        if not is_ref_name(name):
            raise unknown_commit(self.repository, name)
        with self._translated(name):
            return self._known(name) or self._fetched(name)

    def fetch_blobs(self, shas: Sequence[str]) -> None:
        """Fetch what these commits change, before and after, in one request. What the server lacks fails with its commit."""
        with self._translated():
            self._bring_changes(shas)

    def fetch_tree(self, sha: str, folders: Sequence[str] = (), suffixes: Sequence[str] = ()) -> None:
        """Fetch the files of a commit in one request: all of them, or those below `folders` and with one of `suffixes`."""
        commit = self.resolve(sha)
        below = tuple(f"{folder.strip('/')}/".encode() for folder in folders)
        endings = tuple(suffix.encode() for suffix in suffixes)
        with self._translated(sha):
            wanted: dict[str, None] = {}
            for row in self._objects.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
                meta, path = row.split(b"\t", 1)
                _, kind, blob = meta.split()
                if (
                    kind == b"blob"
                    and (not below or path.startswith(below))
                    and (not endings or path.endswith(endings))
                ):
                    wanted[text(blob)] = None
            self._objects.bring(wanted)

    def read_commit(self, ref: str, pull: PullRequest | None = None) -> Commit:
        """Read a commit (a SHA or an unambiguous prefix) with its files and patches, and with its pull request if given."""
        sha = ref.lower() if _SHA.fullmatch(ref.lower()) else self.resolve(ref.lower())
        with self._translated(sha):
            record = self._record(sha)
        commit = whole_commit(record or self._record(self.resolve(sha)), self._state.web_url)
        return redacted(commit.model_copy(update={"pull": pull}))

    def read_commits(self, shas: Sequence[str]) -> Iterator[tuple[str, Commit | DigestError]]:
        """Fetch what these commits change, then yield each SHA with its commit, or with the reason why it cannot be read."""
        self.fetch_blobs(shas)
        for sha in shas:
            try:
                yield sha, self.read_commit(sha)
            except DigestError as exc:
                yield sha, exc

    def read_file(self, sha: str, path: str) -> str | None:
        """Return the text of a file as of a commit, redacted; None if there is none, or if it is binary or too large."""
        commit = self.resolve(sha)
        with self._translated(sha):
            found = self._objects.file(self._objects.root(commit) or _fail(), path)
        return None if found is None else Redactor([found], file_names=[path])(found)

    def trees(self, commit: Commit) -> Trees:
        """Return the files before and after a commit, each fetched and read when it is asked for.

        They are not scanned for secrets, which would take longer than the facts: they are for rules only, and what a rule quotes
        is redacted by its caller.
        """
        before = commit.parents[0] if commit.parents else None
        return Trees(
            _Files(self._objects, self._translated, before), _Files(self._objects, self._translated, commit.sha)
        )

    def search(
        self,
        sha: str,
        what: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        folders: Sequence[str] = (),
        suffixes: Sequence[str] = (),
        limit: int = _MOST_MATCHES,
    ) -> tuple[Match, ...]:
        """Return the lines of a commit's files with a text, or a POSIX extended expression; at most `limit`, 20 a file.

        The files searched are fetched first, all in one request. A secret is found by its whole file.
        """
        commit = self.resolve(sha)
        self.fetch_tree(commit, folders, suffixes)
        below = [f":(top,glob){_escaped(folder.strip('/'))}/**" for folder in folders] or [":(top,glob)**"]
        paths = [f"{each}/*{_escaped(suffix)}" for each in below for suffix in suffixes] or below
        how = ["-E" if regex else "-F", *(["-i"] if ignore_case else []), f"--max-count={_MATCHES_PER_FILE}"]
        with self._translated(sha):
            try:
                output = self._objects.run(
                    *("grep", "-n", "-I", "-z", "--full-name", "--no-color", "--no-textconv", "--threads=1"),
                    *(*how, "-e", what, "--end-of-options", commit, "--", *paths),
                )
            except GitFailed as exc:
                if exc.status == 1:
                    return ()
                raise
        return self._redacted_matches(commit, output, limit)

    def history(self, path: str, *, at: str = "", symbol: str = "", limit: int = _MOST_HISTORY) -> tuple[Commit, ...]:
        """List the latest commits that changed a path, or how often it has `symbol`; up to the commit `at`, or the head."""
        start = self.resolve(at or f"{self.branch}")
        with self._translated(at or None):
            if not symbol:
                return tuple(redacted(each) for each in self._log(f"--max-count={limit}", start, paths=[path]))
            commits = [each.sha for each in self._log(f"--max-count={_MOST_SEARCHED_HISTORY}", start, paths=[path])]
            self._bring_changes(commits, path)
            found = self._log(
                "--no-walk=unsorted", "--stdin", f"-S{symbol}", f"--max-count={limit}", shas=commits, paths=[path]
            )
        return tuple(redacted(each) for each in found)

    def _record(self, sha: str) -> bytes:
        """Return git's record of a commit, having fetched what it changes; empty if the mirror lacks the commit."""
        try:
            return self._diff(sha)
        except ProcessEnded:  # a blob is missing, or the mirror is damaged
            self._bring_changes([sha])
        try:
            return self._diff(sha)
        except ProcessEnded as exc:
            if self._objects.missing(self._changed_blobs([sha])):
                raise ObjectMissing from exc
            raise MirrorDamaged from exc

    def _diff(self, sha: str) -> bytes:
        with self._folder.reading():
            with self._diffs.process() as process:
                record = process.read(sha)
            if record is None:  # too long
                record = self._objects.run(*COUNTS, f"--format={FORM}", stdin=f"{sha}\n".encode())
        return record

    def _bring_changes(self, shas: Sequence[str], path: str = "") -> None:
        self._objects.bring(self._changed_blobs(shas, path))

    def _changed_blobs(self, shas: Sequence[str], path: str = "") -> dict[str, None]:
        names = "".join(f"{sha}\n" for sha in shas).encode()
        paths = ("--", f":(top,literal){path}") if path else ()
        return changed_blobs(self._objects.run(*OBJECTS, *paths, stdin=names))

    def _log(self, *arguments: str, paths: Sequence[str] = (), shas: Sequence[str] = ()) -> list[Commit]:
        *options, last = arguments
        revisions = [*options, last] if last.startswith("--") else [*options, "--end-of-options", last]
        literal = [f":(top,literal){path}" for path in paths]
        names = "".join(f"{sha}\n" for sha in shas).encode()
        return list(
            listed_commits(self._objects.run(*_LOG, *revisions, "--", *literal, stdin=names), self._state.web_url)
        )

    def _known(self, name: str) -> str | None:
        """Return the commit of a name that the mirror has."""
        tracked = f"refs/heads/{name}" if name == self.branch else None
        prefix = name.lower() if _SHA_PREFIX.fullmatch(name.lower()) else None
        for each in (f"refs/tags/{name}", tracked, prefix):
            if each and (found := self._rev_parse(each)):
                return found
        return None

    def _fetched(self, name: str) -> str:
        """Fetch a commit by its whole SHA, or a tag or branch by its name."""
        if _SHA.fullmatch(name.lower()):
            self._objects.fetch(name.lower())
            return self._rev_parse(name.lower()) or self._unknown(name)
        for kind in ("tags", "heads"):
            ref = f"refs/{kind}/{name}"
            if not self._objects.ask_server("ls-remote", "--end-of-options", "origin", ref):
                continue
            kept = ref if kind == "tags" else f"refs/fetched/{name}"
            self._objects.fetch(f"+{ref}:{kept}")
            return self._rev_parse(kept) or self._unknown(name)
        return self._unknown(name)

    def _rev_parse(self, name: str) -> str | None:
        try:
            found = self._objects.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except GitFailed as exc:
            if exc.cause is Cause.BROKEN:
                raise
            return None
        return text(found).strip()

    def _answers(self, *arguments: str) -> bool:
        """Return git's answer to a question of yes or no."""
        try:
            self._objects.run(*arguments)
        except GitFailed as exc:
            if exc.status == 1:
                return False
            raise
        return True

    def _redacted_matches(self, commit: str, output: bytes, limit: int) -> tuple[Match, ...]:
        """Return the matches that `git grep` printed, with their lines as they stand in the redacted files."""
        files: dict[str, list[str]] = {}
        found: list[Match] = []
        for row in output.split(b"\n"):
            name, _, rest = row.partition(b"\0")
            number = rest.partition(b"\0")[0]
            path = text(name).partition(":")[2]
            if not number.isdigit() or len(found) == limit:
                continue
            if path not in files:
                files[path] = (self.read_file(commit, path) or "").split("\n")
            lines = files[path]
            if int(number) <= len(lines):
                found.append(Match(path, int(number), lines[int(number) - 1]))
        return tuple(found)

    @contextmanager
    def _translated(self, commit: str | None = None) -> Iterator[None]:
        with translated_errors(self.repository, self._remote.host, commit):
            try:
                yield
            except (GitFailed, MirrorDamaged) as exc:
                if isinstance(exc, MirrorDamaged) or exc.cause is Cause.BROKEN:
                    self._folder.mark_damaged()
                raise

    def _unknown(self, name: str) -> str:
        raise unknown_commit(self.repository, name)


class _Files:
    """The files as of a commit; none before the first."""

    def __init__(
        self, objects: Objects, translated: Callable[[str | None], AbstractContextManager[None]], commit: str | None
    ) -> None:
        self._objects = objects
        self._translated = translated
        self._commit = commit
        self._root: str | None = None

    def read(self, path: str) -> str | None:
        if self._commit is None:
            return None
        try:
            with self._translated(self._commit):
                self._root = self._root or self._objects.root(self._commit)
                return self._objects.file(self._root, path) if self._root else None
        except DigestError:
            return None


def _fail() -> str:
    raise MirrorDamaged


def _close(*closed: "Pool[DiffReader] | Objects") -> None:
    for each in closed:
        each.close()


def _escaped(path: str) -> str:
    """Return a path in which git sees no pattern."""
    return re.sub(r"[*?\[\\]", r"\\\g<0>", path)
