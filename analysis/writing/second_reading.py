"""The second reading: a model compares statements, its own of before, with the diff once more, and says which it doubts."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import ChatModel, ModelMessage, UsageCounter

MAX_READING = 400  # tokens of the reply
PROMPT = "read_again.j2"


class SecondReading(BaseModel):
    """The numbers of the statements that the diff contradicts, and of those that it does not show."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    contradicted: list[int]
    not_shown: list[int]


def doubted(
    said: Sequence[str], messages: "Sequence[ModelMessage]", model: "ChatModel", usage: "UsageCounter"
) -> Collection[str]:
    """Return those of some statements about what the messages show that a model doubts. Raise `ModelFailure`."""
    from analysis.llm import ModelMessage

    turns = [*messages, ModelMessage("user", rendered(PROMPT, statements=said))]
    reply = model.ask(turns, SecondReading, max_tokens=MAX_READING, usage=usage)
    numbers = {*reply.contradicted, *reply.not_shown}
    return {each for number, each in enumerate(said, 1) if number in numbers}
