"""The history of a symbol: the commits whose diffs show it, in a mirror whose files are fetched when they are needed."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.sources.git.commits import Commits
from analysis.sources.git.objects import Objects
from analysis.sources.git.search import Query, matches, paths_with

_FILES = 4  # whose history is searched
_COMMITS = 20  # that touch it in each, and in all
_DEFINED = r"(def|class)[[:space:]]+{name}[(:]|^[[:space:]]*{name}[[:space:]]*:"  # a POSIX extended expression


class SymbolHistory(NamedTuple):
    """Finds the commits up to `head` that touch a symbol; the files at `head` with one of `suffixes` must have been fetched."""

    objects: Objects
    commits: Commits
    head: str
    suffixes: Sequence[str]

    def find(self, name: str, paths: Sequence[str], *, oldest: bool) -> list[Commit]:
        """Return the latest commits that touch a symbol or a flag, or the oldest, as `Mirror.symbol_history` does."""
        words = _spellings(name)
        listed = self.commits.log(self.head, "--fixed-strings", f"--grep={name}", f"--max-count={_COMMITS}")
        naming = self._showing(listed, words)
        files = [*paths, *self._files_with(words), *(file.path for each in naming for file in each.files)]
        for path in list(dict.fromkeys(files))[:_FILES]:
            showing = self.commits.showing(self.head, words, path)
            listed += list(showing)[-_COMMITS:] if oldest else islice(showing, _COMMITS)
        order = sorted(listed, key=lambda each: each.committed_at, reverse=not oldest)
        return self._showing(list(dict.fromkeys(order))[:_COMMITS], words)

    def _showing(self, commits: Sequence[Commit], words: Sequence[str]) -> list[Commit]:
        """Read commits, with only the files whose diff shows one of some words; those without any are left out."""
        self.commits.bring_changes([each.sha for each in commits])
        found = []
        for each in commits:
            commit = self.commits.read(each.sha) or each
            files = tuple(file for file in commit.files if any(word in (file.patch or "") for word in words))
            found += [commit.model_copy(update={"files": files})] if files else []
        return found

    def _files_with(self, words: Sequence[str]) -> list[str]:
        """Return the files that have one of some words, those first that define the last of them, and sources before others."""
        definition = Query(_DEFINED.format(name=words[-1]), regex=True, suffixes=self.suffixes)
        defining = {path for path, _ in matches(self.objects, self.head, definition)}
        using = {path for word in words for path in paths_with(self.objects, self.head, word, self.suffixes)}
        return sorted(defining | using, key=lambda path: (kind(path) is not Kind.SOURCE, path not in defining, path))


def _spellings(name: str) -> tuple[str, ...]:
    """Return how a name is written in code: a flag also as the field behind it, one with dots by its last part, which comes last."""
    return tuple(dict.fromkeys((name, re.split(r"[./]", name.lstrip("-").replace("-", "_"))[-1])))
