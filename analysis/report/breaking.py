"""What of a day will break those downstream: its breaking facts, one row a commit and kind, the most telling kinds first."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.asking import Citation
from analysis.by_rules import named
from analysis.citations import to_fact
from analysis.language import words
from analysis.models import BREAKING, DayReport, Entry, Fact, FactKind, Importance, Language

SHOWN = 5  # rows at the top of a digest
_NAMES = 3  # names a row
_LONG = frozenset({FactKind.MOVED_MODULE})  # whose names are two paths each: one is enough
_TIERS = list(Importance)
_KINDS = list(FactKind)


class Break(NamedTuple):
    """The facts of one kind that one commit proves."""

    entry: Entry
    facts: tuple[Fact, ...]

    def says(self, language: Language) -> str:
        """What happened, with the names in code spans."""
        say, kind = words(language), self.facts[0].kind
        return say.facts[kind].says.format(names=named(self.facts, say, 1 if kind in _LONG else _NAMES))

    @property
    def place(self) -> Citation:
        """Where the first of the facts was seen."""
        return to_fact(self.entry.commit, self.facts[0])


def breaks(report: DayReport) -> list[Break]:
    """What the day's commits break, those that landed late included; a commit and its revert break nothing together."""
    day = (*report.entries, *report.late)
    shas = {entry.commit.sha for entry in day}
    entries = [entry for entry in day if not shas & {entry.links.reverts, entry.links.reverted_by}]
    found = [Break(entry, alike) for entry in entries for kind in _KINDS if (alike := _alike(entry.facts, kind))]
    return sorted(
        found, key=lambda each: (_KINDS.index(each.facts[0].kind), _TIERS.index(each.entry.ranked.importance))
    )


def _alike(facts: Sequence[Fact], kind: FactKind) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if fact.kind is kind) if kind in BREAKING else ()
