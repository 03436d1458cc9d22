"""One request, the view of the channel where it was made, and its reply."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Repository
from bot.services.reader import ChannelView
from bot.slack.delivery.reply import RequestReply
from bot.slack.messages.blocks import Message
from bot.slack.parsing.command_types import Command
from bot.slack.parsing.commands import parse
from bot.slack.parsing.requests import AnyRequest


class Conversation(NamedTuple):
    """A request in its channel, and the reply to it."""

    request: AnyRequest
    view: ChannelView
    reply: RequestReply
    now: datetime  # when its handling began, in UTC

    @property
    def today(self) -> date:
        """The day in the channel's time zone."""
        return self.now.astimezone(self.view.tz).date()

    @property
    def repositories(self) -> tuple[Repository, ...]:
        """The repositories that the channel may see. Raise `Misuse` if there is none."""
        known = self.view.reader.known
        if not known:
            raise Misuse(Phrase("no repository is available in this channel"))
        return known

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Show messages in the reply."""
        self.reply.show(messages, about=about, stage=stage, replace=replace)

    def understand(self, text: str) -> Command:
        """Parse a text, free of Slack's markup, into a command."""
        return parse(text, self.view.reader.known, self.today, self.view.reader.usual)
