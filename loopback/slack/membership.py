"""People and channels that come and go, and what the app is told of it. Source: docs.slack.dev/reference/events."""

from typing import Any

from loopback.slack import payloads
from loopback.slack.delivery import Delivery, Envelope
from loopback.slack.methods.reading import describe_user
from loopback.slack.workspace import TEAM, Json, Message, Workspace


class Membership:
    """What members and admins do with channels and accounts, for the server, which has the rest."""

    workspace: Workspace
    delivery: Delivery
    scopes: frozenset[str]

    def invite(self, inviter: str, channel: str, text: str = "") -> Message:
        """Add the bot to a channel, which the channel reads as `text`."""
        home, bot = self.workspace.channels[channel], self.workspace.bot_user
        with self.workspace.change():
            home.members.add(bot)
            message = self.workspace.post(channel, bot, text=text, subtype="channel_join")
        kind = {"channel_type": "C" if home.kind == "channel" else "G", "team": TEAM, "inviter": inviter}
        self._tell_of(channel, "member_joined_channel", user=bot, **kind)
        return message

    def remove(self, user: str, channel: str) -> None:
        """Remove the bot from a channel."""
        with self.workspace.change():
            self.workspace.channels[channel].members.discard(self.workspace.bot_user)
        self._tell_of(channel, self._named(channel, "left"), actor_id=user)

    def archive(self, user: str, channel: str) -> None:
        with self.workspace.change():
            self.workspace.channels[channel].archived = True
        self._tell_of(channel, self._named(channel, "archive"), user=user)

    def delete_channel(self, channel: str) -> None:
        self._tell_of(channel, self._named(channel, "deleted"))
        with self.workspace.change():
            del self.workspace.channels[channel]

    def change_id(self, channel: str, new: str) -> None:
        """Give a channel another id, as when it is shared with another organisation."""
        with self.workspace.change():
            home = self.workspace.channels.pop(channel)
            home.id, self.workspace.channels[new] = new, home
        self._send("channels:read", {"type": "channel_id_changed", "old_channel_id": channel, "new_channel_id": new})

    def deactivate(self, user: str) -> None:
        """Deactivate somebody's account."""
        with self.workspace.change():
            for home in self.workspace.channels.values():
                home.members.discard(user)
        gone = {**describe_user(self.workspace, user), "deleted": True}
        self._send("users:read", {"type": "user_change", "user": gone, "cache_ts": int(self.workspace.now())})

    def _named(self, channel: str, what: str) -> str:
        """Return the name of an event, which is another in private channels."""
        return f"{self.workspace.channels[channel].kind}_{what}"

    def _tell_of(self, channel: str, kind: str, **fields: Any) -> None:
        scope = f"{self.workspace.channels[channel].kind}s:read"
        self._send(scope, {"type": kind, "channel": channel, **fields})

    def _send(self, scope: str, body: Json) -> None:
        if scope in self.scopes:
            made = payloads.event(self.workspace, {**body, "event_ts": self.workspace.next_ts()})
            self.delivery.send(Envelope("events_api", made))
