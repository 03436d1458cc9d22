"""The highlights of a day: its commits grouped by their consequence for the reader, the worst of a group first.

Each commit is listed once, and a second time where it breaks code and also announces something to deployments. A merge and
the commits that it merges count as one.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from analysis.locale import Catalogue, mark
from analysis.models import (
    BREAKING,
    DEPENDENCIES,
    OPERATIONAL,
    ChangeType,
    Commit,
    Entry,
    Fact,
    FactKind,
    Importance,
    PeriodReport,
)
from analysis.paths import Kind, kind
from analysis.ranking.vocabulary import AREAS
from analysis.report.repeats import merged_commits, undone_titles
from analysis.writing.titles import added_feature, plain_title


class Theme(StrEnum):
    """The groups, in the order of what a reader must do."""

    BREAKING = "breaking"
    BEHAVIOUR = "behaviour"
    IMPORTANT = "important"
    FIXES = "fixes"
    NEW = "new"


_HEADINGS = {
    Theme.BREAKING: mark("💥 Breaking changes ({count})"),
    Theme.BEHAVIOUR: mark("🔄 Behaviour ({count})"),
    Theme.IMPORTANT: mark("🔴 Also important ({count})"),
    Theme.FIXES: mark("🩹 Worth picking ({count})"),
    Theme.NEW: mark("✨ New ({count})"),
}
_MOST = {Theme.BREAKING: 6, Theme.BEHAVIOUR: 5, Theme.IMPORTANT: 6, Theme.FIXES: 4, Theme.NEW: 6}  # commits shown
_SPARED = 2  # commits that take as much room as saying that they are left out


def heading(theme: Theme, count: int, say: Catalogue) -> str:
    """Return a group's name with the number of its commits."""
    return say(_HEADINGS[theme], count=count)


class Highlight(NamedTuple):
    """A commit in a group, with the facts that put it there; without facts its title did."""

    theme: Theme
    entry: Entry
    facts: tuple[Fact, ...] = ()


class HighlightGroup(NamedTuple):
    """A group as it is shown: its first commits, and the number of the others."""

    theme: Theme
    rows: tuple[Highlight, ...]
    left: int

    def heading(self, say: Catalogue) -> str:
        """Return the group's name with the number of its commits."""
        return heading(self.theme, len(self.rows) + self.left, say)

    def more(self, say: Catalogue) -> str:
        """Return how many of its commits are not shown; "" if all are."""
        return say("and {count} more", count=self.left) if self.left else ""


# What a deployment meets: it changes with versions and dependencies too, which break nobody's code.
_BEHAVIOUR = frozenset(
    {
        FactKind.DEFAULT_CHANGED,
        FactKind.DEPRECATED,
        FactKind.SECURITY,
        *DEPENDENCIES,
    }
)
_BREAKING = BREAKING - _BEHAVIOUR
DECIDING = (_BREAKING, _BEHAVIOUR)  # the kinds of facts that put a commit into a group, the worse first
_ANNOUNCED = DEPENDENCIES | {FactKind.DEPRECATED}  # what is told beside what a commit breaks
_PLAIN_MERGE = re.compile(r"Merge\b")
_WIDE = frozenset(  # kinds that every import of a module meets, and those that subclasses meet
    {
        FactKind.MOVED_MODULE,
        FactKind.REQUIRED_METHOD,
        FactKind.ADDED_PARAMETER,
        FactKind.UNCALLED_METHOD,
        FactKind.REMOVED_BASE,
    }
)
_IMPORTED = frozenset({FactKind.REMOVED_NAME, FactKind.RENAMED_NAME, FactKind.MOVED_NAME})
_BY_PRODUCTS = frozenset({ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD})
_BASE_FILE = re.compile(r"(^|/|_)(base|abstract|abc|interfaces?|registry)(_\w+)?\.\w+$")
_TOOLING = re.compile(
    r"(^|[/_.-])(tests?|docs?|lint|dev|ci|bench\w*|examples?|tools?|rocm-test|nightly\w*)(?=[/_.-]|$)"
)
_PRIVATE = re.compile(r"_(?!_\w+__$)")
_TEST_VARIABLE = re.compile(r"(?:^|_)(?:TESTS?|TESTING|CI|NIGHTLY)(?:_|$)")
_TIERS = list(Importance)
_KINDS = list(FactKind)

# What an author calls breaking, and what changes by default.
_SAYS_BREAKING = re.compile(
    r"\b(?:remov(?:e|es|ed|al)|drop(?:s|ped)?|delete[sd]?)\b.{0,60}\bdeprecat|\bbreaking\b|\bdrop(?:s|ped|ping)?\b.{0,40}\bsupport\b",
    re.IGNORECASE,
)
_SAYS_DEFAULT = re.compile(
    r"\b(?:by default|(?:change|set|make|new|update|enable|disable)\w*\b.{0,60}\bdefaults?\b)", re.IGNORECASE
)
# What makes a fix worth picking, the worst first.
_FIXES = tuple(
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (
        r"security|vulnerab\w+|cve-\d+-\d+|injection|unsafe|denial of service",
        (
            r"crash\w*|segfault\w*|seg fault|illegal memory|illegal instruction|core dump\w*|panics?|\w+Error|aborts?|broken|"
            r"fail(?:s|ed|ing|ure)? to (?:start|load|launch|initiali[sz]e)|cannot (?:start|load)"
        ),
        r"hang(?:s|ing)?|deadlocks?|stuck|freez\w+|infinite (?:loop|wait)|livelock|never (?:returns|finishes)",
        (
            r"wrong|incorrect\w*|corrupt\w*|garbage|gibberish|nans?|stale|overflow\w*|accuracy|race(?: condition)?|duplicate\w*|"
            r"mismatch\w*|silently|lost|missing (?:results?|outputs?|tokens?)|single result"
        ),
        r"leak\w*|ooms?|out[- ]of[- ]memory",
    )
)
# What is wrong in tests, documents or messages alone breaks nobody's run.
_HARMLESS = re.compile(
    r"\b(?:tests?|ci|flak\w+|typos?|lint|docs?|confusing|misleading|(?:error|warning|log|help)s? (?:messages?|texts?|outputs?))\b",
    re.IGNORECASE,
)


def highlights(report: PeriodReport, apart: Collection[str] = ()) -> dict[Theme, list[Highlight]]:
    """Group the commits of a day, late ones included; commits without a consequence are in no group, nor are those `apart`.

    What the day takes back has no consequence.
    """
    day = (*report.entries, *report.late)
    taken_back = undone_titles(day) | _reverted_elsewhere(day)
    found = {
        entry.commit.sha: list(_highlights(entry, report.net(entry), told_by_title=entry.commit.sha not in taken_back))
        for entry in day
        if entry.commit.sha not in apart
    }
    for merge, merged in merged_commits(day):
        _tell_merge_once(found, merge, merged)
    groups: dict[Theme, list[Highlight]] = {theme: [] for theme in Theme}
    for each in (each for rows in found.values() for each in rows):
        groups[each.theme].append(each)
    for rows in groups.values():
        rows.sort(key=_order)
    return groups


def _reverted_elsewhere(day: Sequence[Entry]) -> frozenset[str]:
    """Return the commits that one of another day says it reverts; one of the same day has to prove it by its diff."""
    shas = {entry.commit.sha for entry in day}
    return frozenset(each.commit.sha for each in day if each.links.reverted_by and each.links.reverted_by not in shas)


def shown_highlights(
    report: PeriodReport, apart: Collection[str] = (), *, every_high: bool = True
) -> list[HighlightGroup]:
    """Return the groups that have commits, each with those that the head of a report shows: its first, and `every_high` one."""
    shown = []
    for theme, found in highlights(report, apart).items():
        rows = tuple(
            each
            for place, each in enumerate(found)
            if place < _MOST[theme]
            or len(found) <= _MOST[theme] + _SPARED
            or (every_high and each.entry.ranked.importance is Importance.HIGH)
        )
        if rows:
            shown.append(HighlightGroup(theme, rows, len(found) - len(rows)))
    return shown


def _highlights(entry: Entry, facts: Sequence[Fact], *, told_by_title: bool) -> Iterator[Highlight]:
    behaviour = tuple(each for each in facts if _is_behaviour(each))
    if breaking := tuple(each for each in facts if each.kind in _BREAKING):
        yield Highlight(Theme.BREAKING, entry, by_reach(breaking))
        behaviour = tuple(each for each in behaviour if each.kind in _ANNOUNCED)
    if behaviour:
        yield Highlight(Theme.BEHAVIOUR, entry, behaviour)
    elif not breaking and told_by_title and (theme := _theme_of_title(entry)):
        yield Highlight(theme, entry)


def _tell_merge_once(found: dict[str, list[Highlight]], merge: Commit, merged: Collection[str]) -> None:
    """Leave the lines of a merge or of what it merges: its own, unless its title names branches or only theirs have facts."""
    told = [sha for sha in merged if found.get(sha)]
    own = found.get(merge.sha, [])
    have_facts = any(each.facts for sha in told for each in found[sha])
    if told and (_PLAIN_MERGE.match(merge.subject) or (have_facts and not any(each.facts for each in own))):
        found[merge.sha] = []
    elif own:
        for sha in told:
            found[sha] = []


def _theme_of_title(entry: Entry) -> Theme | None:
    commit, importance = entry.commit, entry.ranked.importance
    title, shipped, notable = plain_title(commit), _is_shipped(entry), importance is not Importance.LOW
    if notable and shipped and _SAYS_BREAKING.search(title):
        return Theme.BREAKING
    if notable and shipped and _SAYS_DEFAULT.search(title):
        return Theme.BEHAVIOUR
    if importance is Importance.HIGH:
        return Theme.IMPORTANT
    if ChangeType.BUG_FIX in entry.ranked.change_types and _has_files(entry, Kind.SOURCE):
        return Theme.FIXES if _severity(title) < len(_FIXES) and not _HARMLESS.search(title) else None
    return Theme.NEW if notable and shipped and _is_feature(entry) else None


def _is_feature(entry: Entry) -> bool:
    """Return whether a title adds something for users: not what only refactors, documents, tests or builds."""
    types = set(entry.ranked.change_types)
    by_product = types & _BY_PRODUCTS and ChangeType.FEATURE not in types
    return bool(added_feature(entry.commit)) and ChangeType.REFACTOR not in types and not by_product


def _is_behaviour(fact: Fact) -> bool:
    """Return whether a fact changes how a deployment behaves: not what only builds, tests or documents it."""
    if fact.kind not in _BEHAVIOUR:
        return False
    if fact.kind in DEPENDENCIES:
        return not fact.path or not _TOOLING.search(fact.path.lower())
    return not fact.path or kind(fact.path) is Kind.SOURCE


def _is_shipped(entry: Entry) -> bool:
    """Return whether the commit changes what users get, or may do so because its files are unknown."""
    return _has_files(entry, Kind.SOURCE, Kind.DEPENDENCY, Kind.BUILD)


def _has_files(entry: Entry, *kinds: Kind) -> bool:
    """Return whether the commit changes files of these kinds, or may do so because its files are unknown."""
    files = entry.commit.files
    return not files or any(kind(file.path) in kinds for file in files)


# The order within a group


def _order(highlight: Highlight) -> tuple[int, ...]:
    entry = highlight.entry
    tier = _TIERS.index(entry.ranked.importance)
    if highlight.theme is Theme.FIXES:
        return _severity(plain_title(entry.commit)), tier
    if any(fact.kind is FactKind.SECURITY for fact in highlight.facts):
        return -1, tier
    if not highlight.facts:
        return 2, tier  # what a title calls breaking is public to its author
    return min(reach(each) for each in highlight.facts), tier, min(_KINDS.index(each.kind) for each in highlight.facts)


def by_reach(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Sort a commit's facts: a moved module, which has all its names with it, then what most people meet, classes first."""
    return tuple(
        sorted(facts, key=lambda fact: (fact.kind is not FactKind.MOVED_MODULE, reach(fact), _is_no_class(fact.name)))
    )


def _is_no_class(name: str) -> bool:
    """Return whether a name is not written as those of classes are."""
    return not re.match(r"_*[A-Z]\w*[a-z]", name)


def reach(fact: Fact) -> int:
    """Return how many other people's code or deployments can meet a change, by rank: 0 for most of them, 4 for hardly any."""
    path = (fact.path or "").lower()
    if fact.kind in OPERATIONAL:
        return 4 if _TEST_VARIABLE.search(fact.name) else 0
    if _PRIVATE.match(fact.name.partition("(")[0].rpartition(".")[2]):
        return 4
    if path and kind(path) is not Kind.SOURCE:
        return 1 if fact.kind in DEPENDENCIES else 4
    if fact.kind in _WIDE or _BASE_FILE.search(path) or AREAS["touches plug-in points"].search(path):
        return 1
    if AREAS["touches models"].search(path):
        return 4
    return 2 if fact.kind in _IMPORTED and "." not in fact.name else 3


def _severity(title: str) -> int:
    """Return the place of what a title says was wrong among the fixes worth picking; their number if it is none of them."""
    return next((place for place, words in enumerate(_FIXES) if words.search(title)), len(_FIXES))
