"""Changed results of functions that downstream code calls, overrides or replaces."""

import ast
import re
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.python.module import Attribute, Function, Module
from analysis.facts.python.revision import Found
from analysis.facts.python.signatures import alternatives, narrowed, returned_values
from analysis.facts.syntax import parse_expression
from analysis.impact.matching.signatures import is_callable_as, own_parameters
from analysis.impact.matching.upstream import Answer, Place
from analysis.impact.surface.model import Use, UseKind
from analysis.models.impacts import Cause

_OF_RESULTS = (UseKind.CALL, UseKind.OVERRIDE, UseKind.REPLACEMENT)
_STUBS = ("", "pass", "...")  # bodies that leave to subclasses what is returned
_BUILT_IN = {each.__name__: each for each in (dict, list, set, frozenset, tuple, str, int, float, bool, bytes)}
_ANNOTATION = re.compile(r"^([ \w.]+): .*? =(?!=)", re.MULTILINE)  # of a variable, in a line as Python writes it
_ALIKE = 0.9  # share of the lines that two bodies have in common if neither was rewritten


class ResultChange(NamedTuple):
    """What became of a result, and whether who uses it certainly fails."""

    cause: Cause
    certain: bool = False


def result_change(use: Use, was: Place, now: Place) -> ResultChange | None:
    """Return what became of what a function returns, or of all that it does if the use replaces it; None if nothing did.

    A call fails if it takes apart a tuple of another length; an override may still return what was expected before.
    """
    old, new = was.member, now.member
    if use.kind not in _OF_RESULTS or not isinstance(old, Function) or not isinstance(new, Function):
        return None
    counts = [returned_values(Found(each.module, own)) for each, own in ((was, old), (now, new))] if use.values else []
    if counts and counts[0] == use.values and counts[1] not in (None, use.values):
        is_call = use.kind is UseKind.CALL
        return ResultChange(Cause.RETURNS, certain=is_call) if is_call or _is_meant_for(use, was) else None
    before, after = _body(was.module, old), _body(now.module, new)
    is_stub = after in _STUBS or after.startswith("raise NotImplementedError")
    if old.returns != new.returns and (is_stub or before != after):
        if use.kind is UseKind.CALL:
            lengths = _tuple_length(old.returns), _tuple_length(new.returns)
            unfit = use.values is not None and lengths[0] == use.values != lengths[1]
            return ResultChange(Cause.RETURNS, certain=True) if unfit else None
        own = use.returns or old.returns
        # What callers could not expect before either is the override's own affair.
        if new.returns != "None" and narrowed(own, new.returns) and not narrowed(own, old.returns):
            return ResultChange(Cause.RETURNS) if _is_meant_for(use, was) else None
    rewritten = use.kind is UseKind.REPLACEMENT and _differ(before, after)
    return ResultChange(Cause.REWRITTEN) if rewritten else None


def lost_method(use: Use, was: Answer, now: Answer) -> tuple[str, str] | None:
    """Return the method of a built-in type that a use takes from an attribute, which is of another type by now, and that type."""
    members = [each.last.member if each.places else None for each in (was, now)]
    if (
        use.kind not in (UseKind.CALL, UseKind.READ)
        or was.step != now.step
        or use.target[was.step :] != use.target[-1:]
    ):
        return None
    old, new = (_built_in(each.annotation) if isinstance(each, Attribute) else None for each in members)
    name = use.target[-1]
    return (name, new.__name__) if old and new and hasattr(old, name) and not hasattr(new, name) else None


def _built_in(annotation: str) -> type | None:
    """Return the only built-in type that an annotation describes, or None beside it."""
    kinds = alternatives(annotation) - {"None"}
    return _BUILT_IN.get(next(iter(kinds)).partition("[")[0]) if len(kinds) == 1 else None


def _body(module: Module, function: Function) -> str:
    """Return the statements of a function without types, formatting, comments and docstring."""
    node = module.definition(function)
    statements = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    if statements and isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    return _ANNOTATION.sub(r"\1 =", "\n".join(map(ast.unparse, statements)))


def _differ(before: str, after: str) -> bool:
    """Return whether two bodies differ in more than a few of their lines, as after a renaming."""
    lines = before.split("\n"), after.split("\n")
    return before != after and SequenceMatcher(None, *lines, autojunk=False).ratio() < _ALIKE


def _is_meant_for(use: Use, place: Place) -> bool:
    """Return whether upstream could call an override or a replacement before the commit."""
    upstream = own_parameters(place)
    return use.parameters is None or upstream is None or is_callable_as(use.parameters, upstream)


def _tuple_length(annotation: str) -> int | None:
    """Return how many parts a described tuple has; None for anything else."""
    match parse_expression(annotation):
        case ast.Subscript(value=ast.Name(id="tuple" | "Tuple"), slice=ast.Tuple(elts=parts)):
            return None if any(isinstance(each, ast.Constant) and each.value is ... for each in parts) else len(parts)
    return None
