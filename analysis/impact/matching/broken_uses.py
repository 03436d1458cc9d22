"""Impacts on Python code: imports, calls, overrides, reads and replacements that a commit leaves without what they need.

Names nominate, resolution decides: only uses of a name whose definition the commit changes are looked at, and each is
followed to that definition in the files before and after.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from analysis.facts.python.module import Attribute, Class, Function, Import
from analysis.facts.python.revision import Found
from analysis.impact.matching.callers import Callers
from analysis.impact.matching.changes import ChangedNames, Successor, Successors
from analysis.impact.matching.quotation import advised, line_of, quoted
from analysis.impact.matching.results import lost_method, result_change
from analysis.impact.matching.signatures import (
    Misfit,
    call_misfits,
    called_with,
    displaced,
    is_record,
    override_misfits,
    own_parameters,
    shifted_by,
)
from analysis.impact.matching.upstream import ABSENT, CALLED, Answer, Place, Presence, Upstream, handed_on
from analysis.impact.surface.model import Subclass, SurfaceIndex, Use, UseKind
from analysis.impact.surface.targets import CALL, CONSTRUCTOR, Target, owner_of, written
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_KINDS = {
    UseKind.IMPORT: ImpactKind.IMPORT,
    UseKind.CALL: ImpactKind.CALL,
    UseKind.READ: ImpactKind.ATTRIBUTE,
    UseKind.OVERRIDE: ImpactKind.OVERRIDE,
    UseKind.REPLACEMENT: ImpactKind.REPLACEMENT,
}
_FAILING = (Cause.PARAMETER_REQUIRED, Cause.PARAMETER_REMOVED)


@dataclass(frozen=True)
class Matching:
    """Upstream before and after a commit, what the commit says of successors and callers, and the surface.

    `callers` are None for a range of commits, of which no single one has them all.
    """

    before: Upstream
    after: Upstream
    successors: Successors
    callers: Callers | None
    uses: SurfaceIndex

    def impacts(self, names: ChangedNames) -> Iterator[Impact]:
        """Yield what no longer fits of the uses of these names, and what subclasses now lack."""
        rewritten = (use for use in self.uses.nominated(names.rewritten - names.all) if use.body or use.values)
        for use in (*self.uses.nominated(names.all), *rewritten):
            yield from self.of_use(use)
        subclasses = self.uses.surface.subclasses.values() if names.abstract else ()
        for subclass in filter(self.uses.is_of_interest, subclasses):
            yield from self.required(subclass, names.abstract)

    def of_use(self, use: Use) -> Sequence[Impact]:
        """Return what no longer fits of a use."""
        with suppress(RecursionError):  # of code that is nested too deep to be followed
            return list(self._of_use(use))
        return ()

    def _of_use(self, use: Use) -> Iterator[Impact]:
        use = self._called(use)
        now = self.after.find(use.target)
        was = self.before.find(use.target)
        if now.presence is Presence.UNKNOWN:
            if was.presence is Presence.UNKNOWN and (lost := lost_method(use, was, now)):
                name, kind = lost
                yield self._impact(
                    use, Cause.RETYPED, self._name(was.last), was.last, now=now.last, subjects=[name], new=kind
                )
            return
        if now.presence in ABSENT:
            served = was.presence is Presence.UNSEEN and was.last.member is None and was.step == now.step
            if served and now.presence is Presence.MISSING:  # of a module, on demand
                yield self._impact(use, Cause.REMOVED, written(use.target[: now.step + 1]), was.last, certain=False)
            elif was.presence is Presence.PRESENT or (was.step > now.step and was.presence is not Presence.MISSING):
                certain = now.presence is Presence.MISSING
                # What a module still names in a string, it may serve on demand.
                if certain or not re.search(f"""["']{use.target[now.step]}["']""", now.last.module.text):
                    yield from self._gone(use, use.target[: now.step + 1], certain=certain)
        elif was.presence is Presence.PRESENT:
            yield from self._changed(use, was, now)

    def _called(self, use: Use) -> Use:
        """Return a use of what Python calls in its place: of an object, or the constructor that a class has from a record."""
        if use.kind is not UseKind.CALL:
            return use
        found = self.before.find(use.target)
        place = found.last if found.presence is Presence.PRESENT else None
        called: list[Target] = []
        if place and (isinstance(place.member, Attribute) or place.instance):
            called = [(*use.target, each) for each in CALLED]
        elif not place and CALL in use.target and use.target[-1] == CONSTRUCTOR:
            subclass = self.uses.surface.subclasses.get(owner_of(use.target))
            called = [each for each in subclass.bases if self._is_record(each)] if subclass else []
        there = next((each for each in called if self.before.find(each).presence is Presence.PRESENT), None)
        return use.model_copy(update={"target": there}) if there else use

    def _is_record(self, target: Target) -> bool:
        above = self.before.find(target).places
        return bool(above) and isinstance(above[-1].member, Class) and is_record(above[-1].member)

    def _gone(self, use: Use, target: Target, *, certain: bool) -> Iterator[Impact]:
        was = self.before.find(target)
        # Of what every object has, a class without its own inherits one.
        is_special = use.kind is UseKind.OVERRIDE and use.target[-1].startswith("__")  # which Python calls
        if was.presence is not Presence.PRESENT or hasattr(object, target[-1]) or is_special or not _names(use, target):
            return  # what is not named is taken from what is gone: that is told where it is named
        if use.kind is UseKind.OVERRIDE and self.callers and not self.callers.lost(target[-1]):
            return  # nobody called it before
        done = {
            each.kind for each in self.uses.passing(target[-1]) if CALL in each.target and each.target[-1] == target[-1]
        }
        held = was.last.owner is not None and isinstance(was.last.member, Attribute)
        if use.kind is UseKind.REPLACEMENT and (held or target != use.target):
            return  # an object may be given what it does not have, and what it is given to is told where it is read
        above = (*self.before.dotted(was.last.module), was.last.owner.name, target[-1]) if was.last.owner else target
        is_kept = self.after.find(above).presence is Presence.PRESENT
        if is_kept and not certain:
            return  # the class has other bases, which may define it
        place, (cause, new) = self._succeeded(use, len(target)) or (_offered(was, target[-1]), (Cause.REMOVED, None))
        # An object that is passed for one of the class may have the member from a downstream class, or be given it.
        is_own = target[-1] in self.uses.surface.members or UseKind.REPLACEMENT in done
        own = use.kind is UseKind.READ and place.owner is not None and is_own
        name = written(tuple(each for each in target if each != CALL)) if is_kept else self._name(place)
        yield self._impact(use, cause, name, place, new=new, certain=certain and not own)

    def _succeeded(self, use: Use, length: int) -> tuple[Place, Successor] | None:
        """Return what is gone of a target, at its first steps or below, and what the tree after the commit has in its place.

        That of a module has all that is used of it; else one of its modules or names may have moved elsewhere.
        """
        for end in range(length, len(use.target) + 1):
            was = self.before.find(use.target[:end])
            if was.presence is not Presence.PRESENT:
                break
            place = _offered(was, use.target[end - 1])
            found = (self._kept(use, was.last, place) if place is not was.last else None) or self.successors.of(
                was.last
            )
            rest = () if was.last.member else use.target[end:]
            now = self.after.find((*found.name.split("."), *rest)) if found else None
            if found and now and now.places and now.presence not in ABSENT:
                return place, found
            if was.last.member:
                break
        return None

    def _kept(self, use: Use, place: Place, offered: Place) -> Successor | None:
        """Return a definition, which another module no longer passes on, or what looks it up, as what to use instead."""
        moved = self.successors.of(Place(offered.module)) if use.kind is not UseKind.IMPORT else None
        name = f"{moved.name}.{offered.member.name}" if moved and offered.member else None
        if name and self.after.find(tuple(name.split("."))).presence is Presence.PRESENT:
            return Successor(Cause.MOVED, name)
        own = (*self.before.dotted(place.module), *([place.member.name] if place.member else []))
        found = self.after.find(own)
        # What stands in its place, such as None, is not it.
        if found.presence is not Presence.PRESENT or type(found.last.member) is not type(place.member):
            return None
        return Successor(Cause.MOVED, self._name(found.last))

    def _changed(self, use: Use, before: Answer, after: Answer) -> Iterator[Impact]:
        if use.kind is UseKind.OVERRIDE and (name := handed_on(before.last)) and name == handed_on(after.last):
            target = (*use.target[:-1], name)  # which has the parameters that upstream's callers know
            before, after = self.before.find(target), self.after.find(target)
        if before.presence is after.presence is Presence.PRESENT:
            yield from self._differing(use, before, after)

    def _differing(self, use: Use, before: Answer, after: Answer) -> Iterator[Impact]:
        was, now = before.last, after.last
        causes: dict[tuple[Cause, str | None], list[str]] = {}
        guessed: set[str | None] = set()
        for cause, parameter, other in self._misfits(use, before, after):
            if other and use.arguments and other in use.arguments.names:  # what is passed in its place is called so
                continue
            new = self.successors.parameter(was, parameter) or other
            causes.setdefault((Cause.PARAMETER_RENAMED if new else cause, new), []).append(parameter)
            guessed |= {other} - {None}
        for (cause, new), parameters in causes.items():
            # Upstream may pass a parameter by its place, whatever it is called.
            certain = (use.kind is UseKind.CALL or cause in _FAILING) and new not in guessed
            yield self._impact(use, cause, self._name(was), was, now=now, subjects=parameters, new=new, certain=certain)
        if change := result_change(use, was, now):
            yield self._impact(use, change.cause, self._name(was), was, now=now, certain=change.certain)

    def _misfits(self, use: Use, before: Answer, after: Answer) -> Iterator[Misfit]:
        was, now = before.last, after.last
        if use.arguments is not None:
            old, new = called_with(self.before, before), called_with(self.after, after)
            # What failed before is not broken by this commit.
            if old is not None and new is not None and old != new and not any(call_misfits(use.arguments, old)):
                misfits = shifted_by(call_misfits(use.arguments, new), old, new, use.arguments)
                yield from misfits or displaced(use.arguments, old, new)
        elif use.parameters is not None and isinstance(was.member, Function) and isinstance(now.member, Function):
            old, new = own_parameters(was), own_parameters(now)
            if old is not None and new is not None and old != new:
                unfit = override_misfits(use.parameters, old, new)
                yield from self.callers.met(use, unfit, new, was.member.name) if self.callers else unfit

    def required(self, subclass: Subclass, names: frozenset[str]) -> Iterator[Impact]:
        """Yield those of some methods that a class lacks now that they are abstract."""
        lacking = names - subclass.members if not subclass.abstract else frozenset[str]()
        for name in lacking & inherited_abstract_methods(self.after, subclass) if lacking else ():
            now = self.after.find((*subclass.target, CALL, name))
            was = self.before.find((*subclass.target, CALL, name))
            if _is_abstract(now) and not _is_abstract(was) and was.presence is not Presence.UNKNOWN:
                place = now.last
                yield Impact(
                    kind=ImpactKind.REQUIRED_METHOD,
                    certainty=Certainty.PROVEN,
                    cause=Cause.MADE_ABSTRACT,
                    name=self._name(place),
                    upstream=UpstreamPlace(path=place.module.path, line=line_of(place), after=quoted(place)),
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
        subjects: Sequence[str] = (),
        new: str | None = None,
        certain: bool = True,
    ) -> Impact:
        return Impact(
            kind=_KINDS[use.kind],
            certainty=Certainty.PROVEN if certain else Certainty.LIKELY,
            cause=cause,
            name=name,
            subjects=tuple(subjects),
            new=new,
            upstream=_quotation(_constructor(place), now and _constructor(now), subjects),
            downstream=DownstreamPlace(path=use.path, line=use.line, code=use.code),
            advice=self._advice(use, cause, name, place, new) if new else None,
        )

    def _advice(self, use: Use, cause: Cause, name: str, was: Place, new: str) -> str | None:
        """Return what to write instead; nothing for a class that lacks members under its new name."""
        if cause not in (Cause.MOVED, Cause.RENAMED):
            return None
        places = self.after.find(tuple(new.split("."))).places
        now = places[-1].member if places else None
        lacks = (
            isinstance(was.member, Class)
            and isinstance(now, Class)
            and not was.member.members.keys() <= now.members.keys()
        )
        return None if lacks and cause is Cause.RENAMED else advised(_KINDS[use.kind], use.code, name, new)

    def _name(self, place: Place) -> str:
        """Return the name of a definition as it is imported, of a member with its class."""
        parts = [*self.before.dotted(place.module)]
        if place.owner is not None:
            parts.append(place.owner.name)
        if place.member is not None:
            parts.append(place.member.name)
        return ".".join(parts)


def _constructor(place: Place) -> Place:
    """Return the constructor that a class defines, in place of the class."""
    constructor = place.member.members.get(CONSTRUCTOR) if isinstance(place.member, Class) else None
    owner = place.member if isinstance(place.member, Class) else None
    return Place(place.module, constructor, owner) if isinstance(constructor, Function) else place


def _quotation(was: Place, now: Place | None, subjects: Sequence[str]) -> UpstreamPlace:
    return UpstreamPlace(
        path=was.module.path,
        line=line_of(was),
        before=quoted(was, now, subjects),
        after=quoted(now, was, subjects) if now else None,
    )


def _names(use: Use, target: Target) -> bool:
    """Return whether the line of a use spells the last name of a target, after a dot or in quotes where an object has it.

    A line of a longer import belongs to one that begins above and spells its module there.
    """
    if use.kind is UseKind.IMPORT and not re.search(r"\bimport\b", use.code):
        return True
    before = r"""[."']\s*""" if CALL in target and use.kind in (UseKind.READ, UseKind.CALL) else r"(?<!\w)"
    return re.search(rf"{before}{re.escape(target[-1])}(?!\w)", use.code) is not None


def _offered(answer: Answer, name: str) -> Place:
    """Return what an answer ends at, or the import by which another module offers it under this name."""
    above = answer.places[-2] if len(answer.places) > 1 else None
    if above is None or above.member is not None or above.module is answer.last.module:
        return answer.last
    offered = above.module.members.get(name)
    return Place(above.module, offered) if isinstance(offered, Import) else answer.last


def inherited_abstract_methods(upstream: Upstream, subclass: Subclass) -> frozenset[str]:
    """Return the names of the abstract methods of the upstream classes above a downstream one."""
    above = (upstream.find(base) for base in subclass.bases)
    own = (each.last for each in above if each.presence is Presence.PRESENT)
    classes = (Found(each.module, each.member) for each in own if isinstance(each.member, Class))
    owners = (owner.member for each in classes for owner in upstream.lineage(each) if owner)
    return frozenset(
        name for owner in owners for name, each in owner.members.items() if isinstance(each, Function) and each.abstract
    )


def _is_abstract(answer: Answer) -> bool:
    member = answer.last.member if answer.presence is Presence.PRESENT else None
    return isinstance(member, Function) and member.abstract
