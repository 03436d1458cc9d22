"""The signals of the ranking, each with a name, a value and its evidence; the weights are kept separately.

All but the facts come from the message and the list of files, so that commits stored without patches rank alike.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.facts.removed_tests import tests_added
from analysis.instructions import without_instructions
from analysis.models import Commit, Fact, FileChange, by_kind
from analysis.paths import Kind, kind
from analysis.ranking.vocabulary import AREAS, TAGS, TITLE_WORDS


class Signal(NamedTuple):
    name: str
    value: float
    evidence: str


_MAX_WORDS = 20  # words of a title that are read: few titles have more, and padding adds nothing
_MIN_SOURCE_SHARE = 0.1  # of the changed lines: below this the change is not about source
_BUILT_KINDS = frozenset({Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY})
_COMPANION_KINDS = (Kind.TEST, Kind.CI, Kind.DOCS, Kind.EXAMPLE)
_MOSTLY_REMOVED_SHARE = 0.7  # of the changed lines: above this the change mainly removes code
_TITLE_TAGS = re.compile(r"^\s*((?:\[[^\]]{1,40}\]\s*)+|[A-Za-z][\w/ -]{0,24}(?:\([^)]{1,40}\))?!?\s*:)")


def split_title(title: str) -> tuple[str, str]:
    """Split a title into (tags without brackets, rest): `[Bugfix][Core] Fix x` gives `Bugfix Core`, `Fix x`."""
    match = _TITLE_TAGS.match(title)
    if not match:
        return "", title
    return re.sub(r"[\[\]:!()]+", " ", match[1]).strip(), title[match.end() :].strip()


def signals(commit: Commit, found: Sequence[Fact] = ()) -> list[Signal]:
    """Return all signals for or against the commit's importance."""
    tag, rest = split_title(without_instructions(commit.subject))
    return [
        *_tag_signals(tag),
        *_word_signals(TITLE_WORDS, " ".join(rest.split()[:_MAX_WORDS])),
        *_file_signals(commit),
        *_fact_signals(found),
    ]


# Titles differ, but tags and paths recur: their signals are cached.
@lru_cache(maxsize=4096)
def _tag_signals(tag: str) -> tuple[Signal, ...]:
    return tuple(_word_signals(TAGS, tag))


def _word_signals(words: Mapping[str, re.Pattern[str]], text: str) -> list[Signal]:
    return [Signal(name, 1, match[0]) for name, pattern in words.items() if (match := pattern.search(text))]


@lru_cache(maxsize=65536)
def _area_signals(path: str) -> tuple[str, ...]:
    low = path.lower()
    return tuple(name for name, pattern in AREAS.items() if pattern.search(low))


def _file_signals(commit: Commit) -> Iterator[Signal]:
    if not commit.files:
        if commit.read:
            yield Signal("changes no file", 1, "no file")
        return
    files: dict[Kind, list[FileChange]] = {}
    for file in commit.files:
        files.setdefault(kind(file.path), []).append(file)
    if not files.keys() & _BUILT_KINDS:
        yield Signal("no source, build or dependency", 1, ", ".join(sorted(files)))
    if Kind.DEPENDENCY in files:
        yield Signal("touches dependencies", 1, files[Kind.DEPENDENCY][0].path)
    data = [file.path for file in files.get(Kind.DATA, ()) if file.status == "added"]
    if data:
        yield Signal("new data files", 1, data[0])
    if Kind.SOURCE in files:
        lines = sum([file.size for file in files[Kind.SOURCE]]) or commit.is_cut * len(files[Kind.SOURCE])
        yield from _companion_signals(commit, files, lines)
        yield from _source_signals(files[Kind.SOURCE], lines)


def _companion_signals(commit: Commit, files: Mapping[Kind, Sequence[FileChange]], lines: int) -> Iterator[Signal]:
    """Yield signals for tests, documentation and other files that accompany so many changed lines of source."""
    if tests := tests_added(commit) if Kind.TEST in files else ():
        yield Signal("comes with tests", 1, tests[0])
    if Kind.DOCS in files:
        yield Signal("comes with documentation", 1, files[Kind.DOCS][0].path)
    beside = sum([file.size for each in _COMPANION_KINDS for file in files.get(each, ())])
    if lines < _MIN_SOURCE_SHARE * (lines + beside):
        yield Signal("hardly touches source", 1, f"{lines:,} of {lines + beside:,} lines")


def _source_signals(files: Sequence[FileChange], lines: int) -> Iterator[Signal]:
    removed = sum([file.deletions for file in files])
    counts = {
        "changed source lines": lines,
        "source files": len(files) if lines else 0,
        "deleted source lines": removed,
        "new source files": [file.status for file in files].count("added"),
    }
    for name, count in counts.items():
        if count:
            yield Signal(name, math.log10(1 + count), f"{count:,}")
    if removed > _MOSTLY_REMOVED_SHARE * lines:
        yield Signal("mostly removes", 1, f"-{removed:,} of {lines:,} lines")
    touched: dict[str, str] = {}
    for file in files:
        for name in _area_signals(file.path):
            touched.setdefault(name, file.path)
    for name, path in touched.items():
        yield Signal(name, 1, path)


def _fact_signals(found: Sequence[Fact]) -> Iterator[Signal]:
    """Yield one signal for each kind of fact, with the first fact as evidence; more of a kind add no weight."""
    for fact_kind, alike in by_kind(found):
        # Another file may still define a name that left this one.
        origin = f" ({alike[0].removed_from})" if alike[0].removed_from else ""
        more = f" (+{len(alike) - 1})" if len(alike) > 1 else ""
        yield Signal(fact_kind.value, 1, alike[0].name + origin + more)
