"""Commits of a day that repeat others: merges, and reverts that the day itself takes back."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from analysis.facts.links import reverted_title
from analysis.impact.reversal import undone_commits
from analysis.models import Commit, Entry
from analysis.text import one_line

_AGAIN = re.compile(r"^(?:un-?revert|re-?(?:apply|land|submit|do)(?:s|ed|ing)?)\b\W*", re.IGNORECASE)
_PULL = re.compile(r"#\d{1,9}")
_PULL_AGAIN = re.compile(r"\bre-?(?:appl|land|submit|do)\w*\b[^#]*(#\d{1,9})", re.IGNORECASE)
_TAGS_AND_NUMBERS = re.compile(r"\[[^\]]*\]|\(?#\d{1,9}\)?|[\"“”'`]")
_MIN_TITLE = 12  # characters; what is shorter may be the title of anything


def merged_commits(entries: Sequence[Entry]) -> Iterator[tuple[Commit, frozenset[str]]]:
    """Yield the merges among some commits, each with those of them that it brings to its first parent's branch."""
    parents = {entry.commit.sha: entry.commit.parents for entry in entries}
    for entry in entries:
        if entry.commit.is_merge:
            first, *others = entry.commit.parents
            if merged := _reached(others, parents) - _reached([first], parents):
                yield entry.commit, merged


def _reached(heads: Iterable[str], parents: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the known commits that are among `heads` or their ancestors; a path ends at a commit that is not known."""
    found: set[str] = set()
    waiting = [sha for sha in heads if sha in parents]
    while waiting:
        sha = waiting.pop()
        if sha not in found:
            found.add(sha)
            waiting += [each for each in parents[sha] if each in parents]
    return frozenset(found)


def undone_titles(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the commits whose titles tell of nothing that is new at the end of a day.

    They are those that another reverts, with their reverts, and a revert with the commit that lands the same again.
    """
    oldest_first = sorted(entries, key=lambda entry: entry.commit.committed_at)
    undone = set(undone_commits(oldest_first))
    reverts: dict[str, str] = {}
    for commit in (entry.commit for entry in oldest_first):
        words, again = title_words(commit.subject), _PULL_AGAIN.search(commit.subject)
        if title := reverted_title(commit):
            reverts |= {
                name: commit.sha
                for name in (title_words(title), title)
                if len(name) >= _MIN_TITLE or _PULL.fullmatch(name)
            }
        elif again and (revert := reverts.pop(again[1], None)):
            undone.add(revert)
        elif revert := reverts.pop(words, None):
            # What lands again is new if the day had reverted its own commit, whose revert is among the undone ones.
            undone |= {revert} if revert in undone else {revert, commit.sha}
    return frozenset(undone)


def title_words(title: str) -> str:
    """Return a title without tags, numbers, quotation marks and a word that says that it lands again."""
    bare = " ".join(_TAGS_AND_NUMBERS.sub(" ", one_line(title)).split()).strip(" .…:-").lower()
    return _AGAIN.sub("", bare)
