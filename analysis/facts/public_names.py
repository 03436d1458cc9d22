"""Removed, renamed and moved public names: classes, functions, methods, constants and modules."""

import re
from collections.abc import Iterator, Sequence

from analysis.diff import hunks
from analysis.facts.change import Change, is_module, is_public, old_path, undefines
from analysis.facts.modules import came_to, importable, imported
from analysis.facts.python import Definition, Side, bases_of, definitions, gone_classes, statements
from analysis.facts.removals import Named, removals
from analysis.models import Fact, FactKind, FileChange

# Bases that cannot provide a method in place of a removed one.
_BARE_BASE = re.compile(
    r"(?:object|(?:abc\.)?ABC|(?:\w+\.)?(?:Protocol|Generic|NamedTuple|TypedDict|BaseModel|Module)(?:\[.*\])?|\w*Enum|Flag"
    r"|metaclass\s*=.*)$"
)
_KINDS = (FactKind.REMOVED_NAME, FactKind.RENAMED_NAME)
_METHOD_GONE = re.compile(r"^-[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_CONSTANT = re.compile(r"[A-Z]\w{2,}$")
_LISTED = re.compile(r"""\s+["'](\w+)["'],$""")
_PARAMETER = re.compile(r"=\s*[\w.]*(?:TypeVar|ParamSpec|getLogger)\w*\(")
_EXPORTED = {
    "rs": re.compile(r"\s*pub\s+(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|type)\s+(?P<name>\w+)"),
    "go": re.compile(r"(?:func|type)\s+(?P<name>[A-Z]\w*)"),
    "ts": re.compile(
        r"export\s+(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function|class|interface|type|const|enum)\s+(?P<name>\w+)"
    ),
}
_EXPORTED |= dict.fromkeys(("js", "jsx", "tsx", "mjs"), _EXPORTED["ts"])


def names(change: Change, file: FileChange) -> Iterator[Fact]:
    before = _names_of(file, "-") if undefines(file) and is_public(file) else []
    if any(each.sign == "-" for each in before):
        after = _names_of(file, "+")
        members = [each for each in before if each.within or not is_module(file)]
        others = [each for each in before if not each.within and is_module(file)]
        found = [*removals(change, file, members, after, *_KINDS), *_gone_from_module(change, file, others, after)]
        yield from sorted(found, key=lambda fact: fact.line or 0)


def _gone_from_module(
    change: Change, file: FileChange, before: Sequence[Named], after: Sequence[Named]
) -> Iterator[Fact]:
    """Yield names that can no longer be imported from their module, though another module may define them."""
    stays = importable(change, file) if any(each.sign == "-" for each in before) else None
    for fact in removals(change, file, before, after, *_KINDS, stays):
        place = came_to(change, file, fact.name)
        yield fact.model_copy(update={"kind": FactKind.MOVED_NAME, "old": fact.place, "new": place}) if place else fact


def unexported(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield names that a package re-exported and no longer lists, neither in its imports nor in its exports."""
    if not file.path.endswith("__init__.py") or file.status != "modified" or not is_module(file):
        return
    stays, dropped = importable(change, file), {name for each in statements(file.patch, "-") for name in imported(each)}
    for hunk in hunks(file.patch):
        for line in hunk:
            listed = _LISTED.match(line.text) if line.sign == "-" else None
            if listed and listed[1] in dropped and not listed[1].startswith("_") and not stays(listed[1]):
                yield Fact(kind=FactKind.REMOVED_NAME, name=listed[1], path=file.path, line=line.number)


def moved(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the fact that a Python module's import path changed."""
    old = old_path(file)
    is_named = old.endswith(".py") and not old.endswith("/__init__.py")  # for empty files the renaming is a guess
    becomes_package = file.path == f"{old.removesuffix('.py')}/__init__.py"
    if file.status != "renamed" or not is_named or becomes_package or not is_public(file):
        return
    if not any(each.path == old and each.status != "removed" for each in change.commit.files):
        yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def demanded(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield abstract methods added to a public class, which its subclasses must now implement."""
    if file.status == "added" or not is_module(file) or "abstractmethod" not in (file.patch or ""):
        return
    before = {each.name for each in definitions(file.patch, "-")}
    moved_within = set(_METHOD_GONE.findall(file.patch or ""))  # their class cannot always be determined
    after = definitions(file.patch, "+")
    come = {each.name for each in after if each.what == "class" and each.line.sign == "+"} - before
    for each in after:
        is_new = each.name not in before and each.last not in moved_within
        if each.statement.owner.name not in come and is_new and _abstract(each):
            yield Fact(kind=FactKind.REQUIRED_METHOD, name=each.name, path=file.path, line=each.line.number)


def _abstract(each: Definition) -> bool:
    marks = each.statement.decorators
    added = each.what == "method" and each.line.sign == "+" and each.public
    return added and any("abstractmethod" in mark for mark in marks)


def _names_of(file: FileChange, side: Side) -> list[Named]:
    if file.path.endswith((".py", ".pyi")):
        return list(_python(file, side))
    pattern = _EXPORTED.get(file.path.rpartition(".")[2])
    if not pattern:
        return []
    return [
        Named(match["name"], line.sign, line.number, place)
        for place, hunk in enumerate(hunks(file.patch))
        for line in hunk
        if line.sign in (" ", side) and (match := pattern.match(line.text))
    ]


def _python(file: FileChange, side: Side) -> Iterator[Named]:
    """Yield a module's public names, without the members of a removed class and methods that may now be inherited."""
    gone = gone_classes(file.patch)
    heads = {each.name: each for each in definitions(file.patch, "+") if each.what == "class"}
    for each in definitions(file.patch, side):
        within = each.name.rpartition(".")[0]
        if not each.public or each.last.startswith("test") or within in gone:
            continue
        own = each.what == "method" and _is_bare(each.statement.owner.bases)
        still_own = own and (within not in heads or _is_bare(bases_of(heads[within])))
        if each.what in ("class", "function", "member") or _exported_constant(each) or still_own:
            yield Named(each.last, each.line.sign, each.line.number, each.statement.hunk, within, _nameless_head(each))


def _nameless_head(each: Definition) -> str:
    """Return a definition's head without its name: its parameters, bases or value, equal for a renamed definition."""
    return each.statement.text.replace(each.last, "", 1)


def _exported_constant(each: Definition) -> bool:
    """Return whether a module variable looks like a constant or a type, and is not a type parameter."""
    return each.what == "constant" and bool(_CONSTANT.match(each.name)) and not _PARAMETER.search(each.statement.text)


def _is_bare(bases: str | None) -> bool:
    """Return whether a class certainly inherits from nothing that could provide a removed method."""
    return bases is not None and all(_BARE_BASE.match(base.strip()) for base in bases.split(",") if base.strip())
