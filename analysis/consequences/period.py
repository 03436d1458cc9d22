"""The commits of a day or a week by whom their consequences concern, each in one group, those that most people meet first.

A merge and the commits that it merges count as one, and what the period takes back has no consequence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import log1p
from typing import NamedTuple

from analysis.consequences import consequences, order
from analysis.consequences.audience import INTERFACE, is_setting
from analysis.consequences.parameters import parameter_of
from analysis.consequences.repeats import merged_commits, undone_titles
from analysis.consequences.titles import concern_of, is_written
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import CHINESE
from analysis.models import ChangeType, Commit, Entry, FactKind, Importance, PeriodReport
from analysis.models.consequences import Consequence, Effect, Whom
from analysis.paths import Kind, kind
from analysis.ranking.vocabulary import AREAS
from analysis.writing.titles import NEXT_VERSION, concerned_parts, plain_title


class Group(StrEnum):
    """The groups of a head, in their order. The values are part of the JSON report of a week."""

    USERS = "users"
    OPERATORS = "operators"
    EXTENDERS = "extenders"
    FIXES = "fixes"
    NEW = "new"
    IMPORTANT = "important"


_HEADINGS = {
    Group.USERS: mark("🎛️ For users ({count})"),
    Group.OPERATORS: mark("📦 For operators ({count})"),
    Group.EXTENDERS: mark("🧩 For plug-ins ({count})"),
    Group.FIXES: mark("🩹 Fixes ({count})"),
    Group.NEW: mark("✨ New ({count})"),
    Group.IMPORTANT: mark("🔎 Also ({count})"),
}
MOST_LINES = 15
_MOST_WORDS = 172  # of a head, read in 45 seconds; what breaks your code comes on top
_OPENING_WORDS = 12  # of its repository, date, statistics and time zone
MOST_TOLD = 4  # consequences on the line of a commit
# How much a commit matters to readers, fourfold in log-odds: from what maintainers and operators wanted to know of 44 days, where
# the score of a commit said less than what it does, to whom, how much source it changes, and whether it comes with tests.
_WORTH = {
    (Whom.USERS, Effect.BREAK): 8.0,
    (Whom.OPERATORS, Effect.BREAK): 8.0,
    (Whom.EXTENDERS, Effect.BREAK): 2.0,
    (Whom.INTERNALS, Effect.BREAK): -3.0,
    (Whom.USERS, Effect.SECURITY): 8.0,
    (Whom.USERS, Effect.BEHAVIOUR): 8.0,
    (Whom.USERS, Effect.DEPRECATION): 6.0,
    (Whom.USERS, Effect.ADDITION): 0.5,
    (Whom.OPERATORS, Effect.REQUIREMENT): 3.0,
}
_INTERFACE = 1.5  # more where what breaks is an interface
_OF_TITLES = {Effect.BREAK: 4.0, Effect.BEHAVIOUR: 4.0, Effect.ADDITION: -1.5}  # where only a title says so
_OF_FIXES, _ANY_FIX = {0: 4.0, 1: -1.0, 2: 4.0, 3: 0.5}, -2.0  # by what went wrong, as a title says
_TELLS_NOTHING, _ONLY_FASTER = -6.0, -4.0
# By the logarithm of the lines of source, with tests, and by the words of the title.
_LINES, _TESTS, _WORDS = 1.0, 2.0, 0.4
# Where all of the source is of models, or of a part of which people run an earlier version.
_OF_MODELS, _NEXT = -2.0, -5.0
_FURTHER = 4.0  # by which each further consequence of a commit matters less than another commit's first
_OF_TIERS = {Importance.HIGH: 3.0, Importance.MEDIUM: 0.0, Importance.LOW: -3.0}  # of a model
_FURTHER_WRITTEN = 40.0  # where a model's headline says the most of it
_PREFERRED = 20.0  # what a model's edit puts first, and as much less what it puts last
_GROUPS = {Whom.USERS: Group.USERS, Whom.OPERATORS: Group.OPERATORS, Whom.EXTENDERS: Group.EXTENDERS}
_BY_EFFECT = {Effect.FIX: Group.FIXES, Effect.ADDITION: Group.NEW}
_TIERS = list(Importance)
_PLAIN_MERGE = re.compile(r"Merge\b")
_CHINESE, _MARKS = re.compile(CHINESE), re.compile("[\u3000-\u303f\uff00-\uffef]")  # its punctuation, without spaces
_WORD = re.compile(r"\S*\w\S*")
_TAG = re.compile(r" \(([^()`]+)\)$")


class CommitLine(NamedTuple):
    """A commit in a group with all its consequences, headline first, of which its line has `told`."""

    entry: Entry
    consequences: tuple[Consequence, ...]
    told: int = 1

    @property
    def headline(self) -> str:
        return self.consequences[0].what

    @property
    def tier(self) -> int:
        """Return the place of the commit's tier; 0 is the highest."""
        return _TIERS.index(self.entry.ranked.importance)

    @property
    def text(self) -> str:
        """Return the headline, and behind it what else the line tells; whom that concerns is said once."""
        told = ""
        for each in self.consequences[: self.told]:
            tag = _TAG.search(each.what)
            what = each.what[: tag.start()] if tag and tag[1] in told else each.what
            told = f"{told} · {what}" if told else what
        return told

    @property
    def worth(self) -> float:
        """Return how much it matters to readers, in log-odds: what it tells last, each further consequence less."""
        base, further = _weight(self.entry), self.consequences[1 : self.told]
        if further:
            less = _FURTHER_WRITTEN if is_written(self.entry) else _FURTHER
            return base + min(map(_worth, further)) - len(further) * less
        worths = [_worth(each) for each in self.consequences if each.whom is not Whom.INTERNALS]
        return base + max(worths, default=_TELLS_NOTHING)


class Lead(NamedTuple):
    """A model's sentence about a day, and the commits that it is about."""

    text: str
    entries: tuple[Entry, ...]


class GroupLines(NamedTuple):
    """A group as it is shown: its first commits, and the number of the others."""

    group: Group
    lines: tuple[CommitLine, ...]
    left: int

    def heading(self, say: Catalogue) -> str:
        """Return the group's name with the number of its commits, and of those shown if they are fewer."""
        shown, count = len(self.lines), len(self.lines) + self.left
        return say(
            _HEADINGS[self.group], count=say("{shown}/{count}", shown=shown, count=count) if self.left else count
        )


def group_lines(report: PeriodReport, apart: Collection[str] = ()) -> dict[Group, list[CommitLine]]:
    """Group the commits of a period, late ones included; those without a consequence are in no group, nor those `apart`."""
    period = (*report.entries, *report.late)
    taken_back = undone_titles(period) | _reverted_elsewhere(period)
    found: dict[str, CommitLine] = {}
    for entry in period:
        sha = entry.commit.sha
        facts = [each for each in report.net(entry) if each.kind is not FactKind.REVERT or sha not in taken_back]
        told = consequences(entry, report.language, facts, titled=sha not in taken_back)
        stands = facts or not entry.facts or (told and told[0].effect is not Effect.OTHER)
        is_internal = told and told[0].whom is Whom.INTERNALS and concern_of(entry) == "nobody"
        if told and stands and not is_internal and sha not in apart and _group(told[0]):
            found[sha] = CommitLine(entry, told)
    for merge, merged in merged_commits(period):
        _tell_merge_once(found, merge, merged)
    groups: dict[Group, list[CommitLine]] = {group: [] for group in Group}
    edited = {sha: place for place, sha in enumerate(report.edit.order)} if report.edit else {}
    places = {
        sha: (edited.get(sha, len(edited)), *order(line.consequences[0]), line.tier) for sha, line in found.items()
    }
    for line in sorted(found.values(), key=lambda line: places[line.entry.commit.sha]):
        if group := _group(line.consequences[0]):
            groups[group].append(line)
    return groups


def shown_lines(report: PeriodReport, apart: Collection[str] = ()) -> list[GroupLines]:
    """Return the groups that have commits in a head, each with them: those that matter most, as many as are read in 45 seconds."""
    say, groups = catalogue(report.language), group_lines(report, apart)
    preferred = _preferences(report, groups)
    told: dict[str, CommitLine] = {}
    for line in sorted(_by_length(groups), key=lambda line: -line.worth - preferred.get(line.entry.commit.sha, 0)):
        known = told.get(line.entry.commit.sha)
        more = {**told, line.entry.commit.sha: line}
        if len(more) > MOST_LINES or line.told - 1 != (known.told if known else 0):
            continue
        if not told or _words(_grouped(groups, more), say) <= _MOST_WORDS:
            told = more
    return _grouped(groups, told)


def _preferences(report: PeriodReport, groups: Mapping[Group, Sequence[CommitLine]]) -> dict[str, float]:
    """Return by how much each commit matters more or less by the order that a model gave the day; what is proven to break users' or operators' use is as what comes first."""
    if report.edit is None:
        return {}
    users, worst = (Whom.USERS, Whom.OPERATORS), (Effect.SECURITY, Effect.BREAK)
    order = report.edit.order
    preferred = {sha: _PREFERRED * (1 - 2 * place / len(order)) for place, sha in enumerate(order)}
    for line in (each for lines in groups.values() for each in lines):
        if any(each.facts and each.whom in users and each.effect in worst for each in line.consequences):
            preferred[line.entry.commit.sha] = _PREFERRED
    return preferred


def lead_of(report: PeriodReport, apart: Collection[str] = ()) -> Lead | None:
    """Return the sentence about a day, while all commits that it is about are shown with the headlines that it was made of."""
    if report.edit is None or not report.edit.lead:
        return None
    made_of = report.edit.headlines
    shown = {line.entry.commit.sha: line for lines in group_lines(report, apart).values() for line in lines}
    named = [shown[sha] for sha, headline in made_of.items() if sha in shown and shown[sha].headline == headline]
    return Lead(report.edit.lead, tuple(line.entry for line in named)) if len(named) == len(made_of) else None


def _by_length(groups: Mapping[Group, Sequence[CommitLine]]) -> Iterator[CommitLine]:
    """Yield each line as often as it can be told: with its headline alone, and with what else its commit means to others."""
    for line in (each for lines in groups.values() for each in lines):
        first, *others = line.consequences
        written = is_written(line.entry)
        told = (each for each in others if _may_follow(each, written=written) and not _goes_with(each, first))
        further = sorted(told, key=_behind)
        kept = line._replace(consequences=(first, *further[: MOST_TOLD - 1]))
        yield from (kept._replace(told=told) for told in range(1, len(kept.consequences) + 1))


def _may_follow(each: Consequence, *, written: bool) -> bool:
    """Return whether a line may tell something behind its headline: of internals what breaks forks, models aside, and if a model has `written` it what breaks others."""
    if each.whom is not Whom.INTERNALS:
        return not written or each.effect in (Effect.BREAK, Effect.BEHAVIOUR)
    return not written and each.effect is Effect.BREAK and not AREAS["touches models"].search(each.facts[0].path or "")


def _behind(each: Consequence) -> tuple[bool, ...]:
    """Return the sort key of what follows a headline: what a model wrote, what people set or install, what many meet, the title, the others."""
    are_settings = any(is_setting(fact.name) for fact in each.facts)
    is_set = each.whom is Whom.OPERATORS or (each.whom is Whom.USERS and are_settings)
    is_wide = each.reach <= INTERFACE if each.facts else each.effect is not Effect.OTHER
    return not each.written, not is_set, not is_wide, bool(each.facts), each.whom is Whom.INTERNALS


def _goes_with(each: Consequence, first: Consequence) -> bool:
    """Return whether the first consequence says what another does, by its names."""
    if any(fact.kind is FactKind.MOVED_MODULE for fact in first.facts):
        packages = {f"{fact.name.rpartition('/')[0]}/__init__.py" for fact in first.facts}
        return bool(each.facts) and all(fact.path in packages for fact in each.facts)
    is_new = each.effect is Effect.ADDITION  # by its whole name: which class has a new method is news
    helped = {parameter_of(fact).rpartition(".")[2] for fact in first.facts}
    own = {fact.name if is_new else parameter_of(fact).rpartition(".")[2] for fact in each.facts}
    is_same = is_new or (own <= helped and all(fact.removes for fact in each.facts))
    return bool(own) and is_same and all(name in first.what for name in own)


def _grouped(groups: Mapping[Group, Sequence[CommitLine]], by_commit: Mapping[str, CommitLine]) -> list[GroupLines]:
    """Return the groups of the lines of some commits, in the order of a head."""
    found = []
    for group, lines in groups.items():
        if rows := tuple(by_commit[sha] for line in lines if (sha := line.entry.commit.sha) in by_commit):
            found.append(GroupLines(group, rows, len(lines) - len(rows)))
    return found


def _words(groups: Iterable[GroupLines], say: Catalogue) -> float:
    """Return the words of a head: its opening, the headings, and of each commit the line with its number."""
    headings = sum(_reading_length(group.heading(say)) for group in groups)
    lines = sum(1 + _reading_length(line.text) for group in groups for line in group.lines)
    return _OPENING_WORDS + headings + lines


def _reading_length(text: str) -> float:
    """Return about how many words a text has; seven Chinese characters are read as fast as three English words."""
    return len(_WORD.findall(_MARKS.sub(" ", _CHINESE.sub(" ", text)))) + len(_CHINESE.findall(text)) * 3 / 7


def _weight(entry: Entry) -> float:
    """Return how much more a commit matters than others that do the same, by its size, its tests and whose part it changes."""
    source = [file for file in entry.commit.files if kind(file.path) is Kind.SOURCE]
    weight = _LINES * log1p(sum(file.size for file in source)) + _WORDS * len(plain_title(entry.commit).split())
    if any(kind(file.path) is Kind.TEST for file in entry.commit.files):
        weight += _TESTS
    if ChangeType.PERFORMANCE in entry.ranked.change_types:
        weight += _ONLY_FASTER
    if is_written(entry):  # its tier is a reader's
        weight += _OF_TIERS[entry.ranked.importance]
    if source and all(AREAS["touches models"].search(file.path.lower()) for file in source):
        weight += _OF_MODELS
    return weight + (_NEXT if any(map(NEXT_VERSION.search, concerned_parts(entry.commit))) else 0)


def _worth(each: Consequence) -> float:
    """Return how much more than its commit's weight a consequence matters, in log-odds."""
    if each.effect is Effect.FIX:
        return _OF_FIXES.get(each.reach, _ANY_FIX)
    if not each.facts and each.effect in _OF_TITLES:
        return _OF_TITLES[each.effect]
    is_wide = each.whom is Whom.EXTENDERS and each.effect is Effect.BREAK and each.reach <= INTERFACE
    return _WORTH.get((each.whom, each.effect), _TELLS_NOTHING / 2) + is_wide * _INTERFACE


def all_lines(report: PeriodReport) -> list[GroupLines]:
    """Return the groups that have commits, each with all of them."""
    return [GroupLines(group, tuple(lines), 0) for group, lines in group_lines(report).items() if lines]


def _group(first: Consequence) -> Group | None:
    if first.effect in _BY_EFFECT:
        return _BY_EFFECT[first.effect]
    if first.whom is Whom.INTERNALS:
        return Group.IMPORTANT if first.effect is Effect.OTHER else None
    return _GROUPS[first.whom]


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
