"""Links between commits: what a commit reverts, fixes or follows up, and the series it belongs to.

`reverts` yields what a commit reverts as facts. `keys` extracts the references that a commit mentions; the store resolves
them to commits.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.change import Change
from analysis.models import SHORT_SHA, Commit, Fact, FactKind, Series

# "Revert to the default" restores a state; it reverts no commit.
_TITLE = re.compile(
    r"^(?:\[[^\]]*\]\s*)*Revert\b(?!\s+(?:back\s+)?to\b)[:\s]*[\"“]?(?P<title>.*?)[\"”]?\s*(?:\(#\d+\)\s*)?$",
    re.IGNORECASE,
)
_SHA = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})", re.IGNORECASE)
_OWN_NUMBER = re.compile(r"\(#\d{1,9}\)\s*$")
_AND = r"\s*(?:,\s*and|,|and|&|\+)\s*"
_NUMBERS = rf"#\d{{1,9}}(?:{_AND}#\d{{1,9}})*"
_PULLS = rf"PRs?[\s-]*#?\d{{1,9}}(?:{_AND}#?\d{{1,9}})*"
_TITLE_WITH_PULLS = re.compile(
    rf"(?:\[[^\]]*\]\s*)*Revert(?:s|ing)?:?\s+(?:(?P<bare>{_PULLS}|{_NUMBERS})\s*(?:$|[:\"“])|[\"“].*\((?P<quoted>{_NUMBERS})\)[\"”]?\s*$)",
    re.IGNORECASE,
)
_ALSO_REVERTS = re.compile(
    rf"(?:[(;,:–—-]\s*|\bthis )reverts\s+(?P<beside>{_PULLS}|{_NUMBERS})(?=\s*(?:$|[).,;]))", re.IGNORECASE
)
_IN_TEXT = re.compile(
    r"^\W{0,3}(?:This (?:PR |pull request |commit |change )?)?Reverts:? (?:PR\s+|pull request\s+)?"
    r"(?:(?P<of>[\w.-]+/[\w.-]+)?#(?P<number>\d{1,9})|https?://[^/\s]+/(?P<whose>[\w.-]+/[\w.-]+)/pull/(?P<pull>\d{1,9}))\b",
    re.IGNORECASE | re.MULTILINE,
)


def reverts(change: Change) -> Iterator[Fact]:
    """Yield what the commit reverts: one title or SHA prefix, else each pull request."""
    if not may_revert(change.commit):
        return
    title, sha = reverted_title(change.commit), reverted_sha(change.commit)
    for name in [title or (sha or "")[:SHORT_SHA]] if title or sha else reverted_pulls(change.commit):
        yield Fact(kind=FactKind.REVERT, name=name)


def may_revert(commit: Commit) -> bool:
    """Return whether the commit's text has the word that every pattern has: a cheap check that most commits fail."""
    return "revert" in full_text(commit).lower()


def reverted_title(commit: Commit) -> str | None:
    """Return the title that a revert names, without the pull request number; None if the commit is not a revert."""
    match = _TITLE.match(commit.subject)
    return match["title"].strip() if match and match["title"] else None


def reverted_sha(commit: Commit) -> str | None:
    """Return the SHA (or its prefix) that the message says it reverts, in lower case; None without one."""
    match = _SHA.search(full_text(commit))
    return match[1].lower() if match else None


def reverted_pulls(commit: Commit) -> tuple[str, ...]:
    """Return the pull requests ("#12") reverted as a whole; partial reverts are not counted."""
    subject = _OWN_NUMBER.sub("", commit.subject)
    title = _TITLE_WITH_PULLS.match(subject)
    numbers = (
        [title["bare"] or title["quoted"]] if title else [each["beside"] for each in _ALSO_REVERTS.finditer(subject)]
    )
    found = [f"#{number}" for text in numbers for number in re.findall(r"\d+", text)]
    for match in _IN_TEXT.finditer(full_text(commit)):
        owner = match["of"] or match["whose"]
        if owner is None or is_own_repository(owner, commit):
            found.append(f"#{match['number'] or match['pull']}")
    return tuple(dict.fromkeys(each for each in found if each != f"#{commit.pr}"))


def full_text(commit: Commit) -> str:
    """Return the commit's message and its pull request's text."""
    return f"{commit.message}\n{commit.pull.body if commit.pull else ''}"


def is_own_repository(name: str, commit: Commit) -> bool:
    """Return whether `name` ("owner/name") is the commit's own repository."""
    return f"/{name.lower()}/commit/" in commit.url.lower()


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
_FIXES_AFTER = re.compile(rf"\bfix(?:es|ed)?\b.{{0,200}}?\b(?:after|from|since|in|PR)\s+{_REFERENCE}", re.IGNORECASE)
_FIXES_TRAILER = re.compile(r"^Fixes: (?P<sha>[0-9a-f]{7,40})\b", re.IGNORECASE | re.MULTILINE)


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
