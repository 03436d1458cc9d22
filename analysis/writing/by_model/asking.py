"""Calls of a model about text from outside, which the prompt delimits by a mark that nobody can guess."""

import secrets as random_marks
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from analysis.errors import ModelFailure
from analysis.grounding.corpus import ToolResult
from analysis.llm import ChatModel, ModelMessage, Tool, ToolCall, ToolsRefused, UsageCounter, size_of
from analysis.locale import Phrase
from analysis.models import Language
from analysis.writing.prompts import rendered
from analysis.writing.second_reading import Slot

LANGUAGE_NAMES: dict[Language, str] = {"zh": "简体中文", "en": "English"}
FormT = TypeVar("FormT", bound=BaseModel)
_MAX_CALLS = 500  # tokens of a reply that calls tools


class Tools(Protocol):
    """Tools that a model may call, within limits of their own."""

    calls_left: int

    def offered(self) -> tuple[Tool, ...]:
        """Return them as a model is offered them."""

    def run(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the result of each call."""


class Form(BaseModel):
    """The base of reply schemas. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Asker:
    """Asks a model, with a slot held during each call and not in between. `usage` counts failed calls too."""

    def __init__(
        self,
        model: ChatModel,
        usage: UsageCounter,
        slot: Slot = lambda _: nullcontext(),
        mark: Callable[[], str] = lambda: random_marks.token_hex(8),
    ) -> None:
        self._model = model
        self._usage = usage
        self._slot = slot
        self._nonce, self._canary = mark(), mark()

    def prompt(self, system: str, user: str, language: Language, **values: object) -> list[ModelMessage]:
        """Return the first turns: two templates, filled with the values and the marks."""
        values |= {"nonce": self._nonce, "canary": self._canary}
        values |= {"language": language, "language_name": LANGUAGE_NAMES[language]}
        return [ModelMessage("system", rendered(system, **values)), ModelMessage("user", rendered(user, **values))]

    def ask(self, turns: Sequence[ModelMessage], form: type[FormT], most: int) -> FormT:
        """Return a reply of at most about `most` tokens. Raises `ModelFailure`, also for one that reveals a mark."""
        with self._slot((size_of(turns), most)):
            reply = self._model.ask(turns, form, max_tokens=most, usage=self._usage)
        told = reply.model_dump_json()
        if self._nonce in told or self._canary in told:
            raise ModelFailure(Phrase("the reply revealed the prompt"))
        return reply

    def look_up(self, turns: list[ModelMessage], tools: Tools) -> tuple[list[ModelMessage], list[ToolResult]]:
        """Let the model call tools once before it replies in a form; return the turns with their results. Raises `ModelFailure`."""
        if not self._model.takes_tools:
            return turns, []
        offered = tools.offered()
        asked = [*turns, ModelMessage("user", rendered("look_up.j2", calls=tools.calls_left))]
        with suppress(ToolsRefused), self._slot((size_of(asked, offered), _MAX_CALLS)):
            said = list(self._model.talk(asked, max_tokens=_MAX_CALLS, usage=self._usage, tools=offered))
            if calls := [each for each in said if isinstance(each, ToolCall)]:
                results = tools.run(calls)
                told = (f"{self._nonce}\n{each.text}\n{self._nonce}" for each in results)
                data = [
                    ModelMessage("tool", text, call_id=each.call_id) for text, each in zip(told, results, strict=True)
                ]
                return [*asked, ModelMessage("assistant", "", tuple(calls)), *data], results
        return turns, []
