"""Impacts: where a commit breaks the code of a downstream repository."""

from enum import StrEnum

from analysis.models.frozen import Frozen


class Certainty(StrEnum):
    """Whether both sides prove an impact. The values are part of the JSON report."""

    PROVEN = "proven"
    LIKELY = "likely"


class ImpactKind(StrEnum):
    """What of the downstream code breaks. The values are part of the JSON report."""

    IMPORT = "import"
    CALL = "call"
    ATTRIBUTE = "attribute"
    OVERRIDE = "override"
    REQUIRED_METHOD = "required method"
    REPLACEMENT = "replaced function"
    MENTION = "mentioned name"
    DEFAULT = "default"
    VERSION = "version"


class Cause(StrEnum):
    """What the commit did to the name."""

    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    PARAMETER_REMOVED = "parameter removed"
    PARAMETER_RENAMED = "parameter renamed"
    PARAMETER_ADDED = "parameter added"
    PARAMETER_REQUIRED = "parameter required"
    FEWER_POSITIONS = "fewer positional parameters"
    RETURNS = "return type changed"
    TYPE = "type changed"
    REWRITTEN = "rewritten"
    MADE_ABSTRACT = "made abstract"
    DEFAULT_CHANGED = "default changed"
    VERSION = "version required"


class UpstreamPlace(Frozen):
    """The place in the upstream commit: `path` and `line` (from 1) before it, and the line's code before and after."""

    path: str
    line: int | None = None
    before: str | None = None
    after: str | None = None


class DownstreamPlace(Frozen):
    """The place in the downstream tree."""

    path: str
    line: int
    code: str


class Impact(Frozen):
    """A commit breaks a line of downstream code.

    `name` is the upstream name as it is imported; `subject` the parameter that the cause is about; `new` what takes the
    place of either; `advice` the code to write instead of the line, which parses.
    """

    kind: ImpactKind
    certainty: Certainty
    cause: Cause
    name: str
    upstream: UpstreamPlace
    downstream: DownstreamPlace
    subject: str | None = None
    new: str | None = None
    advice: str | None = None
