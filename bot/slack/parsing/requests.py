"""Requests from people, parsed once from Slack's payloads into one type."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from analysis.models import Frozen
from analysis.text import scalar

Kind = Literal["command", "message", "button", "form", "terms", "home"]
_MOST = 4_000  # maximum characters of a text that are processed


class Request(Frozen):
    """A request of one person. `key` is the same however often Slack delivers it.

    `ts` is the requesting message, or the one with the button; `thread_ts` is its thread; `root_is_ours` tells whether the
    bot started that thread, `at_home` whether the request came from the App Home. `response_url` takes private replies. A
    `private` message cannot be looked up or answered in a thread.
    """

    key: str
    kind: Kind
    user: str
    channel: str
    team: str = ""
    text: str = ""
    action: str = ""
    ts: str = ""
    thread_ts: str = ""
    response_url: str = ""
    mentioned: bool = False
    direct: bool = False
    private: bool = False
    root_is_ours: bool = False
    at_home: bool = False

    @property
    def run(self) -> str:
        """The short id of this request in logs and error messages."""
        return sha256(self.key.encode()).hexdigest()[:8]


def from_command(body: Mapping[str, Any]) -> Request:
    """Parse a slash command."""
    return Request(
        key=f"command:{body['trigger_id']}",
        kind="command",
        user=body["user_id"],
        team=body.get("team_id") or "",
        channel=body["channel_id"],
        text=scalar(body.get("text") or "")[:_MOST],
        response_url=body.get("response_url") or "",
        direct=body["channel_id"].startswith("D"),
        private=True,
    )


def from_message(body: Mapping[str, Any], bot_user: str) -> Request | None:
    """Parse a message or a mention (a mention arrives as both); None unless a person has just written it."""
    event = body["event"]
    if (
        event.get("subtype") not in (None, "thread_broadcast", "file_share")
        or event.get("bot_id")
        or event.get("edited")
    ):
        return None
    if not event.get("user") or event["user"] == bot_user:
        return None
    text = scalar(event.get("text") or "")
    return Request(
        key=f"message:{event['channel']}:{event['ts']}",
        kind="message",
        user=event["user"],
        team=event.get("user_team") or event.get("source_team") or event.get("team") or body.get("team_id") or "",
        channel=event["channel"],
        text=text[:_MOST],
        ts=event["ts"],
        thread_ts=event.get("thread_ts") or "",
        mentioned=event["type"] == "app_mention" or f"<@{bot_user}" in text,
        direct=event.get("channel_type") == "im" or event["channel"].startswith("D"),
        root_is_ours=event.get("parent_user_id") == bot_user,
    )


def from_button(body: Mapping[str, Any]) -> Request:
    """Parse a button click."""
    action = body["actions"][0]
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    message = body.get("message") or {}
    return Request(
        key=f"button:{body.get('trigger_id') or action.get('action_ts')}",
        kind="button",
        user=body["user"]["id"],
        team=body["user"].get("team_id") or (body.get("team") or {}).get("id") or "",
        channel=channel,
        text=action.get("value") or "",
        action=action["action_id"],
        ts=container.get("message_ts") or message.get("ts") or "",
        thread_ts=container.get("thread_ts") or message.get("thread_ts") or "",
        response_url=body.get("response_url") or "",
        direct=channel.startswith("D"),
        private=bool(container.get("is_ephemeral")),
    )


def from_form(body: Mapping[str, Any], asked_at: Request, question: str) -> Request:
    """Build the request for a question from the modal that the button click `asked_at` opened."""
    return asked_at.model_copy(
        update={
            "key": f"form:{body['view']['id']}",
            "kind": "form",
            "action": scalar(question)[:_MOST],
            "user": body["user"]["id"],
        }
    )


def from_terms(body: Mapping[str, Any], channel: str, terms: str, *, at_home: bool) -> Request:
    """Build the request for a submitted subscription modal; `terms` are the settings in stored form."""
    user = body["user"]
    return Request(
        key=f"form:{body['view']['id']}",
        kind="terms",
        user=user["id"],
        team=user.get("team_id") or (body.get("team") or {}).get("id") or "",
        channel=channel,
        text=terms,
        private=True,
        at_home=at_home,
    )


def from_home(body: Mapping[str, Any]) -> Request | None:
    """Parse the opening of the App Home; None for its other tabs."""
    event = body["event"]
    if event.get("tab") != "home":
        return None
    return Request(key=f"home:{body['event_id']}", kind="home", user=event["user"], channel="", private=True)
