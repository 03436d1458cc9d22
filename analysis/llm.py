"""The only door to chat models: any OpenAI-compatible server. A question and a schema go in, a validated value comes out;
or a conversation goes in, and the words of a reply come out as they are spoken.

What servers support differs, so the form of a reply is asked for by a ladder, and the rung that worked is remembered:
strict JSON schema; JSON object with a schema; JSON object with the schema in the prompt; plain text. Whatever comes back
is validated: a server may accept a schema and ignore it. Replies are streamed, so that a server that has stalled is
noticed in `timeout` seconds without a word rather than at the end, and one that broke off is told from one that finished.
"""

import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import httpx2
import openai
from genai_prices import Usage, calc_price
from json_repair import repair_json
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import BaseModel, ValidationError

from analysis.errors import ModelFailure
from analysis.phrases import Phrase

T = TypeVar("T", bound=BaseModel)

_CONNECT = 5  # seconds
_BREAKS = 1  # how often a reply that broke off is asked for again
_MOST_ROOM = 8192  # tokens; a reply that needs more is not an analysis


class ResponseMode(IntEnum):
    """How the form of a reply is asked for, the surest first."""

    STRICT_SCHEMA = 0
    OBJECT_WITH_SCHEMA = 1
    OBJECT = 2
    TEXT = 3


class UsageCounter:
    """What calls took, failed ones included: their number, and tokens as the server counts them (None where it does not say)."""

    def __init__(self) -> None:
        self.calls = 0
        self.input: int | None = None
        self.output: int | None = None
        self.cached: int | None = None

    def count(self, usage: CompletionUsage) -> None:
        """Adds what a server says of one reply."""
        details = usage.prompt_tokens_details
        self.input = (self.input or 0) + usage.prompt_tokens
        self.output = (self.output or 0) + usage.completion_tokens
        self.cached = (self.cached or 0) + ((details.cached_tokens or 0) if details else 0)


class Message(NamedTuple):
    """One turn: `role` is system, user or assistant."""

    role: str
    text: str


class _Unsupported(Exception):
    """The server refuses this way of asking for a form."""


class _Broken(Exception):
    """The reply broke off: another try may not. `how` says in which way."""

    def __init__(self, how: Phrase) -> None:
        super().__init__(str(how))
        self.how = how


class _Spoken(NamedTuple):
    """A reply or a piece of one; `finish` is empty where it goes on."""

    text: str
    finish: str


class ChatModel:
    """One model on one server. Threads may share it."""

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
            api_key=api_key or "none",  # local servers want none, the SDK wants some
            timeout=openai.Timeout(timeout, connect=_CONNECT),
            max_retries=retries,
        )
        self._rung = ResponseMode.STRICT_SCHEMA
        self._lock = Lock()

    def close(self) -> None:
        """Ends the connections."""
        self._client.close()

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        """What so many tokens cost in USD by the published prices; None for a model that has none, such as a local one."""
        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
        try:
            if self.base_url:
                price = calc_price(usage, self.name, provider_api_url=self.base_url)
            else:
                price = calc_price(usage, self.name, provider_id="openai")
        except LookupError:
            return None
        return float(price.total_price)

    def ask(self, messages: Sequence[Message], schema: type[T], *, room: int, meter: UsageCounter) -> T:
        """A reply of the form of `schema`, of at most about `room` tokens; `meter` counts what it took.

        `ModelFailure` says why there is none.
        """
        conversation = _Conversation(self, list(messages), schema, room, meter)
        for mode in ResponseMode:
            if mode < self._rung:
                continue
            try:
                value = conversation.held(mode)
            except _Unsupported:
                continue
            with self._lock:
                self._rung = max(self._rung, mode)
            return value
        raise ModelFailure(Phrase("model_forms"), lasting=True)

    def talk(self, messages: Sequence[Message], *, room: int, meter: UsageCounter) -> Generator[str, None, None]:
        """The pieces of a reply in plain text, of at most about `room` tokens, as they come; `meter` counts what it took.

        A reply that breaks off before its first word is asked for once more. `ModelFailure` says why there is none, or,
        after some pieces, why the rest is missing: it broke off, or did not fit `room`.
        """
        begun, breaks = False, 0
        while True:
            try:
                for spoken in self.hear(messages, ResponseMode.TEXT, None, room, meter):
                    if spoken.text:
                        begun = begun or bool(spoken.text.strip())
                        yield spoken.text
                    elif spoken.finish != "stop":
                        raise ModelFailure(_why_unfinished(spoken.finish))
            except _Broken as exc:
                breaks += 1
                if begun or breaks > _BREAKS:
                    raise ModelFailure(exc.how) from exc
            else:
                return

    def try_out(self) -> None:
        """Asks for a single token. `ModelFailure` says why the model cannot be used."""
        try:
            for _ in self.hear([Message("user", "Say ok.")], ResponseMode.TEXT, None, 1, UsageCounter()):
                """Whatever it says, it speaks."""
        except _Broken as exc:
            raise ModelFailure(exc.how) from exc

    def hear(
        self,
        messages: Sequence[Message],
        mode: ResponseMode,
        form: dict[str, Any] | None,
        room: int,
        meter: UsageCounter,
    ) -> Iterator[_Spoken]:
        """The pieces of one reply as they come, and last an empty one with how it finished."""
        finish, refused = None, False
        meter.calls += 1
        with _translated(mode):
            for chunk in self._stream(messages, form, room):
                if chunk.usage:
                    meter.count(chunk.usage)
                for choice in chunk.choices[:1]:
                    refused = refused or bool(choice.delta.refusal)
                    finish = choice.finish_reason or finish
                    if choice.delta.content:
                        yield _Spoken(choice.delta.content, "")
        if refused:
            raise ModelFailure(Phrase("model_refused"))
        if finish is None:
            raise _Broken(Phrase("model_broke_off"))
        yield _Spoken("", finish)

    def _stream(
        self, messages: Sequence[Message], form: dict[str, Any] | None, room: int
    ) -> Iterator[ChatCompletionChunk]:
        """The chunks of one reply, as the server sends them."""
        asked: dict[str, Any] = {"max_tokens": room, "temperature": 0.2, "stream_options": {"include_usage": True}}
        if form:
            asked["response_format"] = form
        turns: list[Any] = [{"role": message.role, "content": message.text} for message in messages]
        typed: list[ChatCompletionMessageParam] = turns
        with self._client.chat.completions.create(model=self.name, messages=typed, stream=True, **asked) as chunks:
            yield from chunks


class _Conversation(Generic[T]):
    """The turns that one question takes until its reply is valid."""

    def __init__(
        self, model: ChatModel, messages: list[Message], schema: type[T], room: int, meter: UsageCounter
    ) -> None:
        self._model = model
        self._messages = messages
        self._schema = schema
        self._room = room
        self._meter = meter

    def held(self, mode: ResponseMode) -> T:
        """The value, asked for by one rung: with one repair turn, and more room if the reply did not fit."""
        messages = list(self._messages)
        if mode >= ResponseMode.OBJECT:
            messages.append(Message("user", _schema_told(self._schema)))
        text = self._whole(messages, mode)
        if not text.strip():
            # Some servers answer a JSON object of spaces; asked in another way they speak.
            if mode is ResponseMode.TEXT:
                raise ModelFailure(Phrase("model_blank"))
            raise _Unsupported
        value, wrong = _validated(text, self._schema)
        if value is None:
            repair = Message("user", f"That is not valid: {wrong}. Reply again with the corrected JSON object only.")
            value, wrong = _validated(self._whole([*messages, Message("assistant", text), repair], mode), self._schema)
        if value is None:
            raise ModelFailure(Phrase("model_form", wrong=wrong))
        return value

    def _whole(self, messages: list[Message], mode: ResponseMode) -> str:
        """A reply that the server finished. One that did not fit gets twice the room once, one that broke off a new try."""
        breaks = 0
        room = self._room
        while True:
            try:
                spoken = self._spoken(messages, mode, room)
            except _Broken as exc:
                breaks += 1
                if breaks > _BREAKS:
                    raise ModelFailure(exc.how) from exc
                continue
            if spoken.finish == "stop":
                return spoken.text
            if spoken.finish != "length" or room > self._room:
                raise ModelFailure(_why_unfinished(spoken.finish))
            room = min(2 * room, _MOST_ROOM)
            messages = [*messages, Message("user", "Be much shorter: the reply must not be cut off.")]

    def _spoken(self, messages: list[Message], mode: ResponseMode, room: int) -> _Spoken:
        form = _response_format(mode, self._schema)
        *pieces, last = self._model.hear(messages, mode, form, room, self._meter)
        return _Spoken("".join(piece.text for piece in pieces), last.finish)


@contextmanager
def _translated(mode: ResponseMode) -> Iterator[None]:
    """Turns what the SDK raises into our errors: the one place where that is done."""
    try:
        yield
    except (openai.AuthenticationError, openai.PermissionDeniedError) as exc:
        raise ModelFailure(Phrase("model_key"), lasting=True) from exc
    except openai.NotFoundError as exc:
        if mode < ResponseMode.TEXT and "model" not in str(exc).lower():
            raise _Unsupported from exc
        raise ModelFailure(Phrase("model_absent"), lasting=True) from exc
    except openai.RateLimitError as exc:
        raise ModelFailure(Phrase("model_limit")) from exc
    except openai.APIStatusError as exc:
        if _refuses_form(exc, mode):
            raise _Unsupported from exc
        raise ModelFailure(Phrase("model_status", status=exc.status_code)) from exc
    except (openai.APIError, httpx2.HTTPError, OSError, ValueError) as exc:
        raise _Broken(_broken_how(exc)) from exc


def _broken_how(exc: Exception) -> Phrase:
    if isinstance(exc, openai.APITimeoutError | httpx2.TimeoutException):
        return Phrase("model_late")
    if isinstance(exc, openai.APIConnectionError):
        return Phrase("model_unreachable")
    return Phrase("model_nonsense")


_UNFINISHED = {"length": "model_too_long", "content_filter": "model_filtered"}


def _why_unfinished(finish: str) -> Phrase:
    code = finish if re.fullmatch(r"[a-z_]{1,40}", finish) else "?"  # what is no code may be anything
    return Phrase(_UNFINISHED.get(finish, "model_ended"), finish=code)


def _refuses_form(exc: openai.APIStatusError, mode: ResponseMode) -> bool:
    """Whether an error means that the server does not know this way of asking: a lower rung may do."""
    if mode is ResponseMode.TEXT:
        return False
    if exc.status_code in (400, 404, 422):
        return True
    return exc.status_code >= 500 and "response_format" in str(exc.body or exc)  # noqa: PLR2004 (llama.cpp answers so)


def _response_format(mode: ResponseMode, schema: type[BaseModel]) -> dict[str, Any] | None:
    if mode is ResponseMode.STRICT_SCHEMA:
        form = {"name": schema.__name__, "strict": True, "schema": strict_schema(schema)}
        return {"type": "json_schema", "json_schema": form}
    if mode is ResponseMode.OBJECT_WITH_SCHEMA:
        return {"type": "json_object", "schema": strict_schema(schema)}
    return {"type": "json_object"} if mode is ResponseMode.OBJECT else None


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema in the subset that strict servers take: every property required, nothing additional, no limits."""
    told: dict[str, Any] = _strict(schema.model_json_schema())
    return told


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _strict(value) for key, value in node.items() if key not in _LIMITS}
    if kept.get("type") == "object":
        kept |= {"required": list(kept.get("properties", {})), "additionalProperties": False}
    return kept


_LIMITS = frozenset({"maxLength", "minLength", "maxItems", "minItems", "default", "title"})


def _schema_told(schema: type[BaseModel]) -> str:
    told = json.dumps(strict_schema(schema), ensure_ascii=False)
    return f"Reply with one JSON object only, no other text, that fits this JSON schema:\n{told}"


def _validated(text: str, schema: type[T]) -> tuple[T | None, str]:
    """(the value, "") or (None, what is wrong), after taking off fences and mending what can be mended."""
    stripped = re.sub(r"^\s*```\w*\s*|\s*```\s*$", "", text)
    wrong = "it is not a JSON object"
    for candidate in (stripped, _braced(stripped)):
        mended = repair_json(candidate) if candidate else ""
        for each in (candidate, mended):
            try:
                return schema.model_validate_json(each), ""
            except ValidationError as exc:
                error = exc.errors(include_url=False, include_input=False)[0]
                wrong = f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    return None, wrong


def _braced(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else ""
