"""What a commit says that it takes back."""

import re
from collections.abc import Iterator

from analysis.facts.change import Change
from analysis.models import SHORT_SHA, Commit, Fact, FactKind

_TITLE = re.compile(r"^(?:\[[^\]]*\]\s*)*Revert\b[:\s]*[\"“]?(?P<title>.*?)[\"”]?\s*(?:\(#\d+\)\s*)?$", re.IGNORECASE)
_SHA = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})", re.IGNORECASE)


def reverts(change: Change) -> Iterator[Fact]:
    title, sha = reverted_title(change.commit), reverted_sha(change.commit)
    if title or sha:
        yield Fact(kind=FactKind.REVERT, name=title or (sha or "")[:SHORT_SHA])


def reverted_title(commit: Commit) -> str | None:
    """The title that a revert names, without its pull request's number; None for what is no revert."""
    match = _TITLE.match(commit.subject)
    return match["title"].strip() if match and match["title"] else None


def reverted_sha(commit: Commit) -> str | None:
    """The SHA (or its beginning) that a revert says it reverts."""
    match = _SHA.search(commit.message)
    return match[1].lower() if match else None
