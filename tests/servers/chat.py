"""A scripted OpenAI-compatible server: what it says is decided by a function of the request, whatever the client asked for."""

import json
import time
from collections.abc import Callable, Iterator
from threading import Event, Lock
from typing import Any

from loopback.http_server import Loopback, QuietHandler

Say = Callable[[dict[str, Any]], str]


class ScriptedChat(Loopback):
    """Answers /chat/completions with what `say` makes of each request; `requests` keeps them.

    Between two chunks of a text that no form was asked for pass `pause` seconds. With `hold` set it has so many chunks,
    and no more before `go` is set.
    """

    def __init__(self, say: Say, *, pause: float = 0) -> None:
        self.say = say
        self.pause = pause
        self.hold: int | None = None
        self.go = Event()
        self.requests: list[dict[str, Any]] = []
        self._lock = Lock()
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(request)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for place, chunk in enumerate(_chunks(outer.say(request))):
                    if place == outer.hold and "response_format" not in request:
                        outer.go.wait(60)
                    self.wfile.write(f"data: {chunk}\n\n".encode())
                    if outer.pause and "response_format" not in request:
                        time.sleep(outer.pause)
                self.close_connection = True

        super().__init__(Handler)

    @property
    def url(self) -> str:
        return super().url + "/v1"


def _chunks(text: str) -> Iterator[str]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for start in range(0, len(text), 200):
        yield json.dumps(
            {**head, "choices": [{"index": 0, "delta": {"content": text[start : start + 200]}, "finish_reason": None}]}
        )
    yield json.dumps({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 10},
    }
    yield json.dumps({**head, "choices": [], "usage": usage})
    yield "[DONE]"
