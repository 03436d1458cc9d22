"""The tier override: a person may move a commit by one tier, and a model too, but only if the diff itself supports its reason.

A model reads untrusted text and may follow instructions in it. So only a fact found by the rules can justify a move.
"""

import re
from collections.abc import Sequence

from analysis.diff import changed_lines
from analysis.instructions import without_instructions
from analysis.models import BREAKING, Commit, Entry, Fact, FactKind, FileChange
from analysis.paths import Kind, kind
from analysis.ranking.scoring import TIERS, ceiling, floor, within

_SIGNIFICANT = BREAKING | {
    FactKind.DEFAULT_CHANGED,
    FactKind.DEPENDENCY_MOVED,
    FactKind.DEPENDENCY_REMOVED,
    FactKind.CONCURRENCY,
    FactKind.SECURITY,
}
_HARMLESS_KINDS = (Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE)
_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:define|if|include|pragma|undef|el|end))|//|/\*|\*|--\s|$)")


def may_move_up(commit: Commit, found: Sequence[Fact], reason: str) -> bool:
    """Return whether `reason` names a significant fact that the diff proves.

    False if the commit contains instructions to its reader.
    """
    return not _has_instructions(commit) and any(
        fact.path and fact.kind in _SIGNIFICANT and fact.name.lower() in reason.lower() for fact in found
    )


def may_move_down(commit: Commit, found: Sequence[Fact]) -> bool:
    """Return whether only comments change outside documentation, tests, CI and examples.

    False if the commit contains instructions to its reader.
    """
    significant = [fact for fact in found if fact.kind is not FactKind.LAYOUT]
    return (
        not significant
        and not _has_instructions(commit)
        and bool(commit.files)
        and all(map(_changes_only_comments, commit.files))
    )


def corrected(entry: Entry, *, up: bool) -> Entry:
    """Return a commit one tier higher or lower, as a person sees it, within the bounds that its facts set."""
    ranked = entry.ranked
    moved = TIERS[max(0, min(len(TIERS) - 1, TIERS.index(ranked.importance) + (1 if up else -1)))]
    bounds = floor(entry.facts), ceiling(entry.commit, ranked.change_types, entry.facts)
    return entry.model_copy(update={"ranked": ranked.model_copy(update={"importance": within(moved, *bounds)})})


def _changes_only_comments(file: FileChange) -> bool:
    if kind(file.path) in _HARMLESS_KINDS:
        return True
    return file.patch is not None and all(_COMMENT.match(line.text) for line in changed_lines(file))


def _has_instructions(commit: Commit) -> bool:
    added = "\n".join(line.text for file in commit.files for line in changed_lines(file) if line.sign == "+")
    return any(without_instructions(text) != text for text in (*commit.texts, added))
