"""The items of an answer: statements of a commit's facts, records, authors' sentences and changed lines, with their places."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_line
from analysis.diff import DiffLine
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_sentences
from analysis.models import Citation, Entry, Fact, Language, Statement, by_kind
from analysis.questions.documents import Document, Line, Sentence
from analysis.questions.metadata import Record, records
from analysis.questions.period import facts_asked
from analysis.questions.query import Query
from analysis.questions.quotes import counterpart, quote
from analysis.questions.search import Found
from analysis.questions.topics import Topic
from analysis.text import shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES

MAX_ITEMS = 5
SEARCHED = 40  # hits from which the items are made; hits beside each other make one
SENTENCE_LENGTH = 300  # characters of an author's sentence


class _Quoted(NamedTuple):
    """The lines of a hunk that an item quotes."""

    hunk: Sequence[DiffLine]
    places: frozenset[int]


def best_items(entry: Entry, found: Found, language: Language) -> list[Statement]:
    """Return the best hits as statements; lines that are quoted with a better one, or that prove a fact, are left out."""
    known = {each.topic: each for each in records(entry, language)}
    quoted: list[_Quoted] = []
    labels: set[str] = set()
    items: list[Statement] = []
    for hit in found.hits:
        item = hit.document.item
        if isinstance(item, Line):
            statement = line_item(entry, item, quoted, language)
        else:
            statement = _item(entry, hit.document, known, language)
        if statement is None or (isinstance(item, Fact | Line) and statement.citations[0].label in labels):
            continue
        labels.add(statement.citations[0].label)
        items.append(statement)
        if len(items) == MAX_ITEMS:
            break
    return items


def _item(entry: Entry, document: Document, known: dict[Topic, Record], language: Language) -> Statement:
    item, source = document.item, (to_commit(entry.commit),)
    if isinstance(item, Fact):
        return fact_item(entry, [item], language)
    if isinstance(item, Record):
        return known[item.topic].statement.model_copy(update={"kind": "item"})
    text = code(shorten(item.text, SENTENCE_LENGTH)) if isinstance(item, Sentence) else ""
    return Statement(text=catalogue(language)("the author writes: {text}", text=text), citations=source, kind="item")


def proven_items(entry: Entry, question: str, query: Query, language: Language) -> list[Statement]:
    """Return the facts that answer what happened, those of a kind as one; none if none does, or something else is asked."""
    proven = facts_asked(question, query, entry.facts) if query.asked.happened else []
    return [fact_item(entry, facts, language) for _, facts in by_kind(proven)]


def fact_item(entry: Entry, facts: Sequence[Fact], language: Language) -> Statement:
    """Return facts of one kind as an item, with the places of the first."""
    say = catalogue(language)
    text = FACT_SENTENCES[facts[0].kind].named(list_names(facts, say), len(facts), say)
    places = tuple(to_fact(entry.commit, fact) for fact in facts[:MAX_ITEMS])
    return Statement(text=text, citations=places, kind="item")


def line_item(entry: Entry, found: Line, quoted: list[_Quoted], language: Language) -> Statement | None:
    """Quote a line with those that complete it, beside the line that it replaces; None if it is quoted already."""
    if any(found.hunk is each.hunk and found.place in each.places for each in quoted):
        return None
    say, sign, file = catalogue(language), found.line.sign, found.file
    text, places = quote(found.hunk, found.place)
    if any(found.hunk is each.hunk and not each.places.isdisjoint(places) for each in quoted):
        return None
    covered, other = {*places}, counterpart(found.hunk, found.place)
    citations: list[Citation] = [to_line(entry.commit, file, found.line)]
    if other is None:
        phrase = {"-": mark("removes {code}"), "+": mark("adds {code}")}.get(sign, mark("unchanged: {code}"))
        told = say(phrase, code=code(text))
    else:
        other_text, other_places = quote(found.hunk, other)
        covered |= {*other_places, other}
        old, new = (text, other_text) if sign == "-" else (other_text, text)
        told = say("changes {old} to {new}", old=code(old), new=code(new))
        citations.append(to_line(entry.commit, file, found.hunk[other]))
    quoted.append(_Quoted(found.hunk, frozenset(covered)))
    return Statement(text=told, citations=tuple(citations), kind="item")


def joined(told: Sequence[Statement], say: Catalogue) -> Statement | None:
    """Return several statements as one, with as many citations as people can follow; None for none."""
    if len(told) <= 1:
        return next(iter(told), None)
    text = join_sentences((as_sentence(each.text, say) for each in told), say)
    return Statement(text=text, citations=tuple(place for each in told for place in each.citations))
