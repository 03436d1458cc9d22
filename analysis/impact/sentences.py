"""The sentence that explains an impact."""

import re
from collections.abc import Iterable

from analysis.locale import Phrase, mark
from analysis.models.impacts import Cause, Impact, ImpactKind

_GONE = {
    ImpactKind.IMPORT: mark("{name} is gone, so this import fails"),
    ImpactKind.CALL: mark("{name} is gone, so this call fails"),
    ImpactKind.ATTRIBUTE: mark("{name} is gone, so this read fails"),
    ImpactKind.OVERRIDE: mark("{name} is gone, so nothing upstream calls this override"),
    ImpactKind.REPLACEMENT: mark("{name} is gone, so this assignment no longer has any effect"),
    "string": mark("{name} is gone, so this string no longer resolves"),
}
_MOVED = {
    ImpactKind.IMPORT: mark("{name} is now {new}, so this import fails"),
    ImpactKind.CALL: mark("{name} is now {new}, so this call fails"),
    ImpactKind.ATTRIBUTE: mark("{name} is now {new}, so this read fails"),
    ImpactKind.OVERRIDE: mark("{name} is now {new}, so nothing upstream calls this override"),
    ImpactKind.REPLACEMENT: mark("{name} is now {new}, so this assignment no longer has any effect"),
    "string": mark("{name} is now {new}, so this string no longer resolves"),
}
_BREAKS = {
    Cause.REMOVED: mark("{name} is gone"),
    Cause.MOVED: mark("{name} is now {new}"),
    Cause.RENAMED: mark("{name} is now {new}"),
    Cause.PARAMETER_REMOVED: mark("{name} no longer takes {subject}"),
    Cause.PARAMETER_RENAMED: mark("{name} takes {new} instead of {subject}"),
    Cause.PARAMETER_REQUIRED: mark("{name} requires {subject}"),
    Cause.RETURNS: mark("{name} now returns a different type"),
}
_CALLED = {
    Cause.PARAMETER_REMOVED: mark("{name} no longer takes {subject}, which this call passes"),
    Cause.PARAMETER_RENAMED: mark("{name} takes {new} instead of {subject}, which this call passes"),
    Cause.PARAMETER_REQUIRED: mark("{name} requires {subject}, which this call does not pass"),
    Cause.POSITION_CHANGED: mark("{name} now takes {subject} in a different position than this call passes it"),
    Cause.FEWER_POSITIONS: mark("{name} takes fewer positional arguments than this call passes"),
    Cause.RETURNS: mark("{name} now returns a different type, which this call may not expect"),
}
_OVERRIDDEN = {
    Cause.PARAMETER_REMOVED: mark("{name} no longer has {subject}, which this definition requires"),
    Cause.PARAMETER_RENAMED: mark("{name} has {new} instead of {subject}, which this definition requires"),
    Cause.PARAMETER_REQUIRED: mark("{name} now takes {subject}, which this definition does not accept"),
    Cause.PARAMETER_ADDED: mark(
        "{name} now takes the optional parameter {subject}, which this definition does not accept"
    ),
    Cause.RETURNS: mark("{name} now returns a different type; this definition may still return the old one"),
    Cause.MERGED: mark("{name} does by now what this replacement of it does, which can go"),
}
_PARAMETERS_ADDED = mark("{name} now takes the optional parameters {subject}, which this definition does not accept")
_OTHERS = {
    Cause.RETYPED: mark("{name} is now of type {new}, which has no {subject}"),
    Cause.MAY_BE_NONE: mark("{name} may now be None, or have None in it, which this line may not expect"),
    Cause.MADE_ABSTRACT: mark("{name} is now abstract, and this class does not implement it"),
    Cause.MADE_PROPERTY: mark("{name} is a property by now, which this line takes for a method"),
    Cause.MADE_METHOD: mark("{name} is a method by now, which this line takes for a value"),
    Cause.MADE_ASYNC: mark("{name} has to be awaited by now, and this line is not written for that"),
    Cause.MADE_SYNC: mark("{name} is no longer awaited, and this line is written for that"),
    Cause.NEWLY_USED: mark("{name} now uses {subject}, which this class does not provide"),
}
_DEFINITIONS = (
    ImpactKind.CALL,
    ImpactKind.ATTRIBUTE,
    ImpactKind.OVERRIDE,
    ImpactKind.REQUIRED_METHOD,
    ImpactKind.REPLACEMENT,
)
_DEFINED = (ImpactKind.OVERRIDE, ImpactKind.REPLACEMENT)


def explanation(impact: Impact, *others: Impact) -> Phrase:
    """Return why an impact's line breaks, or may break; names are `code` spans, those of definitions without their module.

    Of several lines that the same cause breaks, what they do with the name is left out if they do not all do the same.
    """
    message = _message(impact)
    return Phrase(
        message if all(_message(each) == message for each in others) else _BREAKS.get(impact.cause, message),
        name=_code(_shown_name(impact)),
        subject=_listed(map(_code, impact.subjects)),
        new=_code(_shown_new(impact)),
    )


def _message(impact: Impact) -> str:
    """Return the catalogue's sentence for an impact, with placeholders."""
    if impact.cause is Cause.REMOVED:
        return _GONE[_broken_use(impact)]
    if impact.cause in (Cause.MOVED, Cause.RENAMED):
        return _MOVED[_broken_use(impact)]
    if impact.cause in _OTHERS:
        return _OTHERS[impact.cause]
    if impact.kind not in _DEFINED:
        return _CALLED[impact.cause]
    several = len(impact.subjects) > 1 and impact.cause is Cause.PARAMETER_ADDED
    return _PARAMETERS_ADDED if several else _OVERRIDDEN[impact.cause]


def _broken_use(impact: Impact) -> str:
    """Return what the line does with the name: a kind of impact, or "string" for one that `mock.patch` takes."""
    if impact.kind is ImpactKind.IMPORT and re.search(rf"[\"']{re.escape(impact.name)}(?!\w)", impact.downstream.code):
        return "string"
    return impact.kind


def _listed(names: Iterable[str]) -> object:
    """Return names as a phrase that separates them as its language does."""
    listed: object = ""
    for name in names:
        listed = Phrase("{names}, {name}", names=listed, name=name) if listed else name
    return listed


def _code(name: str) -> str:
    return f"`{name.replace('`', '')}`"


def _shown_name(impact: Impact) -> str:
    """Return a definition's name with its class, but of what is imported all that the import names."""
    if impact.kind not in _DEFINITIONS:
        return impact.name
    parts = impact.name.split(".")
    start = next((index for index, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), len(parts) - 1)
    return ".".join(parts[start:])


def _shown_new(impact: Impact) -> str:
    """Return what takes the place of a name, shortened as the name is if both are of one module."""
    shown, new = _shown_name(impact), impact.new or ""
    short = new.removeprefix(impact.name.removesuffix(shown))
    return short if short.count(".") == shown.count(".") else new
