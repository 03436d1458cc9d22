"""The breaking changes of a day: one row per commit and kind, in the order of `FactKind`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.citations import new_place, to_fact
from analysis.locale import catalogue
from analysis.models import BREAKING, DayReport, Entry, Fact, FactKind, Importance, Language, by_kind
from analysis.text import shorten
from analysis.writing.by_rules import code, how_to_keep, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.replacements import replacement

_NAME_LENGTH = 80  # characters
_KINDS = list(FactKind)
_TIERS = list(Importance)


class Part(NamedTuple):
    """Text with code spans, or the label of a place if it has a `url`; `gap` precedes it."""

    gap: str
    text: str
    url: str = ""


class Break(NamedTuple):
    """The facts of one kind in one commit."""

    entry: Entry
    facts: tuple[Fact, ...]

    def consequence(self, language: Language) -> str:
        """Return what follows for whoever uses what changed, with its replacement where the commit names one; "" if nothing."""
        say, sentences = catalogue(language), FACT_SENTENCES[self.facts[0].kind]
        follows = say(sentences.risk) if sentences.risk else ""
        instead = replacement(self.entry.commit, self.facts[0])
        if instead:
            return say("{change}; use {new} instead", change=follows, new=code(instead))
        if self.facts[0].kind is FactKind.DEFAULT_CHANGED:
            return say("to keep the old behaviour, {how}", how=how_to_keep(self.facts, say))
        return follows

    def parts(self, language: Language, limit: int) -> Iterator[Part]:
        """Yield the change with each name and its place: `limit` names, and how many others there are."""
        say = catalogue(language)
        before, _, after = (
            FACT_SENTENCES[self.facts[0].kind].named("{names}", len(self.facts), say).partition("{names}")
        )
        yield Part("", before.rstrip())
        path: str | None = None
        for number, fact in enumerate(self.facts[:limit]):
            gap = say.context("between the items of a list", ", ") if number else " "
            if fact.name == fact.path:  # a file is its own place
                yield Part(gap, fact.name, to_fact(self.entry.commit, fact).url)
            else:
                yield Part(gap, _name_of(fact, language))
                yield from self._place_parts(fact, shortly=fact.path == path)
            path = fact.path
        left = len(self.facts) - limit
        if left > 0:
            yield Part(" ", say("and {count} more", count=left))
        if after:
            yield Part(" " if after.startswith(" ") else "", after.strip())

    def _place_parts(self, fact: Fact, *, shortly: bool) -> Iterator[Part]:
        """Yield the place of a fact, and the new place of a moved name.

        With `shortly` only the line is shown, since the file is the same as before.
        """
        commit = self.entry.commit
        place = to_fact(commit, fact)
        if place.url != commit.url:
            yield Part(" ", f":{fact.line}" if shortly and fact.line else place.label, place.url)
        if moved := new_place(commit, fact):
            yield Part(" → ", moved.label, moved.url)


def breaks(report: DayReport) -> list[Break]:
    """Return what the day's commits break in sum, late ones included; what the day takes back it does not break."""
    day = (*report.entries, *report.late)
    found = [each for entry in day for each in _grouped(entry, report.net(entry))]
    return sorted(
        found, key=lambda each: (_KINDS.index(each.facts[0].kind), _TIERS.index(each.entry.ranked.importance))
    )


def breaks_of(entry: Entry) -> list[Break]:
    """Return what one commit breaks."""
    return _grouped(entry, entry.facts)


def changes_of(entry: Entry) -> list[Break]:
    """Return everything that one commit's facts prove, what breaks and what does not, in the order of `FactKind`."""
    return [Break(entry, tuple(alike)) for _, alike in by_kind(entry.facts)]


def _grouped(entry: Entry, facts: Sequence[Fact]) -> list[Break]:
    return [Break(entry, tuple(alike)) for kind, alike in by_kind(facts) if kind in BREAKING]


def _name_of(fact: Fact, language: Language) -> str:
    """Return the fact's name, as shown before its place."""
    say = catalogue(language)
    fact = fact.model_copy(update={"name": shorten(fact.name, _NAME_LENGTH)})
    if fact.removed_from:
        return say("{name} from", name=code(fact.name))
    if fact.kind is FactKind.MOVED_NAME:
        return code(fact.name)
    return f"{code(fact.name)} →" if fact.kind is FactKind.MOVED_MODULE else list_names([fact], say)
