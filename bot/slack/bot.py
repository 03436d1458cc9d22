"""What the bot works with, and what its steps say of how far they came."""

import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import Language
from bot.services.reader import Reading
from bot.slack.outbox.outbox import Outbox
from bot.slack.parsing.commands import Wish, parse
from bot.slack.web import Web
from bot.store import Mailbox, Subscriptions


class Bot(NamedTuple):
    """The bot of one workspace. `now` gives the time, aware and in UTC."""

    reading: Reading
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
        """The same bot as a channel knows it: with the repositories that it may see, in the language and time zone of its digest."""
        bot = self._replace(reading=self.reading.within(channel))
        subscribed = self.subscriptions.of(channel)
        return bot._replace(tz=subscribed[0].terms.tz, language=subscribed[0].terms.language) if subscribed else bot

    def understood(self, text: str) -> Wish:
        """The wish that a text means here, out of Slack's notation."""
        return parse(text, self.reading.known, self.today, self.reading.usual)

    @property
    def today(self) -> date:
        return self.now().astimezone(self.tz).date()


class Delivery(NamedTuple):
    """What is to be delivered: `what` names a day or a commit, `label` on whose account, so that each is its own.

    `run` is the id by which logs tie it to what began it; it makes no difference to what is delivered.
    """

    label: str
    channel: str
    what: str
    run: str

    @property
    def asked_by(self) -> str:
        """The person who had it posted; empty for a digest that comes by itself."""
        found = re.fullmatch(r"(?:adhoc|again)-(\w+)-.+", self.label, re.ASCII)
        return found[1] if found else ""

    @property
    def once(self) -> bool:
        """Whether it is not wanted where the channel has the same already."""
        return self.label.startswith("adhoc-")


class Outcome(NamedTuple):
    """How far a step came. `pause` asks for another call after so many seconds; `failure` says why there is no use in one.

    `lines` are the keys of messages that are kept and remain to be sent.
    """

    pause: float | None = None
    failure: str = ""
    closed: bool = False
    deliveries: tuple[Delivery, ...] = ()
    lines: tuple[str, ...] = ()
