"""The second reading: a model compares statements, its own of before, with the data once more; only what it confirms is kept."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import ModelMessage

# Holds what a call may take, in tokens of input and of output, while it is made; raises `ModelFailure` if that is too much.
Slot = Callable[[tuple[int, int]], AbstractContextManager[None]]
_A_REPLY, _A_VERDICT = 100, 30  # tokens of the reply, and of each verdict in it


class _Verdict(BaseModel):
    """What the data says of a statement: the lines that decide, named before the verdict so that they are read first."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    statement: int
    lines: str
    verdict: Literal["shown", "contradicted", "not_shown"]


class SecondReading(BaseModel):
    """A verdict for each statement."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    verdicts: list[_Verdict]


def longest_reading(statements: int) -> int:
    """Return the maximum tokens of the reply about some statements."""
    return _A_REPLY + _A_VERDICT * statements


def confirmed(
    said: Sequence[str],
    messages: "Sequence[ModelMessage]",
    ask: "Callable[[Sequence[ModelMessage], type[SecondReading], int], SecondReading]",
) -> list[bool]:
    """Return of each statement about what the messages show whether a model confirms it; `ask` puts turns to it.

    A statement without a verdict is not confirmed. Raise `ModelFailure`.
    """
    if not said:
        return []
    from analysis.llm import ModelMessage

    turns = [*messages, ModelMessage("user", rendered("read_again.j2", statements=said))]
    verdicts = ask(turns, SecondReading, longest_reading(len(said))).verdicts
    shown = {each.statement for each in verdicts if each.verdict == "shown"}
    return [
        number in shown - {each.statement for each in verdicts if each.verdict != "shown"}
        for number in range(1, len(said) + 1)
    ]
