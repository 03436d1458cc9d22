"""Parameters of upstream functions and constructors as callers pass them, and the calls and overrides that do not fit them."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from analysis.facts.python.module import Attribute, Class, Function, Parameter, ParameterKind
from analysis.facts.python.revision import Found
from analysis.facts.python.signatures import called_parameters
from analysis.facts.syntax import parse_expression
from analysis.impact.matching.upstream import Answer, Place, Upstream
from analysis.impact.surface.model import Arguments
from analysis.impact.surface.targets import CONSTRUCTOR
from analysis.models.impacts import Cause

_NOT_CALLED = re.compile(r"\b(?:jit|kernel|overload|custom_op|singledispatch\w*|register)\b")
_MODELS = ("BaseModel", "Struct")  # whose subclasses are records as well
_RECORD_DECORATOR = re.compile(r"\b(?:dataclass|config|attrs|define)\b")
_DEFAULTS = ("default", "default_factory", "factory")
_REST = Parameter("extra", ParameterKind.VAR_KEYWORD, required=False, annotation="")
# What a class of a library takes, which is not read, or one that a decorator makes.
_ANYTHING = [replace(_REST, name="arguments", kind=ParameterKind.VAR_POSITIONAL), _REST]


def called_with(upstream: Upstream, answer: Answer) -> list[Parameter] | None:
    """Return the parameters of a function, or of a class's constructor; None if they are not known."""
    place = answer.last
    if isinstance(place.member, Class) and not place.instance:
        return _constructor(upstream, Found(place.module, place.member))
    if not isinstance(place.member, Function):
        return None
    above = answer.places[-2] if len(answer.places) > 1 else None
    on_class = above is not None and isinstance(above.member, Class) and not above.instance
    # A method that is read of its class is passed its `self`.
    return own_parameters(place, bound=not on_class or any("classmethod" in each for each in place.member.decorators))


def own_parameters(place: Place, *, bound: bool = True) -> list[Parameter] | None:
    """Return what a caller passes to a function, without `self` or `cls`; None if it is not called by its parameters."""
    function = place.member
    assert isinstance(function, Function)
    if any(map(_NOT_CALLED.search, function.decorators)):
        return None
    return list(called_parameters(function, method=bound and place.owner is not None).values())


def _constructor(upstream: Upstream, owner: Found[Class]) -> list[Parameter] | None:
    classes: list[Class] = []
    model = False
    for each in upstream.lineage(owner):
        if each is None:
            return None if model or any(map(is_record, classes)) else _ANYTHING
        own = each.member.members.get(CONSTRUCTOR)
        if isinstance(own, Function):
            generated = model or any(map(is_record, classes))
            return None if generated else own_parameters(Place(each.module, own, each.member))
        if "__new__" in each.member.members or "metaclass" in " ".join(each.member.keywords):
            return None
        model = model or any(base.name in _MODELS for base in each.member.bases)
        classes.append(each.member)
    records = [each for each in classes if model or is_record(each)]
    if not records:
        return _ANYTHING if owner.member.bases or owner.member.decorators else []
    found: dict[str, Parameter] = {}
    for record in reversed(records):
        found |= {field.name: field for field in _fields(record, model=model)}
    return [*found.values(), *([_REST] if model else [])]  # which a model ignores


def is_record(owner: Class) -> bool:
    """Return whether a class gets its constructor from its fields."""
    return any(map(_RECORD_DECORATOR.search, owner.decorators)) or any(
        base.name == "NamedTuple" for base in owner.bases
    )


def _fields(owner: Class, *, model: bool) -> list[Parameter]:
    by_name = model or any("kw_only=True" in each for each in owner.decorators)
    found = []
    for each in owner.members.values():
        if not isinstance(each, Attribute) or not each.field or "ClassVar" in each.annotation:
            continue
        if each.annotation.endswith("KW_ONLY"):
            by_name = True
        elif "init=False" not in each.value:
            named = by_name or "kw_only=True" in each.value
            kind = ParameterKind.KEYWORD_ONLY if named else ParameterKind.POSITIONAL_OR_KEYWORD
            found.append(Parameter(each.name, kind, _requires_value(each), ""))
    return found


def _requires_value(field: Attribute) -> bool:
    """Return whether a field has no default; what describes it, such as `field(repr=False)`, is none."""
    if field.required or not re.match(r"(?:\w+\.)?[fF]ield\(", field.value):
        return field.required
    call = parse_expression(field.value)
    if not isinstance(call, ast.Call) or any(each.arg in (None, *_DEFAULTS) for each in call.keywords):
        return False
    return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value is ...)


class Misfit(NamedTuple):
    """Why a call or an override does not fit: a cause, the parameter that it is about, and the other one that is in its place."""

    cause: Cause
    parameter: str
    other: str | None = None


def call_misfits(arguments: Arguments, parameters: Sequence[Parameter]) -> Iterator[Misfit]:
    """Yield why a call raises TypeError for a function with these parameters, those of a method without `self`."""
    names = {
        each.name
        for each in parameters
        if each.kind in (ParameterKind.KEYWORD_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
    }
    if not _has(parameters, ParameterKind.VAR_KEYWORD):
        for keyword in arguments.keywords:
            if keyword not in names:
                yield Misfit(Cause.PARAMETER_REMOVED, keyword)
    positions = [each for each in parameters if each.positional]
    if arguments.positional > len(positions) and not _has(parameters, ParameterKind.VAR_POSITIONAL):
        yield Misfit(Cause.FEWER_POSITIONS, positions[-1].name if positions else "")
    passed = {each.name for each in positions[: arguments.positional]} | set(arguments.keywords)
    for each in parameters:
        by_star = (each.positional and arguments.any_positional) or (
            each.kind is not ParameterKind.POSITIONAL_ONLY and arguments.any_keywords
        )
        if each.required and not each.variadic and each.name not in passed and not by_star:
            yield Misfit(Cause.PARAMETER_REQUIRED, each.name)


def shifted_by(
    misfits: Iterable[Misfit], before: Sequence[Parameter], after: Sequence[Parameter], arguments: Arguments
) -> list[Misfit]:
    """Return the misfits with the parameters that came in between, instead of those that lost their argument to them."""
    old = {each.name for each in before}
    inserted = [
        Misfit(Cause.PARAMETER_REQUIRED, each.name)
        for each in after
        if each.positional and each.required and each.name not in old and each.name not in arguments.keywords
    ]
    found: dict[Misfit, None] = {}
    for each in misfits:
        displaced = each.cause is Cause.PARAMETER_REQUIRED and each.parameter in old
        found.update(dict.fromkeys(inserted if displaced and inserted else [each]))
    return list(found)


def displaced(arguments: Arguments, before: Sequence[Parameter], after: Sequence[Parameter]) -> Iterator[Misfit]:
    """Yield the parameters whose argument a call passes by position, and which are gone or at another position by now.

    One that is gone may have another name, unless what takes its argument was a parameter before, or is of another type.
    """
    old, new = ([each for each in side if each.positional] for side in (before, after))
    names = [{each.name for each in side} for side in (old, new)]
    for position, each in enumerate(old[: arguments.positional]):
        there = new[position] if position < len(new) else None
        if each.name in names[1] and not (there and there.name == each.name):
            yield Misfit(Cause.POSITION_CHANGED, each.name)
        elif each.name not in names[1] and there and there.name in names[0]:
            yield Misfit(Cause.PARAMETER_REMOVED, each.name)
        elif each.name not in names[1] and there and _is_of_another_type(each, there):
            yield Misfit(Cause.PARAMETER_RENAMED, each.name, there.name)


def _is_of_another_type(old: Parameter, new: Parameter) -> bool:
    """Return whether each of two annotations names a type that the other does not."""
    was, now = (set(re.findall(r"\w+", each.annotation)) - {"None", "Optional", "Union"} for each in (old, new))
    return bool(was - now and now - was)


def is_callable_as(own: Sequence[Parameter], upstream: Sequence[Parameter]) -> bool:
    """Return whether an override with `own` parameters can be called with what a method of upstream requires."""
    names = {each.name for each in upstream}
    places = sum(each.positional for each in upstream)
    accepted = {each.name for each in own}
    in_order = not _out_of_order(own, upstream)
    for place, each in enumerate(upstream):
        known = each.name in accepted or each.variadic or not each.required
        absorbed = _has(own, ParameterKind.VAR_KEYWORD) and each.kind is not ParameterKind.POSITIONAL_ONLY
        by_place = (place < len(own) and own[place].positional) or _has(own, ParameterKind.VAR_POSITIONAL)
        if not known and not absorbed and not (each.positional and by_place and in_order):
            return False
    open_ended = _has(upstream, ParameterKind.VAR_KEYWORD) or _has(upstream, ParameterKind.VAR_POSITIONAL)
    return open_ended or not any(
        each.required and not each.variadic and each.name not in names and not (each.positional and place < places)
        for place, each in enumerate(own)
    )


def _out_of_order(own: Sequence[Parameter], upstream: Sequence[Parameter]) -> bool:
    """Return whether two signatures have a parameter at different positions."""
    theirs = {each.name: place for place, each in enumerate(upstream) if each.positional}
    return any(each.positional and theirs.get(each.name, place) != place for place, each in enumerate(own))


def override_misfits(
    own: Sequence[Parameter], before: Sequence[Parameter], after: Sequence[Parameter]
) -> Iterator[Misfit]:
    """Yield why callers of a method that changed may no longer call an override of it with `own` parameters.

    One that they could not call before is either late, and knows most of its parameters, or not meant for them.
    """
    if not is_callable_as(own, before) and not _knows_most(own, before):
        return
    old, new = {each.name for each in before}, {each.name for each in after}
    accepted = {each.name for each in own}
    takes_keywords = _has(own, ParameterKind.VAR_KEYWORD)
    for place, each in enumerate(after):
        known = each.name in old or each.name in accepted or each.variadic
        absorbed = takes_keywords and each.kind is not ParameterKind.POSITIONAL_ONLY
        by_position = each.positional and (_has(own, ParameterKind.VAR_POSITIONAL) or _same_place(own, place, old, new))
        if not known and not absorbed and not by_position:
            yield Misfit(Cause.PARAMETER_REQUIRED if each.required else Cause.PARAMETER_ADDED, each.name)
    absorbed_now = any(each.variadic for each in after) and not any(each.variadic for each in before)
    for each in own:
        passed = each.name in new or absorbed_now
        if each.required and not each.variadic and each.name in old and not passed:
            yield Misfit(Cause.PARAMETER_REMOVED, each.name)


def _knows_most(own: Sequence[Parameter], upstream: Sequence[Parameter]) -> bool:
    """Return whether an override has more than half of the parameters of a method, by their names."""
    names = {each.name for each in upstream if not each.variadic}
    return len(names & {each.name for each in own}) > len(names) / 2


def _same_place(own: Sequence[Parameter], place: int, old: Iterable[str], new: Iterable[str]) -> bool:
    """Return whether the override has a positional parameter at this place, of its own name or of the one before."""
    if place >= len(own) or not own[place].positional or own[place].name in new:
        return False
    return own[place].name not in old or own[place].required  # which is told by its old name


def _has(parameters: Iterable[Parameter], kind: ParameterKind) -> bool:
    return any(each.kind is kind for each in parameters)
