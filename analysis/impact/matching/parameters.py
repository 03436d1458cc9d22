"""The parameters of upstream functions and constructors, as callers pass them."""

import ast
import re

from analysis.facts.syntax import parse_expression
from analysis.facts.whole_files.module import Attribute, Class, Function, Parameter, ParameterKind
from analysis.facts.whole_files.repository import Found
from analysis.facts.whole_files.signatures import called_parameters
from analysis.impact.matching.upstream import Answer, Place, Upstream
from analysis.impact.surface.targets import CONSTRUCTOR

_NOT_CALLED = re.compile(r"\b(?:jit|kernel|overload|custom_op|singledispatch\w*|register)\b")
_MODELS = ("BaseModel", "Struct")  # whose subclasses are records as well
_RECORD_DECORATOR = re.compile(r"\b(?:dataclass|config|attrs|define)\b")
_DEFAULTS = ("default", "default_factory", "factory")
_REST = Parameter("extra", ParameterKind.VAR_KEYWORD, required=False, annotation="")


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
            return None
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
        return None
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
            found.append(Parameter(each.name, kind, requires_value(each), ""))
    return found


def requires_value(field: Attribute) -> bool:
    """Return whether a field has no default; what describes it, such as `field(repr=False)`, is none."""
    if field.required or not re.match(r"(?:\w+\.)?[fF]ield\(", field.value):
        return field.required
    call = parse_expression(field.value)
    if not isinstance(call, ast.Call) or any(each.arg in (None, *_DEFAULTS) for each in call.keywords):
        return False
    return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value is ...)
