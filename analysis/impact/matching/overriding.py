"""Overrides and replacements: which parameters that they lack upstream's callers actually pass."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analysis.facts.whole_files.module import Parameter
from analysis.impact.matching.callers import Caller, Callers
from analysis.impact.matching.signatures import Misfit
from analysis.impact.surface.index import SurfaceIndex
from analysis.impact.surface.model import Use, UseKind
from analysis.impact.surface.targets import ABOVE, CALL, CONSTRUCTOR, owner_of
from analysis.models.impacts import Cause


class Overriding(NamedTuple):
    """The calls in the files that a commit changes, and the surface whose overrides they may reach."""

    callers: Callers
    uses: SurfaceIndex

    def met(self, use: Use, misfits: Iterable[Misfit], parameters: Sequence[Parameter]) -> Iterator[Misfit]:
        """Yield the misfits of an override that callers meet, given the parameters that upstream's own has by now.

        Callers in files that the commit leaves alone cannot know a new optional parameter, so that one of the others must
        pass it. If the only callers are methods that the class replaces as well, nobody meets anything.
        """
        callers = self._callers(use)
        positions = {each.name: index for index, each in enumerate(parameters) if each.positional}
        reached = [each for each in callers if not self._is_replaced(each.method, use)]
        for each in misfits:
            passed = any(caller.passes(each.parameter, positions.get(each.parameter)) for caller in reached)
            if passed or (each.cause is not Cause.PARAMETER_ADDED and (reached or not callers)):
                yield each

    def lost_callers(self, name: str) -> bool:
        """Return whether upstream called a method before the commit that takes it away."""
        return self.callers.no_longer_use(name)

    def _callers(self, use: Use) -> Sequence[Caller]:
        """Return the calls that may be of this definition."""
        if use.kind is not UseKind.OVERRIDE or use.target[-1] != CONSTRUCTOR:
            return self.callers.of(use.target[-1])
        owner = owner_of(use.target)
        subclass = self.uses.subclasses.get(owner)
        return list(self.callers.of_constructors({each[-1] for each in (subclass.bases if subclass else (owner,))}))

    def _is_replaced(self, method: str, use: Use) -> bool:
        """Return whether the class that has this override replaces a method, without calling the one that it replaces."""
        owner = owner_of(use.target) if CALL in use.target else None
        subclass = self.uses.subclasses.get(owner) if owner else None
        if owner is None or subclass is None or method not in subclass.members:
            return False
        above = (*owner, ABOVE, CALL, method)
        return not any(each.target == above for each in self.uses.passing(method))
