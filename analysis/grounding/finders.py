"""Finders of claims: functions that locate the claims of a kind in a text and judge each by a corpus."""

import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from analysis.grounding.corpus import Corpus, without_code


class Section(Enum):
    """The purpose of a text, which decides what it may mention."""

    CHANGE = auto()  # what the commit does: only what it touches
    CONSEQUENCE = auto()  # what follows from it: also what its message and diff merely mention
    ADVICE = auto()  # what to do: also durations and sizes that were never measured


class FoundClaim(NamedTuple):
    """A claim from `start` to `end` of a text; later finders skip it, supported or not."""

    start: int
    end: int
    is_supported: bool


Finder = Callable[[str, Section, Corpus], Iterator[FoundClaim]]
Judge = Callable[[re.Match[str], Corpus], bool]


def finder(*patterns: re.Pattern[str], prose: bool = False) -> Callable[[Judge], Finder]:
    """Make a finder of a function that judges a match of one of the patterns; with `prose`, of those outside code spans.

    The claim is the group `claim` of a match, or the whole.
    """

    def decorate(is_supported: Judge) -> Finder:
        def find(line: str, _section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
            text = without_code(line) if prose else line
            for pattern in patterns:
                claim = "claim" if "claim" in pattern.groupindex else 0
                for match in pattern.finditer(text):
                    yield FoundClaim(*match.span(claim), is_supported(match, corpus))

        return find

    return decorate


def never(_match: re.Match[str], _corpus: Corpus) -> bool:
    """Judge a claim that no corpus supports."""
    return False
