"""The people and places of a workspace, looked up in Slack: names and roles, memberships, direct channels and permalinks."""

import re
from collections.abc import Mapping

from slack_sdk import WebClient

from bot.slack.web_calls import Identity, MemberPage, Membership, MessagePage, User, call, pages
from bot.slack.web_errors import MissingScope, Refused, SlackFailure

_ADDRESS = re.compile(r"https?://[^\s<>|]+")


class Directory:
    """Lookups in one workspace, by a client that repeats failed reads; thread-safe."""

    def __init__(self, reader: WebClient) -> None:
        self._reader = reader
        self._me: Mapping[str, str] | None = None

    @property
    def me(self) -> Mapping[str, str]:
        """The bot's app_id, and what auth.test says of it, as text; cached after the first call."""
        if self._me is None:
            found = call(Identity, "", self._reader.auth_test)
            app = call(str, "bot.app_id", self._reader.bots_info, bot=found.bot_id)
            self._me = {"app_id": app, **{name: str(value or "") for name, value in found}}
        return self._me

    def direct(self, user: str) -> str:
        """Return the id of the direct message channel with a person."""
        return call(str, "channel.id", self._reader.conversations_open, users=[user])

    def permalink(self, channel: str, ts: str) -> str | None:
        """Return the permalink of a message; None if it was deleted or is no longer visible."""
        try:
            address = call(str, "permalink", self._reader.chat_getPermalink, channel=channel, message_ts=ts)
        except Refused:
            return None
        return address if _ADDRESS.fullmatch(address) and not self._is_tombstone(channel, ts) else None

    def _is_tombstone(self, channel: str, ts: str) -> bool:
        """Return whether a message was deleted but remains as a placeholder because of its replies; False if unknown."""
        try:
            found = call(MessagePage, "", self._reader.conversations_replies, channel=channel, ts=ts, limit=1).messages
        except MissingScope:
            return False
        except Refused:
            return True
        return not found or found[0].get("subtype") == "tombstone"

    def is_member(self, channel: str, user: str) -> bool:
        """Return whether the bot may post in a channel, or in a direct message channel if it is its own with `user`."""
        if channel.startswith("D"):
            return channel == self.direct(user)
        try:
            return bool(self.place(channel).is_member)
        except MissingScope:
            raise
        except Refused:
            return False  # channels without the bot may be invisible to it, or of a kind outside its scopes

    def place(self, channel: str) -> Membership:
        """Return the bot's membership of a channel. Raise `ChannelClosed` if the channel is not visible to it."""
        return call(Membership, "channel", self._reader.conversations_info, channel=channel)

    def has_member(self, channel: str, user: str) -> bool:
        """Return whether a person is in a channel, or the bot's direct messages are with that person; False if unknown."""
        if channel.startswith("D"):
            return channel == self.direct(user)
        found = pages(MemberPage, self._reader.conversations_members, channel=channel, limit=1000)
        try:
            return any(user in page.members for page in found)
        except MissingScope:
            raise
        except Refused:
            return False

    def name_of(self, user: str) -> str:
        """Return a person's display name; empty if Slack does not provide one."""
        try:
            found = self._user(user)
        except SlackFailure:
            return ""
        return found.display_name or found.real_name or found.name or ""

    def settings_of(self, user: str) -> tuple[str, str]:
        """Return a person's time zone and locale, such as `Asia/Shanghai` and `zh-CN`; empty where Slack does not provide them."""
        try:
            found = call(User, "user", self._reader.users_info, user=user, include_locale=True)
        except SlackFailure:
            return "", ""
        return found.tz or "", found.locale or ""

    def is_operator(self, user: str) -> bool:
        """Return whether a person is an admin or owner of the workspace; False if unknown."""
        try:
            return self.is_admin(user)
        except SlackFailure:
            return False

    def is_admin(self, user: str) -> bool:
        """Return whether a person is an admin or owner of the workspace. Raise `SlackFailure` if Slack does not tell."""
        found = self._user(user)
        return bool(found.is_admin or found.is_owner)

    def is_stranger(self, user: str) -> bool:
        """Return whether a person belongs to another organisation (Slack Connect); True for people unknown to Slack here."""
        try:
            found = self._user(user)
        except MissingScope:
            raise
        except Refused:
            return True
        # In an Enterprise organisation a person's home may be another of its workspaces.
        teams = {found.team_id, *(found.teams or ())}
        return bool(found.is_stranger) or self.me["team_id"] not in teams

    def _user(self, user: str) -> User:
        return call(User, "user", self._reader.users_info, user=user)
