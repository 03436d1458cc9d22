"""The proofs of a commit for what a question asks of a name: its successor, default, value before, definition or purpose."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
from analysis.questions.items import MAX_ITEMS, fact_item, passage_items
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
    """Return what replaces a name: what a notice, the author, a fact or the lines that it stood in say; or that it is gone."""
    say, key = catalogue(language), _key(name)
    facts = [fact for fact in gone if _key(fact.name) == key]
    notices = (each for each in _passages(entry) if _tells_successor(each, key))
    if told := passage_items(entry, notices, language):
        return told
    if renamed := [fact for fact in facts if fact.new and not replacement(entry.commit, fact)]:
        return [fact_item(entry, renamed[:1], language)]
    old = list(_passages(entry, "-"))
    said = [(fact.name, _told_instead(entry, fact), to_fact(entry.commit, fact)) for fact in facts]
    written = [(name, _written_instead(each, key), to_line(entry.commit, each.file, each.line)) for each in old]
    for spelled, new, place in (*said, *(each for each in written if _definition(entry, each[1], language))):
        if new:
            text = say("Use {new} instead of {old}.", new=code(new), old=code(spelled))
            return [Statement(text=text, citations=(place,)), *_setting(entry, new, language)]
    tells = (each for each in old if _defines_other(each, key) or _tells_successor(each, key))
    if told := passage_items(entry, tells, language):
        return told
    text = say("{name} is removed; no replacement for it was found.", name=code(name))
    return [Statement(text=text, citations=(to_fact(entry.commit, facts[0]),))] if facts else []


def _told_instead(entry: Entry, fact: Fact) -> str:
    """Return what the commit says to use instead of a name, or of the flag that is made of it."""
    flag = f"--{_key(fact.name).replace('_', '-')}"
    return replacement(entry.commit, fact) or replacement(entry.commit, fact.model_copy(update={"name": flag}))


def _tells_successor(found: Passage, key: str) -> bool:
    """Return whether a passage is a notice about a name: what became of it, or what to use."""
    is_about = _has(" ".join((*found.context[-1:], found.text)), key) and kind(found.file.path) is not Kind.TEST
    return is_about and is_notice(key, f"{key} {found.text}")


def _written_instead(removed: Passage, key: str) -> str:
    """Return the name that a line has now where it had another one; "" if more than that is changed."""
    other = replaced(removed)
    old, new = (set(_TOKEN.findall(each.text)) if each else set() for each in (removed, other))
    gone, come = old - new, new - old
    is_name = len(gone) == len(come) == 1 and _key(*gone) == key != _key(*come)
    return come.pop() if is_name else ""


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

    def order(each: Passage) -> tuple[bool, bool, int]:
        return kind(each.file.path) is not Kind.SOURCE, default_in(key, each.text) is None, -len(each.text)

    firsts = (
        (each, next((line.text for line in each.changed if not COMMENT.match(line.text)), ""))
        for each in _passages(entry)
    )
    defining = (each for each, first in firsts if name and is_definition(key, first))
    return passage_items(entry, sorted(defining, key=order), language, 1)


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
    keys = {_key(term.text) for term in asked.terms if term.telling and term.text.isascii()}
    keys |= {name for each in _passages(entry) for name in _also_called(each, keys)}
    told = [each for each in _passages(entry) if _REFUSES.match(each.text) or _WARNS.match(each.text)]
    held = Counter[Passage]()
    for each in told:
        around = " ".join((*each.context, each.text)).replace("_", " ")
        if kind(each.file.path) is Kind.SOURCE:
            held[each] = sum(_has(around, key.replace("_", " ")) for key in keys)
    most = max(held.values(), default=0)
    best = [each for each, count in held.items() if count == most and (count or not keys)]
    is_few = keys or len(best) <= _MOST
    best.sort(key=lambda each: not _REFUSES.match(each.text))
    return passage_items(entry, best if is_few else [], language, _MOST)


def _also_called(passage: Passage, keys: Collection[str]) -> list[str]:
    """Return the list that one of some names is put in, which may be refused as a whole, or an option's other names."""
    is_entry = re.fullmatch(r"[\"']([^\"']+)[\"'],?", passage.text)
    if is_entry and _key(is_entry[1]) in keys:
        return list(passage.context[-1:])
    is_option = "add_argument" in passage.text + "".join(passage.context)
    names = [_key(name) for name in _ALIASES.findall(passage.text)] if is_option else []
    return [] if set(names).isdisjoint(keys) else names


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
    keys = {_key(each) for each in asked.symbols}
    setting = [each for each in _passages(entry) if name_defined(each) in keys and not _PASSED_ON.search(each.text)]
    sources = [each for each in setting if kind(each.file.path) is Kind.SOURCE]
    return passage_items(entry, sources or setting, language, _SHOWN)


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
    values = {term.text.casefold() for term in asked.terms}
    added = (fact for fact in entry.facts if fact.kind is FactKind.VALUES_ADDED)
    taking = [fact.name for fact in added if not values.isdisjoint(re.split(r"\W+", (fact.new or "").casefold()))]
    if told := [each for name in (*taking, *names) for each in _still(entry, name, language)]:
        return told
    new = [fact.name for fact in entry.facts if fact.kind is FactKind.NEW_SETTING]
    return [] if asked.subjects else [each for name in new[:_SHOWN] for each in _setting(entry, name, language)]


def _still(entry: Entry, name: str, language: Language) -> list[Statement]:
    """Return that a line which is not changed gives a name its default."""
    say = catalogue(language)
    for line in _lines(entry, " "):
        if value := default_in(_key(name), line.text):
            text = say("The commit does not change the default of {name}: {value}.", name=code(name), value=code(value))
            return [Statement(text=text, citations=(line.place,))]
    return []


def _in_code(term: QuestionTerm) -> str:
    """Return the word of code that a term is, or that a Chinese term stands for; "" for none."""
    if term.text.isascii():
        return term.text
    return next((word for word, weight in term.words.items() if weight == 1 and word.isascii()), "")


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
    QuestionKind.DEFAULT: _defaults,
    QuestionKind.LIMIT: _limits,
    QuestionKind.SWITCH: _switches,
    QuestionKind.BEFORE: _befores,
    QuestionKind.MEANING: lambda entry, asked, language: [
        x for each in asked.symbols for x in _definition(entry, each, language)
    ],
}
