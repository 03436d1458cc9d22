"""The reverse of a commit: what the commit adds, found as what its reverse removes."""

import re

from analysis.models import Commit, FileChange, Trees

_HEADER = re.compile(r"@@ -(\d+(?:,\d+)?) \+(\d+(?:,\d+)?) @@")
_SIGNS = {"+": "-", "-": "+"}
_STATUSES = {"added": "removed", "removed": "added"}


def reversed_commit(commit: Commit) -> Commit:
    """Return the commit that would undo this one; it has no message, which would speak of the other direction."""
    files = tuple(_reversed_file(each) for each in commit.files)
    return commit.model_copy(update={"files": files, "message": "", "pull": None})


def reversed_trees(trees: Trees | None) -> Trees | None:
    return Trees(trees.after, trees.before) if trees else None


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
