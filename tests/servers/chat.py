"""A scripted OpenAI-compatible server: what it says is decided by a function of the request, whatever the client asked for."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event, Lock
from typing import Any, NamedTuple

from loopback.http_server import Loopback, QuietHandler


class Calls(NamedTuple):
    """A reply that calls tools: each a name and its arguments, as an object or as the text that a model wrote."""

    calls: Sequence[tuple[str, Any]]
    text: str = ""


class Refusal(NamedTuple):
    """A reply with a status of HTTP."""

    status: int
    message: str


Said = str | Calls | Refusal
Say = Callable[[dict[str, Any]], str]
SayOrCall = Callable[[dict[str, Any]], Said]


DOUBTLESS = json.dumps({"contradicted": [], "not_shown": []})


class ScriptedChat(Loopback):
    """Answers /chat/completions with what `say` makes of each request: text, tool calls or a refusal; `requests` keeps them.

    Of what a model is to read once more it doubts nothing, or what `doubt` makes of the request; `readings` keeps these.
    Between two chunks of a text that no form was asked for pass `pause` seconds. With `hold` set it has so many chunks,
    and no more before `go` is set.
    """

    def __init__(
        self, say: SayOrCall, *, pause: float = 0, doubt: Callable[[dict[str, Any]], str] = lambda _: DOUBTLESS
    ) -> None:
        self.say = say
        self.doubt = doubt
        self.readings: list[dict[str, Any]] = []
        self.pause = pause
        self.hold: int | None = None
        self.go = Event()
        self.requests: list[dict[str, Any]] = []
        self._lock = Lock()
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reads_again = '"contradicted"' in json.dumps(request.get("response_format"))
                with outer._lock:
                    (outer.readings if reads_again else outer.requests).append(request)
                said = (
                    outer.doubt(request)
                    if reads_again
                    else outer.reply_to(request, (self.headers["Authorization"] or "").removeprefix("Bearer "))
                )
                if isinstance(said, Refusal):
                    self._refuse(said)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for place, chunk in enumerate(_chunks(said)):
                    if place == outer.hold and "response_format" not in request:
                        outer.go.wait(60)
                    self.wfile.write(f"data: {chunk}\n\n".encode())
                    if outer.pause and "response_format" not in request:
                        time.sleep(outer.pause)
                self.close_connection = True

            def _refuse(self, refusal: Refusal) -> None:
                body = json.dumps({"error": {"message": refusal.message}}).encode()
                self.respond(refusal.status, body, {"Content-Type": "application/json"})

        super().__init__(Handler)

    @property
    def url(self) -> str:
        return super().url + "/v1"

    def reply_to(self, request: dict[str, Any], api_key: str) -> Said:  # noqa: ARG002 (others tell by it who asks)
        return self.say(request)


def _chunks(said: str | Calls) -> Iterator[str]:
    text, calls = (said, ()) if isinstance(said, str) else (said.text, said.calls)
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for start in range(0, len(text), 200):
        yield json.dumps(
            {**head, "choices": [{"index": 0, "delta": {"content": text[start : start + 200]}, "finish_reason": None}]}
        )
    for delta in _call_deltas(calls):
        yield json.dumps({**head, "choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}]})
    finish = "tool_calls" if calls else "stop"
    yield json.dumps({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 10},
    }
    yield json.dumps({**head, "choices": [], "usage": usage})
    yield "[DONE]"


def _call_deltas(calls: Sequence[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each call in pieces, as servers stream it: its id and name first, then its arguments in two."""
    for index, (name, given) in enumerate(calls):
        arguments = given if isinstance(given, str) else json.dumps(given)
        told = {"index": index, "id": f"call_{index}", "type": "function"}
        yield {**told, "function": {"name": name, "arguments": ""}}
        for piece in (arguments[:5], arguments[5:]):
            yield {"index": index, "function": {"arguments": piece}}
