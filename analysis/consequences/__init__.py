"""The consequences of a commit: from its facts and its title, those that concern most people first.

They are computed when they are read, in the reader's language, and never stored. The first is the commit's headline.
"""

import re
from collections.abc import Sequence

from analysis.consequences.audience import INTERFACE, RESULT, effect, is_interface, reach, whom
from analysis.consequences.distinct import distinct, replaced_by
from analysis.consequences.names import LENGTH, WRITTEN_LENGTH, destination, fits
from analysis.consequences.parameters import PARAMETER_KINDS, parameter_of
from analysis.consequences.titles import (
    ANY_FIX,
    EXPLAINS_NOTHING,
    concern_of,
    is_shipped,
    is_written,
    says_more,
    title_consequence,
)
from analysis.consequences.wording import family, own_file, required, sentence
from analysis.facts.dependencies import ANY_VERSION
from analysis.facts.python.classes import BASE_CLASS, BASE_FILE
from analysis.grounding.plain_text import sentences
from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DEPENDENCIES, Concern, Entry, Fact, FactKind, Language
from analysis.models.consequences import Consequence, Effect, Whom
from analysis.models.impacts import Certainty
from analysis.ranking.vocabulary import AREAS, TAGS
from analysis.text import one_line, shorten
from analysis.writing.by_rules import advice_for, code
from analysis.writing.titles import NEXT_VERSION, concerned_parts, names_code, plain_title

_CONCERNED = {
    "users": (Whom.USERS, Effect.BEHAVIOUR),
    "operators": (Whom.OPERATORS, Effect.BEHAVIOUR),
    "plug-ins": (Whom.EXTENDERS, Effect.BEHAVIOUR),
    "fixes": (Whom.USERS, Effect.FIX),
    "new": (Whom.USERS, Effect.ADDITION),
}  # by a model
_WHOM, _EFFECTS, _KINDS = list(Whom), list(Effect), list(FactKind)
_IS_PATH = re.compile(r"^\w.*/")  # rather than a route
_PLATFORM = TAGS["tag: platform"]
_BEGUN = 30  # characters of a title that say something without its other clauses
_STOP = re.compile(r"[,;:.] | (?=\()| [-—–+&|] ")  # where a clause ends
_LABEL = re.compile(r" [+&|] \S+$")  # what stood before a colon
_JOINT = re.compile(r" (?=(?:and|by|to|for|with|when|if|in|on) )")
_PLACES = 3  # to which names move, each told by itself
_PARTS = 2  # of the project that a title's tags name


def consequences(
    entry: Entry, language: Language, facts: Sequence[Fact] | None = None, *, titled: bool = True
) -> tuple[Consequence, ...]:
    """Return what a commit means, the first to be told first: in a model's words, if it wrote a headline, with the proven name.

    `facts` are those that stand after a period, if not all do; without `titled` its title tells nothing that is new then.
    """
    say = catalogue(language)
    told = _by_rules(entry, entry.facts if facts is None else facts, say, titled=titled)
    written = _written(entry) if titled else ()
    if written and (told or is_shipped(entry) or concern_of(entry) not in (None, "nobody")):
        told = _as_written(entry, written, told, say)
    return tuple(told)


def _as_written(entry: Entry, written: Sequence[str], told: list[Consequence], say: Catalogue) -> list[Consequence]:
    """Put a model's headline among the consequences, concerning whom it says, and behind it what else it wrote; a revert is told in our words."""
    by_model = Consequence(
        what=written[0], whom=Whom.INTERNALS, effect=Effect.OTHER, certainty=Certainty.LIKELY, written=True
    )
    place, found, others = 0, told, written
    if not (told and _is_revert(told[0])):
        found, others = _with_headline(entry, by_model, told, say) if told else [by_model], written[1:]
        place = next(place for place, each in enumerate(found) if each.written)
        found[place] = _concerning(found[place], concern_of(entry))
    whom = Whom.EXTENDERS if found[place].whom is Whom.INTERNALS else found[place].whom
    further = {"whom": whom, "effect": Effect.BEHAVIOUR}
    also = [by_model.model_copy(update={"what": each, **further}) for each in others]
    return [*found[: place + 1], *also, *found[place + 1 :]]


def _with_headline(
    entry: Entry, by_model: Consequence, told: Sequence[Consequence], say: Catalogue
) -> list[Consequence]:
    """Put what a model wrote in the place of the title, or before what facts prove besides; a new value stands before it."""
    written, first = by_model.what, told[0]
    if any(fact.kind is FactKind.SECURITY for fact in first.facts):
        what = say("Security: {what}", what=written)
        return [first.model_copy(update={"what": what, "written": True}), *told[1:]]
    proven = [each for each in told if not all(_says(written, fact) for fact in each.facts)]
    is_change = first.effect in (Effect.BREAK, Effect.BEHAVIOUR) and not all(fact.removes for fact in first.facts)
    is_title = first.what.startswith(title_line(entry, say).partition(" (")[0]) or _is_decided_later(first)
    if not is_change or is_title or _names_any(written, first.facts):
        others = [each for each in proven if each.facts != first.facts]
        what = written if "`" in written or _is_decided_later(first) else _with_names(written, first, say)
        return [first.model_copy(update={"what": what, "written": True}), *others]
    by_model = first.model_copy(update={"what": written, "facts": (), "written": True})
    return [first, by_model, *proven[1:]] if first.effect is Effect.BEHAVIOUR else [by_model, *proven]


def _concerning(each: Consequence, concern: Concern | None) -> Consequence:
    """Return what a model's headline says with whom that concerns, as the model says; what is proven to break others still does."""
    is_proven = bool(each.facts) and each.effect in (Effect.SECURITY, Effect.BREAK, Effect.REQUIREMENT)
    if concern is None or (is_proven and (each.whom is not Whom.EXTENDERS or concern == "nobody")):
        return each
    if concern == "nobody":
        return each.model_copy(update={"whom": Whom.INTERNALS, "effect": Effect.OTHER})
    whom, effect_of = _CONCERNED[concern]
    is_kept = effect_of is Effect.BEHAVIOUR and each.effect not in (Effect.FIX, Effect.ADDITION, Effect.OTHER)
    return each.model_copy(update={"whom": whom, "effect": each.effect if is_kept else effect_of})


def _says(text: str, fact: Fact) -> bool:
    """Return whether a text has what goes, a new value, or a parameter and its function."""
    if fact.removes and _names_any(text, [fact]):
        return True
    if fact.kind in (FactKind.NEW_SETTING, FactKind.SETTING_ON):
        return _names(text, fact.name)
    if fact.kind is FactKind.VALUES_ADDED:
        return any(each in text.casefold() for each in (fact.new or "").casefold().split(", "))
    function, _, parameter = fact.name.rstrip(")").partition("(")
    return bool(parameter) and _names(text, function.removesuffix(".__init__")) and _names(text, parameter)


def _names_any(text: str, facts: Sequence[Fact]) -> bool:
    names = [fact.name.rstrip(")").partition("(")[::2] for fact in facts]
    return any(_names(text, name) or (names_code(part) and _names(text, part)) for name, part in names)


def _written(entry: Entry) -> tuple[str, ...]:
    """Return a model's headline of a commit and what else it says that readers have to know, or of one of which it wrote no more the first two sentences; what is too long is left out."""
    if entry.analysis is None or not is_written(entry):
        return ()
    told, is_brief = [entry.analysis.headline, entry.analysis.also], not (entry.analysis.scope or entry.analysis.advice)
    if is_brief and not told[0]:
        told = [each.strip().rstrip(".。;；") for each in sentences(entry.analysis.summary)[:2]]
    return tuple(each for each in told if each and fits(each, WRITTEN_LENGTH)) if fits(told[0], WRITTEN_LENGTH) else ()


def _is_revert(first: Consequence) -> bool:
    """Return whether a consequence is that something is taken back."""
    return any(fact.kind is FactKind.REVERT for fact in first.facts)


def _is_worded(first: Consequence) -> bool:
    """Return whether a consequence is told in words of ours alone: a revert, and what concerns security."""
    return any(fact.kind in (FactKind.REVERT, FactKind.SECURITY) for fact in first.facts)


def _by_rules(entry: Entry, facts: Sequence[Fact], say: Catalogue, *, titled: bool) -> list[Consequence]:
    """Return what a commit's facts and its title mean, the first to be told first."""
    told = sorted(_from_facts(entry, facts, say), key=order)
    by_title = title_consequence(entry, title_line(entry, say)) if titled else None
    if by_title and (not told or told[0].whom is Whom.INTERNALS):
        return [by_title, *told]
    is_on = by_title and told[0].facts[0].kind is FactKind.SETTING_ON  # the author says what for
    if told and titled and (is_on or _is_told_better(entry, told)):
        return [*_headed(title_line(entry, say), told[0], say), *told[1:]]
    first = told[0] if told else None
    if first and by_title and _tells_besides(entry, by_title, told):
        _insert(told, by_title, say)
    if first and told[0] is first and first.effect is not Effect.REQUIREMENT:
        told[0] = _on_platform(entry, first, say)
    return told


def _on_platform(entry: Entry, first: Consequence, say: Catalogue) -> Consequence:
    """Return what facts tell first, with the platforms or the version of a part that alone are concerned, as the title's tags say, if there is room."""
    parts = [each for each in concerned_parts(entry.commit) if _PLATFORM.fullmatch(each) or NEXT_VERSION.search(each)]
    what = say("{title} ({names})", title=first.what, names=join_items(parts, say))
    told = any(part.casefold() in first.what.casefold() for part in parts)
    return first.model_copy(update={"what": what}) if parts and not told and fits(what) else first


def _insert(told: list[Consequence], by_title: Consequence, say: Catalogue) -> None:
    """Put what a title tells, with the new settings that prove it, behind the first that the facts break, or before it."""
    whom = told[0].whom if by_title.whom is Whom.INTERNALS else by_title.whom
    lines = [by_title.model_copy(update={"whom": whom})]
    proofs = (each for each in told if any(fact.kind is FactKind.NEW_SETTING for fact in each.facts))
    if (proof := next(proofs, None)) and proof.whom is not Whom.INTERNALS:
        told.remove(proof)
        effect = proof.effect if by_title.effect is Effect.OTHER else by_title.effect
        lines = _headed(by_title.what, proof.model_copy(update={"effect": effect}), say)
    # What users have to know about comes before what others do.
    is_any_fix = by_title.effect is Effect.FIX and by_title.reach >= ANY_FIX
    minor = is_any_fix or lines[0].effect in (Effect.ADDITION, Effect.OTHER)
    first = told[0] if told else lines[0]
    is_last = first.whom is Whom.INTERNALS or first.effect is Effect.ADDITION
    leads = is_last or (not minor and order(lines[0]) < order(first))
    told[:] = [*lines, *told] if leads else [*told[:1], *lines, *told[1:]]


def _headed(title: str, first: Consequence, say: Catalogue) -> list[Consequence]:
    """Return what a title tells as a whole, with the names that prove it behind it, or told apart if they have no room."""
    named = _with_names(title, first, say)
    told = first.model_copy(update={"what": named})
    is_said = named != title or any(_names(title, fact.name) for fact in first.facts)
    return [told] if is_said else [told, first]


def _tells_besides(entry: Entry, by_title: Consequence, told: Sequence[Consequence]) -> bool:
    """Return whether a title tells something that its commit's facts do not: what it adds, deprecates, sets or mends."""
    title = plain_title(entry.commit)
    if any(_says(title, fact) for fact in told[0].facts):
        return False
    if told[0].effect is Effect.ADDITION:
        return True
    said = told[0].effect is by_title.effect is Effect.BREAK
    is_vague = by_title.effect is Effect.OTHER and EXPLAINS_NOTHING.match(title)
    if said or is_vague or _is_worded(told[0]):
        return False
    return not any(_names_any(title, each.facts) for each in told)


def _is_told_better(entry: Entry, told: Sequence[Consequence]) -> bool:
    """Return whether the title tells more than what facts prove first."""
    first = told[0]
    if first.whom is Whom.INTERNALS or first.effect is Effect.REQUIREMENT or _is_worded(first):
        return False
    # Who extend it look for names.
    is_many = first.whom is not Whom.EXTENDERS and (len(told) > 1 or len(first.facts) > 1)
    is_whole = is_many and says_more(entry) and not all(replaced_by(entry, each) for each in first.facts)
    return _is_decided_later(first) or is_whole


def _is_decided_later(each: Consequence) -> bool:
    """Return whether facts prove a new value without when it holds, or why, which an author or a model says."""
    if not each.facts or (fact := each.facts[0]).name.endswith(RESULT):
        return False
    is_unset = fact.kind is FactKind.DEFAULT_CHANGED and fact.new == "None"
    return is_unset or fact.kind in (FactKind.CONDITIONAL_DEFAULT, FactKind.RETYPED)


def headline(entry: Entry, language: Language, facts: Sequence[Fact] | None = None) -> str:
    """Return the first consequence of a commit, or else its title, as one line with `code` spans."""
    return first_line(entry, consequences(entry, language, facts), catalogue(language))


def first_line(entry: Entry, told: Sequence[Consequence], say: Catalogue) -> str:
    """Return the headline of a commit whose consequences are known."""
    tells = told and (told[0].whom is not Whom.INTERNALS or told[0].effect is Effect.OTHER)
    return told[0].what if tells else title_line(entry, say)


def breaks_others(entry: Entry, facts: Sequence[Fact] | None = None) -> bool:
    """Return whether a commit breaks what other people use, run or extend."""
    found = entry.facts if facts is None else facts
    return any(effect(each) is Effect.BREAK and whom(each) is not Whom.INTERNALS for each in found)


def proven_consequences(entry: Entry, language: Language, facts: Sequence[Fact] | None = None) -> list[str]:
    """Return what a commit's facts mean to others, what is to be told beside its title first."""
    found = consequences(entry, language, facts)
    return [each.what for each in found if each.facts and each.whom is not Whom.INTERNALS]


def title_line(entry: Entry, say: Catalogue) -> str:
    """Return a title without tags and number, and in parentheses whom its tags concern if there is room."""
    words = plain_title(entry.commit).rstrip(" .")
    parts = [part for part in concerned_parts(entry.commit) if part.casefold() not in words.casefold()][:_PARTS]
    whole = f"{words} ({say.context('between the items of a list', ', ').join(parts)})" if parts else words
    ends = [end for each in (_STOP, _JOINT) for end in reversed([*each.finditer(words, _BEGUN)])]
    clauses = (_LABEL.sub("", words[: end.start()]) for end in ends)
    told = (each for each in (whole, words, *filter(_is_closed, clauses)) if fits(each))
    return next(told, shorten(words.replace("`", ""), LENGTH))


def _is_closed(clause: str) -> bool:
    """Return whether a clause ends in no quotation and no parenthesis."""
    return not any(clause.count(mark) % 2 for mark in '`"') and clause.count("(") == clause.count(")")


def _from_facts(entry: Entry, facts: Sequence[Fact], say: Catalogue) -> list[Consequence]:
    groups: dict[object, list[Fact]] = {}
    ranked = sorted(facts, key=lambda each: -_WHOM.index(_whom(entry, each)))
    meant = {_change(each): _whom(entry, each) for each in ranked}
    by_place = len({destination(fact) for fact in facts if fact.kind is FactKind.MOVED_NAME}) <= _PLACES
    for fact in distinct(facts):
        place = destination(fact) if by_place and fact.kind is FactKind.MOVED_NAME else ""
        if fact.kind in DEPENDENCIES:  # a limit that goes asks nothing of anybody
            place = own_file(entry.commit, fact) + (ANY_VERSION if fact.new == ANY_VERSION else "")
        groups.setdefault((family(fact.kind), meant[_change(fact)], effect(fact), place), []).append(fact)
    return [_consequence(entry, sorted(alike, key=_naming_order), say) for alike in groups.values()]


def _change(fact: Fact) -> object:
    """Return what a fact changes: what it does to a parameter concerns those whom it concerns in another function."""
    return (fact.kind, parameter_of(fact), fact.new) if fact.kind in PARAMETER_KINDS else fact


def _whom(entry: Entry, fact: Fact) -> Whom:
    """Return whom a fact concerns: what breaks, and what the title names as well, is more than an internal."""
    found, name = whom(fact), fact.name.partition("(")[0].rpartition(".")[2]
    is_told = effect(fact) is Effect.BREAK and names_code(name) and _names(plain_title(entry.commit), name)
    return Whom.EXTENDERS if found is Whom.INTERNALS and is_told else found


def _naming_order(fact: Fact) -> tuple[int, ...]:
    """Return the sort key of facts told together: what most meet, base classes, and of names classes, functions, constants."""
    name = fact.name.partition("(")[0].rpartition(".")[2].lstrip("_")
    path = fact.path or ""
    is_heir = bool(AREAS["touches models"].search(path)), not BASE_FILE.search(path), not BASE_CLASS.match(fact.name)
    return reach(fact), *is_heir, name.isupper(), name[:1].islower()


def _consequence(entry: Entry, facts: Sequence[Fact], say: Catalogue) -> Consequence:
    first = facts[0]
    what = sentence(entry, facts, say)
    if first.kind is FactKind.SECURITY:
        what = say("Security: {what}", what=title_line(entry, say))
    return Consequence(
        what=what,
        whom=_whom(entry, first),
        effect=effect(first),
        action=advice_for(facts, say),
        reach=min(reach(first), INTERFACE) if is_interface(facts) else reach(first),
        facts=tuple(facts),
    )


def order(each: Consequence) -> tuple[int, ...]:
    """Return the sort key of a consequence: whom it concerns, what it does, how certain it is, and how many meet it."""
    kind = _KINDS.index(each.facts[0].kind) if each.facts else len(_KINDS)
    likely = each.certainty is Certainty.LIKELY
    # What is new hurts nobody: it comes after all that others have to do something about.
    whom = max(each.whom, Whom.EXTENDERS, key=_WHOM.index) if each.effect is Effect.ADDITION else each.whom
    return _WHOM.index(whom), _EFFECTS.index(each.effect), likely, each.reach, -len(each.facts), kind


def _with_names(title: str, first: Consequence, say: Catalogue) -> str:
    """Return what tells a change as a whole, and behind it the names that prove it, as many as have room."""
    of_versions = first.effect is Effect.REQUIREMENT
    names = [required(each) if of_versions else _proven(each) for each in first.facts]
    if not names or any((_IS_PATH.search(each) or _names(title, each)) for each in names):
        return title
    owners = [each.rpartition(".")[0] for each in names]
    for place in range(len(names) - 1, 0, -1):  # whose a name is, is said once
        if owners[place] and owners[place] == owners[place - 1]:
            names[place] = names[place].rpartition(".")[2]
    shown = list(dict.fromkeys(code(one_line(each)) for each in names))
    words, parts = title, []
    if title.endswith(")"):  # whom its tags concern
        words, _, last = title[:-1].rpartition(" (")
        parts = [last]
    lines = (
        say("{title} ({names})", title=words, names=join_items([*parts, *shown[:count]], say))
        for count in range(len(shown), 0, -1)
    )
    return next(filter(fits, lines), title)


def _proven(fact: Fact) -> str:
    """Return what a fact proves, behind a title: a setting with the value that it has now, or a function without its parameter."""
    value = (fact.new or "").rpartition(".")[2]
    if fact.kind is FactKind.VALUES_DROPPED and fact.old:
        return fact.old
    is_default = fact.kind in (FactKind.CONDITIONAL_DEFAULT, FactKind.DEFAULT_CHANGED) and value.isidentifier()
    if fact.kind is FactKind.SETTING_ON or (fact.kind is FactKind.NEW_SETTING and fact.new):
        return f"{fact.name}={fact.new or True}"
    return f"{fact.name}={value}" if is_default and value != "None" else fact.name.rpartition("(")[0] or fact.name


def _names(title: str, name: str) -> bool:
    """Return whether a title has a name, as it is or without its class; `SomeName` is `some_name`."""
    if name.startswith("-"):
        return name in title
    found = (*title.split(), *re.findall(r"[\w.]+", title))  # `multi-modal` is a name, `old`/`new` are two
    words = {re.sub(r"\W|_", "", each).lower() for word in found for each in (word, word.rpartition(".")[2])}
    return any(re.sub(r"\W|_", "", each).lower() in words for each in (name, name.rpartition(".")[2]))
