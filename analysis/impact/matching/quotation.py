"""The code that an impact quotes of the upstream definition: its line, or what the commit changes of a longer head."""

from collections.abc import Iterator, Sequence

from analysis.facts.whole_files.module import Class, Function, Parameter, ParameterKind
from analysis.impact.matching.upstream import Place

_ELLIPSIS = "..."
_SIGNS = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}


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
