"""The bot of one workspace, and its view from one channel."""

from collections.abc import Callable
from datetime import date, datetime, time
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import Language
from bot.services.reader import Reader
from bot.slack.outbox.outbox import Outbox
from bot.slack.parsing.commands import Command, parse
from bot.slack.web import Web
from bot.store import Mailbox, Subscriptions


class Bot(NamedTuple):
    """The bot of one workspace. `now` returns the time, aware and in UTC."""

    reading: Reader
    mail: Mailbox
    subscriptions: Subscriptions
    web: Web
    outbox: Outbox
    tz: ZoneInfo
    time: time
    language: Language
    command: str
    now: Callable[[], datetime]

    def within(self, channel: str) -> "Bot":
        """Return the bot for a channel: the repositories that it may see, and the language and time zone of its digest."""
        bot = self._replace(reading=self.reading.within(channel))
        subscribed = self.subscriptions.of(channel)
        return bot._replace(tz=subscribed[0].terms.tz, language=subscribed[0].terms.language) if subscribed else bot

    def understood(self, text: str) -> Command:
        """Parse a text, free of Slack's markup, into a command."""
        return parse(text, self.reading.known, self.today, self.reading.usual)

    @property
    def today(self) -> date:
        return self.now().astimezone(self.tz).date()
