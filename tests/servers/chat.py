"""A scripted OpenAI-compatible server: what it says is decided by a function of the request, whatever the client asked for."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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


UNTRANSLATED = json.dumps({"texts": []})
UNEDITED = json.dumps({"order": [], "about": [], "lead": ""})
_STATEMENT = re.compile(r"^(\d+)\. ", re.MULTILINE)
_COMMIT = re.compile(r"(?=^commit [0-9a-f]{7,9}$)", re.MULTILINE)


def confirming(request: dict[str, Any], *, but: Mapping[int, str] | None = None) -> str:
    """Return a second reading that finds all statements of the request shown, `but` some: number -> another verdict."""
    numbers = map(int, _STATEMENT.findall(request["messages"][-1]["content"]))
    verdicts = dict.fromkeys(numbers, "shown") | dict(but or {})
    return json.dumps(
        {"verdicts": [{"statement": number, "lines": "1", "verdict": told} for number, told in verdicts.items()]}
    )


class ScriptedChat(Loopback):
    """Answers /chat/completions with what `say` makes of each request: text, tool calls or a refusal; `requests` keeps them.

    `others` keeps by the form that they ask for what is no analysis of a commit and no answer: second readings
    ("SecondReading"), translations ("_Translation") and edits of days ("_Edit"). It answers those with what `scripts` has
    for the form, by default with every statement confirmed, without a translation and without an edit. A call about several commits
    ("_LowCommits") is kept there too, and `say` is asked about one commit after the other. A call for a form takes
    `latency` seconds; between two chunks of a text that no form was asked for pass `pause`. With `hold` set it has so
    many chunks, and no more before `go` is set.
    """

    def __init__(
        self, say: SayOrCall, *, pause: float = 0, latency: float = 0, scripts: Mapping[str, Say] | None = None
    ) -> None:
        self.say = say
        self.scripts = {
            "SecondReading": confirming,
            "_Translation": lambda _: UNTRANSLATED,
            "_Edit": lambda _: UNEDITED,
            **(scripts or {}),
        }
        forms = ("SecondReading", "_Translation", "_Edit", "_LowCommits")
        self.others: dict[str, list[dict[str, Any]]] = {each: [] for each in forms}
        self.pause = pause
        self.latency = latency
        self.hold: int | None = None
        self.go = Event()
        self.requests: list[dict[str, Any]] = []
        self._lock = Lock()
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if "response_format" in request:
                    time.sleep(outer.latency)
                said = outer._said(request, (self.headers["Authorization"] or "").removeprefix("Bearer "))
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

    @property
    def calls(self) -> list[dict[str, Any]]:
        """All requests as they came, without those about each commit of a list."""
        alone = [each for each in self.requests if _form(each) != "_LowCommits"]
        return [*alone, *(each for others in self.others.values() for each in others)]

    def _said(self, request: dict[str, Any], api_key: str) -> Said:
        form = _form(request)
        with self._lock:
            self.others.get(form, self.requests).append(request)
        if form in self.scripts:
            return self.scripts[form](request)
        return self._about_each(request, api_key) if form == "_LowCommits" else self.reply_to(request, api_key)

    def _about_each(self, request: dict[str, Any], api_key: str) -> Said:
        """Return what is said of each commit in a list, or else the first reply that fits no form."""
        system, user = (each["content"] for each in request["messages"][:2])
        mark = user.split("\n", 1)[0]
        told, task = user.removeprefix(mark).rsplit(mark, 1)
        found = []
        for section in _COMMIT.split(told)[1:]:
            alone = {"role": "user", "content": f"{mark}\n{section}{mark}{task}"}
            about = {**request, "messages": [{"role": "system", "content": system}, alone]}
            with self._lock:
                self.requests.append(about)
            said = self.reply_to(about, api_key)
            try:
                found.append({**json.loads(said), "commit": section.split("\n", 1)[0].split()[1]})  # type: ignore[arg-type]
            except (TypeError, ValueError):
                return said
        return json.dumps({"commits": found}, ensure_ascii=False)

    def reply_to(self, request: dict[str, Any], api_key: str) -> Said:  # noqa: ARG002 (others tell by it who asks)
        return self.say(request)


def _form(request: dict[str, Any]) -> str:
    return str(request.get("response_format", {}).get("json_schema", {}).get("name", ""))


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
