"""The proofs of a commit for what a question asks of a name: its successor, default, value before, definition or purpose."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from analysis.citations import to_fact, to_line
from analysis.diff import changed_lines
from analysis.locale import catalogue
from analysis.models import Entry, Fact, FactKind, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.definitions import (
    COMMENT,
    CodeLine,
    default_in,
    defaults_told,
    is_definition,
    is_notice,
    names_with,
    spelled_in_code,
)
from analysis.questions.items import MAX_ITEMS, fact_item, passage_item
from analysis.questions.kinds import QuestionKind
from analysis.questions.passages import Passage, name_defined, passages, replaced
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import QuestionTerm
from analysis.writing.by_rules import code
from analysis.writing.replacements import replacement

_SHOWN = 2
_MOST = 3  # restrictions
_SETTINGS = frozenset({FactKind.NEW_SETTING, FactKind.SETTING_ON, FactKind.DEFAULT_CHANGED})
_REFUSES = re.compile(r"(?:raise|throw|abort)\b|TORCH_CHECK|return \S*error", re.IGNORECASE)
_WARNS = re.compile(r"\S*warn\w*(?:\.\w+)?\(", re.IGNORECASE)
_SETTING = re.compile(r"[\"'`\s]--[a-z]|environ|getenv|add_argument|option\(", re.IGNORECASE)
_SETTING_FILE = re.compile(r"conf|arg|setting|option|param|env", re.IGNORECASE)
_FIELD = re.compile(r"\w+\s*:[^=()]* = ")
_PASSED_ON = re.compile(r"=\s*[\w.]+,?$")  # a value that only goes from one name to another
_TOKEN = re.compile(r"[\w.]+|\S")
_ALIASES = re.compile(r"[\"'](--?[\w-]+)[\"']")


def proofs(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what proves the answer to a question, if it is of a kind that has proofs; it is told before what only shares its words."""
    found = [prove(entry, asked, language) for each, prove in _PROOFS.items() if each in asked.kinds]
    return list({each.text: each for proof in found for each in proof}.values())


def _replacements(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what replaces the names that the commit removes: those that the question has, or all of them if it names none."""
    gone = [fact for fact in entry.facts if fact.removes or (fact.kind is FactKind.DEPRECATED and fact.new)]
    named = asked.symbols or [fact.name for fact in _of_terms(gone, asked) or gone]
    names = list({_key(each): each for each in reversed(named)}.values())[::-1]
    shown = _SHOWN if len(names) > 1 else _MOST
    return [each for name in names[:MAX_ITEMS] for each in _replacement(entry, name, gone, language)[:shown]]


def _replacement(entry: Entry, name: str, gone: Sequence[Fact], language: Language) -> list[Statement]:
    """Return what replaces a name: what the author, a notice, a fact or the lines that it stood in say; or that it is gone."""
    say, key, quoted = catalogue(language), _key(name), list[Passage]()
    facts = [fact for fact in gone if _key(fact.name) == key]
    notices = (
        each for each in _passages(entry) if kind(each.file.path) is not Kind.TEST and _tells_successor(each, key)
    )
    if told := [item for each in notices if (item := passage_item(entry, each, quoted, language))]:
        return told
    for fact in facts:
        new = replacement(entry.commit, fact) or _told_of_flag(entry, fact)
        if new and not fact.new:
            text = say("Use {new} instead of {old}.", new=code(new), old=code(fact.name))
            return [Statement(text=text, citations=(to_fact(entry.commit, fact),)), *_setting(entry, new, language)]
    if renamed := [fact for fact in facts if fact.new]:
        return [fact_item(entry, [renamed[0]], language)]
    for each in _passages(entry, "-"):
        if (new := _written_instead(each, key)) and (defined := _setting(entry, new, language)):
            text = say("Use {new} instead of {old}.", new=code(new), old=code(name))
            return [Statement(text=text, citations=(to_line(entry.commit, each.file, each.line),)), *defined]
    changed = (each for each in _passages(entry, "-") if _defines_other(each, key))
    if told := [item for each in changed if (item := passage_item(entry, each, quoted, language))]:
        return told
    text = say("{name} is removed; no replacement for it was found.", name=code(name))
    return [Statement(text=text, citations=(to_fact(entry.commit, facts[0]),))] if facts else []


def _told_of_flag(entry: Entry, fact: Fact) -> str:
    """Return what the commit says to use instead of the flag that is made of a field."""
    flag = f"--{_key(fact.name).replace('_', '-')}"
    return replacement(entry.commit, fact.model_copy(update={"name": flag}))


def _tells_successor(found: Passage, key: str) -> bool:
    """Return whether a passage is a notice about a name: what became of it, or what to use."""
    return _has(" ".join((*found.context[-1:], found.text)), key) and is_notice(key, f"{key} {found.text}")


def _written_instead(removed: Passage, key: str) -> str:
    """Return the name that a line has now where it had another one; "" if more than that is changed."""
    other = replaced(removed)
    if other is None or not _has(removed.text, key):
        return ""
    old, new = _TOKEN.findall(removed.text), _TOKEN.findall(other.text)
    changed = {pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]}
    pair = next(iter(changed), ("", ""))
    is_name = len(old) == len(new) and len(changed) == 1 and pair[1].isidentifier()
    is_name = is_name and _key(pair[0]) == key != pair[1]
    return pair[1] if is_name else ""


def _defines_other(removed: Passage, key: str) -> bool:
    """Return whether a removed passage defines or sets a name where another name stands now."""
    other = replaced(removed)
    return name_defined(removed) == key and other is not None and name_defined(other) not in ("", key)


def _setting(entry: Entry, name: str, language: Language) -> list[Statement]:
    """Return the default of a setting that the commit adds or changes, and what defines it."""
    told = defaults_told(name, list(_lines(entry, "+")), catalogue(language))
    items = _definition(entry, name, language)
    first = [each.model_copy(update={"citations": items[0].citations}) for each in told[:1]] if items else told
    return [*first, *items]


def _definition(entry: Entry, name: str, language: Language) -> list[Statement]:
    """Return what the commit adds to define a name, if anything: of a source, with a value, and with what explains it."""
    key = _key(name)
    defining = [each for each in _passages(entry) if is_definition(key, _first_of_code(each))]
    best = sorted(
        defining,
        key=lambda each: (
            kind(each.file.path) is not Kind.SOURCE,
            default_in(key, each.text) is None,
            -len(each.text),
        ),
    )
    return [item for each in best[:1] if (item := passage_item(entry, each, [], language))]


def _first_of_code(passage: Passage) -> str:
    return next((line.text for line in passage.changed if not COMMENT.match(line.text)), "")


def _switches(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the settings that the commit adds, or whose default it changes: those of the question, or all if they are few."""
    settings = list({_key(fact.name): fact for fact in entry.facts if fact.kind in _SETTINGS}.values())
    chosen = _of_terms(settings, asked) or (settings if len(settings) <= _SHOWN else [])
    told = []
    for fact in chosen[:_SHOWN]:
        changes = fact.kind is FactKind.DEFAULT_CHANGED
        told += [fact_item(entry, [fact], language)] if changes else _setting(entry, fact.name, language)
    return told


def adds_setting(entry: Entry) -> bool:
    """Return whether a commit may add or change a flag, an environment variable or another setting."""
    added = (each for each in _passages(entry) if kind(each.file.path) is Kind.SOURCE)
    looks_so = any(
        (_SETTING_FILE if _FIELD.match(each.text) else _SETTING).search(each.text + each.file.path) for each in added
    )
    return looks_so or any(fact.kind in _SETTINGS for fact in entry.facts)


def _limits(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what the commit newly refuses, or warns of, of what the question names; refusals first."""
    keys = {_key(term.text) for term in asked.terms if term.telling}
    for each in _passages(entry):
        is_entry = re.fullmatch(r"[\"']([^\"']+)[\"'],?", each.text)
        if is_entry and each.context and _key(is_entry[1]) in keys:  # of a list, which may be refused as a whole
            keys.add(each.context[-1])
        names = (
            [_key(name) for name in _ALIASES.findall(each.text)]
            if "add_argument" in each.text + "".join(each.context)
            else []
        )
        if not keys.isdisjoint(names):
            keys.update(names)
    found = []
    for each in _passages(entry):
        is_told = _REFUSES.match(each.text) or _WARNS.match(each.text)
        around, text = " ".join((*each.context, each.text)), each.text
        held = sum(_has(around.replace("_", " "), key.replace("_", " ")) for key in keys)
        if is_told and (held or not keys) and kind(each.file.path) is Kind.SOURCE:
            found.append((-held, not _REFUSES.match(text), each))
    if not keys and len(found) > _MOST:
        return []
    most = min((held for held, _, _ in found), default=0)
    best = sorted((each for each in found if each[0] == most), key=lambda each: each[1])
    return [item for *_, each in best[:_MOST] if (item := passage_item(entry, each, [], language))]


def _passages(entry: Entry, sign: str = "+") -> Iterator[Passage]:
    """Yield the passages that a commit adds, or removes."""
    return (each for file in entry.commit.files for each in passages(file) if each.line.sign == sign)


def _has(text: str, key: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text.replace("-", "_")) is not None


def _key(name: str) -> str:
    """Return the last part of a name as code spells it: of a parameter too, and of a flag."""
    inside = re.search(r"\(([^()]+)\)$", name)
    return spelled_in_code((inside[1] if inside else name).strip())


def _befores(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the facts of what the question names that have an old and a new value, or the new lines that set it."""
    changed = [fact for fact in entry.facts if fact.old and fact.new]
    if told := [fact_item(entry, [fact], language) for fact in _of_terms(changed, asked)[:MAX_ITEMS]]:
        return told
    keys, quoted = {_key(each) for each in asked.symbols}, list[Passage]()
    setting = [each for each in _passages(entry) if name_defined(each) in keys and not _PASSED_ON.search(each.text)]
    sources = [each for each in setting if kind(each.file.path) is Kind.SOURCE]
    return [item for each in (sources or setting)[:_SHOWN] if (item := passage_item(entry, each, quoted, language))]


def _defaults(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the defaults that the commit changes, or gives the names in a question, or leaves as they are."""
    changed = [fact for fact in entry.facts if fact.kind is FactKind.DEFAULT_CHANGED]
    if told := [fact_item(entry, [fact], language) for fact in _of_terms(changed, asked)[:MAX_ITEMS]]:
        return told
    say, lines, names = catalogue(language), list(_lines(entry, "+")), list(asked.symbols)
    words = [_in_code(term) for term in asked.terms if term.text.lower() not in asked.facts.words]
    if not names and any(words):
        named = names_with(filter(None, words), (line.text for line in lines))
        names = [each for each in named if defaults_told(each, lines, say)][:1]
    if any(defaults_told(name, lines, say) for name in names):
        return [each for name in names for each in _setting(entry, name, language)]
    taking = _of_values([fact for fact in entry.facts if fact.kind is FactKind.VALUES_ADDED], asked)
    kept = list(_lines(entry, " "))
    if told := [each for name in (*(fact.name for fact in taking), *names) for each in _still(name, kept, language)]:
        return told
    new = [fact.name for fact in entry.facts if fact.kind is FactKind.NEW_SETTING]
    return [] if asked.subjects else [each for name in new[:_SHOWN] for each in _setting(entry, name, language)]


def _of_values(facts: Sequence[Fact], asked: ParsedQuestion) -> list[Fact]:
    """Return the facts of values that a question names."""
    values = {term.text.casefold() for term in asked.terms}
    return [fact for fact in facts if not values.isdisjoint(re.split(r"\W+", (fact.new or "").casefold()))]


def _still(name: str, lines: Sequence[CodeLine], language: Language) -> list[Statement]:
    """Return that lines which are not changed give a name its default."""
    key, say = _key(name), catalogue(language)
    given = [(line, value) for line in lines if (value := default_in(key, line.text)) is not None]
    text = (
        say("The commit does not change the default of {name}: {value}.", name=code(name), value=code(given[0][1]))
        if given
        else ""
    )
    return [Statement(text=text, citations=(given[0][0].place,))] if given else []


def _in_code(term: QuestionTerm) -> str:
    """Return the word of code that a term is, or that a Chinese term stands for; "" for none."""
    if term.text.isascii():
        return term.text
    return next((word for word, weight in term.words.items() if weight == 1 and word.isascii()), "")


def _meanings(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return what defines the first name of a question that the commit adds, with what explains it."""
    found = (item for name in asked.symbols for item in _definition(entry, name, language))
    return list(islice(found, 1))


def _lines(entry: Entry, sign: str) -> Iterator[CodeLine]:
    """Yield the lines of a commit's diff that have a sign."""
    for file in entry.commit.files:
        for line in changed_lines(file, sign):
            yield CodeLine(file.path, line.text, to_line(entry.commit, file, line))


def _of_terms(facts: Sequence[Fact], asked: ParsedQuestion) -> list[Fact]:
    """Return the facts of what a question names."""
    words = {spelled_in_code(each).casefold() for each in asked.symbols or [term.text for term in asked.subjects]}
    named = [(fact, fact.name.replace("-", "_").casefold()) for fact in facts]
    held = [(2 * sum(word in name for word in words) + (spelled_in_code(name) in words), fact) for fact, name in named]
    return [fact for count, fact in sorted(held, key=lambda each: -each[0]) if count]


_PROOFS: Mapping[QuestionKind, Callable[[Entry, ParsedQuestion, Language], list[Statement]]] = {
    QuestionKind.REPLACEMENT: _replacements,
    QuestionKind.LIMIT: _limits,
    QuestionKind.DEFAULT: _defaults,
    QuestionKind.SWITCH: _switches,
    QuestionKind.BEFORE: _befores,
    QuestionKind.MEANING: _meanings,
}
