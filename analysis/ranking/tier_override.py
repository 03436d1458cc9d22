"""The tier override: a model may move a commit by one tier, only where the diff itself supports its reason.

A model reads what strangers wrote, and may do as they say. What moves a tier is therefore a fact that the rules found.
"""

import re
from collections.abc import Sequence

from analysis.diff import changed_lines
from analysis.instructions import without_instructions
from analysis.models import BREAKING, Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind
from analysis.ranking.scoring import supported

_TELLING = BREAKING | {
    FactKind.DEFAULT_CHANGED,
    FactKind.DEPENDENCY_MOVED,
    FactKind.DEPENDENCY_REMOVED,
    FactKind.CONCURRENCY,
    FactKind.SECURITY,
}
_BESIDE = (Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE)
_REMARK = re.compile(r"\s*(?:#(?!\s*(?:define|if|include|pragma|undef|el|end))|//|/\*|\*|--\s|$)")


def may_move_up(commit: Commit, found: Sequence[Fact], reason: str) -> bool:
    """Whether `reason` names something telling that the diff proves, in a commit that does not speak to its reader."""
    return not _speaks_to_reader(commit) and any(
        fact.path and fact.kind in _TELLING and fact.name.lower() in reason.lower() for fact in supported(commit, found)
    )


def may_move_down(commit: Commit, found: Sequence[Fact]) -> bool:
    """Whether the diff changes nothing but remarks outside documentation, tests and CI, in a commit that does not speak to its reader."""
    telling = [fact for fact in found if fact.kind is not FactKind.LAYOUT]
    return (
        not telling and not _speaks_to_reader(commit) and bool(commit.files) and all(map(_only_remarks, commit.files))
    )


def _only_remarks(file: FileChange) -> bool:
    if kind(file.path) in _BESIDE:
        return True
    return file.patch is not None and all(_REMARK.match(line.text) for line in changed_lines(file))


def _speaks_to_reader(commit: Commit) -> bool:
    added = "\n".join(line.text for file in commit.files for line in changed_lines(file) if line.sign == "+")
    texts = [commit.message, added, *((commit.pull.title, commit.pull.body) if commit.pull else ())]
    return any(without_instructions(text) != text for text in texts)
