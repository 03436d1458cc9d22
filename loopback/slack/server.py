"""A Slack on 127.0.0.1: the Web API, Socket Mode, uploads and response_urls over one workspace."""

import json
import socket
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from secrets import token_hex
from threading import Lock
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, urlsplit

from loopback.http_server import Loopback, QuietHandler
from loopback.slack.delivery import Delivery
from loopback.slack.faults import Fault, Faults
from loopback.slack.hooks import Hooks
from loopback.slack.limits import TEXT_ADVISED, Refused
from loopback.slack.membership import Membership
from loopback.slack.methods import ALL_SCOPES, METHODS
from loopback.slack.methods.call import MethodCall
from loopback.slack.people import People
from loopback.slack.workspace import Json, T, Workspace

BOT_USER = "U0BOT"
# Seconds between two messages in a channel, and how many Slack takes at once that are less apart.
_PACE, _BURST = 0.9, 5
_STRANGERS = ("unknown_method", "not_authed", "invalid_auth")  # what whoever has no token is told
_STRUCTURED = frozenset({"blocks", "files", "metadata", "prompts", "view"})


class Call(NamedTuple):
    """A request and its response; `at` is monotonic seconds, `fault` the kind of injected fault."""

    at: float
    method: str
    params: Json
    response: Json
    fault: str | None = None


class Reply(NamedTuple):
    status: int
    body: Any
    headers: Mapping[str, str] = {}


class LoopbackSlack(People, Membership):
    """The server, running while the context is entered. `url` is the value for SLACK_API_URL.

    - `calls` lists every request, `refusals` those refused for a reason of the caller's (no injected faults)
    - `breaches` says where a limit was overstepped that Slack would let pass for a while: messages in a channel less
      than `pace` seconds apart (chat.postMessage), `text` over 4,000 characters, more than 5 uses of a response_url
    - `faults` are faults to come; `delivery.deliver_to` is where the app listens for HTTP, used while no app is connected by socket
    - `agent` is whether the app has the agent surface, as one whose manifest has `agent_view`; with `threaded_direct` each
      direct message is told as the root of a thread
    - `now` gives seconds since the epoch; timeouts are in seconds
    - tokens and the signing secret that are not given are made anew: published ones would open it to other pages
    """

    def __init__(
        self,
        *,
        bot_token: str | None = None,
        app_token: str | None = None,
        signing_secret: str | None = None,
        scopes: Collection[str] | None = None,
        agent: bool = True,
        threaded_direct: bool = False,
        pace: float = _PACE,
        command_timeout: float = 3.0,
        event_timeout: float = 3.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.faults = Faults()
        self.breaches: list[str] = []
        self.calls: list[Call] = []
        self.refusals: list[Call] = []
        self.scopes = frozenset(ALL_SCOPES if scopes is None else scopes)
        self.bot_token = bot_token or f"xoxb-{token_hex()}"
        self.app_token = app_token or f"xapp-{token_hex()}"
        self.signing_secret = signing_secret or token_hex()
        self.agent = agent
        self.threaded_direct = threaded_direct
        self.workspace = Workspace(bot_user=BOT_USER, now=now)
        self.workspace.on_event = self._tell
        self.hooks = Hooks(self.workspace, self.breaches)
        self.delivery = Delivery(
            self.workspace,
            signing_secret=self.signing_secret,
            command_timeout=command_timeout,
            event_timeout=event_timeout,
            faults=self.faults,
            settle=self._settle,
            give_up=self._give_up,
        )
        self.pace = pace
        self._posted: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_BURST))
        self._lock = Lock()
        self._http = Loopback(_Handler, slack=self)
        self.address = self.workspace.url = self._http.url

    @property
    def url(self) -> str:
        return f"{self.address}/api/"

    def __enter__(self) -> Self:
        self._http.__enter__()
        self.delivery.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.delivery.__exit__()
        self._http.__exit__()

    def wait_for(self, predicate: Callable[[], T | None], timeout: float = 60) -> T:
        """Return the predicate's first true value, evaluated at every change. Raise TimeoutError after `timeout` seconds."""
        return self.workspace.wait_for(predicate, timeout)

    def drop_sockets(self, *, abrupt: bool = True, reset: bool = False) -> None:
        """Close every Socket Mode connection: abruptly, by TCP FIN or `reset`, or with a close handshake."""
        self.delivery.sockets.drop(abrupt=abrupt, reset=reset)

    def disconnect(self, reason: str = "refresh_requested", linger: float = 0.1) -> None:
        """Announce the closing of every connection (reason: warning, refresh_requested), and close it after `linger` seconds."""
        self.delivery.sockets.disconnect(reason, linger)

    @property
    def connected(self) -> int:
        """The number of open Socket Mode connections."""
        return len(self.delivery.sockets.connections)

    def asked(self, method: str) -> list[Call]:
        """Return the recorded calls of a method."""
        with self._lock:
            return [call for call in self.calls if call.method == method]

    def answer(self, method: str, params: Json, act: Callable[[], Reply]) -> tuple[Reply, Fault | None]:
        """Process a request unless a fault prevents it, and record the call."""
        at = time.monotonic()
        fault = self.faults.take(method, params)
        instead = _instead(fault)
        reply = instead or act()
        body = reply.body if isinstance(reply.body, dict) else {"text": reply.body}
        kept = {} if body.get("error") in _STRANGERS else params  # who has no token could fill the memory
        call = Call(at, method, kept, body, fault.kind if fault else None)
        with self.workspace.change(), self._lock:
            self.calls.append(call)
            if instead is None and body.get("ok") is False:
                self.refusals.append(call)
        return reply, fault

    def api(self, method: str, params: Json, token: str | None) -> Reply:
        """Return the response to a Web API call."""
        headers = {"x-oauth-scopes": ",".join(sorted(self.scopes))}
        try:
            allowed = self._authorise(method, token)
            if method == "chat.postMessage":
                self._keep_pace(params)
            call = MethodCall(self.workspace, params, self.address, self.delivery.sockets.new_address, allowed)
            body = METHODS[method].run(call)
        except Refused as refused:
            if refused.body["error"] == "ratelimited":
                return Reply(429, refused.body, {**headers, "Retry-After": "1"})
            return Reply(200, refused.body, headers)
        except Exception:  # noqa: BLE001 (a request that no check foresaw is the tests' to see, and the terminal's to be spared)
            self.breaches.append(f"{method} failed here: {traceback.format_exc()}")
            return Reply(500, {"ok": False, "error": "internal_error"})
        if len(str(params.get("text") or "")) > TEXT_ADVISED:
            self.breaches.append(f"{method}: text of {len(params['text'])} characters")
        return Reply(200, {"ok": True, **body}, headers)

    def _authorise(self, method: str, token: str | None) -> frozenset[str]:
        if method not in METHODS or (METHODS[method].agents and not self.agent):
            raise Refused("unknown_method", req_method=method)
        if not token:
            raise Refused("not_authed")
        tokens = {self.bot_token: self.scopes, self.app_token: frozenset({"connections:write"})}
        if token not in tokens:
            raise Refused("invalid_auth")
        granted, needed = tokens[token], METHODS[method].scopes
        app_only = method == "apps.connections.open"
        if method != "auth.test" and app_only is not (token == self.app_token):
            raise Refused("not_allowed_token_type")
        if needed and not granted & set(needed):
            raise Refused("missing_scope", needed=",".join(needed), provided=",".join(sorted(granted)))
        return granted

    def _keep_pace(self, params: Json) -> None:
        """Record a message that exceeds the rate; refuse it if the burst limit is reached."""
        home = self.workspace.channels.get(str(params.get("channel")))
        if not self.pace or home is None:
            return
        with self._lock:
            now, posted = time.monotonic(), self._posted[home.id]
            recent = [at for at in posted if now - at < self.pace]
            if posted and now - posted[-1] < self.pace:
                self.breaches.append(f"{home.id}: a message {now - posted[-1]:.2f} s after the one before")
            posted.append(now)
            if len(recent) >= _BURST - 1:
                raise Refused("ratelimited")


def _instead(fault: Fault | None) -> Reply | None:
    """Return a fault's response; None if the request is processed."""
    if fault is None or fault.kind == "accept_and_drop" or (fault.kind == "stall" and fault.acted):
        return None
    if fault.kind == "status":
        retry = {"Retry-After": str(fault.retry_after)} if fault.status == 429 else {}  # noqa: PLR2004
        error = "ratelimited" if retry else "internal_error"
        return Reply(fault.status, {"ok": False, "error": error}, retry)
    return Reply(200, {"ok": False, "error": fault.error})


class _Handler(QuietHandler):
    slack: LoopbackSlack

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/files/"):
            self._download(path)
        else:
            self.do_POST()

    def do_POST(self) -> None:
        data = self.read_body()
        url = urlsplit(self.path)
        kind, _, name = url.path.strip("/").partition("/")
        if kind == "upload":
            file, _, ticket = name.removeprefix("v1/").partition("/")
            self._serve("upload", {"file": file}, lambda: _upload(self.slack.workspace, file, ticket, data))
        elif kind == "hooks":
            body = _json(data)
            self._serve("response_url", body if isinstance(body, dict) else {}, lambda: self._hook(name, body))
        elif kind == "api":
            params, token = self._arguments(url.query, data)
            self._serve(name, params, lambda: self.slack.api(name, params, token))
        else:
            self._send(Reply(404, {"ok": False, "error": "not_found"}))

    def _serve(self, method: str, params: Json, act: Callable[[], Reply]) -> None:
        reply, fault = self.slack.answer(method, params, act)
        if fault and fault.kind == "stall":
            time.sleep(fault.seconds)
        if fault and fault.kind in {"drop", "accept_and_drop"}:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(reply)

    def _hook(self, name: str, body: Any) -> Reply:
        try:
            return Reply(200, self.slack.hooks.use(name, body))
        except Refused as refused:
            gone = refused.body["error"] in {"used_url", "expired_url", "no_service"}
            return Reply(404 if gone else 400, refused.body)

    def _arguments(self, query: str, data: bytes) -> tuple[Json, str | None]:
        """Return the arguments, and the token from them or from the header."""
        params: Json = dict(parse_qsl(query))
        if (self.headers.get("Content-Type") or "").startswith("application/json"):
            body = _json(data)
            params |= body if isinstance(body, dict) else {}
        else:
            params |= parse_qsl(data.decode(errors="replace"), keep_blank_values=True)
        for name in _STRUCTURED & params.keys():
            if isinstance(params[name], str):
                params[name] = _json(params[name].encode(errors="replace"))
        given = params.pop("token", None)
        return params, self._bearer() or given

    def _bearer(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ").strip()

    def _download(self, path: str) -> None:
        """Send the file at url_private; without the bot's token and its scope the sign-in page is where to go."""
        file = self.slack.workspace.files.get(path.split("/")[2])
        if self._bearer() != self.slack.bot_token or "files:read" not in self.slack.scopes:
            found = Reply(302, b"", {"Location": f"{self.slack.address}/signin"})
        elif file is None or file.content is None:
            found = Reply(404, {"ok": False, "error": "file_not_found"})
        else:
            found = Reply(200, file.content)
        self._serve("download", {"file": path.split("/")[2]}, lambda: found)

    def _send(self, reply: Reply) -> None:
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        kind = "application/octet-stream" if isinstance(reply.body, bytes) else "application/json; charset=utf-8"
        self.respond(reply.status, data, {"Content-Type": kind, **reply.headers})


def _json(data: bytes) -> Any:
    """Parse JSON; return invalid JSON as text, which every check refuses."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode(errors="replace")


def _upload(workspace: Workspace, file_id: str, ticket: str, data: bytes) -> Reply:
    file = workspace.files.get(file_id)
    if file is None or file.ticket != ticket or file.content is not None:
        return Reply(404, {"ok": False, "error": "upload_not_found"})
    if len(data) != file.length:
        return Reply(400, {"ok": False, "error": "length_mismatch"})
    with workspace.change():
        file.content = data
    return Reply(200, f"OK - {len(data)}".encode())
