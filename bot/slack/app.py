"""The Bolt app: validates Slack's requests, calls the listeners and measures the time to their ack."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import structlog
from slack_bolt import App, BoltRequest, BoltResponse

from analysis.errors import BadSetting, DigestError
from bot.slack.listeners import Listeners
from bot.slack.parsing.departures import DEPARTURES
from bot.slack.parsing.requests import is_malformed
from bot.slack.socket_mode import Sockets
from bot.slack.web import Web
from bot.slack.web_errors import Refused

_KINDS = {
    "command": "command",
    "message": "message",
    "app_mention": "mention",
    "app_home_opened": "home",
    "agent_session_stopped": "stop",
    "member_joined_channel": "join",
    **dict.fromkeys(DEPARTURES, "departure"),
    "block_actions": "button",
    "view_submission": "form",
    "message_action": "shortcut",
}
log = structlog.get_logger(__name__)


class SlackApp(App):
    """An app that answers what is sent to its own installation, and acknowledges the rest without doing anything.

    `tell` gets each request's kind, and the seconds until its ack.
    """

    def __init__(self, web: Web, tell: Callable[[str, float], None], **options: Any) -> None:
        super().__init__(client=web.client, **options)
        self._web = web
        self._tell = tell

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        begun = perf_counter()
        kind = _kind(req.body)
        if is_malformed(kind, req.body):
            return BoltResponse(status=400, body="")
        if why := refusal(req, self._web):
            log.warning("refused", kind=kind, why=why)
            kind, response = "refused", BoltResponse(status=200, body="")  # any other status brings it again
        else:
            response = super().dispatch(req)
        self._tell(kind, perf_counter() - begun)
        return response


def refusal(request: BoltRequest, web: Web) -> str:
    """Return why a request is not answered, signed though it may be; empty if it is sent to the bot token's installation.

    Bolt's context has the workspace and the organisation of the installation; those of the event or the person are others
    where a channel is shared (Slack Connect). Source: docs.slack.dev/apis/events-api, `authorizations`.
    """
    body, context, me = request.body, request.context, web.me
    if body.get("type") == "url_verification":
        return ""  # asked by the app's settings page, of no workspace
    if body.get("api_app_id") not in (None, me["app_id"]):  # shortcuts name none
        return "sent to another app"
    of_organisation = context.enterprise_id == me["enterprise_id"]
    # A view names the organisation of the person. An install into a whole organisation has no workspace.
    of_workspace = context.team_id == me["team_id"] and (of_organisation or not context.enterprise_id or "view" in body)
    if not (of_organisation if me["is_enterprise_install"] else of_workspace):
        return "sent to another workspace or organisation"
    if body.get("response_url") and not web.is_response_url(str(body["response_url"])):
        return "its response_url is not Slack's"
    return ""


def slack_app(
    listeners: Listeners,
    command: str,
    web: Web,
    acknowledged: Callable[[str, float], None],
    signing_secret: str = "",
) -> SlackApp:
    """Return the app with its listeners; `command` is the slash command's name.

    `acknowledged` receives each request's kind and the seconds until its ack. Socket Mode needs no signing secret.
    """
    logger = logging.getLogger("slack_bolt")
    logger.setLevel(logging.ERROR)  # no warnings about unhandled events, which are most messages in channels
    app = SlackApp(
        web,
        acknowledged,
        process_before_response=True,  # Bolt would look each 10 ms whether another thread has acknowledged
        name="vllm-digest",  # without one Bolt reads the source of every caller to find one, which takes 0.1 s
        signing_secret=signing_secret,
        logger=logger,
        token_verification_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    app.error(_log_failure)
    listeners.register(app, command)
    return app


def _log_failure(error: Exception) -> None:
    """Log why a request is not acknowledged, which Slack tells the person or mends by sending it again."""
    if isinstance(error, DigestError):
        log.warning("request not taken", why=str(error))
    else:
        log.error("this is a bug in vllm-digest", exc_info=error)


def _kind(body: Mapping[str, Any]) -> str:
    """Return the kind of a request, as a label for metrics."""
    name = body.get("event", {}).get("type") or body.get("type") or ("command" if "command" in body else "")
    return _KINDS.get(name, "other")


def sign_in(web: Web) -> Mapping[str, str]:
    """Look up and return the bot's own user. Raise `BadSetting` if Slack rejects the token."""
    with _blaming("SLACK_BOT_TOKEN"):
        return web.me


def first_socket_address(web: Web, app_token: str) -> str:
    """Return the WebSocket URL of the first connection. Raise `BadSetting` if Slack rejects the token."""
    with _blaming("SLACK_APP_TOKEN"):
        return web.socket_address(app_token)


@contextmanager
def socket_mode(app: SlackApp, web: Web, app_token: str, first: str) -> Iterator[None]:
    """Connect an app to Slack over a WebSocket, at `first` to begin with, for the duration of the block."""

    def answer(payload: dict[str, Any]) -> dict[str, Any] | None:
        response = app.dispatch(BoltRequest(mode="socket_mode", body=payload))
        if response.status != 200:  # noqa: PLR2004
            return None
        if not response.body:
            return {}
        is_json = response.headers.get("content-type", [""])[0].startswith("application/json")
        return dict(json.loads(response.body)) if is_json else {"text": response.body}

    with Sockets(first, lambda: web.socket_address(app_token), answer):
        yield


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as exc:
        raise BadSetting(f"{setting}: {exc}; for details run vllm-digest doctor") from exc
