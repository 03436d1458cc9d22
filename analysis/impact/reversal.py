"""Reverts and cherry-picks of commits, and the reverse of a commit, which removes what the commit adds."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from analysis.facts.links import reverted_pulls, reverted_sha
from analysis.models import Commit, Entry, Fact, FileChange

_NUMBER = re.compile(r"\(#(\d{1,9})\)")
_PICKS = re.compile(r"\bcherry[- ]?pick\w*\b[^\n]*", re.IGNORECASE)
_PICKED_PULLS = re.compile(
    r"^(?:back-?port|cherry[- ]?pick)\w*(?: of| from)?:?\s+((?:#\d{1,9}[,\s]*)+)$", re.IGNORECASE | re.MULTILINE
)
_PICKED_SHA = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")
_HEADER = re.compile(r"@@ -(\d+(?:,\d+)?) \+(\d+(?:,\d+)?) @@")
_SIGNS = {"+": "-", "-": "+"}
_STATUSES = {"added": "removed", "removed": "added"}


class Picks(NamedTuple):
    """What a branch has picked: the numbers of pull requests (`#12`), and SHAs."""

    names: frozenset[str]

    def has(self, commit: Commit) -> bool:
        """Return whether a commit of the main branch was picked."""
        return commit.sha in self.names or f"#{commit.pr}" in self.names


def picks(commits: Iterable[Commit], same_patch: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Picks:
    """Return what the commits of a branch, oldest first, have picked and not reverted.

    `same_patch` has the SHA of a pick, and those of the commits that it makes again, where that is known.
    """
    picked_by: dict[str, str] = {}
    for commit in commits:
        pulls, sha = reverted_pulls(commit), reverted_sha(commit)
        if pulls or sha:
            picked_by = {
                name: by for name, by in picked_by.items() if name not in pulls and not (sha and by.startswith(sha))
            }
            continue
        names = [f"#{number}" for number in _NUMBER.findall(commit.title)]
        for told in (*_PICKS.findall(commit.title), *_PICKED_PULLS.findall(commit.message)):
            names += re.findall(r"#\d{1,9}", told)
        names += [f"#{commit.pr}"] if commit.pr else []
        names += [*_PICKED_SHA.findall(commit.message), *same_patch.get(commit.sha, ())]
        picked_by |= dict.fromkeys(names, commit.sha)
    return Picks(frozenset(picked_by))


def reversed_commit(commit: Commit) -> Commit:
    """Return the commit that would undo this one; it has no message, which would speak of the other direction."""
    files = tuple(_reversed_file(each) for each in commit.files)
    return commit.model_copy(update={"files": files, "message": "", "pull": None})


def _reversed_file(file: FileChange) -> FileChange:
    return file.model_copy(
        update={
            "path": file.previous_path or file.path,
            "previous_path": file.path if file.previous_path else None,
            "status": _STATUSES.get(file.status, file.status),
            "additions": file.deletions,
            "deletions": file.additions,
            "patch": _reversed_patch(file.patch) if file.patch else file.patch,
        }
    )


def _reversed_patch(patch: str) -> str:
    """Return a patch with its sides swapped, in each run of changed lines the removed ones first."""
    lines: list[str] = []
    removed: list[str] = []
    added: list[str] = []
    for line in patch.split("\n"):
        if line[:1] in _SIGNS:
            (removed if line[0] == "+" else added).append(_SIGNS[line[0]] + line[1:])
        elif not line.startswith("\\"):
            lines += [*removed, *added, _HEADER.sub(r"@@ -\2 +\1 @@", line, count=1)]
            removed, added = [], []
    return "\n".join([*lines, *removed, *added])


def undone_commits(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the commits that another of the window reverts, and their reverts; a revert of a revert stands.

    A message that says so is not enough: see `undoes`.
    """
    undone: set[str] = set()
    earlier: list[Entry] = []
    for entry in entries:
        sha = entry.commit.sha
        named = {*entry.links.all_reverted, *(each.commit.sha for each in earlier if each.links.reverted_by == sha)}
        targets = {
            each.commit.sha
            for each in earlier
            if each.commit.sha in named - undone and undoes(entry.commit, each.commit, each.facts)
        }
        if targets:
            undone |= {*targets, sha}
        earlier.append(entry)
    return frozenset(undone)


def undoes(revert: Commit, commit: Commit, proven: Sequence[Fact]) -> bool:
    """Return whether the diff of a commit that says it reverts another can have undone what that one's facts prove.

    It must take back each file that they are in; of a commit without such facts, any file.
    """
    told = {fact.path for fact in proven} & {path for file in commit.files for path in file.paths}
    changed = [file for file in commit.files if not told.isdisjoint(file.paths)]
    # Half of a file's changed lines will do: others may have changed the file meanwhile.
    taken_back = (
        any(_takes_back(each, file) for each in revert.files if not each.paths.isdisjoint(file.paths))
        for file in changed or commit.files
    )
    return all(taken_back) if changed else any(taken_back)


def _takes_back(reverting: FileChange, file: FileChange) -> bool:
    """Return whether a file's change adds half of what another removed and removes half of what it added.

    Without both patches the counts of lines have to do.
    """
    added, removed = _changed(file, "+"), _changed(file, "-")
    if not (reverting.patch and (added or removed)):
        return 2 * reverting.additions >= file.deletions and 2 * reverting.deletions >= file.additions
    taken = (added & _changed(reverting, "-")).total() + (removed & _changed(reverting, "+")).total()
    return 2 * taken >= added.total() + removed.total()


def _changed(file: FileChange, sign: str) -> Counter[str]:
    """Return the added or removed lines of a file without whitespace, each with how often it is there."""
    lines = ("".join(line[1:].split()) for line in (file.patch or "").split("\n") if line.startswith(sign))
    return Counter(line for line in lines if line)
