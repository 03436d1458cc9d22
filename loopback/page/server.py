"""The page's HTTP server on 127.0.0.1: the page, its event stream, and people's actions.

Access requires the key in the URL. Requests of other pages lack it, and are also refused by their Host and Origin headers,
which prevents DNS rebinding. Content cannot execute: only our own script files run.
"""

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from importlib.resources import files
from mimetypes import guess_type
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from jinja2 import Environment

from loopback.http_server import Loopback, QuietHandler, Refusal
from loopback.page.actions import ActionRefused, Actions
from loopback.page.messages import IMAGES, image
from loopback.page.player import Language, Player, Viewer, words
from loopback.page.text import markdown
from loopback.page.updates import Updates
from loopback.slack import File, LoopbackSlack
from loopback.slack.workspace import Json

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TOGETHER = 0.05  # seconds in which changes are combined into one event
_ALIVE = 10.0  # seconds of silence before a keep-alive comment
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Page:
    """The page, served while the context is entered. `url` is its address, including the key.

    - `players` are the available roles, the first being the default
    - `forms`, a command's arguments and what they give, are suggested while a command is typed; `note` beside the channels describes what is running
    """

    def __init__(
        self,
        slack: LoopbackSlack,
        players: Sequence[Player],
        *,
        command: str = "/vllm-digest",
        forms: Mapping[Language, Sequence[tuple[str, str]]] | None = None,
        note: Mapping[Language, str] | None = None,
        language: Language = "zh",
    ) -> None:
        self.slack = slack
        self.players = tuple(players)
        self.command = command
        self.forms = forms or {}
        self.note = note or {}
        self.language = language
        self.key = secrets.token_urlsafe(18)
        self.closing = False
        self._http = Loopback(_Handler, page=self)

    @property
    def url(self) -> str:
        return f"{self._http.url}/{self.key}/"

    def __enter__(self) -> Self:
        self._http.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing = True
        with self.slack.workspace.change():
            """Those who listen wake up, and end."""
        self._http.__exit__()

    def viewer(self, query: Mapping[str, str]) -> Viewer:
        """Return the request's player and language; by default the first player and the page's language."""
        known = [player.user for player in self.players]
        user = query.get("as", "")
        spoken = query.get("lang")
        language: Language = "zh" if spoken == "zh" else "en" if spoken == "en" else self.language
        return Viewer(self.slack.workspace, user if user in known else known[0], language)

    def html(self, viewer: Viewer) -> str:
        """Render the page without its messages, which arrive as events."""
        config = {
            "user": viewer.user,
            "bot": viewer.name(self.slack.workspace.bot_user),
            "language": viewer.language,
            "command": self.command,
            "forms": [{"text": text, "gives": gives} for text, gives in self.forms.get(viewer.language, ())],
            "people": [viewer.name(player.user) for player in self.players],
            "say": dict(words(viewer.language)),
        }
        return (
            Environment(autoescape=True)
            .from_string(_package("index.html").read_text("utf-8"))
            .render(
                say=words(viewer.language),
                viewer=viewer,
                players=[(each.user, viewer.name(each.user), each.note[viewer.language]) for each in self.players],
                note=self.note.get(viewer.language, ""),
                config=config,
            )
        )

    def source(self, viewer: Viewer, query: Mapping[str, str]) -> Json:
        """Return a message as {json}, formatted. Raise `Refusal` for one that the player does not see."""
        home = viewer.channel(query.get("channel", ""))
        found = home.messages.get(query.get("ts", "")) if home else None
        if found is None or found.only_for not in {None, viewer.user}:
            raise Refusal(404, "not_found")
        whole = self.slack.workspace.describe(found, metadata=True)
        return {"json": json.dumps(whole, ensure_ascii=False, indent=2)}

    def file(self, viewer: Viewer, name: str) -> File:
        """Return a file shared in one of the player's conversations. Raise `Refusal` for any other."""
        found = self.slack.workspace.files.get(name)
        if found is None or found.content is None:
            raise Refusal(404, "not_found")
        if not any(viewer.channel(channel) for channel, _, _ in found.shares):
            raise Refusal(404, "not_found")
        return found


class _Handler(QuietHandler):
    page: Page
    body_limit = 300_000
    any_port = True

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, serve: Callable[[list[str], Mapping[str, str]], None]) -> None:
        url = urlsplit(self.path)
        _, key, *path = url.path.split("/")
        if not secrets.compare_digest(unquote(key).encode(), self.page.key.encode()):
            raise Refusal(HTTPStatus.FORBIDDEN, "wrong key")
        serve(path, dict(parse_qsl(url.query)))

    def refuse(self, refusal: Refusal) -> None:
        self._json({"error": str(refusal)}, refusal.status)

    def _get(self, path: list[str], query: Mapping[str, str]) -> None:
        viewer = self.page.viewer(query)
        match path:
            case [""]:
                self._send(self.page.html(viewer).encode(), "text/html; charset=utf-8")
            case ["static", name]:
                self._static(name)
            case ["events"]:
                self._send_events(Updates(self.page.slack, viewer))
            case ["source"]:
                self._json(self.page.source(viewer, query))
            case ["files", name]:
                self._json(_shown(self.page.file(viewer, name), viewer))
            case ["files", name, "raw"]:
                self._download(self.page.file(viewer, name))
            case _:
                raise Refusal(404, "not_found")

    def _post(self, path: list[str], query: Mapping[str, str]) -> None:
        if not (self.headers.get("Content-Type") or "").startswith("application/json"):
            raise Refusal(415, "not JSON")
        actions = Actions(self.page.slack, self.page.viewer(query), self.page.command)
        act = actions.by_name.get(path[1]) if len(path) == 2 and path[0] == "do" else None  # noqa: PLR2004
        if act is None:
            raise Refusal(404, "not_found")
        try:
            self._json(act(_parsed(self.read_body())))
        except ActionRefused as exc:
            raise Refusal(409, str(exc)) from exc
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as exc:
            # Input that the script does not send, or a target that no longer exists.
            raise Refusal(409, str(exc)[:200]) from exc

    def _send_events(self, updates: Updates) -> None:
        """Send server-sent events until the browser disconnects or the page ends."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        for name, value in {
            "Content-Type": "text/event-stream; charset=utf-8",
            **_HEADERS,
            "Connection": "close",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        workspace = self.page.slack.workspace
        while not self.page.closing:
            news = updates.changes()
            # Comments are not events; they keep the connection alive.
            text = f"data: {json.dumps(news, ensure_ascii=False)}\n\n" if news else ":\n\n"
            try:
                self.wfile.write(text.encode("utf-8", "replace"))
                self.wfile.flush()
            except OSError:
                return
            end = time.monotonic() + _ALIVE
            with workspace.changing:
                while workspace.version == updates.version and not self.page.closing and time.monotonic() < end:
                    workspace.changing.wait(end - time.monotonic())
            time.sleep(_TOGETHER)

    def _static(self, name: str) -> None:
        kind = _KINDS.get(name[name.rfind(".") :])
        try:
            content = _package(name).read_bytes()
        except (OSError, ValueError):  # a name too long, or with a NUL
            kind, content = None, b""
        if kind is None:
            raise Refusal(404, "not_found")
        self._send(content, f"{kind}; charset=utf-8")

    def _download(self, file: File) -> None:
        """Send a file as a download; only images keep their content type."""
        kind = guess_type(file.name)[0] or ""
        shown = kind if kind in IMAGES else "application/octet-stream"
        named = f"attachment; filename*=UTF-8''{quote(file.name)}"
        self._send(file.content or b"", shown, {"Content-Disposition": named})

    def _json(self, body: Json, status: int = 200) -> None:
        self._send(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), "application/json", status=status)

    def _send(self, data: bytes, kind: str, headers: Mapping[str, str] | None = None, status: int = 200) -> None:
        self.respond(status, data, {"Content-Type": kind, **_HEADERS, **(headers or {})})


def _parsed(body: bytes) -> Any:
    """Parse a request's JSON, refusing what cannot be serialised again: deep nesting and lone surrogates."""
    try:
        given = json.loads(body)
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as exc:
        raise Refusal(400, "not JSON") from exc
    return given


def _package(name: str) -> Any:
    return files("loopback.page").joinpath("static", name)


def _shown(file: File, viewer: Viewer) -> Json:
    """Return a file for the panel: Markdown as HTML, a picture, other text verbatim."""
    if guess_type(file.name)[0] in IMAGES:
        picture = image(file.id, file.alt or file.name, viewer)
        return {"id": file.id, "title": file.title or file.name, "name": file.name, "html": picture, "text": ""}
    text = (file.content or b"").decode("utf-8", "replace")
    html = markdown(text) if file.name.endswith(".md") else None
    return {"id": file.id, "title": file.title or file.name, "name": file.name, "html": html, "text": text}
