"""Patterns of .gitignore, by which people name paths."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def path_patterns(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """Return what matches paths by patterns; raise ValueError if one is none, such as a range that runs backwards."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except re.error as exc:  # raised for the expression that pathspec makes of a pattern
        raise ValueError(str(exc)) from exc
