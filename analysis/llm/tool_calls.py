"""Tools that a model is offered, and its calls of them, in the form of OpenAI's function calling."""

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall
from pydantic import BaseModel

_MAX_CALLS = 20  # of one reply; further ones are ignored
_MAX_ARGUMENTS = 4_000  # characters of a call's arguments; what is longer is no longer JSON, and refused as such


class Tool(NamedTuple):
    """A function that a model may call, with the schema of its arguments."""

    name: str
    description: str
    arguments: type[BaseModel]

    def as_parameter(self) -> dict[str, Any]:
        """Return the tool as the server's API has it."""
        told = {"name": self.name, "description": self.description, "parameters": _schema(self.arguments)}
        return {"type": "function", "function": told}


@cache
def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    return arguments.model_json_schema()


class ToolCall(NamedTuple):
    """A model's call of a tool; `arguments` is the JSON that it wrote, unchecked."""

    id: str
    name: str
    arguments: str

    def as_parameter(self) -> dict[str, Any]:
        """Return the call as the server's API has it."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


class CallCollector:
    """Joins the pieces of tool calls that a streamed reply consists of."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, ToolCall]] = []

    def add(self, deltas: Iterable[ChoiceDeltaToolCall]) -> None:
        """Add the pieces of a chunk; one with a new index, or with another id than the last of its index, begins a call."""
        for delta in deltas:
            told = delta.function
            name, arguments = (told.name or "", told.arguments or "") if told else ("", "")
            place = next((at for at in reversed(range(len(self._pieces))) if self._pieces[at][0] == delta.index), None)
            last = self._pieces[place][1] if place is not None else None
            if place is not None and last and delta.id in (None, "", last.id):
                joined = (last.arguments + arguments)[:_MAX_ARGUMENTS]
                self._pieces[place] = (delta.index, last._replace(name=last.name or name, arguments=joined))
            else:
                number = len(self._pieces) + 1
                self._pieces.append((delta.index, ToolCall(delta.id or f"call_{number}", name, arguments)))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for _, call in self._pieces[:_MAX_CALLS])
