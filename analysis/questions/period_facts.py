"""Statements of what the commits of a period prove together, one a kind of fact: all names, and the values that settings have now."""

from collections.abc import Iterator, Sequence
from itertools import islice

from analysis.citations import to_fact
from analysis.diff import hunks
from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import as_sentence, join_items
from analysis.models import Entry, Fact, FactKind, Language, Statement, by_kind
from analysis.questions.definitions import default_in, spelled_in_code
from analysis.questions.matches import facts_asked
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import words_of
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES

_NAMED = 12  # names of a kind
_KINDS = 3  # that are told
_CITED = 3


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
