"""An index of a surface by the names that its uses pass."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from analysis.impact.surface.model import Subclass, Surface, Use, UseKind
from analysis.impact.surface.targets import CONSTRUCTOR, Target


class SurfaceIndex:
    """A surface whose unguarded uses are found by name."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self._uses: dict[str, list[Use]] = defaultdict(list)
        self._mentions: dict[tuple[str, str], list[Use]] = defaultdict(list)
        # A class is constructed under the names of all that inherit its constructor.
        self._constructions: list[Use] = []
        for use in surface.uses:
            if use.kind is UseKind.MENTION:
                self._mentions[use.target[0], use.target[1].rpartition(".")[2] or use.target[1]].append(use)
            elif not use.guarded:
                for name in set(use.target):
                    self._uses[name].append(use)
                if use.kind is UseKind.CALL and use.target[-1][:1].isupper():
                    self._constructions.append(use)

    @property
    def subclasses(self) -> Mapping[Target, Subclass]:
        return self.surface.subclasses

    def nominated(self, names: Iterable[str]) -> list[Use]:
        """Return the uses of Python names that pass one of these, in the order of the files."""
        names = frozenset(names)
        found = {id(use): use for name in names for use in self._uses.get(name, ())}
        if CONSTRUCTOR in names:
            found.update((id(use), use) for use in self._constructions)
        return sorted(found.values(), key=lambda use: (use.path, use.line))

    def passing(self, name: str) -> Sequence[Use]:
        """Return the uses of Python names that pass this one."""
        return self._uses.get(name, ())

    def mentioning(self, what: str, name: str) -> Sequence[Use]:
        """Return the mentions of a name of this kind (`analysis.impact.mentions`)."""
        return self._mentions.get((what, name), ())
