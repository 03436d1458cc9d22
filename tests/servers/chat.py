"""A scripted OpenAI-compatible server: what it says is decided by a function of the request, whatever the client asked for."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Self

Say = Callable[[dict[str, Any]], str]


class ScriptedChat:
    """Answers /chat/completions with what `say` makes of each request; `requests` keeps them."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.requests: list[dict[str, Any]] = []
        self._lock = Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(request)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for chunk in _chunks(outer.say(request)):
                    self.wfile.write(f"data: {chunk}\n\n".encode())
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


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
