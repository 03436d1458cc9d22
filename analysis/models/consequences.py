"""Consequences: what a commit means for whoever uses, runs or extends the project."""

from enum import StrEnum

from analysis.models.facts import Fact
from analysis.models.frozen import Frozen
from analysis.models.impacts import Certainty


class Whom(StrEnum):
    """Whom a consequence concerns, in the order of interest. The values are part of the JSON report."""

    USERS = "users"
    OPERATORS = "operators"
    EXTENDERS = "extenders"
    INTERNALS = "internals"


class Effect(StrEnum):
    """What a consequence is, the most urgent first. The values are part of the JSON report."""

    SECURITY = "security"
    BREAK = "break"
    BEHAVIOUR = "behaviour"
    REQUIREMENT = "requirement"
    DEPRECATION = "deprecation"
    FIX = "fix"
    ADDITION = "addition"
    OTHER = "other"


class Consequence(Frozen):
    """What happens, to whom, and what to do about it: a sentence with `code` spans, and an instruction or "".

    The evidence is `facts`; without any it is the commit's title. `reach` ranks how many people meet it: 0
    for most of them, 4 for hardly any. A model may have `written` it.
    """

    what: str
    whom: Whom
    effect: Effect
    action: str = ""
    certainty: Certainty = Certainty.PROVEN
    reach: int = 0
    facts: tuple[Fact, ...] = ()
    written: bool = False
