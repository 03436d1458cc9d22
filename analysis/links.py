"""What ties a commit to others: what it reverts, what reverted it, the series it belongs to, what it fixes.

`keys` tells what a commit says of others; the store finds which commits those are.
"""

import re
from typing import NamedTuple

from analysis.facts import reverted_sha, reverted_title
from analysis.models import Commit, Series

_PART = re.compile(r"[\[(]\s*(?P<part>\d{1,2})\s*/\s*(?P<of>\d{1,2}|[nNxX])\s*[\])]")
_FIXES = re.compile(
    r"\b(?:fix(?:es|ed)?|follow[- ]?up (?:to|of|for)|regression (?:from|in|introduced (?:by|in))|introduced (?:by|in)|broken by|caused by)\b"
    r"[:\s]+(?:PR\s+|commit\s+|pull request\s+)?(?:#(?P<pr>\d{1,9})|(?P<sha>[0-9a-f]{8,40}))\b",
    re.IGNORECASE,
)


class Keys(NamedTuple):
    """What a commit's message names: SHAs (or their beginnings), titles and pull requests, not yet looked up."""

    reverts_sha: str | None
    reverts_title: str | None
    series: str | None
    part: int | None
    of: int | None
    fixes: tuple[str, ...]


def keys(commit: Commit) -> Keys:
    """The references in the commit's message and in its pull request's text."""
    part = _PART.search(commit.subject)
    told = f"{commit.message}\n{commit.pull.body if commit.pull else ''}"
    fixes = {match["sha"] or f"#{match['pr']}": None for match in _FIXES.finditer(told)}
    fixes.pop(f"#{commit.pr}", None)
    return Keys(
        reverts_sha=reverted_sha(commit),
        reverts_title=reverted_title(commit),
        series=_series_name(commit, part) if part else None,
        part=int(part["part"]) if part else None,
        of=int(part["of"]) if part and part["of"].isdigit() else None,
        fixes=tuple(fixes),
    )


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
