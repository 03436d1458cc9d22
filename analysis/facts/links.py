"""Links between commits: what a commit reverts, fixes or follows up, and the series it belongs to.

`keys` extracts the references that a commit mentions; the store resolves them to commits.
"""

import re
from typing import NamedTuple

from analysis.facts.reverts import (
    full_text,
    is_own_repository,
    may_revert,
    reverted_pulls,
    reverted_sha,
    reverted_title,
)
from analysis.models import Commit, Series

_PART = re.compile(r"[\[(]\s*(?P<part>\d{1,2})\s*/\s*(?P<of>\d{1,2}|[nNxX])\s*[\])]")
_REFERENCE = (
    r"(?:PR\s+|commit\s+|pull request\s+)?(?:#(?P<pr>\d{1,9})|(?P<sha>[0-9a-f]{8,40})"
    r"|https?://[^/\s]+/(?P<of>[\w.-]+/[\w.-]+)/(?:pull/(?P<pull>\d{1,9})|commit/(?P<commit>[0-9a-f]{8,40})))\b"
)
_FIXES = re.compile(
    r"\b(?:fix(?:es|ed)?|follow[- ]?up (?:to|of|for|on)|regressions? (?:from|in|after|since|caused by|introduced (?:by|in))"
    rf"|introduced (?:by|in)|broken (?:by|in|since)|caused? by)\b[:\s]+{_REFERENCE}",
    re.IGNORECASE,
)
# In a title, "Fix ... after #12" refers to #12; in a body it may mean anything.
_FIXES_AFTER = re.compile(rf"\bfix(?:es|ed)?\b.{{0,200}}?\b(?:after|from|since|in)\s+{_REFERENCE}", re.IGNORECASE)
_FIXES_TRAILER = re.compile(r"^Fixes: (?P<sha>[0-9a-f]{7,40})\b", re.IGNORECASE | re.MULTILINE)
# Substrings of a text in lower case without which no pattern matches: a cheap check of ASCII, as others' letters may equal ours.
_HINTS = ("fix", "follow", "regression", "introduced", "broken", "cause")


class Keys(NamedTuple):
    """The references in a commit's message: SHAs (or prefixes), titles and pull requests, not yet resolved."""

    reverts_sha: str | None
    reverts_title: str | None
    reverts_pulls: tuple[str, ...]
    series: str | None
    part: int | None
    of: int | None
    fixes: tuple[str, ...]


def keys(commit: Commit) -> Keys:
    """Extract the references in the commit's message and in its pull request's text."""
    part = _PART.search(commit.subject)
    reverting = may_revert(commit)
    return Keys(
        reverts_sha=reverted_sha(commit) if reverting else None,
        reverts_title=reverted_title(commit) if reverting else None,
        reverts_pulls=reverted_pulls(commit) if reverting else (),
        series=_series_name(commit, part) if part else None,
        part=int(part["part"]) if part else None,
        of=int(part["of"]) if part and part["of"].isdigit() else None,
        fixes=_fixed_references(commit),
    )


def _fixed_references(commit: Commit) -> tuple[str, ...]:
    """Return the commits and pull requests of the same repository that the commit says it fixes or follows up."""
    text = full_text(commit)
    if text.isascii() and not any(hint in text.lower() for hint in _HINTS):
        return ()
    matches = [*_FIXES_AFTER.finditer(commit.subject), *_FIXES.finditer(text)]
    found = [
        match["sha"] or match["commit"] or f"#{match['pr'] or match['pull']}"
        for match in matches
        if match["of"] is None or is_own_repository(match["of"], commit)
    ]
    found += [match["sha"] for match in _FIXES_TRAILER.finditer(text) if not match["sha"].isdigit()]
    return tuple(dict.fromkeys(each for each in found if each != f"#{commit.pr}"))


def series(key: Keys, commits: tuple[str, ...]) -> Series | None:
    """Build the series that `key` names from the SHAs known to be in it; None if it names none."""
    return Series(part=key.part, of=key.of, commits=commits) if key.part is not None else None


def _series_name(commit: Commit, part: re.Match[str]) -> str | None:
    """Return what the parts of a series have in common: the author, the total, and the tags around the part number.

    None if there are no tags: one author may have many unrelated "[1/N]" titles.
    """
    before, after = commit.subject[: part.start()], commit.subject[part.end() :]
    tags = before if before.strip() else (re.match(r"\s*(?:\[[^\]]+\]\s*)*", after) or [""])[0]
    return f"{commit.author}|{part['of'].lower()}|{' '.join(tags.lower().split())}" if tags.strip() else None
