"""Links of a commit to others: what it reverts, what reverted it, the series it belongs to, what it fixes.

`keys` tells what a commit says of others; the store finds which commits those are.
"""

import re
from typing import NamedTuple

from analysis.facts.reverts import is_own, reverted_pulls, reverted_sha, reverted_title, told_by
from analysis.models import Commit, Series

_PART = re.compile(r"[\[(]\s*(?P<part>\d{1,2})\s*/\s*(?P<of>\d{1,2}|[nNxX])\s*[\])]")
_OTHER = (
    r"(?:PR\s+|commit\s+|pull request\s+)?(?:#(?P<pr>\d{1,9})|(?P<sha>[0-9a-f]{8,40})"
    r"|https?://[^/\s]+/(?P<of>[\w.-]+/[\w.-]+)/(?:pull/(?P<pull>\d{1,9})|commit/(?P<commit>[0-9a-f]{8,40})))\b"
)
_FIXES = re.compile(
    r"\b(?:fix(?:es|ed)?|follow[- ]?up (?:to|of|for|on)|regressions? (?:from|in|after|since|caused by|introduced (?:by|in))"
    rf"|introduced (?:by|in)|broken (?:by|in|since)|caused? by)\b[:\s]+{_OTHER}",
    re.IGNORECASE,
)
# A title that fixes something "after #12" is of #12; in a text that may be anything.
_FIXES_AFTER = re.compile(rf"\bfix(?:es|ed)?\b.{{0,200}}?\b(?:after|from|since|in)\s+{_OTHER}", re.IGNORECASE)
_FIXES_TRAILER = re.compile(r"^Fixes: (?P<sha>[0-9a-f]{7,40})\b", re.IGNORECASE | re.MULTILINE)


class Keys(NamedTuple):
    """What a commit's message names: SHAs (or their beginnings), titles and pull requests, not yet looked up."""

    reverts_sha: str | None
    reverts_title: str | None
    reverts_pulls: tuple[str, ...]
    series: str | None
    part: int | None
    of: int | None
    fixes: tuple[str, ...]


def keys(commit: Commit) -> Keys:
    """The references in the commit's message and in its pull request's text."""
    part = _PART.search(commit.subject)
    return Keys(
        reverts_sha=reverted_sha(commit),
        reverts_title=reverted_title(commit),
        reverts_pulls=reverted_pulls(commit),
        series=_series_name(commit, part) if part else None,
        part=int(part["part"]) if part else None,
        of=int(part["of"]) if part and part["of"].isdigit() else None,
        fixes=_fixed(commit),
    )


def _fixed(commit: Commit) -> tuple[str, ...]:
    """The commits and pull requests of the same repository that the commit says it fixes or follows up."""
    told = told_by(commit)
    matches = [*_FIXES_AFTER.finditer(commit.subject), *_FIXES.finditer(told)]
    found = [
        match["sha"] or match["commit"] or f"#{match['pr'] or match['pull']}"
        for match in matches
        if match["of"] is None or is_own(match["of"], commit)
    ]
    found += [match["sha"] for match in _FIXES_TRAILER.finditer(told) if not match["sha"].isdigit()]
    return tuple(dict.fromkeys(each for each in found if each != f"#{commit.pr}"))


def series(key: Keys, commits: tuple[str, ...]) -> Series | None:
    """The series that `key` names, given the SHAs known to be in it."""
    return Series(part=key.part, of=key.of, commits=commits) if key.part is not None else None


def _series_name(commit: Commit, part: re.Match[str]) -> str | None:
    """What the parts of a series have in common: the author, the total, and the tags around the part.

    None where there are no tags: an author has many a "[1/N]".
    """
    before, after = commit.subject[: part.start()], commit.subject[part.end() :]
    tags = before if before.strip() else (re.match(r"\s*(?:\[[^\]]+\]\s*)*", after) or [""])[0]
    return f"{commit.author}|{part['of'].lower()}|{' '.join(tags.lower().split())}" if tags.strip() else None
