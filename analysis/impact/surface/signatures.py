"""The parameters of functions and the arguments of calls, from their source."""

import ast

from analysis.facts.whole_files.module import Parameter, ParameterKind
from analysis.impact.surface.attributes import Function
from analysis.impact.surface.model import Arguments


def accepted(function: Function) -> tuple[Parameter, ...]:
    """Return the parameters that a function accepts."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    optional = len(positional) - len(arguments.defaults)
    found = [
        Parameter(
            each.arg,
            ParameterKind.POSITIONAL_ONLY
            if place < len(arguments.posonlyargs)
            else ParameterKind.POSITIONAL_OR_KEYWORD,
            place < optional,
            "",
        )
        for place, each in enumerate(positional)
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, ParameterKind.VAR_POSITIONAL, required=False, annotation=""))
    found += [
        Parameter(each.arg, ParameterKind.KEYWORD_ONLY, default is None, "")
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, ParameterKind.VAR_KEYWORD, required=False, annotation=""))
    return tuple(found)


def annotation(function: Function) -> str:
    """Return what a function says that it returns; "" if it says nothing."""
    return ast.unparse(function.returns) if function.returns else ""


def passed(node: ast.Call) -> Arguments:
    """Return what a call passes."""
    return Arguments(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg),
        any_positional=any(isinstance(each, ast.Starred) for each in node.args),
        any_keywords=any(each.arg is None for each in node.keywords),
    )
