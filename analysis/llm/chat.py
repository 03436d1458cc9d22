"""Calls to chat models, for validated values or streamed text.

A value is requested by a strict JSON schema, and from a server that refuses one by the schema in the prompt. Every reply is
validated: a server may accept a schema and ignore it. Replies are streamed, so that a stalled server is noticed after
`timeout` seconds of silence rather than at the end, and an interrupted reply differs from a finished one. The SDK retries
what fails before a reply begins.
"""

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import openai
from genai_prices import Usage, calc_price
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel

from analysis.cancellation import Cancelled, check_cancelled
from analysis.diff import tokens
from analysis.errors import ModelFailure
from analysis.llm.errors import SchemaRefused, ToolsRefused, translated_errors
from analysis.llm.response_format import response_format, schema_prompt, validated
from analysis.llm.tool_calls import CallCollector, Tool, ToolCall
from analysis.locale import Phrase, mark

T = TypeVar("T", bound=BaseModel)

_OPENAI = "https://api.openai.com/v1"  # whose prices are asked for unless another server is set
_CONNECT = 5  # seconds
_MAX_TOKENS = 8192  # tokens; no analysis needs a longer reply
_FINISHED_CALLS = ("tool_calls", "stop", "function_call")  # how servers end a reply that calls tools


@dataclass
class UsageCounter:
    """The number of calls, failed ones included, and their tokens; None if the server does not report them."""

    calls: int = 0
    input: int | None = None
    output: int | None = None
    cached: int | None = None

    def parts(self, count: int) -> "list[UsageCounter]":
        """Return the usage as `count` parts that have about the same tokens; the first has the calls and the remainders."""

        def part(total: int | None, place: int) -> int | None:
            return None if total is None else total // count + (total % count if place == 0 else 0)

        tokens = self.input, self.output, self.cached
        return [
            UsageCounter(0 if place else self.calls, *(part(each, place) for each in tokens)) for place in range(count)
        ]

    def count(self, usage: CompletionUsage) -> None:
        """Add the usage that a server reports for one reply."""
        details = usage.prompt_tokens_details
        self.input = (self.input or 0) + usage.prompt_tokens
        self.output = (self.output or 0) + usage.completion_tokens
        self.cached = (self.cached or 0) + ((details.cached_tokens or 0) if details else 0)

    def estimate(self, messages: "Sequence[ModelMessage]", received: str) -> None:
        """Add the estimated usage of a reply that was not read to the end, where the server reports it."""
        self.input = (self.input or 0) + sum(tokens(each.text) for each in messages)
        self.output = (self.output or 0) + tokens(received)


class ModelMessage(NamedTuple):
    """One turn of a conversation: `role` is system, user, assistant or tool.

    An assistant's turn may have tool calls; a tool's turn is the result of the call with the id `call_id`.
    """

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    def as_parameter(self) -> dict[str, Any]:
        """Return the turn as the server's API has it."""
        told: dict[str, Any] = {"role": self.role, "content": self.text}
        if self.calls:
            told["tool_calls"] = [each.as_parameter() for each in self.calls]
        if self.call_id:
            told["tool_call_id"] = self.call_id
        return told


def size_of(messages: Sequence[ModelMessage], tools: Sequence[Tool] = ()) -> int:
    """Return the maximum tokens of messages with the tools that they offer."""
    told = [*(each.as_parameter() for each in messages), *(each.as_parameter() for each in tools)]
    return sum(tokens(str(each)) for each in told)


class _Request(NamedTuple):
    """A request for one reply; `usage` counts its usage, `asked` are further fields of the server's API."""

    messages: Sequence[ModelMessage]
    max_tokens: int
    usage: UsageCounter
    asked: Mapping[str, Any] = MappingProxyType({})


class _ReplyPart(NamedTuple):
    """A reply or a part of one; `finish` is the finish reason, empty while it continues, and comes with the tool calls."""

    text: str
    finish: str
    calls: tuple[ToolCall, ...] = ()


class ChatModel:
    """A model on a server. Thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60,
        retries: int = 2,
    ) -> None:
        self.name = name
        self.base_url = base_url
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",  # local servers need no key, but the SDK requires one
            timeout=openai.Timeout(timeout, connect=_CONNECT),
            max_retries=retries,
        )
        self._takes_schemas = True  # until the server refuses one and replies without
        self.takes_tools = True  # until the server refuses them
        self._has_called = False

    def load(self) -> None:
        """Load what the first call would otherwise: the SDK's part for chats, and the prices."""
        self.cost(0, 0)
        _ = self._client.chat.completions  # imported by the SDK when it is first used

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        """Return the price of the tokens in USD, as published; None if there is no price, as for a local model."""
        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
        try:
            return float(calc_price(usage, self.name, provider_api_url=self.base_url or _OPENAI).total_price)
        except LookupError:
            return None

    def ask(self, messages: Sequence[ModelMessage], schema: type[T], *, max_tokens: int, usage: UsageCounter) -> T:
        """Ask for a reply that fits `schema`, of at most about `max_tokens` tokens; `usage` counts the usage.

        Raises `ModelFailure` if there is none.
        """
        request = _Request(messages, max_tokens, usage)
        if self._takes_schemas:
            with suppress(SchemaRefused):
                return self._valid(request._replace(asked={"response_format": response_format(schema)}), schema)
        turns = [*messages, ModelMessage("user", schema_prompt(schema))]
        value = self._valid(request._replace(messages=turns), schema)
        self._takes_schemas = False
        return value

    def _valid(self, request: _Request, schema: type[T]) -> T:
        """Return the value of a reply. An invalid reply gets one repair turn."""
        text = self._finished_reply(request)
        if not text.strip():
            # Some servers reply with a blank JSON object, but reply properly without a schema.
            if "response_format" in request.asked:
                raise SchemaRefused
            raise ModelFailure(Phrase("the reply was empty"))
        value, wrong = validated(text, schema)
        if value is None:
            repair = f"That is not valid: {wrong}. Reply again with the corrected JSON object only."
            turns = [*request.messages, ModelMessage("assistant", text), ModelMessage("user", repair)]
            value, wrong = validated(self._finished_reply(request._replace(messages=turns)), schema)
        if value is None:
            raise ModelFailure(Phrase("the reply did not match the schema ({wrong})", wrong=wrong))
        return value

    def _finished_reply(self, request: _Request) -> str:
        """Return a finished reply. One that did not fit is retried once with twice the tokens."""
        *pieces, last = self._parts(request)
        if last.finish == "length":
            shorter = ModelMessage("user", "Be much shorter: the reply must not be cut off.")
            limit = min(2 * request.max_tokens, _MAX_TOKENS)
            *pieces, last = self._parts(request._replace(messages=[*request.messages, shorter], max_tokens=limit))
        if last.finish != "stop":
            raise ModelFailure(_why_unfinished(last.finish))
        return "".join(piece.text for piece in pieces)

    def talk(
        self,
        messages: Sequence[ModelMessage],
        *,
        max_tokens: int,
        usage: UsageCounter,
        tools: Sequence[Tool] = (),
        may_call: bool = True,
    ) -> Generator[str | ToolCall, None, None]:
        """Stream a reply in plain text, of at most about `max_tokens` tokens, and last its tool calls; `usage` counts the usage.

        `tools` are those that it may call, or those of earlier turns unless it `may_call` any. Raises `ToolsRefused` if the
        server takes no tools, and `ModelFailure` if there is no reply, or, after some parts, if the rest is missing: it was
        interrupted, or did not fit `max_tokens`.
        """
        request = _Request(messages, max_tokens, usage)
        if tools:
            offered = [each.as_parameter() for each in tools]
            request = request._replace(asked={"tools": offered, "tool_choice": "auto" if may_call else "none"})
        try:
            for part in self._parts(request):
                if part.text:
                    yield part.text
                elif part.calls and part.finish in _FINISHED_CALLS:
                    self._has_called = True
                    yield from part.calls
                elif part.finish != "stop":
                    raise ModelFailure(_why_unfinished(part.finish))
        except ToolsRefused:
            self.refuse_tools()
            raise

    def refuse_tools(self) -> None:
        """Remember that the server takes no tools; one that made a call does, whatever a text may have it write."""
        self.takes_tools = self._has_called

    def try_out(self) -> None:
        """Ask for a single token. Raises `ModelFailure` if the model cannot be used."""
        list(self._parts(_Request([ModelMessage("user", "Say ok.")], 1, UsageCounter())))

    def _parts(self, request: _Request) -> Iterator[_ReplyPart]:
        """Yield the parts of one reply as they arrive, and last an empty one with the finish reason and the tool calls.

        Raise `Cancelled` once nobody waits for the reply.
        """
        finish, refused, received, collector = None, False, "", CallCollector()
        usage = request.usage
        usage.calls += 1
        try:
            for chunk in self._stream(request):
                check_cancelled()
                if chunk.usage:
                    usage.count(chunk.usage)
                for choice in chunk.choices[:1]:
                    refused = refused or bool(choice.delta.refusal)
                    finish = choice.finish_reason or finish
                    collector.add(choice.delta.tool_calls or ())
                    if choice.delta.content:
                        received += choice.delta.content
                        yield _ReplyPart(choice.delta.content, "")
        except (Cancelled, GeneratorExit):
            usage.estimate(request.messages, received)
            raise
        if refused:
            raise ModelFailure(Phrase("the model refused to answer"))
        if finish is None:
            raise ModelFailure(Phrase("the reply was cut off"))
        yield _ReplyPart("", finish, collector.calls)

    def _stream(self, request: _Request) -> Iterator[ChatCompletionChunk]:
        """Yield the chunks of one reply as the server sends them. Raise our errors."""
        fields: dict[str, Any] = {"max_tokens": request.max_tokens, "temperature": 0.2, **request.asked}
        turns: list[Any] = [message.as_parameter() for message in request.messages]
        with (
            translated_errors(request.asked),
            self._client.chat.completions.create(
                model=self.name, messages=turns, stream=True, stream_options={"include_usage": True}, **fields
            ) as chunks,
        ):
            yield from chunks


_UNFINISHED = {
    "length": mark("the reply was too long"),
    "content_filter": mark("the server's content filter blocked the reply"),
}


def _why_unfinished(finish: str) -> Phrase:
    code = finish if re.fullmatch(r"[a-z_]{1,40}", finish) else "?"  # any other text is untrusted
    if finish in _UNFINISHED:
        return Phrase(_UNFINISHED[finish])
    return Phrase("the reply ended with finish reason {finish}", finish=code)
