"""Delivery of events, commands and interactions to the app, by Socket Mode or signed HTTP, with retries."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from threading import Condition, Event, Thread
from typing import Any, Literal, Self
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection

from loopback.slack.faults import Faults
from loopback.slack.sockets import Sockets
from loopback.slack.workspace import Json, Workspace

Kind = Literal["events_api", "slash_commands", "interactive"]

_RETRIES = 3
# Slack keeps events for a disconnected app.
_EVENT_LIFETIME = 60.0


@dataclass
class Interaction:
    """A person's interaction and its result.

    `acked_after` is in seconds; `failed` is the error shown to the person if there was no ack; `responses` are the bodies
    that the app sent to the response_url and that Slack accepted.
    """

    user: str
    payload: Json
    trigger_id: str | None = None
    response_url: str | None = None
    envelope_id: str = field(default_factory=lambda: str(uuid4()))
    started: float = field(default_factory=time.monotonic)
    acked_after: float | None = None
    ack_payload: Any = None
    failed: str | None = None
    responses: list[Json] = field(default_factory=list)
    done: Event = field(default_factory=Event)

    @property
    def errors(self) -> dict[str, str]:
        """The form's errors: block_id -> message."""
        given = self.ack_payload if isinstance(self.ack_payload, dict) else {}
        return given.get("errors") or {}


@dataclass
class Envelope:
    """A payload in delivery to the app. Times are monotonic seconds."""

    kind: Kind
    payload: Json
    interaction: Interaction | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    attempt: int = 0
    reason: str = ""
    born: float = field(default_factory=time.monotonic)
    due: float = 0.0
    acked: bool = False

    @property
    def took(self) -> float:
        """Seconds since its creation."""
        return time.monotonic() - self.born

    def again(self, reason: str, after: float = 0.0) -> "Envelope":
        """Return a retry of this envelope, due `after` seconds from now, with the same id and event_id."""
        due = time.monotonic() + after
        return Envelope(self.kind, self.payload, self.interaction, self.id, self.attempt + 1, reason, self.born, due)


@dataclass
class _Out:
    envelope: Envelope
    connection: ServerConnection
    deadline: float


class Delivery:
    """Queue of envelopes: calls `settle` with an envelope and its ack's payload, `give_up` with one not acknowledged in time."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        signing_secret: str,
        command_timeout: float,
        event_timeout: float,
        faults: Faults,
        settle: Callable[[Envelope, Any], None],
        give_up: Callable[[Envelope], None],
    ) -> None:
        self.workspace = workspace
        self.deliver_to: str | None = None
        self.sockets = Sockets(self._heard, self._wake)
        self.sent: list[Envelope] = []
        self._secret = signing_secret
        self.command_timeout, self._event_timeout = command_timeout, event_timeout
        self._faults = faults
        self._settle = settle
        self._give_up = give_up
        self._waking = Condition()
        self._waiting: list[Envelope] = []
        self._out: list[_Out] = []
        self._stopped = False
        self._thread = Thread(target=self._run, daemon=True)
        self._posts: list[Thread] = []
        self._posting = 0

    def __enter__(self) -> Self:
        self.sockets.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._waking:
            self._stopped = True
            self._waking.notify_all()
        self._thread.join()
        self.sockets.__exit__()
        for post in self._posts:
            post.join()

    def send(self, envelope: Envelope) -> None:
        with self._waking:
            self._waiting.append(envelope)
            self.sent.append(envelope)
            self._waking.notify_all()

    @property
    def idle(self) -> bool:
        """Return whether no delivery is pending."""
        with self._waking:
            return not self._waiting and not self._out and not self._posting

    def _timeout(self, envelope: Envelope) -> float:
        return self._event_timeout if envelope.kind == "events_api" else self.command_timeout

    def _wake(self) -> None:
        with self._waking:
            self._waking.notify_all()
        with self.workspace.change():
            """An app that comes or goes is a change, too."""

    def _run(self) -> None:
        while True:
            with self._waking:
                if self._stopped:
                    return
                late = self._overdue()
                ready = self._ready()
                if not ready and not late:
                    self._waking.wait(0.05)
            for envelope in late:
                self._give_up(envelope)
            for envelope, connection in ready:
                self._hand(envelope, connection)

    def _overdue(self) -> list[Envelope]:
        """Return the overdue commands and interactions to give up; requeue overdue events."""
        now, late = time.monotonic(), []
        connected = set(self.sockets.connections) if self._out else set()
        for out in list(self._out):
            event = out.envelope.kind == "events_api"
            if out.deadline > now and (out.connection in connected or not event):
                continue
            self._out.remove(out)
            if not event:
                late.append(out.envelope)
            elif out.envelope.attempt < _RETRIES:
                again = out.envelope.again("timeout")
                self._waiting.append(again)
                self.sent.append(again)
        for envelope in list(self._waiting):
            lifetime = _EVENT_LIFETIME if envelope.kind == "events_api" else self._timeout(envelope)
            if now - envelope.born > lifetime:
                self._waiting.remove(envelope)
                late.append(envelope)
        return late

    def _ready(self) -> list[tuple[Envelope, ServerConnection | None]]:
        ready: list[tuple[Envelope, ServerConnection | None]] = []
        now = time.monotonic()
        for envelope in [each for each in self._waiting if each.due <= now]:
            connection = self.sockets.pick()
            if connection is None and self.deliver_to is None:
                break
            self._waiting.remove(envelope)
            if connection is None:
                self._posting += 1
            else:
                # Record it before sending: the ack may arrive before send returns. A command's timeout starts at its creation.
                start = now if envelope.kind == "events_api" else envelope.born
                self._out.append(_Out(envelope, connection, start + self._timeout(envelope)))
            ready.append((envelope, connection))
        return ready

    def _hand(self, envelope: Envelope, connection: ServerConnection | None) -> None:
        if connection is None:
            post = Thread(target=self._post, args=(envelope,), daemon=True)
            self._posts = [each for each in self._posts if each.is_alive()] + [post]
            post.start()
            return
        body: Json = {"envelope_id": envelope.id, "type": envelope.kind, "payload": envelope.payload}
        body["accepts_response_payload"] = envelope.kind != "events_api"
        if envelope.kind == "events_api":
            body |= {"retry_attempt": envelope.attempt, "retry_reason": envelope.reason}
        try:
            connection.send(json.dumps(body))
        except ConnectionClosed:
            with self._waking:
                self._waiting.append(envelope)
                self._out = [out for out in self._out if out.envelope is not envelope]

    def _heard(self, envelope_id: str, payload: Any) -> None:
        with self._waking:
            out = next((each for each in self._out if each.envelope.id == envelope_id), None)
            if out is None:
                return
            if self._faults.take(out.envelope.kind, out.envelope.payload, acknowledgement=True):
                return
            self._out.remove(out)
        self._done(out.envelope, payload)

    def _done(self, envelope: Envelope, payload: Any) -> None:
        envelope.acked = True
        self._settle(envelope, payload)

    def _post(self, envelope: Envelope) -> None:
        """Deliver by HTTP; anything but a 2xx in time is a failure, and events are retried."""
        try:
            self._answered(envelope, *self._posted(envelope))
        finally:
            with self._waking:
                self._posting -= 1

    def _answered(self, envelope: Envelope, status: int, answer: Any) -> None:
        if 200 <= status < 300:  # noqa: PLR2004
            self._done(envelope, answer)
        elif envelope.kind != "events_api":
            self._give_up(envelope)
        elif envelope.attempt < _RETRIES:
            reason = "http_error" if status else "http_timeout"
            # Slack retries at once, after one minute and after five; here the delays are short.
            self.send(envelope.again(reason, 0.2 * envelope.attempt))

    def _posted(self, envelope: Envelope) -> tuple[int, Any]:
        headers = {}
        if envelope.kind == "slash_commands":
            body = urlencode(envelope.payload)
        elif envelope.kind == "interactive":
            body = urlencode({"payload": json.dumps(envelope.payload)})
        else:
            body = json.dumps(envelope.payload)
            headers = {"Content-Type": "application/json"}
            if envelope.attempt:
                headers |= {"X-Slack-Retry-Num": str(envelope.attempt), "X-Slack-Retry-Reason": envelope.reason}
        headers |= signature(self._secret, body)
        request = Request(str(self.deliver_to), body.encode(), headers)  # noqa: S310 (a loopback address)
        try:
            with urlopen(request, timeout=self._timeout(envelope)) as response:  # noqa: S310
                return response.status, _read(response.read())
        except HTTPError as error:
            with error:
                return error.code, None
        except (OSError, HTTPException):
            return 0, None


def signature(secret: str, body: str) -> dict[str, str]:
    """Return the headers that sign a request; the app checks the timestamp against its own clock."""
    at = str(int(time.time()))
    digest = hmac.new(secret.encode(), f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}"}


def _read(body: bytes) -> Any:
    """Parse a response body as JSON, or else as a message's plain text."""
    text = body.decode(errors="replace")
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}
