"""The proofs of a commit for what a question asks of a name: its successor, default, value before, definition or purpose."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from analysis.citations import to_fact, to_line
from analysis.diff import DiffLine, hunks
from analysis.locale import catalogue
from analysis.models import Entry, Fact, FactKind, FileChange, Language, Statement
from analysis.questions.definitions import (
    HUNK_END,
    CodeLine,
    defaults_told,
    explained,
    explanation,
    is_notice,
    names_with,
    spelled_in_code,
)
from analysis.questions.items import MAX_ITEMS, fact_item, passage_item
from analysis.questions.kinds import QuestionKind
from analysis.questions.passages import Passage, passages, replaced
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import QuestionTerm
from analysis.writing.by_rules import code
from analysis.writing.replacements import replacement

_NAMED_ANEW = frozenset(each for each in FactKind if each.name.startswith(("RENAMED_", "MOVED_")))
_SHOWN = 2
_AROUND = 12  # lines in which the notice about what is removed stands
_NEW = r"(?:the )?[`'\"]?((?:--)?\w+[-_.:]\w[\w.:-]*\w)"
_INSTEAD = re.compile(
    rf"\buse {_NEW}[^.]{{0,40}}? instead\b|\bdeprecated[,:;.] (?:please )?(?:see|use) {_NEW}", re.IGNORECASE
)


def proofs(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what proves the answer to a question, if it is of a kind that has proofs; it is told before what only shares its words."""
    found = [prove(entry, asked, language) for each, prove in _PROOFS.items() if each in asked.kinds]
    return [each for proof in found for each in proof]


def _replacements(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what replaces the names that the commit removes: those that the question has, or all of them if it names none."""
    say, found = catalogue(language), []
    removed = [fact for fact in entry.facts if fact.removes or (fact.kind is FactKind.DEPRECATED and fact.new)]
    named = _of_terms(removed, asked)
    for fact in (named if asked.symbols else named or removed)[:MAX_ITEMS]:
        if fact.kind in _NAMED_ANEW or (fact.kind is FactKind.DEPRECATED and fact.new):
            found.append(fact_item(entry, [fact], language))
        elif new := replacement(entry.commit, fact) or _told_beside(entry, fact):
            text = say("Use {new} instead of {old}.", new=code(new), old=code(fact.name))
            found.append(Statement(text=text, citations=(to_fact(entry.commit, fact),)))
    if found or not asked.symbols:
        return found
    keys = [spelled_in_code(each) for each in asked.symbols]
    quoted, changed = list[Passage](), (each for file in entry.commit.files for each in passages(file))
    tells = [each for each in changed if any(_tells_successor(each, key) for key in keys)]
    told = [item for each in tells if (item := passage_item(entry, each, quoted, language))][:_SHOWN]
    if told or not named:
        return told
    text = say("{name} is removed; no replacement for it was found.", name=code(named[0].name))
    return [Statement(text=text, citations=(to_fact(entry.commit, named[0]),))]


def _told_beside(entry: Entry, fact: Fact) -> str:
    """Return what a notice among the lines that are removed around a fact says to use instead; "" for none."""
    for file in entry.commit.files:
        for hunk in hunks(file.patch) if file.path == fact.path else ():
            removed = [line for line in hunk if line.sign == "-" and abs(line.number - (fact.line or 0)) <= _AROUND]
            if any(line.number == fact.line for line in removed):
                told = _INSTEAD.search(" ".join(line.text.strip(" #\"'") for line in removed))
                return next(filter(None, told.groups()), "") if told else ""
    return ""


def _tells_successor(found: Passage, key: str) -> bool:
    """Return whether a passage is a new notice about a name, or defines or sets it where another name stands now."""
    if is_notice(key, " ".join((*found.context, found.text))):
        return found.line.sign == "+"
    word = rf"(?<!\w){re.escape(key)}(?!\w)"
    if found.line.sign == "+" or not re.match(rf"(?:async def |def |class )?(?:self\.)?{word}\s*[:=(]", found.text):
        return False
    other = replaced(found)
    return other is not None and re.search(word, other.text) is None


def _befores(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the facts of what the question names that have an old and a new value."""
    changed = [fact for fact in entry.facts if fact.old and fact.new]
    return [fact_item(entry, [fact], language) for fact in _of_terms(changed, asked)[:MAX_ITEMS]]


def _defaults(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the defaults that the commit's new lines give the names in a question, or its new settings, and what they were."""
    say, changed = catalogue(language), [fact for fact in entry.facts if fact.kind is FactKind.DEFAULT_CHANGED]
    if told := [fact_item(entry, [fact], language) for fact in _of_terms(changed, asked)[:MAX_ITEMS]]:
        return told
    lines, names = list(_new_lines(entry)), list(asked.symbols)
    words = [_in_code(term) for term in asked.terms if term.text.lower() not in asked.facts.words]
    if not names and any(words):
        named = names_with(filter(None, words), (line.text for line in lines))
        names = [each for each in named if defaults_told(each, lines, say)][:1]
    elif not names:
        new = {spelled_in_code(fact.name): fact.name for fact in entry.facts if fact.kind is FactKind.NEW_SETTING}
        names = list(new.values())[:_SHOWN]
    return [each for name in names for each in defaults_told(name, lines, say)]


def _in_code(term: QuestionTerm) -> str:
    """Return the word of code that a term is, or that a Chinese term stands for; "" for none."""
    if term.text.isascii():
        return term.text
    return next((word for word, weight in term.words.items() if weight == 1 and word.isascii()), "")


def _explanations(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what the hunks that define a name of the question say of it."""
    for name in asked.symbols:
        news: list[tuple[FileChange, DiffLine]] = []
        for file in entry.commit.files:
            for hunk in hunks(file.patch):
                news += [(file, line) for line in hunk if line.sign != "-"]
                news.append((file, news[-1][1]._replace(text=HUNK_END)))
        if told := explanation(spelled_in_code(name), [line.text for _, line in news]):
            place = to_line(entry.commit, *news[told[0]])
            return [explained(name, told[1], place, catalogue(language))]
    return []


def _new_lines(entry: Entry) -> Iterator[CodeLine]:
    """Yield the lines that a commit adds."""
    for file in entry.commit.files:
        for hunk in hunks(file.patch):
            for line in hunk:
                if line.sign == "+":
                    yield CodeLine(file.path, line.text, to_line(entry.commit, file, line))


def _of_terms(facts: Sequence[Fact], asked: ParsedQuestion) -> list[Fact]:
    """Return the facts of what a question names."""
    words = {spelled_in_code(each).casefold() for each in asked.symbols or [term.text for term in asked.subjects]}
    named = [(fact, fact.name.replace("-", "_").casefold()) for fact in facts]
    held = [(2 * sum(word in name for word in words) + (spelled_in_code(name) in words), fact) for fact, name in named]
    return [fact for count, fact in sorted(held, key=lambda each: -each[0]) if count]


_PROOFS: Mapping[QuestionKind, Callable[[Entry, ParsedQuestion, Language], list[Statement]]] = {
    QuestionKind.REPLACEMENT: _replacements,
    QuestionKind.DEFAULT: _defaults,
    QuestionKind.BEFORE: _befores,
    QuestionKind.MEANING: _explanations,
}
