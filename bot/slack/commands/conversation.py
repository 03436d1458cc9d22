"""One request, the view of the channel where it was made, and its reply."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from bot.services.channels import ChannelView
from bot.slack.delivery.reply import Reply
from bot.slack.messages.blocks import Message
from bot.slack.parsing.command_types import Command
from bot.slack.parsing.commands import parse
from bot.slack.parsing.requests import AnyRequest


class Conversation(NamedTuple):
    """A request in its channel, and the reply to it."""

    request: AnyRequest
    view: ChannelView
    reply: Reply
    now: datetime  # when its handling began, in UTC

    @property
    def today(self) -> date:
        """The day in the channel's time zone."""
        return self.now.astimezone(self.view.tz).date()

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Show messages in the reply."""
        self.reply.show(messages, about=about, stage=stage, replace=replace)

    def understand(self, text: str) -> Command:
        """Parse a text, free of Slack's markup, into a command."""
        return parse(text, self.view.reader.known, self.today, self.view.reader.usual)
