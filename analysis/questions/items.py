"""The items of an answer: statements of a commit's facts, records, authors' sentences and changed lines, with their places."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_line
from analysis.diff import DiffLine
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_sentences
from analysis.models import Entry, Fact, Language, Statement, by_kind
from analysis.questions.evidence import Found, Line, Sentence
from analysis.questions.matches import facts_asked
from analysis.questions.metadata import Record
from analysis.questions.question import ParsedQuestion
from analysis.questions.quotes import counterpart, quote
from analysis.text import shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES

MAX_ITEMS = 5
SEARCHED = 40  # hits from which the items are made; hits beside each other make one
_SENTENCE_LENGTH = 300  # characters of an author's sentence
_CHANGES = {"-": mark("removes {code}"), "+": mark("adds {code}"), " ": mark("unchanged: {code}")}


class _Quoted(NamedTuple):
    """The lines of a hunk that an item quotes."""

    hunk: Sequence[DiffLine]
    places: frozenset[int]


def best_items(entry: Entry, found: Found, language: Language) -> list[Statement]:
    """Return the best hits as statements; lines that are quoted with a better one, or that prove a fact, are left out."""
    quoted: list[_Quoted] = []
    labels: set[str] = set()
    items: list[Statement] = []
    for hit in found.hits:
        item = hit.document.item
        match item:
            case Line():
                statement = line_item(entry, item, quoted, language)
            case Fact():
                statement = fact_item(entry, [item], language)
            case Record():
                statement = item.statement.model_copy(update={"kind": "item"})
            case Sentence():
                text = code(shorten(item.text, _SENTENCE_LENGTH))
                told = catalogue(language)("the author writes: {text}", text=text)
                statement = Statement(text=told, citations=(to_commit(entry.commit),), kind="item")
        if statement is None or (isinstance(item, Fact | Line) and statement.citations[0].label in labels):
            continue
        labels.add(statement.citations[0].label)
        items.append(statement)
    return items[:MAX_ITEMS]


def proven_items(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the facts that answer what happened, those of a kind as one; none if none does, or something else is asked."""
    proven = facts_asked(asked, entry.facts) if asked.facts.happened else []
    return [fact_item(entry, facts, language) for _, facts in by_kind(proven)]


def fact_item(entry: Entry, facts: Sequence[Fact], language: Language) -> Statement:
    """Return facts of one kind as an item, with the places of the first."""
    say = catalogue(language)
    text = say(FACT_SENTENCES[facts[0].kind].change, names=list_names(facts, say))
    places = tuple(to_fact(entry.commit, fact) for fact in facts[:MAX_ITEMS])
    return Statement(text=text, citations=places, kind="item")


def line_item(entry: Entry, found: Line, quoted: list[_Quoted], language: Language) -> Statement | None:
    """Quote a line with those that complete it, beside the line that it replaces; None if it is in `quoted`, which grows."""
    say, hunk, file = catalogue(language), found.hunk, found.file
    text, places = quote(hunk, found.place)
    if any(hunk is each.hunk and not each.places.isdisjoint({*places, found.place}) for each in quoted):
        return None
    covered, other = {*places}, counterpart(hunk, found.place)
    citations = [to_line(entry.commit, file, found.line)]
    if other is None:
        told = say(_CHANGES[found.line.sign], code=code(text))
    else:
        other_text, other_places = quote(hunk, other)
        covered |= {*other_places, other}
        old, new = (text, other_text) if found.line.sign == "-" else (other_text, text)
        told = say("changes {old} to {new}", old=code(old), new=code(new))
        citations.append(to_line(entry.commit, file, hunk[other]))
    quoted.append(_Quoted(hunk, frozenset(covered)))
    return Statement(text=told, citations=tuple(citations), kind="item")


def joined(told: Sequence[Statement], say: Catalogue) -> Statement | None:
    """Return several statements as one; None for none."""
    if len(told) <= 1:
        return next(iter(told), None)
    text = join_sentences((as_sentence(each.text, say) for each in told), say)
    return Statement(text=text, citations=tuple(place for each in told for place in each.citations))
