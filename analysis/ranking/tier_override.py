"""The tier override: a person may move a commit by one tier, and a model too, but only if the diff itself supports its reason.

A model reads untrusted text and may follow instructions in it. So it moves no commit that contains any.
"""

import re
from collections.abc import Collection, Sequence

from analysis.diff import changed_lines, numbered_hunks
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


def may_move(commit: Commit, found: Sequence[Fact], reason: str, cited: Collection[int], *, up: bool) -> bool:
    """Return whether a reason for a move has a proof: changed lines that it cites, by their numbers over all files, or a fact.

    One to move up is a significant one that the reason names, one to move down that only comments change outside
    documentation, tests, CI and examples. False if the commit contains instructions to its reader.
    """
    if _has_instructions(commit):
        return False
    numbered = ((each.first + at, line) for each in numbered_hunks(commit) for at, line in enumerate(each.lines))
    if any(number in cited for number, line in numbered if line.sign != " "):
        return True
    if up:
        significant = (each for each in found if each.path and each.kind in _SIGNIFICANT)
        return any(each.name.lower() in reason.lower() for each in significant)
    plain = all(fact.kind is FactKind.LAYOUT for fact in found)
    return plain and bool(commit.files) and all(map(_changes_only_comments, commit.files))


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
