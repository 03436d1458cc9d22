"""Dropped support: removed methods, models, platforms, architectures, versions and images, and those under a new name."""

import ast
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import NamedTuple

from analysis.diff import DiffLine, Hunk, changed_lines, headed_hunks
from analysis.facts.change import Change, Side, is_module, is_shipped, removes_lines
from analysis.facts.syntax import constant_strings, dotted
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_CONTAINER = re.compile(r"^(?P<name>[A-Za-z_]\w*)\s*(?::[^=]+)?=\s*(?P<call>[\w.]*)\s*(?:[(\[{]\s*)+$")
_ITEM = re.compile(r"""^(?P<indent>\s+)["'](?P<value>[^"'\s]+)["']\s*(?:,|:\s*(?P<entry>\S.*))?$""")
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
_REGISTERED = re.compile(r"[\w.-]+")
_REGISTRATION = re.compile(
    r"(?!.*(?:Op|Layer)\.|.*_op$)(?:.*\.)?register\w*$"
)  # but not of parts that models are made of
_CLASS = re.compile(r"\b[A-Z]\w*[a-z]\w*\b")
_LOCAL = re.compile(r"(\w+),?\s*(?:#.*)?$")
_LISTED = re.compile(
    r"""\b(?P<list>\w*(?:ARCHS?|ARCH_LIST|arch_list))\b[\s=]+["']?(?P<values>[\w.+; ]+?)["']?\s*\)?$"""
)


class _Value(NamedTuple):
    """A value that a list or a registry has; `owner` is which of them, and `entry` what it stands for."""

    text: str
    sign: str
    line: int
    owner: str = ""
    entry: str = ""

    @property
    def handler(self) -> str:
        """The class that a registry has for the value; "" if it names none."""
        return next(iter(_CLASS.findall(self.entry)[-1:]), "")


def dropped_support(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the values that an existing file no longer lists or registers, or has for the same class under another name."""
    if change.removes_only_duplicates:
        return
    if removes_lines(file) and is_module(file):
        removed = [each for each in _supported_values(change, file, "-") if each.sign == "-"]
        after = list(_supported_values(change, file, "+")) if removed else []
        for each in removed:
            known = each.text in {kept.text for kept in after} or _is_added_elsewhere(change, each.text)
            if not known and not _is_internal(change, file, each):
                yield from _dropped(change, file, each, after)
    elif kind(file.path) in (Kind.BUILD, Kind.DEPENDENCY):
        yield from _dropped_from_build(file)


def _dropped(change: Change, file: FileChange, value: _Value, after: Sequence[_Value]) -> Iterator[Fact]:
    """Yield that a value is gone, or under which name its class is registered now; nothing if it may have another name."""
    files = (each for each in change.commit.files if value.handler and is_module(each) and each.patch)
    added = [each for other in files for each in _supported_values(change, other, "+") if each.sign == "+"]
    names = {each.text for each in added if each.handler == value.handler}
    alike = [each.text for each in after if each.sign == "+" and each.owner == value.owner]
    fact = Fact(kind=FactKind.SUPPORT_DROPPED, name=value.text, path=file.path, line=value.line)
    if len(names) == 1:
        old = f"{value.owner}.{value.text}"
        yield fact.model_copy(update={"kind": FactKind.ENTRY_RENAMED, "old": old, "new": names.pop()})
    elif not names and not get_close_matches(value.text, alike):
        yield fact


def _is_internal(change: Change, file: FileChange, value: _Value) -> bool:
    """Return whether a table's file itself has what an entry stands for, or a list names a class that goes.

    The one is how something is treated that works without it, too; the other is told itself.
    """
    local, source = _LOCAL.match(value.entry), change.source(file, "-")
    text = source.text if local and source else change.removed_lines
    name = local[1] if local else "" if value.entry else re.escape(value.text)
    return bool(name) and re.search(rf"^\s*(?:class|def) {name}\b", text, re.MULTILINE) is not None


def _is_added_elsewhere(change: Change, value: str) -> bool:
    """Return whether the commit adds the value anywhere except to a list of unsupported values."""
    quoted = re.compile(rf"""["']{re.escape(value)}["']""")
    for file in filter(is_shipped, change.commit.files):
        for hunk in headed_hunks(file.patch) if quoted.search(file.patch or "") else ():
            refused = {each.line for each in _items(hunk, "+") if _EXCLUDES.search(each.owner)}
            if any(each.sign == "+" and each.number not in refused and quoted.search(each.text) for each in hunk.lines):
                return True
    return False


def _supported_values(change: Change, file: FileChange, side: Side) -> Iterator[_Value]:
    for hunk in headed_hunks(file.patch):
        for each in _items(hunk, side):
            if not _EXCLUDES.search(each.owner) and _SUPPORTS.search(each.owner):
                yield each
    yield from _registered(change, file, side)


def _registered(change: Change, file: FileChange, side: Side) -> Iterator[_Value]:
    """Yield what the statements of a module register by name, and the decorators of its classes and functions.

    Losing only the decorator is no removal, unless the class is registered elsewhere by another name.
    """
    source = change.source(file, side) if "register" in (file.patch or "") else None
    changed = {line.number for line in changed_lines(file, side)}
    for node in source.module.body if source else ():
        calls = [node.value] if isinstance(node, ast.Expr) else []
        entry = ""
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.lineno in changed:
            calls, entry = node.decorator_list, repr(node.name)
        for call in calls:
            registry = dotted(call.func) if isinstance(call, ast.Call) else None
            if isinstance(call, ast.Call) and registry and _REGISTRATION.match(registry):
                named = [each.value for each in call.keywords if each.arg == "name"]
                owner = registry.rpartition(".")[0]
                for text, number in constant_strings(*call.args[:1], *named)[:1]:
                    sign = side if number in changed else " "
                    value = _Value(text, sign, number, owner, entry or ast.unparse(call))
                    if _REGISTERED.fullmatch(text) and text != value.handler:  # a class's own name is told itself
                        yield value


def _items(hunk: Hunk, side: Side) -> Iterator[_Value]:
    """Yield each string of a module-level list and each key of a table with what it stands for.

    A container that is removed as a whole yields nothing.
    """
    container = _container(hunk.heading)
    lines = [line for line in hunk.lines if line.sign in (" ", side)]
    for place, line in enumerate(lines):
        if not line.text[:1].isspace() and line.text.strip():
            container = _container(line.text) if line.sign != "-" else ""
        item = _ITEM.match(line.text) if container else None
        if item and len(item["indent"].expandtabs(4)) <= 4:  # noqa: PLR2004 - deeper strings are parts of an item
            entry = _entry(item, lines[place + 1 :])
            yield _Value(item["value"], line.sign, line.number, container, entry)


def _entry(item: re.Match[str], below: Sequence[DiffLine]) -> str:
    """Return what a table has for a key: the rest of its line, and the lines `below` that are indented more."""
    more = takewhile(lambda line: line.text.startswith(f"{item['indent']} "), below)
    return " ".join([item["entry"] or "", *(line.text.strip() for line in more)])


def _container(head: str) -> str:
    match = _CONTAINER.match(head)
    return "" if not match or match["call"].endswith("Literal") else match["name"]


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
