"""The items of an answer: statements of a commit's facts, its author's sentences and the passages of its diff, with their places."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from analysis.citations import to_commit, to_fact, to_line
from analysis.diff import hunks
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_items, join_sentences
from analysis.models import Entry, Fact, FactKind, Language, Statement, by_kind
from analysis.questions.definitions import default_in, spelled_in_code
from analysis.questions.evidence import EvidenceFound
from analysis.questions.matches import facts_asked
from analysis.questions.passages import Passage, replaced
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import words_of
from analysis.text import shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES

MAX_ITEMS = 5
SEARCHED = 40  # hits from which the items are made; hits beside each other make one
_NAMED = 12  # names of a kind
_KINDS, _CITED = 3, 3  # kinds of facts that are told together, and places of each
_SENTENCE_LENGTH = 300  # characters of an author's sentence
_CHANGES = {"-": mark("removes {code}"), "+": mark("adds {code}")}


def best_items(entry: Entry, found: EvidenceFound, language: Language) -> list[Statement]:
    """Return the best hits as statements; passages that are quoted with a better one, or that prove a fact, are left out."""
    quoted: list[Passage] = []
    labels: set[str] = set()
    items: list[Statement] = []
    words = frozenset(word for term in found.present for word in term.words)
    for hit in found.hits:
        item = hit.document.item
        match item:
            case Passage():
                statement = passage_item(entry, item, quoted, language, words)
            case Fact():
                statement = fact_item(entry, [item], language)
            case str():
                text = code(shorten(item, _SENTENCE_LENGTH))
                told = catalogue(language)("the author writes: {text}", text=text)
                statement = Statement(text=told, citations=(to_commit(entry.commit),), kind="item")
        if statement is None or (not isinstance(item, str) and statement.citations[0].label in labels):
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
    text = FACT_SENTENCES[facts[0].kind].named(list_names(facts, say), len(facts), say)
    places = tuple(to_fact(entry.commit, fact) for fact in facts[:MAX_ITEMS])
    return Statement(text=text, citations=places, kind="item")


def passage_item(
    entry: Entry, found: Passage, quoted: list[Passage], language: Language, words: frozenset[str] = frozenset()
) -> Statement | None:
    """Quote a passage and what it stands in, beside what it replaces; None if it overlaps with one in `quoted`, which grows.

    It is cited by the changed line that has most of the `words`.
    """
    say, other = catalogue(language), replaced(found)
    if any(found.hunk is each.hunk and not set(found.places).isdisjoint(each.places) for each in quoted):
        return None
    line = max(found.changed, key=lambda each: len(words_of(each.text) & words))
    citations = [to_line(entry.commit, found.file, line)]
    if other is None:
        told = say(_CHANGES[found.line.sign], code=code(found.text))
    else:
        old, new = (found, other) if found.line.sign == "-" else (other, found)
        told = say("changes {old} to {new}", old=code(old.text), new=code(new.text))
        citations.append(to_line(entry.commit, other.file, other.line))
    if found.context:
        told = say("{told}, in {place}", told=told, place=join_items(map(code, found.context), say))
    quoted += [found, *([other] if other else [])]
    return Statement(text=told, citations=tuple(citations), kind="item")


def passage_items(
    entry: Entry, found: Iterable[Passage], language: Language, limit: int = MAX_ITEMS
) -> list[Statement]:
    """Quote passages, each place once."""
    quoted: list[Passage] = []
    told = (passage_item(entry, each, quoted, language) for each in found)
    return list(islice(filter(None, told), limit))


def joined(told: Sequence[Statement], say: Catalogue) -> Statement | None:
    """Return several statements as one; None for none."""
    if len(told) <= 1:
        return next(iter(told), None)
    text = join_sentences((as_sentence(each.text, say) for each in told), say)
    return Statement(text=text, citations=tuple(place for each in told for place in each.citations))


def proven_together(entries: Sequence[Entry], asked: ParsedQuestion, language: Language) -> Iterator[Statement]:
    """Yield what commits (with patches) prove of what is asked, a statement a kind; nothing of a single name, which its commit tells."""
    say = catalogue(language)
    owners = {id(fact): entry for entry in entries for fact in facts_asked(asked, entry.facts)}
    facts = [fact for entry in entries for fact in facts_asked(asked, entry.facts)]
    if len(facts) == 1 and facts[0].kind is not FactKind.NEW_SETTING:
        return
    facts.sort(key=lambda fact: -sum(not words_of(fact.name).isdisjoint(term.words) for term in asked.terms))
    for kind, found in islice(by_kind(facts), _KINDS):
        if kind is FactKind.CONDITIONAL_DEFAULT:  # which is told with its commit
            continue
        if kind in (FactKind.NEW_SETTING, FactKind.SETTING_ON):
            names = join_items([_with_default(owners[id(each)], each, say) for each in found[:_NAMED]], say)
        else:
            names = list_names(found, say, _NAMED)
        text = as_sentence(FACT_SENTENCES[kind].named(names, len(found), say), say)
        yield Statement(text=text, citations=tuple(to_fact(owners[id(each)].commit, each) for each in found[:_CITED]))


def _with_default(entry: Entry, fact: Fact, say: Catalogue) -> str:
    """Return the name of a new setting with the default that the commit's new lines give it, if they do."""
    key = spelled_in_code(fact.name)
    lines = (
        line.text for file in entry.commit.files for hunk in hunks(file.patch) for line in hunk if line.sign == "+"
    )
    given = [value for line in lines if (value := default_in(key, line)) is not None]
    value = next((each for each in given if each != "None"), next(iter(given), None))
    return say("{name} (default {value})", name=code(fact.name), value=code(value)) if value else code(fact.name)
