"""A Web API call, with access to its arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loopback.slack.limits import Refused, refuse
from loopback.slack.workspace import Channel, Json, Message, Workspace


@dataclass(frozen=True)
class MethodCall:
    """A call; `url` is the server's address without a path, `new_socket` returns a Socket Mode URL, `scopes` are the token's."""

    workspace: Workspace
    params: Json
    url: str
    new_socket: Callable[[], str]
    scopes: frozenset[str]

    def need(self, *names: str) -> list[Any]:
        """Return required arguments. Raise `Refused` if any is missing."""
        missing = [name for name in names if self.params.get(name) in (None, "")]
        refuse("invalid_arguments", [f"[ERROR] missing required field: {name}" for name in missing])
        return [self.params[name] for name in names]

    def flag(self, name: str) -> bool:
        return str(self.params.get(name, "")).lower() in {"1", "true"}

    def number(self, name: str, default: int, most: int) -> int:
        try:
            value = int(self.params.get(name) or default)
        except ValueError:
            raise Refused("invalid_limit") from None
        return max(1, min(value, most))

    def channel(self, *, member: bool = True, name: str = "channel") -> Channel:
        """Return the requested conversation. Private ones without the bot count as unknown."""
        (given,) = self.need(name)
        home = self.workspace.channels.get(str(given))
        inside = home is not None and self.workspace.bot_user in home.members
        if home is None or (home.kind != "channel" and not inside):
            raise Refused("channel_not_found")
        if member and not inside:
            raise Refused("not_in_channel")
        return home

    def target(self, name: str = "channel") -> Channel:
        """Return the conversation to post to; a user's id stands for their direct messages."""
        (given,) = self.need(name)
        if given in self.workspace.users:
            home = self.workspace.channels[self.workspace.dm(given)]
        else:
            home = self.channel(name=name)
        if home.archived:
            raise Refused("is_archived")
        return home

    def thread(self, home: Channel, name: str = "thread_ts") -> str | None:
        """Return the thread to post to, or None. Unlike Slack, refuse threads that do not exist."""
        ts = self.params.get(name)
        if ts is None or ts == "":
            return None
        if not isinstance(ts, str):
            raise Refused("invalid_thread_ts")
        parent = home.messages.get(ts)
        if parent is None or parent.only_for is not None:
            raise Refused("thread_not_found")
        if parent.is_reply:
            raise Refused("cannot_reply_to_message")
        return ts

    def own_message(self, error: str) -> Message:
        """Return the bot's own message at `ts`. Raise `Refused` with `error` if it is not the bot's."""
        home = self.channel()
        (ts,) = self.need("ts")
        message = home.messages.get(str(ts))
        if message is None or message.only_for is not None or message.tombstone:
            raise Refused("message_not_found")
        if message.user != self.workspace.bot_user:
            raise Refused(error)
        return message


def page(call: MethodCall, items: list[Any], default: int, most: int) -> tuple[list[Any], Json]:
    """Return one page of the items, with its has_more and response_metadata."""
    size = call.number("limit", default, most)
    cursor = str(call.params.get("cursor") or "")
    if cursor and not (cursor.startswith("next:") and cursor[5:].isdigit()):
        raise Refused("invalid_cursor")
    start = int(cursor[5:]) if cursor else 0
    more = len(items) > start + size
    following = f"next:{start + size}" if more else ""
    return items[start : start + size], {"has_more": more, "response_metadata": {"next_cursor": following}}
