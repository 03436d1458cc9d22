"""Facts of one kind as a sentence of at most 90 characters: by their names, or by how many there are and what they share."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest

from analysis.consequences.audience import RESULT
from analysis.consequences.distinct import renamed_to, replaced_by
from analysis.consequences.names import LENGTH, NAMED, few, fits, last_part, module, moves, together
from analysis.consequences.parameters import PARAMETER_KINDS, parameter_changes, parameter_defaults
from analysis.facts.dependencies import ANY_VERSION
from analysis.facts.requirements import is_installed_from
from analysis.locale import Catalogue, mark
from analysis.locale.punctuation import join_items, spaced
from analysis.models import DEPENDENCIES, Commit, Entry, Fact, FactKind
from analysis.ranking.signals import split_title
from analysis.text import mentions, one_line, shorten
from analysis.writing.by_rules import code
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.titles import END

_AROUND_TITLE = 15  # characters around the title of what is reverted
_ALIKE = frozenset({FactKind.REMOVED_METHOD, FactKind.REMOVED_ATTRIBUTE})
_RENAMED = {
    FactKind.REMOVED_METHOD: FactKind.RENAMED_METHOD,
    FactKind.REMOVED_ATTRIBUTE: FactKind.RENAMED_NAME,
    FactKind.REMOVED_NAME: FactKind.RENAMED_NAME,
}
_MEMBERS = {"property": mark("a property"), "attribute": mark("an attribute"), "method": mark("a method")}
_REQUIREMENTS = frozenset({FactKind.MINIMUM_RAISED, FactKind.DEPENDENCY_MOVED})
_REVERT = re.compile(r"(?:un-?)?revert(?:s|ing)?\b[:\s]*", re.IGNORECASE)
_FOR_ALL = re.compile(r"(?:requirements/)?(?:pyproject|setup|requirements|common|base|core|main|package|Cargo|go)\.\w+")


def family(kind: FactKind) -> str:
    """Return what facts of this kind are told together with: other changes of parameters or of required versions."""
    if kind in PARAMETER_KINDS:
        return "parameters"
    return "requirements" if kind in _REQUIREMENTS else kind.value


def sentence(entry: Entry, facts: Sequence[Fact], say: Catalogue) -> str:
    """Return what facts of one family change in a commit: the fullest wording that is short enough, with `code` spans."""
    lines = [one_line(spaced(each)) for each in _wordings(entry.commit, facts, say)]
    first = next((each for each in lines if fits(each)), lines[-1])
    names = list(takewhile(bool, (renamed_to(entry.commit, each) for each in facts)))
    if len(names) == len(facts):
        told = zip(facts, names, strict=True)
        renamed = [each.model_copy(update={"kind": _RENAMED[each.kind], "new": name}) for each, name in told]
        return next(filter(fits, map(spaced, _renamed(renamed, say))), first)
    new = list(takewhile(bool, (replaced_by(entry, each) for each in facts)))
    return next(filter(fits, _replaced(lines, facts, new, say)), first) if len(new) == len(facts) else first


def _replaced(lines: Sequence[str], facts: Sequence[Fact], new: Sequence[str], say: Catalogue) -> Iterator[str]:
    """Yield the sentences about what goes with what takes its place: one thing that of all, or each that of one."""
    named = lines[:-1] or lines  # the last has no names
    if len(set(new)) > 1:
        pairs = [
            say("{name} (now {new})", name=code(last_part(each.name)), new=code(to))
            for each, to in zip(facts, new, strict=True)
        ]
        yield FACT_SENTENCES[facts[0].kind].named(together(pairs, say, str), len(facts), say, _owner(facts))
    else:
        last = new[0].rpartition(".")[2]
        short = new[0] if last in facts[0].name else last
        told = ((each, what) for what in (new[0], short) for each in named)
        yield from (say("{change}; use {new} instead", change=each, new=code(what)) for each, what in told)


def _owner(facts: Sequence[Fact]) -> str:
    """Return the class that names have in common, as code; "" if there is none."""
    owners = {each.name.rpartition(".")[0] for each in facts}
    return code(owners.pop()) if len(owners) == 1 and all(owners) else ""


def _wordings(commit: Commit, facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield sentences about the same facts, the fullest first; the last is always short."""
    first, count = facts[0], len({each.name for each in facts})
    sentences = FACT_SENTENCES[first.kind]
    if first.kind in PARAMETER_KINDS:
        yield from parameter_changes(facts, say)
        return
    if first.kind in (FactKind.MOVED_MODULE, FactKind.MOVED_NAME):
        yield from moves(facts, say)
        return
    if first.kind is FactKind.REMOVED_NAME and (gone := _deleted_module(commit, facts)):
        yield say("Removes the module {module}", module=gone)
    yield from _one_of_many(facts, say)
    yield from _named(commit, facts, say)
    yield from _of_owners(facts, say)
    if count == len(last := {last_part(each.name): None for each in facts}) and count <= NAMED:
        yield sentences.named(together(list(last), say), count, say)
    names, is_counted = list(dict.fromkeys(each.name for each in facts)), first.kind is not FactKind.RETURNED_VALUES
    for told in (few(each, say, counted=is_counted) for each in (names, list(map(last_part, names)))):
        yield from (sentences.named(each, count, say) for each in told)
    yield say(sentences.change, what=sentences.counted(count, say))


def _one_of_many(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield sentences about one member that several classes lose."""
    names, owners = (list(dict.fromkeys(each.name.rpartition(".")[end] for each in facts)) for end in (2, 0))
    if facts[0].kind in _ALIKE and len(names) == 1 and len(owners) > 1:
        for owner in (together(owners, say), say("{count} classes", count=len(owners))):
            yield FACT_SENTENCES[facts[0].kind].named(code(names[0]), 1, say, owner)


def _of_owners(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield sentences about names with the class or module that they have in common."""
    first, names = facts[0], list(dict.fromkeys(last_part(each.name) for each in facts))
    for told in few(names, say):
        if first.kind is FactKind.REMOVED_NAME and len({each.path for each in facts}) == 1:
            yield say("Removes {names} from {module}", names=told, module=module(first.path))
        elif owner := _owner(facts):
            yield FACT_SENTENCES[first.kind].named(told, len(names), say, owner)


def _named(commit: Commit, facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield sentences that name one or two facts, the last without what is special to their kind."""
    first = facts[0]
    names = together([each.name for each in facts], say)
    match first.kind:
        case FactKind.VALUES_DROPPED | FactKind.VALUES_ADDED if len({(each.old, each.new) for each in facts}) == 1:
            yield from _values(facts, say)
        case FactKind.DEFAULT_CHANGED if len({(each.old, each.new) for each in facts}) == 1 < len(facts):
            yield from parameter_defaults(facts, say)
        case FactKind.DEPRECATED:
            yield from _deprecation(facts, names, say)
        case FactKind.REMOVED_NAME if len({each.path for each in facts}) == 1:
            yield say("Removes {names} from {module}", names=names, module=module(first.path))
        case kind if kind in DEPENDENCIES:
            yield from _dependencies(commit, facts, say)
        case FactKind.REMOVED_BASE:
            yield from _bases(facts, say)
        case kind if kind.name.startswith("RENAMED") and all(each.new for each in facts):
            yield from _renamed(facts, say)
        case _ if len(facts) == 1:
            yield from _one(first, say)
    yield FACT_SENTENCES[first.kind].named(names, len(facts), say)


def _renamed(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield which names became which: one with whose it is, all of them in full, then by their last parts as many as fit."""
    facts = sorted(facts, key=lambda each: len(each.name))  # `Pool` is better known than `PoolOfPages`
    sentences, owners = FACT_SENTENCES[facts[0].kind], dict.fromkeys(each.name.rpartition(".")[0] for each in facts)
    whole, last = (
        list(dict.fromkeys((code(tell(each.name)), code(tell(each.new or ""))) for each in facts))
        for tell in (str, last_part)
    )
    pairs = [[say("{name} to {new}", name=old, new=new) for old, new in each] for each in (whole, last)]
    told = [*(join_items(each, say) for each in pairs), *few(pairs[1], say, str)]
    if len(last) == 1 and facts[0].kind in _RENAMED.values() and (len(owners) > 1 or "" in owners):
        place = together(list(owners), say) if all(owners) else module(facts[0].path)
        name = say("{what} of {owner}", what=last[0][0], owner=place)
        told = [say("{name} to {new}", name=name, new=last[0][1]), *told]
    for each in told:
        yield say.context("names to others", "Renames {what}", what=sentences.what(each, len(last), say))


def _one(fact: Fact, say: Catalogue) -> Iterator[str]:
    """Yield sentences about a single fact of the kinds whose old and new value or owner matter."""
    name, new = code(fact.name), code(fact.new or "None")
    match fact.kind:
        case FactKind.DEFAULT_CHANGED:
            yield say("{name} now defaults to {new} (was {old})", name=name, new=new, old=code(fact.old or "None"))
            yield say("{name} now defaults to {new}", name=name, new=new)
        case FactKind.NEW_SETTING if fact.new:
            yield say("Adds {name} (default {new})", name=name, new=new)
        case FactKind.EXTRA_MOVED:
            old = code(fact.old or ANY_VERSION)
            yield say("Optional dependency {name} is now {new} (was {old})", name=name, new=new, old=old)
        case FactKind.RETURNED_VALUES:
            now = say("one value") if fact.new == "1" else say("{count} values", count=fact.new)
            yield say("{name} now returns {new} instead of {old}", name=code(f"{fact.name}()"), new=now, old=fact.old)
        case FactKind.MEMBER_KIND if fact.new in _MEMBERS:
            old, now = (say(_MEMBERS[each or "method"]) for each in (fact.old, fact.new))
            yield say("{name} is now {new}, not {old}", name=name, new=now, old=old)
        case FactKind.ENTRY_RENAMED if fact.old and "." in fact.old:
            registry = code(fact.old.rpartition(".")[0])
            yield say("Renames {name} of {registry} to {new}", name=name, registry=registry, new=new)
        case FactKind.CONDITIONAL_DEFAULT if fact.new:
            yield say("Sets {name} to {new} in some configurations", name=name, new=new)
        case FactKind.RETYPED if fact.new:
            yield from _retyped(fact, say)
        case FactKind.REVERT:
            yield from _revert(fact.name, say)


def _retyped(fact: Fact, say: Catalogue) -> Iterator[str]:
    """Yield sentences about the new type of a setting or a parameter, or of what a function returns."""
    name, new = code(fact.name), code(fact.new or "None")
    if not fact.name.endswith(RESULT):
        yield say("The type of {name} is now {new}", name=name, new=new)
        return
    function = code(f"{fact.name.removesuffix(RESULT)}()")
    yield say("{name} now returns {new} (was {old})", name=function, new=new, old=code(fact.old or ""))
    yield say("{name} now returns {new}", name=function, new=new)


def _bases(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield which classes no longer inherit from which, by their names or by how many they are."""
    classes, bases = (
        list(dict.fromkeys(each.name.rstrip(")").partition("(")[end] for each in facts)) for end in (0, 2)
    )
    if bases == ["Protocol"]:
        heirs = together(classes, say)
        yield say("{name} is no longer a protocol: implementations must inherit from it", name=heirs)
    for told in (together(bases, say), say("{count} classes", count=len(bases))):
        yield say.plural(
            "{name} no longer inherits from {base}",
            "{name} no longer inherit from {base}",
            len(classes),
            name=together(classes, say),
            base=told,
        )


def _revert(title: str, say: Catalogue) -> Iterator[str]:
    """Yield what is reverted by its title, with and without its tags, then cut; one of a revert lands a commit again."""
    again, bare = _REVERT.match(title), split_title(title)[1].strip()
    for words in (title, bare, shorten(END.sub("", bare), LENGTH - _AROUND_TITLE)):
        named = END.sub("", _REVERT.sub("", words).strip(' "“”:'))
        what = named if named.startswith("#") else say("“{title}”", title=named)
        yield say("Lands {what} again", what=what) if again else say(FACT_SENTENCES[FactKind.REVERT].change, what=what)


def _values(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield which values settings accept that they did not, and which no longer."""
    old, new = ((values or "").split(", ") if values else [] for values in (facts[0].old, facts[0].new))
    for names in few([each.name for each in facts], say):
        for gone, added in zip_longest(few(old, say), few(new, say), fillvalue=""):
            values = {
                "name": names,
                "new": added or code(new[0] if new else ""),
                "old": gone or code(old[0] if old else ""),
            }
            if old and new:
                yield say.plural(
                    "{name} accepts {new}, no longer {old}",
                    "{name} accept {new}, no longer {old}",
                    len(facts),
                    **values,
                )
            elif old:
                yield say.plural(
                    "{name} no longer accepts {old}", "{name} no longer accept {old}", len(facts), **values
                )
            else:
                yield say.plural("{name} also accepts {new}", "{name} also accept {new}", len(facts), **values)


def _deprecation(facts: Sequence[Fact], names: str, say: Catalogue) -> Iterator[str]:
    """Yield what is deprecated, with the version that removes it if all have that in common."""
    deprecated, count, until = FACT_SENTENCES[FactKind.DEPRECATED], len(facts), {each.until for each in facts}
    lasts = together([last_part(each.name) for each in facts], say)
    for change in (deprecated.named(names, count, say), deprecated.named(lasts, count, say, _owner(facts))):
        if len(until) == 1 and (version := facts[0].until):
            yield say("{change}, to be removed in {version}", change=change, version=version)
        yield change


def _dependencies(commit: Commit, facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield what is required now, or which dependencies come or go, with the file where it is that of some users alone."""
    first = facts[0]
    if first.kind not in _REQUIREMENTS:
        names = together([each.name for each in facts], say)
        yield _with_file(FACT_SENTENCES[first.kind].named(names, len(facts), say), commit, first, say)
        return
    limited = first.new != ANY_VERSION
    change = mark("Now requires {names}") if limited else mark("No longer limits the version of {names}")
    packages = [code(required(each)) for each in facts]
    olds = [code(each.old) if each.old and each.old != ANY_VERSION else "" for each in facts]
    told = [
        say("{change} (was {old})", change=name, old=old) if old else name
        for name, old in zip(packages, olds, strict=True)
    ]
    for listed in (told, packages):
        needed = say(change, names=join_items(listed, say))
        yield _with_file(needed, commit, first, say)
        yield needed


def required(fact: Fact) -> str:
    """Return a requirement as it is written: `pydantic>=2.12.0`, `Python 3.10`."""
    name, new = "Python" if fact.name == "requires-python" else fact.name, fact.new or ""
    if new == ANY_VERSION:
        return name
    return f"{name}{new}" if new[:1] in "=<>!~" else f"{name} {new}"


def _with_file(change: str, commit: Commit, fact: Fact, say: Catalogue) -> str:
    """Add the file whose dependency alone changes."""
    file = own_file(commit, fact)
    return say("{change} in {file}", change=change, file=code(file)) if file else change


def own_file(commit: Commit, fact: Fact) -> str:
    """Return the requirements file whose dependency alone changes; "" if all users install what it lists."""
    if not fact.path or _FOR_ALL.fullmatch(fact.path):
        return ""
    others = [each for each in commit.files if each.path != fact.path and is_installed_from(each, lambda _: None)]
    elsewhere = any(each.patch is None or mentions(each.patch.lower(), fact.name.lower()) for each in others)
    return "" if elsewhere else fact.path


def _deleted_module(commit: Commit, facts: Sequence[Fact]) -> str:
    """Return the module that names are gone with; "" if it is still there, or they were in several."""
    paths = {each.path for each in facts}
    deleted = {file.path for file in commit.files if file.status == "removed"}
    return module(facts[0].path) if len(paths) == 1 and paths <= deleted else ""
