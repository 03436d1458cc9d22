"""Names as a sentence tells them: as code, a few of several, files as the modules that are imported, and where they move to."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import commonpath

from analysis.locale import Catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import Fact, FactKind
from analysis.text import shorten
from analysis.writing.by_rules import code
from analysis.writing.fact_sentences import FACT_SENTENCES

LENGTH = 90  # characters of a sentence, without the marks of code
WRITTEN_LENGTH = 100  # of one that a model wrote, which is asked for the same: it counts badly, and the title says less
NAMED = 8  # names that are told at most where they fit, and how many more there are


def fits(text: str, most: int = LENGTH) -> bool:
    """Return whether a sentence is short enough, its marks of code aside."""
    return len(text.replace("`", "")) <= most


def together(names: Sequence[str], say: Catalogue, tell: Callable[[str], str] = code) -> str:
    """Return a few names, each as `tell` writes it: as code."""
    *firsts, other = map(tell, dict.fromkeys(names))
    return say("{name} and {other}", name=join_items(firsts, say), other=other) if firsts else other


def few(
    names: Sequence[str], say: Catalogue, tell: Callable[[str], str] = code, *, counted: bool = True
) -> Iterator[str]:
    """Yield all names, then fewer and fewer of them with how many more there are, unless that is not known."""
    rest = mark("{names} and {count} more") if counted else mark("{names} and others")
    if 0 < len(names) <= NAMED:
        yield together(names, say, tell)
    for shown in range(min(len(names) - 1, NAMED), 0, -1):
        told = join_items(map(tell, names[:shown]), say)
        yield say(rest, names=told, count=len(names) - shown)


def last_part(name: str) -> str:
    """Return the last part of a dotted name, or of the module that a Python file is."""
    return dotted(name).rpartition(".")[2]


def module(place: str | None) -> str:
    """Return a Python file as the module that is imported, in a code span."""
    return code(shorten(dotted(place), LENGTH))


def dotted(place: str | None) -> str:
    """Return a Python file, with a line or without, as the module that is imported; another file as its path."""
    path = re.sub(r":\d+$", "", place or "")
    if not path.endswith(".py"):
        return path
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def moves(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield which modules, or names of them, moved and where to, the fullest first; where to only if that is one place."""
    names = [each.name for each in facts]
    is_module = facts[0].kind is FactKind.MOVED_MODULE
    if is_module:
        yield from _renamed_alike(facts, say)
    told = list(_modules(facts, say) if is_module else dict.fromkeys((together(names, say), *few(names, say))))
    if is_module or len(set(map(destination, facts))) == 1:
        for each in told:
            yield from _to(facts, each, say)
    elif len({each.path for each in facts}) == 1:
        told = [say("{what} of {owner}", what=each, owner=module(facts[0].path)) for each in told]
    yield from (say(FACT_SENTENCES[facts[0].kind].change, what=each) for each in told)


def _renamed_alike(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield what modules of several packages are called that had one name and got another."""
    names = {(last_part(each.name), destination(each).rpartition(".")[2]) for each in facts}
    [(old, new), *others] = names
    if len(facts) > 1 and not others and old != new:
        what = FACT_SENTENCES[FactKind.MOVED_MODULE].what(
            say("{name} to {new}", name=code(old), new=code(new)), len(facts), say
        )
        yield say.context("names to others", "Renames {what}", what=what)


def _modules(facts: Sequence[Fact], say: Catalogue) -> Iterator[str]:
    """Yield modules by their names in full, with the package that they have in common, and by their last parts."""
    sentences, count = FACT_SENTENCES[FactKind.MOVED_MODULE], len(facts)
    names = [dotted(each.name) for each in facts]
    if count == 1:
        yield from (together(names, say), code(last_part(names[0])))
        return
    yield sentences.what(together(names, say), count, say)
    if count > NAMED and (package := _common(each.name for each in facts)):
        yield say("{what} of {owner}", what=sentences.counted(count, say), owner=code(package))
    packages = {each.rpartition(".")[0] for each in names}
    owners = [*([code(*packages)] if len(packages) == 1 else []), ""]
    lasts = sorted(map(last_part, names), key=len)  # `pool` is better known than `pool_of_pages`
    yield from (sentences.what(told, count, say, owner) for owner in owners for told in few(lasts, say))


def _to(facts: Sequence[Fact], names: str, say: Catalogue) -> Iterator[str]:
    """Yield where to what is told as `names` moved, as a whole or by its last parts; nothing if it is not one other place."""
    place = destination(facts[0]) if len(facts) == 1 else _common(each.new or "" for each in facts)
    parts, is_module = place.split("."), facts[0].kind is FactKind.MOVED_MODULE
    if place and not (is_module and dotted(facts[0].name).startswith(f"{place}.")):
        ends = (".".join(["…", *parts[-count:]]) for count in range(len(parts) - 1, 1, -1))
        yield from (say("Moves {names} to {new}", names=names, new=code(new)) for new in (place, *ends))


def _common(places: Iterable[str]) -> str:
    """Return the package that modules, or names of them, have in common; the module if they are all of one."""
    paths = {re.sub(r":\d+$", "", each) for each in places}
    return dotted(f"{commonpath(paths)}/__init__.py") if len(paths) > 1 else dotted(paths.pop())


def destination(fact: Fact) -> str:
    """Return the module that a name moved to."""
    return dotted(fact.new)
