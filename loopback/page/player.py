"""The person who looks at the workspace, and their language."""

from collections.abc import Mapping
from datetime import tzinfo
from typing import Literal, NamedTuple

from loopback.page.words import words
from loopback.slack.workspace import SLACKBOT, Channel, Workspace

Language = Literal["zh", "en"]


class Player(NamedTuple):
    """A person whom whoever sits at the page may be: `note` says in each language who that is."""

    user: str
    note: Mapping[Language, str]


class Viewer(NamedTuple):
    """One player's eyes."""

    workspace: Workspace
    user: str
    language: Language
    tz: tzinfo

    def say(self, key: str, **values: object) -> str:
        """A phrase of the page's."""
        return words(self.language)[key].format(**values)

    def name(self, user: str) -> str:
        """What a person or the bot is called; an id that nobody has is shown as it is."""
        name = self.workspace.users.get(user, user)
        return name if user in {self.workspace.bot_user, SLACKBOT, name} else name.title()

    @property
    def channels(self) -> list[Channel]:
        """The conversations that the player is in."""
        return [each for each in self.workspace.channels.values() if self.user in each.members]

    def title(self, channel: Channel) -> str:
        """A conversation's name; direct messages are called by whom they are with."""
        return self.name(self.workspace.bot_user) if channel.kind == "im" else channel.name

    def channel(self, channel: str) -> Channel | None:
        """A conversation that the player is in."""
        return next((each for each in self.channels if each.id == channel), None)
