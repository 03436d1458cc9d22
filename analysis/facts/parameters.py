"""Parameters of public functions that were removed, renamed, became required, or changed type."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from analysis.diff import DiffLine, headed_hunks
from analysis.facts.change import Change, is_module, is_shipped
from analysis.facts.python import MODULE, CodeStatement, Definition, Scope, Side, definitions, removed_classes
from analysis.facts.syntax import parse_expression, parse_module
from analysis.models import Fact, FactKind, FileChange

_NOT_CALLED = re.compile(
    r"\b(?:jit|kernel|overload|fixture|field_validator|model_validator|validator|property|setter)\b"
)
# Matches a changed line that may belong to a signature: a cheap check before parsing the patch.
_TOUCHED = re.compile(
    r"^[-+](?:\s*(?:async )?def |\s+\*{0,2}\w+(?:\s*:[^=\n]+)?(?:\s*=[^\n]+)?,?\s*(?:#.*)?$|\s+self, )", re.MULTILINE
)
# A top-level function's head as git shows it in a hunk heading, a line with one of its parameters, and its last line.
_CUT = re.compile(r"(?:async )?def (?P<name>\w+)\($")
_OWNER = re.compile(r"class (?P<name>\w+)")
_MEMBER = "    "  # the indent of a method
_TYPED = re.compile(r"    (?:self,|\*{0,2}\w+: [^#]*,(?:\s*#.*)?)$")
_END = re.compile(r"\)(?: -> .*)?:$")
_FIRST = ("self", "cls", "mcs")
_PLAIN = frozenset(
    ["None", "bool", "int", "float", "str", "bytes", "list", "dict", "tuple", "set", "frozenset", "Tensor", "ndarray"]
)
_WIDER = {"bool": "int", "int": "float"}
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+")
_OLD_NAMES = re.compile(r"\b(?:List|Dict|Tuple|Set|FrozenSet)\b")


class Parameter(NamedTuple):
    name: str
    position: int | None  # index among the positional parameters
    required: bool
    type: str


class Signature(NamedTuple):
    parameters: dict[str, Parameter]
    accepts_any: bool  # through *args or **kwargs
    returns: str


def changed_parameters(_change: Change, file: FileChange) -> Iterator[Fact]:
    if file.status == "added" or not is_shipped(file) or not is_module(file) or not _TOUCHED.search(file.patch or ""):
        return
    # Git also shows a removed class's head above later hunks, whose methods belong to another class by then.
    after, classes_removed = _functions(file, "+"), removed_classes(file.patch)
    for name, old in _functions(file, "-").items():
        new = after.get(name)
        if new and old.statement.owner.name not in classes_removed and old.statement.text != new.statement.text:
            yield from _signature_changes(file, old, new)


def _functions(file: FileChange, side: Side) -> dict[str, Definition]:
    """Return the public functions whose whole heads one side shows, by name; a name defined twice is left out.

    A head that spans two hunks counts once, unless its name is on a changed line of this side.
    """
    found: dict[str, list[Definition]] = {}
    for each in (*definitions(file.patch, side), *_cut_off_heads(file, side)):
        if each.what in ("function", "method") and (each.statement.whole or each.line.sign == side):
            found.setdefault(each.name, []).append(each)
    return {name: same[0] for name, same in found.items() if len(same) == 1 and _is_callable(same[0])}


def _cut_off_heads(file: FileChange, side: Side) -> Iterator[Definition]:
    """Yield functions and constructors whose heads begin above a hunk that shows their last parameters."""
    for index, hunk in enumerate(headed_hunks(file.patch)):
        lines = [line for line in hunk.lines if line.sign in (" ", side)]
        if (function := _CUT.match(hunk.heading)) and (head := _rest_of_head(lines, "")):
            yield Definition("function", function["name"], _head_statement(hunk.heading, head, MODULE, index))
            continue
        owner, head = _OWNER.match(hunk.heading), _rest_of_head(lines, _MEMBER)
        if owner and head and _is_constructor_body(lines[len(head) :]):
            scope = Scope("class", owner["name"], 0)
            yield Definition(
                "method", f"{owner['name']}.__init__", _head_statement("def __init__(", head, scope, index)
            )


def _rest_of_head(lines: Sequence[DiffLine], margin: str) -> Sequence[DiffLine]:
    """Return the lines that complete a head begun above them, if each holds one parameter; else an empty list."""
    shown = list(takewhile(lambda line: _TYPED.match(line.text.removeprefix(margin)), lines))
    end = lines[len(shown) : len(shown) + 1]
    return [*shown, *end] if any(_END.match(line.text.removeprefix(margin)) for line in end) else []


def _is_constructor_body(lines: Sequence[DiffLine]) -> bool:
    """Return whether the lines begin a constructor's body, as far as they are shown."""
    body = takewhile(lambda line: not line.text.strip() or line.text.startswith(_MEMBER * 2), lines)
    return any(line.text.startswith(f"{_MEMBER * 2}super().__init__(") for line in body)


def _head_statement(begin: str, lines: Sequence[DiffLine], owner: Scope, hunk: int) -> CodeStatement:
    text = " ".join([begin, *(line.text.partition("#")[0].strip() for line in lines)])
    return CodeStatement(text, 0, tuple(lines), owner, hunk, (), whole=True)


def _is_callable(each: Definition) -> bool:
    hidden = [part for part in each.name.split(".") if part.startswith("_") and part != "__init__"]
    marked = any(_NOT_CALLED.search(decorator) for decorator in each.statement.decorators)
    described = "Protocol" in (each.statement.owner.bases or "")  # never called itself
    return each.statement.whole and not (hidden or marked or described or "constexpr" in each.statement.text)


def _signature_changes(file: FileChange, old: Definition, new: Definition) -> Iterator[Fact]:
    was, now = signature(old.statement.text), signature(new.statement.text)
    if not was or not now:
        return
    renamed = _renamed_parameters(was, now)

    def fact(kind: FactKind, name: str, *, was: str | None = None, now: str | None = None) -> Fact:
        is_on_old_side = kind in (FactKind.REMOVED_PARAMETER, FactKind.RENAMED_PARAMETER)
        line = (old if is_on_old_side else new).statement.line_of(name).number
        return Fact(kind=kind, name=f"{new.name}({name})", path=file.path, line=line, old=was, new=now)

    for name in [each for each in was.parameters if each not in now.parameters and not each.startswith("_")]:
        if name in renamed:
            yield fact(FactKind.RENAMED_PARAMETER, name, now=renamed[name])
        elif not now.accepts_any:
            yield fact(FactKind.REMOVED_PARAMETER, name)
    for each in now.parameters.values():
        before = was.parameters.get(each.name)
        if before and narrowed(before.type, each.type):
            yield fact(FactKind.RETYPED, each.name, was=before.type, now=each.type)
        was_optional = not before.required if before else not was.accepts_any
        if each.required and was_optional and each.name not in renamed.values():
            yield fact(FactKind.REQUIRED_PARAMETER, each.name)
    if narrowed(now.returns, was.returns):
        yield fact(FactKind.RETYPED, "return", was=was.returns, now=now.returns)


def _renamed_parameters(was: Signature, now: Signature) -> dict[str, str]:
    """Map old names to new ones, if as many are added as removed and each pair has the same position and type."""
    removed = [each for name, each in was.parameters.items() if name not in now.parameters]
    added = [each for name, each in now.parameters.items() if name not in was.parameters]
    if len(removed) != len(added):
        return {}
    pairs = zip(removed, added, strict=True)
    return {old.name: new.name for old, new in pairs if old.position == new.position and old.type == new.type}


@lru_cache(maxsize=1024)
def signature(head: str) -> Signature | None:
    """Parse the signature of a function's head on one line; None if it is not complete Python."""
    module = parse_module(f"{head} ...")
    function = module.body[0] if module else None
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_with_default = len(positional) - len(arguments.defaults)
    found = {
        each.arg: Parameter(each.arg, index, index < first_with_default, _annotation_text(each.annotation))
        for index, each in enumerate(positional)
        if each.arg not in _FIRST or index
    }
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[each.arg] = Parameter(each.arg, None, default is None, _annotation_text(each.annotation))
    return Signature(found, bool(arguments.kwarg or arguments.vararg), _annotation_text(function.returns))


def _annotation_text(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation else ""


def narrowed(was: str, now: str) -> bool:
    """Return whether a type certainly accepts less than before; only built-in types are compared."""
    before, after = alternatives(was), alternatives(now)
    if not before or not after:
        return False
    if before - after == {"None"}:
        return True
    plain = {_outer_type(each) for each in after} <= _PLAIN
    return plain and any(_outer_type(each) in _PLAIN and not _is_accepted(each, after) for each in before - {"None"})


def _is_accepted(one: str, by: frozenset[str]) -> bool:
    return any(
        _outer_type(each) in (_outer_type(one), _WIDER.get(_outer_type(one))) and _arity(each) == _arity(one)
        for each in by
    )


def _outer_type(one: str) -> str:
    return one.partition("[")[0]


def _arity(one: str) -> int:
    """Return the number of a tuple's declared elements; 0 for any other type."""
    match parse_expression(one) if one.startswith("tuple[") else None:
        case ast.Subscript(slice=ast.Tuple(elts=elements)):
            return len(elements)
        case ast.Subscript():
            return 1
    return 0


@lru_cache(maxsize=1024)
def alternatives(annotation: str) -> frozenset[str]:
    """Return the members of a union, without quotes and module prefixes; empty if it cannot be parsed."""
    text = _MODULE.sub("", annotation.replace('"', "").replace("'", ""))
    text = _OLD_NAMES.sub(lambda match: match[0].lower(), text)
    union = parse_expression(text)
    return frozenset(_union_members(union)) if union else frozenset()


def _union_members(node: ast.expr) -> list[str]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_union_members(left), *_union_members(right)]
        case ast.Subscript(value=ast.Name(id="Optional" | "Union" as name), slice=inside):
            members = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            found = [member for each in members for member in _union_members(each)]
            return [*found, "None"] if name == "Optional" else found
    return [ast.unparse(node)]
