"""Patterns of .gitignore, by which people name paths."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.errors import Misuse
from analysis.locale import Phrase, mark

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Exclusions, comments, drives, parent folders, open brackets, and signs of a regular expression.
_MISLEADING = re.compile(r"^[!#^]|^[A-Za-z]:[\\/]|(^|/)\.\.(/|$)|\[(?![^\]]+\])|\$$|\||\)[+*?]")
_EVERY_FILE = mark("{text!r} matches every file; use a folder such as docs/**, or an extension such as *.py")


def path_patterns(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """Return what matches paths by patterns; raise ValueError if one is none, such as a range that runs backwards."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except re.error as exc:  # raised for the expression that pathspec makes of a pattern
        raise ValueError(str(exc)) from exc


def check_pattern(pattern: str) -> None:
    """Raise `Misuse` for a pattern that matches every file, or no file that it seems to mean."""
    if not re.search(r"\w", pattern):
        raise Misuse(Phrase(_EVERY_FILE, text=pattern[:60]))
    try:
        path_patterns([pattern])
        misleading = _MISLEADING.search(pattern) or not pattern.isprintable()
    except ValueError:
        misleading = True
    if misleading:
        raise Misuse(Phrase("{text!r} is not a valid path; use src/, docs/** or *.py", text=pattern[:60]))
