"""Values that settings accept: those of a field's `Literal`, of a flag's choices, and of a variable's list of them."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.facts.change import SIDES, Change, is_module, is_product, removes_lines
from analysis.facts.syntax import Source
from analysis.models import Fact, FactKind, FileChange, Proof

_OWNER = re.compile(r"(?!_).*(?:Config|Configuration|Args|Arguments|Settings|Options|Params|Request)$")
_SHOWN = re.compile(r"^[-+].*[\"']", re.MULTILINE)  # a changed line with a string
_CALLS = re.compile(r"env\w*\(|add_argument\(|option\(")
_PUBLIC = re.compile(r"[A-Z]\w*[a-z]")  # a type's name
_NAME = re.compile(r"--[a-z][\w.-]*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # a flag or a variable


class _Accepted(NamedTuple):
    values: tuple[str, ...]
    line: int


def changed_values(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each setting of a Python file, read whole, that accepts other values than before."""
    is_read = change.whole and is_product(file) and is_module(file)
    shown = is_read and removes_lines(file) and _SHOWN.search(file.patch or "")
    old, new = (change.source(file, side) for side in SIDES) if shown else (None, None)
    if old is None or new is None or old.partial or new.partial:
        return
    before, after = _accepted_values(old), _accepted_values(new)
    for name in (each for each in after if each in before):
        gone, added = (
            ", ".join(value for value in one.values if value not in other.values)
            for one, other in ((before[name], after[name]), (after[name], before[name]))
        )
        if gone or added:
            yield Fact(
                kind=FactKind.VALUES_DROPPED if gone else FactKind.VALUES_ADDED,
                name=name,
                path=file.path,
                line=after[name].line,
                old=gone or None,
                new=added or None,
                proof=Proof.FILES,
            )


def _accepted_values(source: Source) -> Mapping[str, _Accepted]:
    """Return the values of each setting that has a list of them, with its line, and of types that other modules' settings have."""
    aliases: dict[str, _Accepted] = {}
    for each in source.module.body:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if values := _literals(value, aliases):
                aliases[name] = values
    found: dict[str, _Accepted] = {}
    for each in source.module.body:
        if isinstance(each, ast.ClassDef) and _OWNER.match(each.name):
            found |= {f"{each.name}.{name}": values for name, values in _of_fields(each.body, aliases)}
    for _, node in source.nodes_with(_CALLS):
        if isinstance(node, ast.Call) and node.args and (values := _choices(node)):
            name = str(getattr(node.args[0], "value", ""))
            found |= {name: values} if _NAME.fullmatch(name) else {}
    told = {each.line for each in found.values()}
    return found | {name: each for name, each in aliases.items() if _PUBLIC.match(name) and each.line not in told}


def _of_fields(body: Sequence[ast.stmt], aliases: Mapping[str, _Accepted]) -> Iterator[tuple[str, _Accepted]]:
    for each in body:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if values := _literals(kind, aliases):
                yield name, values


def _literals(annotation: ast.expr, aliases: Mapping[str, _Accepted]) -> _Accepted | None:
    """Return the strings of a type that is a `Literal`, an alias of one, or a union with some; None if it is anything else."""
    match annotation:
        case ast.Name(id=name):
            return aliases.get(name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [known for each in (left, right) if (known := _literals(each, aliases))]
            return sides[0]._replace(values=tuple(value for each in sides for value in each.values)) if sides else None
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=inside):
            elements = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            named = [known for each in elements if (known := _literals(each, aliases))]
            values = [*_strings(elements), *(value for known in named for value in known.values)]
            return _Accepted(tuple(values), named[0].line if named and not _strings(elements) else annotation.lineno)
    return None


def _choices(call: ast.Call) -> _Accepted | None:
    """Return the strings of a list that a call is given by position or as `choices`."""
    given = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "choices")]
    for each in given:
        if isinstance(each, ast.List | ast.Tuple) and each.elts and len(_strings(each.elts)) == len(each.elts):
            return _Accepted(tuple(_strings(each.elts)), each.lineno)
    return None


def _strings(elements: Sequence[ast.expr]) -> list[str]:
    return [each.value for each in elements if isinstance(each, ast.Constant) and isinstance(each.value, str)]
