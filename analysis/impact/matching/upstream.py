"""One revision of the upstream repository, and the definitions in it that targets stand for."""

import ast
import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple
from weakref import WeakKeyDictionary

from analysis.facts.python.module import Attribute, Class, Function, Import, Member, Module
from analysis.facts.python.revision import Found, Revision
from analysis.facts.syntax import parse_expression
from analysis.impact.surface.model import Subclass
from analysis.impact.surface.targets import (
    CALL,
    ITEM,
    Target,
    attribute_targets,
    infer,
    instance,
    item,
    owner_of,
)

_MAX_HOPS = 24  # steps from one definition to the next for one target
# What attributes of classes stand for, by line and roots, while the module is kept: mostly the same for a range's commits.
_ATTRIBUTES: WeakKeyDictionary[Module, dict[tuple[object, ...], Mapping[str, Target | None]]] = WeakKeyDictionary()


class Presence(Enum):
    """Whether a revision has what a target names.

    It is unseen where nothing declares it, but a class from elsewhere or a dynamic module may provide it.
    """

    PRESENT = auto()
    MISSING = auto()
    UNSEEN = auto()
    UNKNOWN = auto()


ABSENT = (Presence.MISSING, Presence.UNSEEN)
CALLED = ("__call__", "forward")  # what a call of an object calls; the latter where torch calls it
_HANDED_ON = re.compile(r"return self\.(\w+)\(\*\w+, \*\*\w+\)\s*$")


class Place(NamedTuple):
    """A definition that a target passes: its module, its class if it is a member of one, and the definition itself if it is known."""

    module: Module
    member: Member | None = None
    owner: Class | None = None
    instance: bool = False


def handed_on(place: Place) -> str | None:
    """Return the method to which one gives all that it is passed, or of which it is another name."""
    if isinstance(place.member, Attribute):
        return place.member.value if place.owner and place.member.value.isidentifier() else None
    if not isinstance(place.member, Function) or not any(each.variadic for each in place.member.parameters):
        return None
    found = _HANDED_ON.search(place.module.source(place.member))
    return found[1] if found else None


class Answer(NamedTuple):
    """What became of a target: the definitions of its steps as far as they are known, and the step that is missing."""

    presence: Presence
    places: tuple[Place, ...]
    step: int = 0

    @property
    def last(self) -> Place:
        return self.places[-1]


class Upstream:
    """One revision of the upstream repository, asked for targets. `roots` are the folders that hold its packages."""

    def __init__(self, revision: Revision, roots: Mapping[str, str], subclasses: Mapping[Target, Subclass]) -> None:
        self.revision = revision
        self._roots = roots
        self._subclasses = subclasses
        self._answers: dict[Target, Answer] = {}

    def find(self, target: Target) -> Answer:
        """Find a target, step by step."""
        if target not in self._answers:
            self._answers[target] = self._find(target, _MAX_HOPS)
        return self._answers[target]

    def _find(self, target: Target, hops: int) -> Answer:
        if target[0] in self._roots:
            return self._from_package(target, hops)
        if CALL in target[:-1] and (subclass := self._subclasses.get(owner_of(target))):
            return self._from_subclass(subclass, target, target.index(CALL) + 1, hops)
        return Answer(Presence.UNKNOWN, ())

    def _from_package(self, target: Target, hops: int) -> Answer:
        length = len(target)
        module = None
        while length and (module := self.module(target[:length])) is None:
            length -= 1
        if module is None:
            return Answer(Presence.UNKNOWN, ())
        return self._walk(Place(module), target, length, hops)

    def _from_subclass(self, subclass: Subclass, target: Target, step: int, hops: int) -> Answer:
        """Look a member up in the upstream bases of a downstream class, in their order."""
        missing: Answer | None = None
        for base in subclass.bases:
            found = self._find(base, hops - 1) if hops else Answer(Presence.UNKNOWN, ())
            if found.presence is not Presence.PRESENT or not isinstance(found.last.member, Class):
                return Answer(Presence.UNKNOWN, ())
            owner = found.last._replace(instance=True)
            answer = self._walk(owner, target, step, hops - 1)
            if answer.presence not in ABSENT or answer.step > step:
                return answer
            missing = answer if missing is None or answer.presence is Presence.UNSEEN else missing
        return missing or Answer(Presence.UNKNOWN, ())

    def module(self, target: Target) -> Module | None:
        """Return the module that a dotted path names."""
        root = self._roots.get(target[0])
        if root is None or CALL in target:
            return None
        path = "/".join(filter(None, [root, *target]))
        return self.revision.module(f"{path}.py") or self.revision.module(f"{path}/__init__.py")

    def _walk(self, place: Place, target: Target, step: int, hops: int) -> Answer:
        places = [place]
        for index in range(step, len(target)):
            found = self._step(places[-1], target[index], hops)
            if isinstance(found, Presence):
                return Answer(found, tuple(places), index)
            places.append(found)
        return Answer(Presence.PRESENT, tuple(places), len(target))

    def _step(self, place: Place, name: str, hops: int) -> "Place | Presence":
        if not hops:
            return Presence.UNKNOWN
        match place.member:
            case None:
                return self._in_module(place.module, name, hops)
            case Class() as owner if name == CALL:
                return Presence.UNKNOWN if place.instance else Place(place.module, owner, None, instance=True)
            case Class() as owner:
                return self._in_class(Found(place.module, owner), name)
            case Function() | Attribute():
                return self._value(place, name, hops)
        return Presence.UNKNOWN

    def _in_module(self, module: Module, name: str, hops: int) -> "Place | Presence":
        if name in (CALL, ITEM):
            return Presence.UNKNOWN
        member = module.members.get(name)
        if isinstance(member, Import):
            is_bound = not member.typing_only or self.revision.binds(module, name)
            return self._imported(module, member, hops) if is_bound else Presence.MISSING
        if member is not None:
            return Place(module, member)
        for star in module.stars:
            source = self.module(self.local(star))
            if source is not None and source is not module:
                found = self._in_module(source, name, hops - 1) if hops else Presence.UNKNOWN
                if isinstance(found, Place):
                    return found
        return Presence.UNSEEN if self.revision.binds(module, name) else Presence.MISSING

    def _imported(self, module: Module, member: Import, hops: int) -> "Place | Presence":
        target = self.local(member.target)
        if target[0] not in self._roots:
            return Place(module, member)  # of a library, which can be imported from here as long as it stands here
        if target == (*self.dotted(module), member.name):
            return Presence.UNKNOWN
        found = self._find(target, hops - 1)
        if found.presence is Presence.PRESENT:
            return found.last
        return Presence.UNKNOWN  # a broken import of upstream's own, or one that we do not understand

    def _in_class(self, owner: Found[Class], name: str) -> "Place | Presence":
        for each in filter(None, self.lineage(owner)):
            if member := each.member.members.get(name):
                return Place(each.module, member, each.member)
            if attribute := next((a for a in each.module.instance_attributes(each.member) if a.name == name), None):
                return Place(each.module, attribute, each.member)
        return Presence.UNSEEN if self.revision.provides(owner, name) else Presence.MISSING

    def lineage(self, owner: Found[Class]) -> Iterator[Found[Class] | None]:
        """Yield a class and those above it, None for each that is not in the repository."""
        yield owner
        yield from self.revision.bases(owner)

    def _value(self, place: Place, name: str, hops: int) -> "Place | Presence":
        """Take a step from what a function returns, or from the value of an attribute."""
        target = self._target(place)
        if isinstance(place.member, Function):
            if name != CALL:
                return Presence.UNKNOWN
            target = self._returned(place)
            return self._standing_for(target, hops) if target else Presence.UNKNOWN
        if target is None:
            return Presence.UNKNOWN
        if name == ITEM:
            return self._standing_for(item(target), hops)
        found = self._standing_for(target, hops)
        return self._step(found, name, hops - 1) if isinstance(found, Place) else found

    def _standing_for(self, target: Target, hops: int) -> "Place | Presence":
        if not hops or target[0] not in self._roots:
            return Presence.UNKNOWN
        found = self._find(target, hops - 1)
        return found.last if found.presence is Presence.PRESENT else Presence.UNKNOWN

    def _target(self, place: Place) -> Target | None:
        """Return what an attribute stands for, as its declaration or the assignments to it say."""
        member = place.member
        if not isinstance(member, Attribute):
            return None
        if place.owner is not None:
            return self._attributes_of(place.module, place.owner).get(member.name)
        if member.annotation:
            return instance(parse_expression(member.annotation), self._names(place.module))
        value = parse_expression(member.value) or parse_expression(
            f"{member.value.partition('(')[0]}()"
        )  # if it is cut
        return infer(value, self._names(place.module))

    def _attributes_of(self, module: Module, owner: Class) -> Mapping[str, Target | None]:
        kept, key = _ATTRIBUTES.setdefault(module, {}), (owner.start, *self._roots.items())
        if key not in kept:
            node = module.definition(owner)
            own = (*self.dotted(module), owner.name)
            kept[key] = attribute_targets(node, own, self._names(module)) if isinstance(node, ast.ClassDef) else {}
        return kept[key]

    def local(self, dotted: str) -> Target:
        """Return a dotted path from the repository's root as it is imported, without the folder that holds the package."""
        target = tuple(dotted.split("."))
        for package, root in self._roots.items():
            above = tuple(filter(None, root.split("/")))
            if above and target[: len(above) + 1] == (*above, package):
                return target[len(above) :]
        return target

    def dotted(self, module: Module) -> Target:
        """Return what a module is imported as."""
        return self.local(module.dotted)

    def _names(self, module: Module) -> dict[str, Target | None]:
        """Return what the names of a module's top level stand for."""
        own = self.dotted(module)
        return {
            name: self.local(member.target) if isinstance(member, Import) else (*own, name)
            for name, member in module.members.items()
            if isinstance(member, Import | Class | Function)
        }

    def _returned(self, place: Place) -> Target | None:
        node = place.module.definition(place.member) if isinstance(place.member, Function) else None
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        return instance(node.returns, self._names(place.module))
