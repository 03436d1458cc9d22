"""Players of the page, and their view of the workspace."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from loopback.page.words import words
from loopback.slack.workspace import SLACKBOT, Channel, Workspace

Language = Literal["zh", "en"]


class Player(NamedTuple):
    """A person whose role the page's user can take; `note` describes them in each language."""

    user: str
    note: Mapping[Language, str]


class Viewer(NamedTuple):
    """The workspace as one player sees it, in their language."""

    workspace: Workspace
    user: str
    language: Language

    def say(self, key: str, **values: object) -> str:
        """Return one of the page's phrases in the player's language."""
        return words(self.language)[key].format(**values)

    def name(self, user: str) -> str:
        """Return the display name of a person or the bot; an unknown id verbatim."""
        name = self.workspace.users.get(user, user)
        return name if user in {self.workspace.bot_user, SLACKBOT, name} else name.title()

    @property
    def channels(self) -> list[Channel]:
        """The conversations of which the player is a member."""
        return [each for each in self.workspace.channels.values() if self.user in each.members]

    def title(self, channel: Channel) -> str:
        """Return a conversation's name; for direct messages the bot's."""
        return self.name(self.workspace.bot_user) if channel.kind == "im" else channel.name

    def channel(self, channel: str) -> Channel | None:
        """Return a conversation of which the player is a member, or None."""
        return next((each for each in self.channels if each.id == channel), None)
