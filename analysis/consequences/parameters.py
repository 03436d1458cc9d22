"""Changed parameters of functions as a sentence: what changes alike in one clause, as many clauses as fit."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter

from analysis.consequences.names import NAMED, few, fits, together
from analysis.locale import Catalogue
from analysis.locale.punctuation import join_items
from analysis.models import Fact, FactKind
from analysis.writing.by_rules import code
from analysis.writing.fact_sentences import FACT_SENTENCES

PARAMETER_KINDS = frozenset(each for each in FactKind if each.name.endswith(("_PARAMETER", "PARAMETER_KIND")))
_NEW = frozenset({FactKind.REQUIRED_PARAMETER, FactKind.ADDED_PARAMETER})
# What changes parameters is told together if it is of one sort, the first sort first.
_SORTS = (
    {FactKind.RENAMED_PARAMETER},
    {FactKind.REMOVED_PARAMETER, *_NEW},
    {FactKind.PARAMETER_KIND},
    {FactKind.MOVED_PARAMETER},
)
_PARAMETER = re.compile(r"(?P<function>[^()]+)\((?P<parameter>[^()]+)\)")


def parameter_changes(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield how the parameters of functions change: what changes alike in a clause, as many clauses as fit."""
    functions = list(dict.fromkeys(map(_function, facts)))
    yield from _insertion(facts, functions, say)
    groups = _changed_alike(facts)
    clauses = [told for alike in groups[:NAMED] if (told := [*filter(fits, _clauses(alike, say))])]
    if clauses:
        first, *others = clauses
        named = [each for each in first if "()" in each and all(code(parameter_of(one)) in each for one in groups[0])]
        yield max((_with_others(each, others, say) for each in named or first[:1]), key=itemgetter(0))[1]
    parameters = FACT_SENTENCES[FactKind.REMOVED_PARAMETER].counted(len({each.name for each in facts}), say)
    for owner in _told(functions, say):
        yield say("Changes {what}", what=say("{what} of {owner}", what=parameters, owner=owner))


def _with_others(first: str, others: Sequence[Sequence[str]], say: Catalogue) -> tuple[int, str]:
    """Return how many clauses a sentence has that begins with one, and the sentence: of each of the others the fullest that fits."""
    count, told = 1, first
    for clauses in others:
        joined = (say("{clause}; {other}", clause=told, other=f"{each[:1].lower()}{each[1:]}") for each in clauses)
        if longer := next(filter(fits, joined), ""):
            count, told = count + 1, longer
    return count, told


def _changed_alike(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Return the facts by what they do to a function, then by the parameters that they do it to; new names come first."""
    groups: dict[tuple[int, object], list[Fact]] = {}
    for sort, kinds in enumerate(_SORTS):
        by_function: dict[str, list[Fact]] = {}
        for each in facts:
            if each.kind in kinds:
                by_function.setdefault(_function(each), []).append(each)
        for alike in by_function.values():
            changes = frozenset((each.kind, parameter_of(each), (each.new or "").rpartition("(")[2]) for each in alike)
            groups.setdefault((sort, changes), []).extend(alike)
    return list(groups.values())


def _clauses(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield clauses about parameters that change alike in some functions, the fullest first."""
    functions = list(dict.fromkeys(map(_function, facts)))
    if facts[0].kind is FactKind.MOVED_PARAMETER:
        names = [each.name.replace(".__init__(", "(") for each in facts]
        yield FACT_SENTENCES[facts[0].kind].named(together(names, say), len(set(names)), say)
        return
    for told in _told(functions, say):
        if facts[0].kind is FactKind.PARAMETER_KIND:
            names = list(dict.fromkeys(map(parameter_of, facts)))
            by_name = (facts[0].new or "(*").rpartition("(")[2].startswith("*")
            how = say("by name alone") if by_name else say("by position alone")
            for each in few(names, say):
                takes = {"function": told, "names": each, "how": how}
                yield say.plural(
                    "{function} takes {names} {how}", "{function} take {names} {how}", len(functions), **takes
                )
        elif facts[0].kind is FactKind.RENAMED_PARAMETER:
            pairs = dict.fromkeys((parameter_of(each), each.new or "") for each in facts)
            renamed = [say("{name} to {new}", name=code(old), new=code(new)) for old, new in pairs]
            yield say("Renames {names} in {function}", names=join_items(renamed, say), function=told)
        else:
            yield from _taken(facts, told, len(functions), say)


def parameter_defaults(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield which parameter of some functions has another default, the same in each; nothing for other settings."""
    parameters, [fact, *_] = {parameter_of(each) for each in facts}, facts
    functions = list(dict.fromkeys(map(_function, facts)))
    if len(parameters) > 1 or not all(_PARAMETER.fullmatch(each.name) for each in facts):
        return
    new, old = code(fact.new or "None"), code(fact.old or "None")
    for told in _told(functions, say):
        name = say("{what} of {owner}", what=code(*parameters), owner=told)
        yield say("{name} now defaults to {new} (was {old})", name=name, new=new, old=old)
        yield say("{name} now defaults to {new}", name=name, new=new)


def _taken(facts: Sequence[Fact], told: str, count: int, say: Catalogue) -> Iterator[str]:
    """Yield what functions, `count` of them and `told` so, take that they did not, or no longer take."""
    gone, new = (
        list(dict.fromkeys(parameter_of(each) for each in facts if (each.kind in _NEW) is is_new))
        for is_new in (False, True)
    )
    if all(each.kind is FactKind.ADDED_PARAMETER for each in facts):
        yield from (say("Adds {new} to {function}", new=each, function=told) for each in few(new, say))
        return
    counted = FACT_SENTENCES[FactKind.REMOVED_PARAMETER].counted(len(gone), say)
    old_ones = (*few(gone, say), *([counted] if gone[2:] else []))
    for old, other in zip_longest(old_ones, few(new, say), fillvalue=""):
        names = {
            "function": told,
            "old": old or code(gone[0] if gone else ""),
            "new": other or code(new[0] if new else ""),
        }
        if gone and new:
            yield say.plural(
                "{function} takes {new} instead of {old}", "{function} take {new} instead of {old}", count, **names
            )
        elif gone:
            yield say.plural("{function} no longer takes {old}", "{function} no longer take {old}", count, **names)
        else:
            yield say.plural("{function} now requires {new}", "{function} now require {new}", count, **names)


def _insertion(facts: Sequence[Fact], functions: Sequence[str], say: Catalogue) -> Iterator[str]:
    """Yield which new parameter functions take before another one, if that is all that changes, and in each of them."""
    moved = [each for each in facts if each.kind is FactKind.MOVED_PARAMETER and each.new]
    new = {(each.new or "").partition("(")[2].partition(",")[0] for each in moved}
    is_all = all(
        each in moved or (each.kind is FactKind.ADDED_PARAMETER and parameter_of(each) in new) for each in facts
    )
    changes = [{(each.kind, parameter_of(each)) for each in facts if _function(each) == name} for name in functions]
    if len(new) == 1 and is_all and all(each == changes[0] for each in changes):
        inserted, old = code(new.pop()), code(parameter_of(moved[0]))
        for function in _told(functions, say):
            yield say("Inserts {new} before {old} in {function}", new=inserted, old=old, function=function)


def _told(functions: Sequence[str], say: Catalogue) -> Iterator[str]:
    """Yield functions by their names, without their classes, by the first ones, and by how many they are."""
    lasts = list(dict.fromkeys(each.rpartition(".")[2] for each in functions))
    yield from (together(names, say) for names in (functions, lasts) if len(names) == len(functions) <= NAMED)
    yield from (told for names in (functions, lasts) for told in few(names, say, counted=False))
    if len(functions) > 1:
        yield say(
            "{count} constructors" if all(each[:1].isupper() for each in lasts) else "{count} functions",
            count=len(functions),
        )


def _function(fact: Fact) -> str:
    """Return the function whose parameter a fact is about, and of a constructor its class, as it is called."""
    match = _PARAMETER.fullmatch(fact.name)
    return f"{match['function'].removesuffix('.__init__')}()" if match else fact.name


def parameter_of(fact: Fact) -> str:
    match = _PARAMETER.fullmatch(fact.name)
    return match["parameter"] if match else fact.name
