"""Whether calls and overrides fit a signature."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analysis.facts.whole_files.module import Parameter, ParameterKind
from analysis.impact.surface.model import Arguments
from analysis.models.impacts import Cause


class Misfit(NamedTuple):
    """Why a call or an override does not fit: a cause, and the parameter that it is about."""

    cause: Cause
    parameter: str


def call_misfits(arguments: Arguments, parameters: Sequence[Parameter]) -> Iterator[Misfit]:
    """Yield why a call raises TypeError for a function with these parameters, those of a method without `self`."""
    names = {each.name for each in parameters if each.kind in (_KEYWORD, _EITHER)}
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
            each.kind is not _POSITION and arguments.any_keywords
        )
        if each.required and not each.variadic and each.name not in passed and not by_star:
            yield Misfit(Cause.PARAMETER_REQUIRED, each.name)


def override_misfits(
    own: Sequence[Parameter], before: Sequence[Parameter], after: Sequence[Parameter]
) -> Iterator[Misfit]:
    """Yield why callers of a method that changed may no longer call an override of it with `own` parameters."""
    old, new = {each.name for each in before}, {each.name for each in after}
    accepted = {each.name for each in own}
    takes_keywords = _has(own, ParameterKind.VAR_KEYWORD)
    for place, each in enumerate(after):
        known = each.name in old or each.name in accepted or each.variadic
        absorbed = takes_keywords and each.kind is not _POSITION
        by_position = each.positional and (_has(own, ParameterKind.VAR_POSITIONAL) or _same_place(own, place, old, new))
        if not known and not absorbed and not by_position:
            yield Misfit(Cause.PARAMETER_REQUIRED if each.required else Cause.PARAMETER_ADDED, each.name)
    absorbed_now = any(each.variadic for each in after) and not any(each.variadic for each in before)
    for each in own:
        passed = each.name in new or absorbed_now
        if each.required and not each.variadic and each.name in old and not passed:
            yield Misfit(Cause.PARAMETER_REMOVED, each.name)


def _same_place(own: Sequence[Parameter], place: int, old: Iterable[str], new: Iterable[str]) -> bool:
    """Return whether the override has a positional parameter at this place, of its own name or of the one before."""
    if place >= len(own) or not own[place].positional or own[place].name in new:
        return False
    return own[place].name not in old or own[place].required  # which is told by its old name


def _has(parameters: Iterable[Parameter], kind: ParameterKind) -> bool:
    return any(each.kind is kind for each in parameters)


_KEYWORD, _EITHER, _POSITION = (
    ParameterKind.KEYWORD_ONLY,
    ParameterKind.POSITIONAL_OR_KEYWORD,
    ParameterKind.POSITIONAL_ONLY,
)
