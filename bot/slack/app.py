"""The Bolt app: it checks what Slack sends, calls the listeners, and tells how soon they acknowledged."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any

import structlog
from slack_bolt import App, BoltRequest, BoltResponse

from analysis.errors import BadSetting
from bot.slack.bot import Bot
from bot.slack.listeners import Hands, Listeners
from bot.slack.socket_mode import Sockets
from bot.slack.web import Refused

_SORTS = {
    "command": "command",
    "message": "message",
    "app_mention": "mention",
    "app_home_opened": "home",
    "block_actions": "button",
    "view_submission": "form",
}
_NEEDED = {  # without which it is none of Slack's
    "command": {"user_id", "channel_id", "trigger_id"},
    "button": {"user", "actions"},
    "form": {"user", "view"},
}

log = structlog.get_logger(__name__)


def slack_app(bot: Bot, hands: Hands, signing_secret: str = "") -> App:
    """The app with its listeners. Socket Mode needs no secret: there nothing is signed."""
    logger = logging.getLogger("slack_bolt")
    logger.setLevel(logging.ERROR)  # of what nobody listens to it warns, and that is most of what is said in channels
    app = _Timed(
        hands.acknowledged,
        client=bot.web.client,
        signing_secret=signing_secret,
        logger=logger,
        token_verification_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    Listeners(bot.web, hands).register(app, bot.command)
    return app


class _Timed(App):
    """Tells of every request what it was, and after how many seconds it was acknowledged."""

    def __init__(self, tell: Callable[[str, float], None], **options: Any) -> None:
        super().__init__(**options)
        self._tell = tell

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        begun = perf_counter()
        if not _NEEDED.get(_sort(req.body), set()) <= req.body.keys():
            return BoltResponse(status=400, body="")
        response = super().dispatch(req)
        self._tell(_sort(req.body), perf_counter() - begun)
        return response


def _sort(body: Mapping[str, Any]) -> str:
    """What a request of Slack's is, in a word."""
    said = body.get("event", {}).get("type") or body.get("type") or ("command" if "command" in body else "")
    return _SORTS.get(said, "other")


def sign_in(bot: Bot) -> None:
    """Learns who the bot is. `BadSetting` where Slack does not take its token."""
    with _blaming("SLACK_BOT_TOKEN"):
        log.info("connecting", user=bot.web.me["user"], team=bot.web.me["team"])


@contextmanager
def socket_mode(bot: Bot, app_token: str, hands: Hands) -> Iterator[None]:
    """The app connected to Slack over a WebSocket, for as long as the block lasts. `BadSetting` where its token is not taken."""
    app = slack_app(bot, hands)

    def answer(payload: dict[str, Any]) -> dict[str, Any] | None:
        told = app.dispatch(BoltRequest(mode="socket_mode", body=payload))
        if told.status != 200:  # noqa: PLR2004
            return None
        if not told.body:
            return {}
        is_json = told.headers.get("content-type", [""])[0].startswith("application/json")
        return dict(json.loads(told.body)) if is_json else {"text": told.body}

    with ExitStack() as stack:
        with _blaming("SLACK_APP_TOKEN"):
            stack.enter_context(Sockets(lambda: bot.web.socket_address(app_token), answer))
        yield


@contextmanager
def _blaming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as exc:
        raise BadSetting(f"{setting}: {exc}; vllm-digest doctor says more") from exc
