"""The second reading: a model compares statements, its own of before, with the diff once more, and says which it doubts."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import ModelMessage

MAX_READING = 400  # tokens of the reply


class SecondReading(BaseModel):
    """The numbers of the statements that the diff contradicts, and of those that it does not show."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    contradicted: list[int]
    not_shown: list[int]


def doubted(
    said: Sequence[str],
    messages: "Sequence[ModelMessage]",
    ask: "Callable[[Sequence[ModelMessage], type[SecondReading], int], SecondReading]",
) -> Collection[str]:
    """Return those of some statements about what the messages show that a model doubts; `ask` puts turns to it.

    Raise `ModelFailure`.
    """
    from analysis.llm import ModelMessage

    reply = ask(
        [*messages, ModelMessage("user", rendered("read_again.j2", statements=said))], SecondReading, MAX_READING
    )
    numbers = {*reply.contradicted, *reply.not_shown}
    return {each for number, each in enumerate(said, 1) if number in numbers}
