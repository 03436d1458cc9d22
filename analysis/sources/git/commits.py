"""The commits of a mirror: listed by `git log`, and read by a long process of `git diff-tree`."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from analysis.models import MOST_FILES, Commit
from analysis.sources.git.errors import MirrorDamaged, ObjectMissing, TreeRefused
from analysis.sources.git.folder import MirrorFolder
from analysis.sources.git.objects import Objects
from analysis.sources.git.processes import COUNTS, PATCHES_OF_PATH, AnswerTooLong, DiffReader, Pool, ProcessEnded
from analysis.sources.git.program import Git
from analysis.sources.git.records import FORM, RawChange, changed_file, listed_commits, text, whole_commit

_LOG = ("log", f"--format={FORM}", "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap")
_MOST_SEARCHED = 300  # commits of a path whose blobs are fetched to find a symbol in them
_SEARCHED_AT_ONCE = 100  # whose blobs one request fetches
_PATCH_OF = re.compile(rb"\0([0-9a-f]{40})\0")


class Commits:
    """Lists and reads commits, as they are: nothing is redacted. `web_url` is the repository's address for people."""

    def __init__(self, git: Git, folder: MirrorFolder, objects: Objects, web_url: str) -> None:
        self._folder = folder
        self._objects = objects
        self._web_url = web_url
        self._readers = Pool(lambda: DiffReader(git, folder.path, FORM))

    def close(self) -> None:
        """End the idle processes."""
        self._readers.close()

    def log(self, revision: str, *options: str, path: str = "") -> list[Commit]:
        """List the commits of a revision or a range of them, newest first, without files."""
        output = self._objects.run(*_LOG, *options, "--end-of-options", revision, "--", *_literal(path))
        return list(listed_commits(output, self._web_url))

    def log_of_symbol(self, revision: str, symbol: str, path: str) -> Iterator[Commit]:
        """Yield the commits that changed how often a file has a symbol, newest first; of its latest 300.

        A commit whose files the server lacks is left out.
        """
        commits = self.log(revision, f"--max-count={_MOST_SEARCHED}", path=path)
        self.bring_changes([each.sha for each in commits], path)
        for each in commits:
            with suppress(ObjectMissing):
                if self._count(symbol, path, each.sha) != self._count(symbol, path, *each.parents[:1]):
                    yield each

    def showing(self, revision: str, words: Sequence[str], path: str) -> Iterator[Commit]:
        """Yield the commits whose diff of a file shows one of some words, newest first; of its latest 300."""
        pattern = re.compile(rb"(?<!\w)(?:%s)(?!\w)" % b"|".join(re.escape(word.encode()) for word in words))
        commits = self.log(revision, f"--max-count={_MOST_SEARCHED}", path=path)
        for start in range(0, len(commits), _SEARCHED_AT_ONCE):
            batch = commits[start : start + _SEARCHED_AT_ONCE]
            shas = [each.sha for each in batch if self._changes(each.sha) is not None]
            self.bring_changes(shas, path)
            _, *parts = _PATCH_OF.split(self._objects.run(*PATCHES_OF_PATH, "--", *_literal(path), stdin=_lines(shas)))
            showing = {text(sha) for sha, patch in zip(parts[::2], parts[1::2], strict=True) if pattern.search(patch)}
            yield from (each for each in batch if each.sha in showing)

    def _count(self, symbol: str, path: str, *shas: str) -> int:
        """Return how often a file has a symbol as of a commit; never as of none."""
        roots = [root for sha in shas if (root := self._objects.root(sha))]
        return sum((self._objects.file(root, path) or "").count(symbol) for root in roots)

    def read(self, sha: str) -> Commit | None:
        """Read a commit with its files and patches, having fetched what it changes; None if the mirror lacks it."""
        if self._changes(sha) is None:  # only the names of its first files are read
            files = tuple(map(changed_file, islice(self._objects.changes(sha), MOST_FILES)))
            return self.log(sha, "--max-count=1")[0].model_copy(update={"files": files, "read": True})
        try:
            record = self._record(sha)
        except ProcessEnded:  # a blob is missing, or the mirror is damaged
            self.bring_changes([sha])
            record = self._complete_record(sha)
        return whole_commit(record, self._web_url) if record else None

    def bring_changes(self, shas: Sequence[str], path: str = "") -> None:
        """Fetch the blobs that commits change, before and after, in one request; those of one path if it is given."""
        self._objects.bring(self._blobs(shas, path))

    def _complete_record(self, sha: str) -> bytes:
        try:
            return self._record(sha)
        except ProcessEnded as exc:
            if self._objects.missing(self._blobs([sha])):
                raise ObjectMissing from exc
            raise MirrorDamaged from exc

    def _record(self, sha: str) -> bytes:
        """Return git's record of a commit, empty if there is none."""
        try:
            with self._folder.reading(), self._readers.process() as reader:
                return reader.read(sha)
        except AnswerTooLong:
            return self._objects.run(*COUNTS, f"--format={FORM}", stdin=_lines([sha]))

    def _changes(self, sha: str, path: str = "") -> Sequence[RawChange] | None:
        """Return what a commit changes, of a path if it is given; None if it changes too much to be read."""
        with suppress(TreeRefused):
            found = list(islice(self._objects.changes(sha), MOST_FILES + 1))
            if len(found) <= MOST_FILES:
                return [each for each in found if not path or f"{each.path}/".startswith(f"{path}/")]
        return None

    def _blobs(self, shas: Sequence[str], path: str = "") -> dict[str, None]:
        changes = (change for sha in shas for change in self._changes(sha, path) or ())
        return dict.fromkeys(blob for change in changes for blob in change.blobs)


def _lines(shas: Sequence[str]) -> bytes:
    return "".join(f"{sha}\n" for sha in shas).encode()


def _literal(path: str) -> list[str]:
    """Return the pathspec of a path in which git sees no pattern; none without a path."""
    return [f":(top,literal){path}"] if path else []
