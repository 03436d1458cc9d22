"""The commits of a day or a week by whom their consequences concern, each in one group, those that most people meet first.

A merge and the commits that it merges count as one, and what the period takes back has no consequence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from analysis.consequences import consequences, order
from analysis.consequences.repeats import merged_commits, undone_titles
from analysis.locale import Catalogue, mark
from analysis.locale.punctuation import CHINESE
from analysis.models import Commit, Entry, Importance, PeriodReport
from analysis.models.consequences import Consequence, Effect, Whom


class Group(StrEnum):
    """The groups of a head, in their order. The values are part of the JSON report of a week."""

    USERS = "users"
    OPERATORS = "operators"
    EXTENDERS = "extenders"
    IMPORTANT = "important"
    FIXES = "fixes"
    NEW = "new"


_HEADINGS = {
    Group.USERS: mark("🎛️ For users ({count})"),
    Group.OPERATORS: mark("📦 For operators ({count})"),
    Group.EXTENDERS: mark("🧩 For those who extend it ({count})"),
    Group.IMPORTANT: mark("🔴 Also important ({count})"),
    Group.FIXES: mark("🩹 Worth picking ({count})"),
    Group.NEW: mark("✨ New ({count})"),
}
# Lines shown: what is new stands on one.
_MOST = {Group.USERS: 6, Group.OPERATORS: 3, Group.EXTENDERS: 6, Group.IMPORTANT: 3, Group.FIXES: 5, Group.NEW: 6}
_MOST_WORDS = 120  # of all headlines; headings, numbers and what breaks your code come on top
_MOST_BREAKS = 3  # consequences on the line of a commit
_GROUPS = {Whom.USERS: Group.USERS, Whom.OPERATORS: Group.OPERATORS, Whom.EXTENDERS: Group.EXTENDERS}
_BY_EFFECT = {Effect.FIX: Group.FIXES, Effect.ADDITION: Group.NEW}
_TIERS = list(Importance)
_PLAIN_MERGE = re.compile(r"Merge\b")


class CommitLine(NamedTuple):
    """A commit in a group with all its consequences, the first of which is its headline; `told` of them stand on its line."""

    entry: Entry
    consequences: tuple[Consequence, ...]
    told: int = 1

    @property
    def headline(self) -> str:
        return self.consequences[0].what

    @property
    def text(self) -> str:
        """Return the headline, and behind it what else the line tells."""
        return " · ".join(each.what for each in self.consequences[: self.told])

    @property
    def next_break(self) -> Consequence | None:
        """Return the next consequence that breaks others; None if the line tells all of them."""
        after = self.consequences[self.told : self.told + 1]
        breaks = (each for each in after if each.effect is Effect.BREAK and each.whom is not Whom.INTERNALS)
        return next(breaks, None)


class GroupLines(NamedTuple):
    """A group as it is shown: its first commits, and the number of the others."""

    group: Group
    lines: tuple[CommitLine, ...]
    left: int

    def heading(self, say: Catalogue) -> str:
        """Return the group's name with the number of its commits."""
        return say(_HEADINGS[self.group], count=len(self.lines) + self.left)

    def more(self, say: Catalogue) -> str:
        """Return how many of its commits are not shown; "" if all are."""
        return say("and {count} more", count=self.left) if self.left else ""


def group_lines(report: PeriodReport, apart: Collection[str] = ()) -> dict[Group, list[CommitLine]]:
    """Group the commits of a period, late ones included; those without a consequence are in no group, nor those `apart`."""
    period = (*report.entries, *report.late)
    taken_back = undone_titles(period) | _reverted_elsewhere(period)
    found: dict[str, CommitLine] = {}
    for entry in period:
        sha = entry.commit.sha
        told = consequences(entry, report.language, report.net(entry), titled=sha not in taken_back)
        if told and sha not in apart and _group(entry, told[0]):
            found[sha] = CommitLine(entry, told)
    for merge, merged in merged_commits(period):
        _tell_merge_once(found, merge, merged)
    groups: dict[Group, list[CommitLine]] = {group: [] for group in Group}
    for line in sorted([*found.values(), *_additions(found.values())], key=_order):
        if group := _group(line.entry, line.consequences[0]):
            groups[group].append(line)
    return groups


def _additions(lines: Iterable[CommitLine]) -> Iterator[CommitLine]:
    """Yield a second line of each commit that adds something important beside what it breaks."""
    for line in lines:
        _, *others = line.consequences
        if others and others[-1].effect is Effect.ADDITION:
            yield CommitLine(line.entry, (others[-1],))


def shown_lines(report: PeriodReport, apart: Collection[str] = (), *, every_high: bool = True) -> list[GroupLines]:
    """Return the groups that have commits, each with those that a head shows: its first, and `every_high` one."""
    shown = []
    for group, lines in group_lines(report, apart).items():
        rows = tuple(
            line for place, line in enumerate(lines) if place < _MOST[group] or (every_high and _is_high(line))
        )
        if rows:
            shown.append(GroupLines(group, rows, len(lines) - len(rows)))
    return _with_further_breaks(_readable(shown))


def _readable(groups: list[GroupLines]) -> list[GroupLines]:
    """Return groups with fewer lines of the longest, until a head is read in 45 seconds; high commits keep theirs."""
    while _words(groups) > _MOST_WORDS:
        spare = [each for each in groups if len(each.lines) > 1 and not _is_high(each.lines[-1])]
        if not spare:
            break
        longest = max(spare, key=lambda each: len(each.lines))
        place = groups.index(longest)
        groups[place] = longest._replace(lines=longest.lines[:-1], left=longest.left + 1)
    return groups


def _with_further_breaks(groups: list[GroupLines]) -> list[GroupLines]:
    """Return groups whose lines tell what else their commits break, as far as a head has room: each a second, then a third."""
    room, rows = _MOST_WORDS - _words(groups), [list(group.lines) for group in groups]
    for _ in range(_MOST_BREAKS - 1):
        for lines in rows:
            for place, line in enumerate(lines):
                further = line.next_break
                if further and (length := _reading_length(further.what)) <= room:
                    lines[place], room = line._replace(told=line.told + 1), room - length
    return [group._replace(lines=tuple(lines)) for group, lines in zip(groups, rows, strict=True)]


def _words(groups: Iterable[GroupLines]) -> float:
    return sum(_reading_length(line.text) for group in groups for line in group.lines)


def _reading_length(text: str) -> float:
    """Return about how many words a text has; two Chinese characters are read as fast as an English word."""
    return len(text.split()) + len(re.findall(CHINESE, text)) / 2


def _is_high(line: CommitLine) -> bool:
    return line.entry.ranked.importance is Importance.HIGH


def all_lines(report: PeriodReport) -> list[GroupLines]:
    """Return the groups that have commits, each with all of them."""
    return [GroupLines(group, tuple(lines), 0) for group, lines in group_lines(report).items() if lines]


def breaking_lines(report: PeriodReport) -> list[CommitLine]:
    """Return the commits of a period that break what others use, run or extend."""
    lines = [line for lines in group_lines(report).values() for line in lines]
    return [line for line in lines if any(each.effect is Effect.BREAK for each in line.consequences)]


def _group(entry: Entry, first: Consequence) -> Group | None:
    if first.effect in _BY_EFFECT:
        return _BY_EFFECT[first.effect]
    if first.whom is Whom.INTERNALS:
        return Group.IMPORTANT if entry.ranked.importance is Importance.HIGH else None
    return _GROUPS[first.whom]


def _order(line: CommitLine) -> tuple[int, ...]:
    return *order(line.consequences[0]), _TIERS.index(line.entry.ranked.importance)


def _reverted_elsewhere(period: Sequence[Entry]) -> frozenset[str]:
    """Return the commits that one of another day says it reverts; one of the same day has to prove it by its diff."""
    shas = {entry.commit.sha for entry in period}
    return frozenset(
        each.commit.sha for each in period if each.links.reverted_by and each.links.reverted_by not in shas
    )


def _tell_merge_once(found: dict[str, CommitLine], merge: Commit, merged: Collection[str]) -> None:
    """Leave the lines of a merge or of what it merges: its own, unless its title names branches or only theirs have facts."""
    told, own = [sha for sha in merged if sha in found], found.get(merge.sha)
    have_facts = any(_has_facts(found[sha]) for sha in told)
    if told and (_PLAIN_MERGE.match(merge.subject) or (have_facts and not (own and _has_facts(own)))):
        found.pop(merge.sha, None)
    elif own:
        for sha in told:
            del found[sha]


def _has_facts(line: CommitLine) -> bool:
    return any(each.facts for each in line.consequences)
