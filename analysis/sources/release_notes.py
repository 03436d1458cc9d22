"""Release notes: the pull requests that they name, and those of them under breaking changes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.models import Repository

_HEADING = re.compile(
    r"^\s{0,3}(?P<marks>#{1,6})\s+(?P<title>.+)$|^\s*(?:[-*]\s+)?(?P<bold>\*\*[^*]+\*\*|__[^_]+__)\s*:?\s*$"
)
_BOLD_LEVEL = 7  # below every heading of Markdown
_BREAKING = re.compile(
    r"\bbreak|\bremov(?:al|ed)|\bdeprecat|\bincompatib|\bdropped|不兼容|破坏性|弃用|移除", re.IGNORECASE
)
# Lists that GitHub makes by itself name every pull request, and so tell nothing.
_EVERYTHING = re.compile(r"\bnew contributors\b|\bwhat'?s changed\b|\bfull changelog\b|\ball changes\b", re.IGNORECASE)
_MADE_BY_GITHUB = re.compile(r"^\s*[-*] .{1,300} by @[\w\[\]-]+ in \S+\s*$")
_CODE = re.compile(r"^\s*(```|~~~)")


class Named(NamedTuple):
    """Numbers of pull requests: all that are named, and those among them under headings on breaking changes."""

    every: frozenset[int]
    breaking: frozenset[int]


def named(notes: str, repository: Repository) -> Named:
    """The pull requests that the Markdown text of `notes` names as `#123` or by their address in `repository`."""
    address = rf"(?:https?://[^/\s)]+/{re.escape(repository.full_name)}/(?:pull|issues)/|(?<![\w/&])#)(\d{{1,9}})\b"
    pattern = re.compile(address, re.IGNORECASE)
    every: set[int] = set()
    breaking: set[int] = set()
    for line, breaks in _told(notes):
        numbers = {int(number) for number in pattern.findall(line)}
        every |= numbers
        breaking |= numbers if breaks or re.match(r"\s*(?:[-*]\s+)?\W{0,3}breaking\b", line, re.IGNORECASE) else set()
    return Named(frozenset(every), frozenset(breaking))


def _told(notes: str) -> Iterator[tuple[str, bool]]:
    """The lines that somebody wrote, each with whether it stands under a heading on breaking changes."""
    under: list[tuple[int, str]] = []
    code = False
    for line in notes.splitlines():
        code ^= _CODE.match(line) is not None
        heading = None if code else _HEADING.match(line)
        if heading:
            level = len(heading["marks"]) if heading["marks"] else _BOLD_LEVEL
            under = [
                *((other, title) for other, title in under if other < level),
                (level, heading["title"] or heading["bold"]),
            ]
        titles = " / ".join(title for _, title in under)
        if not code and not _EVERYTHING.search(titles) and not _MADE_BY_GITHUB.match(line):
            yield line, _BREAKING.search(titles) is not None
