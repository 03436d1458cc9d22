"""A call of a Web API method, and what every method asks of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loopback.slack.limits import Refused
from loopback.slack.workspace import Channel, Json, Message, Workspace


@dataclass(frozen=True)
class Ask:
    """`url` is the server's address without a path; `new_socket` gives a Socket Mode address; `scopes` are the token's."""

    workspace: Workspace
    params: Json
    url: str
    new_socket: Callable[[], str]
    scopes: frozenset[str]

    def need(self, *names: str) -> list[Any]:
        """Arguments that must be there."""
        missing = [name for name in names if self.params.get(name) in (None, "")]
        if missing:
            messages = [f"[ERROR] missing required field: {name}" for name in missing]
            raise Refused("invalid_arguments", response_metadata={"messages": messages})
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
        """The conversation asked for; a private one that the bot is not in does not exist for it."""
        (wanted,) = self.need(name)
        home = self.workspace.find_channel(str(wanted))
        inside = home is not None and self.workspace.bot_user in home.members
        if home is None or (home.kind != "channel" and not inside):
            raise Refused("channel_not_found")
        if member and not inside:
            raise Refused("not_in_channel")
        return home

    def target(self) -> Channel:
        """The conversation to post to: a user's id stands for the direct messages with them."""
        (wanted,) = self.need("channel")
        if wanted in self.workspace.users:
            home = self.workspace.channels[self.workspace.dm(wanted)]
        else:
            home = self.channel(member="chat:write.public" not in self.scopes)
        if home.archived:
            raise Refused("is_archived")
        return home

    def thread(self, home: Channel, name: str = "thread_ts") -> str | None:
        """The thread to post to. Slack lets messages into threads that do not exist; a stand-in that is strict does not."""
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
        """The bot's own message at `ts`."""
        home = self.channel()
        (ts,) = self.need("ts")
        message = home.messages.get(str(ts))
        if message is None or message.only_for is not None or message.tombstone:
            raise Refused("message_not_found")
        if message.user != self.workspace.bot_user:
            raise Refused(error)
        return message


def page(ask: Ask, items: list[Any], default: int, most: int) -> tuple[list[Any], Json]:
    """One page of the items, and the has_more and response_metadata that go with it."""
    size = ask.number("limit", default, most)
    cursor = str(ask.params.get("cursor") or "")
    if cursor and not (cursor.startswith("next:") and cursor[5:].isdigit()):
        raise Refused("invalid_cursor")
    start = int(cursor[5:]) if cursor else 0
    more = len(items) > start + size
    following = f"next:{start + size}" if more else ""
    return items[start : start + size], {"has_more": more, "response_metadata": {"next_cursor": following}}
