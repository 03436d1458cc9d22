"""Impacts on Python code: imports, calls, overrides, reads and replacements that a commit leaves without what they need.

Names nominate, resolution decides: only uses of a name whose definition the commit changes are looked at, and each is
followed to that definition in the files before and after.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.facts.whole_files.module import Attribute, Class, Function, Parameter, ParameterKind
from analysis.facts.whole_files.repository import Found
from analysis.facts.whole_files.signatures import called_parameters
from analysis.impact.matching.advice import advised
from analysis.impact.matching.annotations import is_another_kind, tuple_length
from analysis.impact.matching.changes import ChangedNames, is_abstract
from analysis.impact.matching.signatures import Misfit, call_misfits, override_misfits
from analysis.impact.matching.successors import Successors
from analysis.impact.matching.upstream import ABSENT, Answer, Place, Presence, Upstream
from analysis.impact.surface.index import SurfaceIndex
from analysis.impact.surface.model import Subclass, Use, UseKind
from analysis.impact.surface.targets import CALL, CONSTRUCTOR, Target, written
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_KINDS = {
    UseKind.IMPORT: ImpactKind.IMPORT,
    UseKind.CALL: ImpactKind.CALL,
    UseKind.READ: ImpactKind.ATTRIBUTE,
    UseKind.OVERRIDE: ImpactKind.OVERRIDE,
    UseKind.REPLACEMENT: ImpactKind.REPLACEMENT,
}
_RETURNED = (UseKind.CALL, UseKind.OVERRIDE, UseKind.REPLACEMENT)
_NOT_CALLED = re.compile(r"\b(?:jit|kernel|overload|custom_op|singledispatch\w*|register)\b")
_RECORDS = ("NamedTuple", "BaseModel", "Struct")
_RECORD_DECORATOR = re.compile(r"\b(?:dataclass|config|attrs|define)\b")


class Matching(NamedTuple):
    """Upstream before and after a commit."""

    before: Upstream
    after: Upstream
    successors: Successors

    def impacts(self, index: SurfaceIndex, names: ChangedNames) -> Iterator[Impact]:
        """Yield what no longer fits of the uses of these names, and what subclasses now lack."""
        for use in index.nominated(names.all):
            yield from self._of_use(use)
        for subclass in index.surface.subclasses.values() if names.abstract else ():
            yield from self._required(subclass, names)

    def _of_use(self, use: Use) -> Iterator[Impact]:
        now = self.after.find(use.target)
        if now.presence is Presence.UNKNOWN:
            return
        was = self.before.find(use.target)
        if now.presence in ABSENT:
            if was.presence is Presence.UNSEEN and was.step == now.step and now.presence is Presence.MISSING:
                yield self._impact(use, Cause.REMOVED, written(use.target[: now.step + 1]), was.last, certain=False)
            elif was.presence is Presence.PRESENT or was.step > now.step:
                certain = now.presence is Presence.MISSING
                yield from self._gone(use, use.target[: now.step + 1], certain=certain)
        elif was.presence is Presence.PRESENT:
            yield from self._changed(use, was.last, now.last)

    def _gone(self, use: Use, target: Target, *, certain: bool) -> Iterator[Impact]:
        was = self.before.find(target)
        if was.presence is not Presence.PRESENT:
            return
        successor = self.successors.of(was.last)
        cause, new = successor or (Cause.REMOVED, None)
        yield self._impact(use, cause, self._name(was.last), was.last, new=new, certain=certain)

    def _changed(self, use: Use, was: Place, now: Place) -> Iterator[Impact]:
        for cause, parameter in self._misfits(use, was, now):
            certain = use.kind is UseKind.CALL or cause in (Cause.PARAMETER_REQUIRED, Cause.PARAMETER_REMOVED)
            new = self.successors.parameter(was, parameter)
            found = Cause.PARAMETER_RENAMED if new else cause
            yield self._impact(use, found, self._name(was), was, now=now, subject=parameter, new=new, certain=certain)
        yield from self._retyped(use, was, now)

    def _retyped(self, use: Use, was: Place, now: Place) -> Iterator[Impact]:
        cause, certain = None, False
        match was.member, now.member:
            case Function(returns=before), Function(returns=after) if is_another_kind(before, after):
                cause = Cause.RETURNS if use.kind in _RETURNED else None
                certain = use.unpacked is not None and tuple_length(before) == use.unpacked != tuple_length(after)
            case Function() as old, Function() as new if use.kind is UseKind.REPLACEMENT:
                cause = Cause.REWRITTEN if was.module.source(old) != now.module.source(new) else None
            case Attribute(annotation=before), Attribute(annotation=after) if is_another_kind(before, after):
                cause = Cause.TYPE if use.kind is UseKind.READ else None
        if cause:
            yield self._impact(use, cause, self._name(was), was, now=now, certain=certain)

    def _misfits(self, use: Use, was: Place, now: Place) -> Iterator[Misfit]:
        if use.arguments is not None:
            old, new = self._called(self.before, was), self._called(self.after, now)
            if old is not None and new is not None and old != new:
                known = set(call_misfits(use.arguments, old))
                yield from (each for each in call_misfits(use.arguments, new) if each not in known)
        elif use.parameters is not None and isinstance(was.member, Function) and isinstance(now.member, Function):
            old, new = _own_parameters(was), _own_parameters(now)
            if old is not None and new is not None and old != new:
                yield from override_misfits(use.parameters, old, new)

    def _called(self, upstream: Upstream, place: Place) -> list[Parameter] | None:
        """Return the parameters of a function, or of a class's constructor; None if they are not known."""
        if isinstance(place.member, Class) and not place.instance:
            return _constructor(upstream, Found(place.module, place.member))
        return _own_parameters(place) if isinstance(place.member, Function) else None

    def _required(self, subclass: Subclass, names: ChangedNames) -> Iterator[Impact]:
        for name in names.abstract - subclass.members if not subclass.abstract else ():
            now = self.after.find((*subclass.target, CALL, name))
            was = self.before.find((*subclass.target, CALL, name))
            if _is_abstract(now) and not _is_abstract(was):
                place = now.last
                yield Impact(
                    kind=ImpactKind.REQUIRED_METHOD,
                    certainty=Certainty.PROVEN,
                    cause=Cause.MADE_ABSTRACT,
                    name=self._name(place),
                    upstream=UpstreamPlace(path=place.module.path, line=_line(place), after=_code(place)),
                    downstream=DownstreamPlace(path=subclass.path, line=subclass.line, code=subclass.code),
                )

    def _impact(
        self,
        use: Use,
        cause: Cause,
        name: str,
        place: Place,
        *,
        now: Place | None = None,
        subject: str | None = None,
        new: str | None = None,
        certain: bool = True,
    ) -> Impact:
        return Impact(
            kind=_KINDS[use.kind],
            certainty=Certainty.PROVEN if certain else Certainty.LIKELY,
            cause=cause,
            name=name,
            subject=subject,
            new=new,
            upstream=UpstreamPlace(
                path=place.module.path, line=_line(place), before=_code(place), after=_code(now) if now else None
            ),
            downstream=DownstreamPlace(path=use.path, line=use.line, code=use.code),
            advice=advised(_KINDS[use.kind], cause, use.code, name=name, new=new, subject=subject),
        )

    def _name(self, place: Place) -> str:
        """Return the name of a definition as it is imported, of a member with its class."""
        parts = [*self.before.dotted(place.module)]
        if place.owner is not None:
            parts.append(place.owner.name)
        if place.member is not None:
            parts.append(place.member.name)
        return ".".join(parts)


def _own_parameters(place: Place) -> list[Parameter] | None:
    """Return what a caller passes to a function, without `self` or `cls`; None if it is not called by its parameters."""
    function = place.member
    assert isinstance(function, Function)
    if any(map(_NOT_CALLED.search, function.decorators)):
        return None
    return list(called_parameters(function, method=place.owner is not None).values())


def _constructor(upstream: Upstream, owner: Found[Class]) -> list[Parameter] | None:
    fields: list[list[Parameter]] = []
    record = any(map(_RECORD_DECORATOR.search, owner.member.decorators))
    for each in upstream.lineage(owner):
        if each is None:
            return None
        own = each.member.members.get(CONSTRUCTOR)
        if isinstance(own, Function):
            return _own_parameters(Place(each.module, own, each.member)) if not fields or not record else None
        if "__new__" in each.member.members or "metaclass" in " ".join(each.member.keywords):
            return None
        record = record or any(base.name in _RECORDS for base in each.member.bases)
        fields.append(_fields(each.member))
    if not record:
        return None
    found: dict[str, Parameter] = {}
    for each_fields in reversed(fields):
        found |= {field.name: field for field in each_fields}
    return list(found.values())


def _fields(owner: Class) -> list[Parameter]:
    by_name = any("kw_only=True" in each for each in owner.decorators) or any(
        b.name == "BaseModel" for b in owner.bases
    )
    return [
        Parameter(
            each.name,
            ParameterKind.KEYWORD_ONLY if by_name else ParameterKind.POSITIONAL_OR_KEYWORD,
            each.required,
            "",
        )
        for each in owner.members.values()
        if isinstance(each, Attribute)
        and each.field
        and "init=False" not in each.value
        and not each.annotation.startswith(("ClassVar", "typing.ClassVar"))
    ]


def _is_abstract(answer: Answer) -> bool:
    if answer.presence is not Presence.PRESENT:
        return False
    return isinstance(answer.last.member, Function) and is_abstract(answer.last.member)


def _line(place: Place) -> int | None:
    return place.member.line if place.member else None


def _code(place: Place) -> str | None:
    line = _line(place)
    return place.module.lines[line - 1].strip() if line and line <= len(place.module.lines) else None
