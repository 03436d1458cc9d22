"""Values of a changed type: what functions return and attributes hold, where their users may not expect it."""

from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.whole_files.module import Attribute, Function
from analysis.impact.matching.annotations import (
    AnnotationReader,
    Kinds,
    allows_none_now,
    is_kept,
    may_return,
    returns_as_before,
    tuple_length,
)
from analysis.impact.matching.parameters import is_record, own_parameters
from analysis.impact.matching.signatures import is_callable_as
from analysis.impact.matching.upstream import Place, Upstream, body
from analysis.impact.surface.model import Use, UseKind
from analysis.models.impacts import Cause
from analysis.paths import Kind, kind

_STUBS = ("", "pass", "...")  # bodies that leave to subclasses what is returned
_ALIKE = 0.9  # share of the lines that two bodies have in common if neither was rewritten
_RETURNED = (UseKind.CALL, UseKind.OVERRIDE, UseKind.REPLACEMENT)


class ValueChange(NamedTuple):
    """What became of a value, and whether its user certainly fails."""

    cause: Cause
    certain: bool = False


class Values(NamedTuple):
    """Upstream before and after a commit, asked what values became."""

    before: Upstream
    after: Upstream

    def change(self, use: Use, was: Place, now: Place) -> ValueChange | None:
        """Return what became of the value that a use relies on, or of the function that it replaces; None if nothing did."""
        match was.member, now.member:
            case Function() as old, Function() as new if use.kind in _RETURNED:
                change = self._returned(use, (was, old), (now, new)) if _behaves_otherwise(was, now) else None
                rewritten = use.kind is UseKind.REPLACEMENT and _differ(body(was.module, old), body(now.module, new))
                return change or (ValueChange(Cause.REWRITTEN) if rewritten else None)
            case Attribute() as old, Attribute() as new if use.kind is UseKind.READ:
                cause = self._held(use, (was, old), (now, new)) if old.annotation != new.annotation else None
                return ValueChange(cause) if cause else None
        return None

    def _returned(self, use: Use, was: tuple[Place, Function], now: tuple[Place, Function]) -> ValueChange | None:
        before, after = was[1].returns, now[1].returns
        kinds = self._kinds(was[0], before, now[0], after)
        if use.kind is not UseKind.CALL:
            own = AnnotationReader(now[0].module, self.after).kinds(use.returns)
            fits = may_return(own, *kinds) or not _is_meant_for(use, was[0])
            return None if fits else ValueChange(Cause.RETURNS)
        if not returns_as_before(*kinds):
            lengths = tuple_length(before), tuple_length(after)
            return ValueChange(Cause.RETURNS, use.unpacked is not None and lengths[0] == use.unpacked != lengths[1])
        return ValueChange(Cause.NONE_ALLOWED) if _meets_none(use, before, after) else None

    def _held(self, use: Use, was: tuple[Place, Attribute], now: tuple[Place, Attribute]) -> Cause | None:
        before, after = was[1].annotation, now[1].annotation
        if is_kept(before) and not is_kept(after):
            return Cause.NOT_KEPT
        if not returns_as_before(*self._kinds(was[0], before, now[0], after)):
            return Cause.TYPE
        owner = now[0].owner
        # Elsewhere an annotation may just say what always was so.
        return Cause.NONE_ALLOWED if owner and is_record(owner) and _meets_none(use, before, after) else None

    def _kinds(self, was: Place, before: str, now: Place, after: str) -> tuple[Kinds, Kinds]:
        """Return what annotations on both sides of the commit allow."""
        sides = AnnotationReader(was.module, self.before), AnnotationReader(now.module, self.after)
        return sides[0].kinds(before), sides[1].kinds(after)


def _meets_none(use: Use, before: str, after: str) -> bool:
    """Return whether a use may meet None by now; a test makes the values that it reads."""
    return kind(use.path) is not Kind.TEST and allows_none_now(before, after)


def _differ(before: str, after: str) -> bool:
    """Return whether two bodies differ in more than a few of their lines, as after a renaming."""
    lines = before.split("\n"), after.split("\n")
    return before != after and SequenceMatcher(None, *lines, autojunk=False).ratio() < _ALIKE


def _behaves_otherwise(was: Place, now: Place) -> bool:
    """Return whether a function has another annotation and another body, or leaves its body to subclasses."""
    old, new = was.member, now.member
    if not isinstance(old, Function) or not isinstance(new, Function) or old.returns == new.returns:
        return False
    statements = body(now.module, new)
    is_stub = statements in _STUBS or statements.startswith("raise NotImplementedError")
    return is_stub or statements != body(was.module, old)


def _is_meant_for(use: Use, place: Place) -> bool:
    """Return whether upstream could call an override or a replacement before the commit."""
    upstream = own_parameters(place)
    return use.parameters is None or upstream is None or is_callable_as(use.parameters, upstream)
