"""Classes, functions, methods and constants that others import or call, and that are there no more."""

import re
from collections.abc import Iterator, Sequence

from analysis.diff import hunks
from analysis.facts.change import Change, is_module, is_public, old_path, undefines
from analysis.facts.modules import came_to, importable, imported
from analysis.facts.python import Definition, Side, bases_of, definitions, gone_classes, statements
from analysis.facts.removals import Named, lost
from analysis.models import Fact, FactKind, FileChange

# What a class that has no other bases inherits is no stand-in for a method that goes.
_BARE = re.compile(
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
    before = _named(file, "-") if undefines(file) and is_public(file) else []
    if any(each.sign == "-" for each in before):
        after = _named(file, "+")
        members = [each for each in before if each.within or not is_module(file)]
        others = [each for each in before if not each.within and is_module(file)]
        found = [*lost(change, file, members, after, *_KINDS), *_of_module(change, file, others, after)]
        yield from sorted(found, key=lambda fact: fact.line or 0)


def _of_module(change: Change, file: FileChange, before: Sequence[Named], after: Sequence[Named]) -> Iterator[Fact]:
    """What cannot be imported from its module any more, though another may have it."""
    stays = importable(change, file) if any(each.sign == "-" for each in before) else None
    for fact in lost(change, file, before, after, *_KINDS, stays):
        place = came_to(change, file, fact.name)
        yield fact.model_copy(update={"kind": FactKind.MOVED_NAME, "old": fact.place, "new": place}) if place else fact


def unexported(change: Change, file: FileChange) -> Iterator[Fact]:
    """Names that a package took from its modules and lists no more, neither in its imports nor in what it exports."""
    if not file.path.endswith("__init__.py") or file.status != "modified" or not is_module(file):
        return
    stays, dropped = importable(change, file), {name for each in statements(file.patch, "-") for name in imported(each)}
    for hunk in hunks(file.patch):
        for line in hunk:
            listed = _LISTED.match(line.text) if line.sign == "-" else None
            if listed and listed[1] in dropped and not listed[1].startswith("_") and not stays(listed[1]):
                yield Fact(kind=FactKind.REMOVED_NAME, name=listed[1], path=file.path, line=line.number)


def moved(change: Change, file: FileChange) -> Iterator[Fact]:
    """A Python module that others import by a path it no longer has."""
    old = old_path(file)
    is_named = old.endswith(".py") and not old.endswith("/__init__.py")  # which empty file became which is a guess
    becomes_package = file.path == f"{old.removesuffix('.py')}/__init__.py"
    if file.status != "renamed" or not is_named or becomes_package or not is_public(file):
        return
    if not any(each.path == old and each.status != "removed" for each in change.commit.files):
        yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def demanded(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Abstract methods that a public class did not have: what inherits from it must bring them along."""
    if file.status == "added" or not is_module(file) or "abstractmethod" not in (file.patch or ""):
        return
    before = {each.name for each in definitions(file.patch, "-")}
    moved_within = set(_METHOD_GONE.findall(file.patch or ""))  # whose they were cannot always be told
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


def _named(file: FileChange, side: Side) -> list[Named]:
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
    """The public names of a module. A class that goes takes its members along, and one may inherit them from now on."""
    gone = gone_classes(file.patch)
    heads = {each.name: each for each in definitions(file.patch, "+") if each.what == "class"}
    for each in definitions(file.patch, side):
        within = each.name.rpartition(".")[0]
        if not each.public or each.last.startswith("test") or within in gone:
            continue
        own = each.what == "method" and _is_bare(each.statement.owner.bases)
        still_own = own and (within not in heads or _is_bare(bases_of(heads[within])))
        if each.what in ("class", "function", "member") or _exported_constant(each) or still_own:
            yield Named(each.last, each.line.sign, each.line.number, each.statement.hunk, within, _but_for_name(each))


def _but_for_name(each: Definition) -> str:
    """What two forms of one name have in common: all of the head but the name, and so parameters, bases or value."""
    return each.statement.text.replace(each.last, "", 1)


def _exported_constant(each: Definition) -> bool:
    """Whether a module's variable is written like a constant or a type, and is more than a type's parameter."""
    return each.what == "constant" and bool(_CONSTANT.match(each.name)) and not _PARAMETER.search(each.statement.text)


def _is_bare(bases: str | None) -> bool:
    """Whether nothing else can answer to a method's name: its class is seen to inherit from nothing that could."""
    return bases is not None and all(_BARE.match(base.strip()) for base in bases.split(",") if base.strip())
