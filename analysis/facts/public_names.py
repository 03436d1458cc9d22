"""Removed, renamed and moved public names: classes, functions, methods, constants and modules."""

import re
from collections.abc import Iterator, Sequence

from analysis.diff import changed_lines, side_lines
from analysis.facts.change import Change, is_module, is_public, may_remove_definition, old_path
from analysis.facts.modules import imported_names, module_path, new_location, still_importable
from analysis.facts.python import Definition, Side, bases_of, definitions, removed_classes, statements
from analysis.facts.removals import Occurrence, removals
from analysis.models import Fact, FactKind, FileChange

# Bases that cannot provide a method in place of a removed one.
_BARE_BASE = re.compile(
    r"(?:object|(?:abc\.)?ABC|(?:\w+\.)?(?:Protocol|Generic|NamedTuple|TypedDict|BaseModel|Module)(?:\[.*\])?|\w*Enum|Flag"
    r"|metaclass\s*=.*)$"
)
_REMOVED_METHOD = re.compile(r"^-[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_CONSTANT = re.compile(r"[A-Z]\w{2,}$")
_LISTED = re.compile(r"""\s+["'](\w+)["'],$""")
_PARAMETER = re.compile(r"=\s*[\w.]*(?:TypeVar|ParamSpec|getLogger)\w*\(")
_CODE = re.compile(r"^[ \t]*([^\s#].*)", re.MULTILINE)
_EXPORTED = {
    "rs": re.compile(r"\s*pub\s+(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|type)\s+(?P<name>\w+)"),
    "go": re.compile(r"(?:func|type)\s+(?P<name>[A-Z]\w*)"),
    "ts": re.compile(
        r"export\s+(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function|class|interface|type|const|enum)\s+(?P<name>\w+)"
    ),
}
_EXPORTED |= dict.fromkeys(("js", "jsx", "tsx", "mjs"), _EXPORTED["ts"])


def public_names(change: Change, file: FileChange) -> Iterator[Fact]:
    before = _public_occurrences(file, "-") if may_remove_definition(file) and is_public(file) else []
    if any(each.line.sign == "-" for each in before):
        after = _public_occurrences(file, "+")
        members = [each for each in before if each.owner or not is_module(file)]
        others = [each for each in before if not each.owner and is_module(file)]
        found = removals(change, file, FactKind.REMOVED_NAME, members, after)
        yield from sorted([*found, *_removed_from_module(change, file, others, after)], key=lambda fact: fact.line or 0)


def _removed_from_module(
    change: Change, file: FileChange, before: Sequence[Occurrence], after: Sequence[Occurrence]
) -> Iterator[Fact]:
    """Yield names that can no longer be imported from their module, though another module may define them."""
    is_importable = still_importable(change, file) if any(each.line.sign == "-" for each in before) else None
    for fact in removals(change, file, FactKind.REMOVED_NAME, before, after, is_importable):
        place = new_location(change, file, fact.name)
        yield fact.model_copy(update={"kind": FactKind.MOVED_NAME, "old": fact.place, "new": place}) if place else fact


def removed_exports(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield names that a package re-exported and no longer lists, neither in its imports nor in its exports."""
    if not file.path.endswith("__init__.py") or file.status != "modified" or not is_module(file):
        return
    is_importable = still_importable(change, file)
    no_longer_imported = {name for each in statements(file.patch, "-") for name in imported_names(each)}
    for line in changed_lines(file, "-"):
        name = match[1] if (match := _LISTED.match(line.text)) else ""
        if name in no_longer_imported and not name.startswith("_") and not is_importable(name):
            yield Fact(kind=FactKind.REMOVED_NAME, name=name, path=file.path, line=line.number)


def moved_modules(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the fact that a Python module's import path changed."""
    old = old_path(file)
    is_named = old.endswith(".py") and not old.endswith("/__init__.py")  # for empty files the renaming is a guess
    if file.status != "renamed" or not is_named or module_path(file.path) == module_path(old) or not is_public(file):
        return
    texts = change.read_before(old), change.read_after(file.path)
    before, after = (frozenset(_CODE.findall(each or "")) for each in texts)
    if None not in texts and 2 * len(before & after) < max(len(before), 1):
        return  # of a short file git may have compared the comments
    if not any(each.path == old and each.status != "removed" for each in change.commit.files):
        yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def required_methods(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield abstract methods added to a public class, which its subclasses must now implement."""
    if file.status == "added" or not is_module(file) or "abstractmethod" not in (file.patch or ""):
        return
    before = {each.name for each in definitions(file.patch, "-")}
    moved_within = set(_REMOVED_METHOD.findall(file.patch or ""))  # their class cannot always be determined
    after = definitions(file.patch, "+")
    new_classes = {each.name for each in after if each.what == "class" and each.line.sign == "+"} - before
    for each in after:
        is_new = each.name not in before and each.last not in moved_within
        if each.statement.owner.name not in new_classes and is_new and _is_new_abstract_method(each):
            yield Fact(kind=FactKind.REQUIRED_METHOD, name=each.name, path=file.path, line=each.line.number)


def _is_new_abstract_method(each: Definition) -> bool:
    added = each.what == "method" and each.line.sign == "+" and each.public
    return added and any("abstractmethod" in decorator for decorator in each.statement.decorators)


def _public_occurrences(file: FileChange, side: Side) -> list[Occurrence]:
    if file.path.endswith((".py", ".pyi")):
        return list(_python_occurrences(file, side))
    pattern = _EXPORTED.get(file.path.rpartition(".")[2])
    return [
        Occurrence(match["name"], line, hunk)
        for hunk, line in side_lines(file, side)
        if pattern and (match := pattern.match(line.text))
    ]


def _python_occurrences(file: FileChange, side: Side) -> Iterator[Occurrence]:
    """Yield a module's public names, without the members of a removed class and methods that may now be inherited."""
    classes_removed = removed_classes(file.patch)
    heads = {each.name: each for each in definitions(file.patch, "+") if each.what == "class"}
    for each in definitions(file.patch, side):
        owner = each.name.rpartition(".")[0]
        if not each.public or each.last.startswith("test") or owner in classes_removed:
            continue
        own = each.what == "method" and _is_bare(each.statement.owner.bases)
        still_own = own and (owner not in heads or _is_bare(bases_of(heads[owner])))
        if each.what in ("class", "function", "member") or _is_exported_constant(each) or still_own:
            head = each.statement.text.replace(each.last, "", 1)  # equal for a renamed definition
            yield Occurrence(each.last, each.line, each.statement.hunk, owner, head)


def _is_exported_constant(each: Definition) -> bool:
    """Return whether a module variable looks like a constant or a type, and is not a type parameter."""
    return each.what == "constant" and bool(_CONSTANT.match(each.name)) and not _PARAMETER.search(each.statement.text)


def _is_bare(bases: str | None) -> bool:
    """Return whether a class certainly inherits from nothing that could provide a removed method."""
    return bases is not None and all(_BARE_BASE.match(base.strip()) for base in bases.split(",") if base.strip())
