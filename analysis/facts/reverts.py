"""Reverted commits, identified by title, SHA or pull request."""

import re
from collections.abc import Iterator

from analysis.facts.change import Change
from analysis.models import SHORT_SHA, Commit, Fact, FactKind

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
    if "revert" not in change.lower_text:
        return  # every pattern has that word
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
