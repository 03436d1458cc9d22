"""Changed results of functions that downstream code calls, overrides or replaces."""

import ast
import re
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.python.module import Attribute, Function, Member
from analysis.facts.python.revision import Found
from analysis.facts.python.signatures import alternatives, described_length, narrowed, returned_values
from analysis.facts.syntax import body
from analysis.impact.matching.signatures import is_callable_as, own_parameters
from analysis.impact.matching.upstream import Answer, Place
from analysis.impact.surface.model import Use, UseKind
from analysis.models.impacts import Cause

_OF_RESULTS = (UseKind.CALL, UseKind.OVERRIDE, UseKind.REPLACEMENT)
_STUBS = ("", "pass", "...")  # bodies that leave to subclasses what is returned
_BUILT_IN = {each.__name__: each for each in (dict, list, set, frozenset, tuple, str, int, float, bool, bytes)}
_NOTHING = {"None", "Optional"}
_ALIKE = 0.9  # likeness of two bodies if neither was rewritten


class ResultChange(NamedTuple):
    """What became of a result, and whether who uses it certainly fails."""

    cause: Cause
    certain: bool = False


def result_change(use: Use, was: Place, now: Place) -> ResultChange | None:
    """Return what became of what an attribute holds or a function returns, or of all that it does if the use replaces it.

    A call fails if it takes apart a tuple of another length; an override may still return what was expected before.
    """
    old, new = was.member, now.member
    if cause := _taken_otherwise(use, old, new):
        return ResultChange(cause, certain=not isinstance(new, Attribute) or bool(new.annotation))
    if isinstance(old, Attribute) and isinstance(new, Attribute):
        is_assigned = was.owner and re.search(rf"\b{old.name}\b[^=\n]*= None\b", was.module.source(was.owner))
        unfit = use.kind is UseKind.READ and not is_assigned and _may_be_none_now(old.annotation, new.annotation)
        return ResultChange(Cause.MAY_BE_NONE) if unfit else None
    if use.kind not in _OF_RESULTS or not isinstance(old, Function) or not isinstance(new, Function):
        return None
    counts = [returned_values(Found(each.module, own)) for each, own in ((was, old), (now, new))] if use.values else []
    if counts and counts[0] == use.values and counts[1] not in (None, use.values):
        is_call = use.kind is UseKind.CALL
        return ResultChange(Cause.RETURNS, certain=is_call) if is_call or _is_meant_for(use, was) else None
    if old.returns != new.returns and (change := _retyped(use, was, now)):
        return change
    return ResultChange(Cause.MERGED) if use.body and _is_taken_over(use, was, now) else None


def _taken_otherwise(use: Use, old: Member | None, new: Member | None) -> Cause | None:
    """Return what became of a property or a method if a use takes it for what it was, called, read or awaited."""
    is_defined = use.kind is UseKind.OVERRIDE
    is_value = use.parameters is None if is_defined else use.kind is UseKind.READ
    if isinstance(old, Function) and isinstance(new, Attribute):
        is_method = not is_value and (is_defined or use.kind is UseKind.CALL)
        return Cause.MADE_PROPERTY if is_method and new.computed and "Callable" not in new.annotation else None
    if isinstance(old, Attribute) and isinstance(new, Function):
        return Cause.MADE_METHOD if is_value and old.computed and "Callable" not in old.annotation else None
    if not isinstance(old, Function) or not isinstance(new, Function) or old.awaited is new.awaited:
        return None
    is_async = ("async def " if is_defined else "await ") in use.code
    if is_async is not old.awaited or use.kind not in (UseKind.CALL, UseKind.OVERRIDE):
        return None
    return Cause.MADE_ASYNC if new.awaited else Cause.MADE_SYNC


def _retyped(use: Use, was: Place, now: Place) -> ResultChange | None:
    """Return what another annotation of what a function returns means, unless its body is the same."""
    assert isinstance(was.member, Function)
    assert isinstance(now.member, Function)
    old, new = was.member.returns, now.member.returns
    if use.kind is UseKind.CALL:
        unfit = use.values is not None and described_length(old) == use.values != described_length(new)
        return ResultChange(Cause.RETURNS, certain=True) if unfit and _body(was) != _body(now) else None
    own = use.returns or old
    # What callers could not expect before either is the override's own affair.
    if new == "None" or not narrowed(own, new) or narrowed(own, old) or not _is_meant_for(use, was):
        return None
    after = _body(now)
    is_stub = after in _STUBS or after.startswith("raise NotImplementedError")
    return ResultChange(Cause.RETURNS) if is_stub or after != _body(was) else None


def _may_be_none_now(old: str, new: str) -> bool:
    """Return whether all that changes of a type is that it, or a part of it, may be None; as a condition that is like False."""
    was, now = ({*re.findall(r"\w+", each)} - {"Union"} for each in (old, new))
    return bool(was) and was < now and now - was <= _NOTHING and not was & {"bool", *_NOTHING}


def _is_taken_over(use: Use, was: Place, now: Place) -> bool:
    """Return whether a function does by now, and did not before, what a use does in its place."""
    if _source(was) == _source(now):
        return False
    before, after = _body(was), _body(now)
    return max(_likeness(before, after), _likeness(use.body, before)) < _ALIKE <= _likeness(use.body, after)


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


def _source(place: Place) -> str:
    return place.module.source(place.member) if isinstance(place.member, Function) else ""


def _body(place: Place) -> str:
    node = place.module.definition(place.member) if isinstance(place.member, Function) else None
    return body(node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""


def _likeness(one: str, other: str) -> float:
    """Return the share of their lines that two bodies have in common."""
    return SequenceMatcher(None, one.split("\n"), other.split("\n"), autojunk=False).ratio()


def _is_meant_for(use: Use, place: Place) -> bool:
    """Return whether upstream could call an override or a replacement before the commit."""
    upstream = own_parameters(place)
    return use.parameters is None or upstream is None or is_callable_as(use.parameters, upstream)
