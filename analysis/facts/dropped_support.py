"""Dropped support: removed methods, models, platforms, architectures, versions and images."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.diff import Hunk, changed_lines, headed_hunks
from analysis.facts.change import Change, Side, is_module, is_shipped, may_remove_definition
from analysis.facts.syntax import constant_strings, dotted
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_CONTAINER = re.compile(r"^(?P<indent>\s*)(?P<name>[A-Za-z_]\w*)\s*(?::[^=]+)?=\s*(?P<call>[\w.]*)\s*(?:[(\[{]\s*)+$")
_ITEM = re.compile(r"""^(?P<indent>\s+)["'](?P<value>[^"'\s]+)["']\s*(?:,|:\s*\S.*)?$""")
_QUOTED = re.compile(r"^-.*[\"']", re.MULTILINE)
# Lists of what is supported, and lists of what is not: leaving the latter is no loss.
_SUPPORTS = re.compile(
    r"support|method|model|backend|platform|format|parser|regist|arch|quant|kernel|connector|loader|processor|device|scheme"
    r"|choice|allowed|available|valid|dtype|tokenizer",
    re.IGNORECASE,
)
_EXCLUDES = re.compile(
    r"deprecat|unsupport|not_|non_|disab|skip|exclu|ignor|remov|previous|unavail|experimental|deny|denied|black|block|invalid"
    r"|warn|fallback|legacy",
    re.IGNORECASE,
)
_TYPE = "]"  # suffix of a container that is a type, whose items are supported whatever its name
_REGISTERED = re.compile(r"[\w.-]+")
_REGISTRATION = re.compile(r"(?:.*\.)?register\w*$")
_LISTED = re.compile(
    r"""\b(?P<list>\w*(?:ARCHS?|ARCH_LIST|SUPPORTED\w*|arch_list))\b[\s=]+["']?(?P<values>[\w.+; ]+?)["']?\s*\)?$"""
)


class _Value(NamedTuple):
    text: str
    sign: str
    line: int


def dropped_support(change: Change, file: FileChange) -> Iterator[Fact]:
    if change.removes_only_duplicates:
        return
    if may_remove_definition(file) and is_module(file):
        removed = [each for each in _supported_values(change, file, "-") if each.sign == "-"]
        remaining = {each.text for each in _supported_values(change, file, "+")} if removed else set()
        for each in removed:
            # The class or function that the entry is named after is told itself.
            handler = rf"^-\s*(?:class|def) {re.escape(each.text)}\b"
            handled = re.search(handler, file.patch or "", re.MULTILINE)
            if each.text not in remaining and not handled and not _is_added_elsewhere(change, each.text):
                yield Fact(kind=FactKind.SUPPORT_DROPPED, name=each.text, path=file.path, line=each.line)
    elif kind(file.path) in (Kind.BUILD, Kind.DEPENDENCY):
        yield from _dropped_from_build(file)


def _is_added_elsewhere(change: Change, value: str) -> bool:
    """Return whether the commit adds the value anywhere except to a list of unsupported values."""
    quoted = re.compile(rf"""["']{re.escape(value)}["']""")
    for file in filter(is_shipped, change.commit.files):
        for hunk in headed_hunks(file.patch) if quoted.search(file.patch or "") else ():
            refused = {each.line for name, each in _items(hunk, "+") if _EXCLUDES.search(name)}
            if any(each.sign == "+" and each.number not in refused and quoted.search(each.text) for each in hunk.lines):
                return True
    return False


def _supported_values(change: Change, file: FileChange, side: Side) -> Iterator[_Value]:
    for hunk in headed_hunks(file.patch):
        for name, each in _items(hunk, side):
            if not _EXCLUDES.search(name) and (_SUPPORTS.search(name) or name.endswith(_TYPE)):
                yield each
    yield from _registered(change, file, side)
    yield from _literals(change, file, side)


def _registered(change: Change, file: FileChange, side: Side) -> Iterator[_Value]:
    """Yield what the statements of a module register by name, and the decorators of its classes and functions.

    Losing only the decorator is no removal: the class may be registered in a table instead.
    """
    source = change.source(file, side) if "register" in (file.patch or "") else None
    changed = {line.number for line in changed_lines(file, side)}
    for node in source.module.body if source else ():
        calls = [node.value] if isinstance(node, ast.Expr) else []
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.lineno in changed:
            calls += node.decorator_list
        for call in calls:
            if isinstance(call, ast.Call) and _REGISTRATION.match(dotted(call.func) or ""):
                named = [each.value for each in call.keywords if each.arg == "name"]
                for text, number in constant_strings(*call.args[:1], *named)[:1]:
                    if _REGISTERED.fullmatch(text):
                        yield _Value(text, side if number in changed else " ", number)


def _literals(change: Change, file: FileChange, side: Side) -> Iterator[_Value]:
    """Yield the values of `Literal` types; those of a definition that the other side lacks are not told."""
    if not _QUOTED.search(file.patch or ""):
        return
    own, other = (change.source(file, each) for each in (side, "+" if side == "-" else "-"))
    if not own or not other or "Literal" not in own.text:
        return
    changed = {line.number for line in changed_lines(file, side)}
    both = {name for name, _ in _typed(other.module, "")}
    for name, node in _typed(own.module, ""):
        for text, number in constant_strings(node) if name in both and not _EXCLUDES.search(name) else ():
            yield _Value(text, side if number in changed else " ", number)


def _typed(scope: ast.Module | ast.ClassDef, owner: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the `Literal` types of the variables and fields of a scope, each with the qualified name of what it types."""
    for node in scope.body:
        match node:
            case ast.ClassDef(name=name):
                yield from _typed(node, f"{owner}{name}.")
            case (
                ast.AnnAssign(target=ast.Name(id=name), annotation=kept)
                | ast.Assign(targets=[ast.Name(id=name)], value=kept)
            ):
                for each in ast.walk(kept):
                    if isinstance(each, ast.Subscript) and (dotted(each.value) or "").endswith("Literal"):
                        yield owner + name, each.slice


def _items(hunk: Hunk, side: Side) -> Iterator[tuple[str, _Value]]:
    """Yield (container name, item) for each string of a module-level list and each key of a table.

    A container that is removed as a whole yields nothing.
    """
    container = _container(hunk.heading)
    for line in hunk.lines:
        if line.sign not in (" ", side):
            continue
        if not line.text[:1].isspace() and line.text.strip():
            container = _container(line.text) if line.sign != "-" else ""
        item = _ITEM.match(line.text) if container else None
        if item and len(item["indent"].expandtabs(4)) <= 4:  # noqa: PLR2004 - deeper strings are parts of an item
            yield container, _Value(item["value"], line.sign, line.number)


def _container(head: str) -> str:
    match = _CONTAINER.match(head)
    if not match or match["indent"]:
        return ""
    return match["name"] + (_TYPE if match["call"].endswith("Literal") else "")


def _dropped_from_build(file: FileChange) -> Iterator[Fact]:
    if file.status == "removed" and "dockerfile" in file.path.lower():
        yield Fact(kind=FactKind.SUPPORT_DROPPED, name=file.path, path=file.path)
        return
    added = {listed for line in changed_lines(file, "+") for listed in _listed_values(line.text)}
    lists = {name for name, _ in added}  # one that is removed as a whole was abandoned, or is kept elsewhere
    for line in changed_lines(file, "-"):
        for name, value in _listed_values(line.text):
            if (name, value) not in added and name in lists:
                yield Fact(kind=FactKind.SUPPORT_DROPPED, name=f"{name} {value}", path=file.path, line=line.old)


def _listed_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield (list, value) for each value that a build line lists."""
    if match := _LISTED.search(text):
        for value in re.split(r"[;\s]+", match["values"]):
            if re.match(r"[\dsg]", value):
                yield match["list"], value.removesuffix("+PTX")
