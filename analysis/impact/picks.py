"""Pull requests cherry-picked from the main branch to another one, such as a release branch."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from analysis.facts.links import reverted_pulls
from analysis.models import Commit

_NUMBER = re.compile(r"\(#(\d{1,9})\)")
_PICKS = re.compile(r"\bcherry[- ]?pick\w*\b[^\n]*", re.IGNORECASE)
_PICKED_SHA = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")


class Picks(NamedTuple):
    """What a branch has picked: the numbers of pull requests, and SHAs."""

    pulls: frozenset[int]
    shas: frozenset[str]

    def has(self, commit: Commit) -> bool:
        """Return whether a commit of the main branch was picked."""
        return commit.sha in self.shas or commit.pr in self.pulls


def picks(commits: Iterable[Commit]) -> Picks:
    """Return what the commits of a branch, oldest first, have picked and not reverted."""
    pulls: set[int] = set()
    shas: set[str] = set()
    for commit in commits:
        reverted = {int(each.removeprefix("#")) for each in reverted_pulls(commit)}
        if reverted:
            pulls -= reverted
            continue
        numbers = _NUMBER.findall(commit.title)
        for told in _PICKS.findall(commit.title):
            numbers += re.findall(r"#(\d{1,9})", told)
        pulls |= {*map(int, numbers), *([commit.pr] if commit.pr else [])}
        shas |= set(_PICKED_SHA.findall(commit.message))
    return Picks(frozenset(pulls), frozenset(shas))
