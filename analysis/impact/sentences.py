"""The sentence that explains an impact."""

from analysis.locale import Phrase, mark
from analysis.models.impacts import Cause, Impact, ImpactKind

_GONE = {
    ImpactKind.IMPORT: mark("{name} is gone, so this import fails"),
    ImpactKind.CALL: mark("{name} is gone, so this call fails"),
    ImpactKind.ATTRIBUTE: mark("{name} is gone, so this read fails"),
    ImpactKind.OVERRIDE: mark("{name} is gone, so nothing upstream calls this override"),
    ImpactKind.REPLACEMENT: mark("{name} is gone, so this assignment replaces nothing"),
    ImpactKind.MENTION: mark("{name} is gone, so setting it has no effect"),
}
_MOVED = {
    ImpactKind.IMPORT: mark("{name} is {new} now, so this import fails"),
    ImpactKind.CALL: mark("{name} is {new} now, so this call fails"),
    ImpactKind.ATTRIBUTE: mark("{name} is {new} now, so this read fails"),
    ImpactKind.OVERRIDE: mark("{name} is {new} now, so nothing upstream calls this override"),
    ImpactKind.REPLACEMENT: mark("{name} is {new} now, so this assignment replaces nothing"),
    ImpactKind.MENTION: mark("{name} is {new} now, so setting the old name has no effect"),
}
_CALLED = {
    Cause.PARAMETER_REMOVED: mark("{name} no longer takes {subject}, which this call passes"),
    Cause.PARAMETER_RENAMED: mark("{name} takes {new} instead of {subject}, which this call passes"),
    Cause.PARAMETER_REQUIRED: mark("{name} requires {subject}, which this call does not pass"),
    Cause.FEWER_POSITIONS: mark("{name} takes fewer positional arguments than this call passes"),
    Cause.RETURNS: mark("{name} returns another type, which this call may not expect"),
}
_OVERRIDDEN = {
    Cause.PARAMETER_REMOVED: mark("{name} no longer has {subject}, which this definition requires"),
    Cause.PARAMETER_RENAMED: mark("{name} has {new} instead of {subject}, which this definition requires"),
    Cause.PARAMETER_REQUIRED: mark("{name} now takes {subject}, which this definition does not accept"),
    Cause.PARAMETER_ADDED: mark("{name} now takes the optional {subject}, which this definition does not accept"),
    Cause.RETURNS: mark("{name} returns another type than this definition may"),
    Cause.REWRITTEN: mark("{name} was rewritten, and this replaces it with a copy of the old one"),
}
_OTHERS = {
    Cause.NONE_ALLOWED: mark("{name} allows None now, which this line may not expect"),
    Cause.NOT_KEPT: mark("{name} is only passed to the constructor now, so this reads its default"),
    Cause.TYPE: mark("{name} is of another type now, which this read may not expect"),
    Cause.MADE_ABSTRACT: mark("{name} is abstract, and this class does not define it"),
    Cause.DEFAULT_CHANGED: mark("The default of {name} changed, which this line relies on"),
    Cause.VERSION: mark("Upstream requires {name} {new}, which this requirement excludes"),
}
_DEFINITIONS = (
    ImpactKind.CALL,
    ImpactKind.ATTRIBUTE,
    ImpactKind.OVERRIDE,
    ImpactKind.REQUIRED_METHOD,
    ImpactKind.REPLACEMENT,
)
_DEFINED = (ImpactKind.OVERRIDE, ImpactKind.REPLACEMENT)


def explanation(impact: Impact) -> Phrase:
    """Return why an impact's line breaks, or may break; names are `code` spans, those of definitions without their module."""
    return Phrase(
        _sentence(impact),
        name=_code(_shown_name(impact)),
        subject=", ".join(map(_code, impact.subjects)),
        new=_code(impact.new or ""),
    )


def _code(name: str) -> str:
    return f"`{name.replace('`', '')}`"


def _shown_name(impact: Impact) -> str:
    """Return a definition's name with its class, but of what is imported all that the import names."""
    if impact.kind not in _DEFINITIONS:
        return impact.name
    parts = impact.name.split(".")
    start = next((index for index, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), len(parts) - 1)
    return ".".join(parts[start:])


def _sentence(impact: Impact) -> str:
    if impact.cause is Cause.REMOVED:
        return _GONE[impact.kind]
    if impact.cause in (Cause.MOVED, Cause.RENAMED):
        return _MOVED[impact.kind]
    return _OTHERS.get(impact.cause) or (_OVERRIDDEN if impact.kind in _DEFINED else _CALLED)[impact.cause]
