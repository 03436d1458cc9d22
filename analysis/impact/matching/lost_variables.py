"""Impacts on code that reads variables from a module of upstream's, which may serve them on demand."""

from collections.abc import Iterator, Sequence

from analysis.impact.matching.upstream import Upstream
from analysis.impact.surface.model import SurfaceIndex, UseKind
from analysis.impact.surface.targets import written
from analysis.models import Fact, FactKind
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace

_READS = {UseKind.READ: ImpactKind.ATTRIBUTE, UseKind.IMPORT: ImpactKind.IMPORT}


def lost_variables(facts: Sequence[Fact], index: SurfaceIndex, before: Upstream) -> Iterator[Impact]:
    """Yield where code reads a variable of upstream's from the module that no longer has it, as a commit's facts tell."""
    for fact in facts:
        for use in index.passing(fact.name) if fact.kind in (FactKind.REMOVED_ENV, FactKind.RENAMED_ENV) else ():
            module = before.module(use.target[:-1]) if use.kind in _READS and use.target[-1] == fact.name else None
            if module and module.path == fact.path:
                yield Impact(
                    kind=_READS[use.kind],
                    certainty=Certainty.PROVEN,
                    cause=Cause.RENAMED if fact.new else Cause.REMOVED,
                    name=written(use.target),
                    new=fact.new,
                    upstream=UpstreamPlace(
                        path=module.path, line=fact.line, before=_line(fact, before), after=fact.new
                    ),
                    downstream=DownstreamPlace(path=use.path, line=use.line, code=use.code),
                )


def _line(fact: Fact, before: Upstream) -> str | None:
    """Return the line of a removed name."""
    lines = (before.revision.text(fact.path or "") or "").split("\n")
    return lines[fact.line - 1].strip() if fact.line and fact.line <= len(lines) else fact.old
