"""Code in an impact: what it quotes of the upstream definition, and what to write instead of the downstream line."""

import ast
import re
from collections.abc import Iterator, Sequence

from analysis.facts.python.module import Class, Function, Parameter, ParameterKind
from analysis.facts.syntax import parse_module
from analysis.impact.matching.upstream import Place
from analysis.models.impacts import ImpactKind

_ELLIPSIS = "..."
_SIGNS = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
_HEAD_BODY = " pass"  # after a line that is the head of a block


def line_of(place: Place) -> int | None:
    """Return the line of a definition, from 1."""
    return place.member.line if place.member else None


def quoted(place: Place, other: Place | None = None, subjects: Sequence[str] = ()) -> str | None:
    """Return the code of a definition, which is `other` on the commit's other side; `subjects` are the parameters in question.

    Of a signature over several lines only the parameters that differ are quoted, of a class with its field.
    """
    head = _code(place, line_of(place))
    if isinstance(place.member, Function) and other and isinstance(other.member, Function) and _is_open(head):
        return _signature(place.member, other.member)
    members = place.member.members if isinstance(place.member, Class) else {}
    fields = [str(_code(place, members[each].line)) for each in subjects if each in members]
    return f" {_ELLIPSIS} ".join([head, *fields]) if head and fields else head


def _code(place: Place, line: int | None) -> str | None:
    return place.module.lines[line - 1].strip() if line and line <= len(place.module.lines) else None


def _is_open(head: str | None) -> bool:
    return head is not None and head.startswith(("def ", "async def ")) and head.count("(") > head.count(")")


def _signature(function: Function, other: Function) -> str:
    shown: list[str] = []
    for text in _parameters(function, other):
        if text != _ELLIPSIS or shown[-1:] != [_ELLIPSIS]:
            shown.append(text)
    returns = f" -> {function.returns}" if function.returns != other.returns and function.returns else ""
    return f"def {function.name}({', '.join(shown)}){returns}"


def _parameters(function: Function, other: Function) -> Iterator[str]:
    """Yield each parameter that the other side lacks, and an ellipsis for one that it has."""
    same = set(other.parameters)
    for each in function.parameters:
        yield _ELLIPSIS if each in same else _written(each)


def _written(parameter: Parameter) -> str:
    name = _SIGNS.get(parameter.kind, "") + parameter.name
    text = f"{name}: {parameter.annotation}" if parameter.annotation else name
    return text if parameter.required or parameter.variadic else f"{text} = {_ELLIPSIS}"


def advised(kind: ImpactKind, code: str, name: str, new: str) -> str | None:
    """Return the code to write instead of the line `code` for a dotted name's new one; None if that line alone does not tell."""
    proposed = _imported(code, name, new) if kind is ImpactKind.IMPORT else _renamed(code, name, new)
    return proposed if proposed and proposed != code and _parsed(proposed) else None


def import_advice(code: str, renamed: Sequence[tuple[str, str]]) -> str | None:
    """Return what to write instead of an import of several names, given as (name, new name) pairs of dotted names."""
    if whole := _of_several(code, renamed):
        return whole
    lines = [code]
    for name, new in renamed:
        proposed = [(index, _imported(line, name, new)) for index, line in enumerate(lines)]
        changed = [(index, text) for index, text in proposed if text and text != lines[index]]
        if len(changed) != 1:
            return None
        index, text = changed[0]
        lines[index : index + 1] = text.split("\n")
    return "\n".join(lines) if parse_module("\n".join(lines)) else None


def _parsed(code: str) -> ast.Module | None:
    """Return a line's syntax tree, by itself or as the head of a block."""
    return parse_module(code) or parse_module(f"{code.rstrip()}{_HEAD_BODY}")


def _imported(code: str, name: str, new: str) -> str | None:
    tree = _parsed(code)
    match tree.body if tree else None:
        case [ast.ImportFrom(level=0, module=str(module), names=names) as node]:
            return _imported_from(code, node, module, names, (name, new))
        case [ast.Import(names=[ast.alias(name=whole, asname=alias)]) as node] if _begins(whole, name):
            as_before = f" as {alias}" if alias else ""
            return f"import {new}{whole[len(name) :]}{as_before}{code[node.end_col_offset :]}"
        case None | [ast.Expr(value=ast.Name() | ast.Tuple())]:  # a line of an import over several
            return _of_several(code, [(name, new)])
        case [ast.Import() | ast.ImportFrom()]:
            return None
    return re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", new, code)  # in a string


def _imported_from(
    code: str, node: ast.ImportFrom, module: str, names: list[ast.alias], renamed: tuple[str, str]
) -> str | None:
    name, new = renamed
    if _begins(module, name):  # it is the module that has another name
        imported = ", ".join(map(ast.unparse, names))
        return f"from {new}{module[len(name) :]} import {imported}{code[node.end_col_offset :]}"
    moved = [each for each in names if f"{module}.{each.name}" == name]
    if len(moved) != 1:
        return None
    line = f"{_import_of(new, moved[0].asname or moved[0].name)}{code[node.end_col_offset :]}"
    kept = ", ".join(ast.unparse(each) for each in names if each is not moved[0])
    return f"from {module} import {kept}\n{line}" if kept else line


def _of_several(code: str, renamed: Sequence[tuple[str, str]]) -> str | None:
    """Return the imports of what a line within an import over several names, if each has a new name."""
    new = {name.rpartition(".")[2]: each for name, each in renamed}
    names = code.partition("#")[0].strip().removesuffix(",").split(",")
    parts = [re.fullmatch(r"\s*(\w+)(?:\s+as\s+(\w+))?\s*", each) for each in names]
    found = [_import_of(new[each[1]], each[2] or each[1]) for each in parts if each and each[1] in new]
    return "\n".join(found) if len(found) == len(parts) else None


def _import_of(new: str, bound: str) -> str:
    module, _, imported = new.rpartition(".")
    as_before = f" as {bound}" if bound != imported else ""
    return f"from {module} import {imported}{as_before}" if module else f"import {imported}{as_before}"


def _begins(whole: str, name: str) -> bool:
    return f"{whole}.".startswith(f"{name}.")


def _renamed(code: str, name: str, new: str) -> str | None:
    """Return a line with the last name replaced; None for one that is reached another way by now."""
    (module, _, old), (other, _, now) = name.rpartition("."), new.rpartition(".")
    return re.sub(rf"\b{re.escape(old)}\b", now, code) if module == other else None
