"""One request, the view of the channel where it was made, its reply, and the progress that is shown until then."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Catalogue, Phrase, catalogue
from analysis.models import Language, Repository
from bot.models.clock import Clock
from bot.models.progress import Progress
from bot.services.reader import ChannelView
from bot.slack.delivery.reply import RequestReply
from bot.slack.messages.blocks import Message
from bot.slack.messages.notices import line
from bot.slack.parsing.command_types import Command
from bot.slack.parsing.commands import parse
from bot.slack.parsing.requests import AnyRequest

_FEW = 3  # commits; so few are read too quickly for a progress message


class ReadingProgress(Progress):
    """A progress reporter that posts at the start, after ten seconds and after a minute."""

    def __init__(self, reply: RequestReply, subject: str, say: Catalogue, now: Clock) -> None:
        self._reply = reply
        self._subject = subject
        self._say = say
        self._now = now
        self._steps = self._done = 0
        self._after = [timedelta(seconds=10), timedelta(minutes=1)]
        self._began: datetime = now()

    def stage(self, title: str) -> None:  # noqa: ARG002 (people care for the commits alone)
        """Begin to count anew."""
        self._steps = self._done = 0

    def expect(self, steps: int) -> None:
        self._steps = steps
        if steps > _FEW:
            self._report()

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._after and self._now() - self._began >= self._after[0] and self._done < self._steps:
            del self._after[0]
            self._report()

    def _report(self) -> None:
        say, subject = self._say, self._subject
        text = say("⏳ Reading {subject}: {done} of {steps}", subject=subject, done=self._done, steps=self._steps)
        self._reply.show_progress(text)


class Conversation(NamedTuple):
    """A request in its channel, and the reply to it."""

    request: AnyRequest
    view: ChannelView
    reply: RequestReply
    now: datetime  # when its handling began, in UTC
    clock: Clock

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

    @property
    def say(self) -> Catalogue:
        """The sentences of the channel's language."""
        return catalogue(self.view.language)

    def tell(self, mrkdwn: str, *, stage: str = "", replace: bool = False) -> None:
        """Show a line of mrkdwn in the reply; text from elsewhere in it must be `escaped`."""
        self.show([line(mrkdwn)], stage=stage, replace=replace)

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Show messages in the reply."""
        self.reply.show(messages, about=about, stage=stage, replace=replace)

    def progress(self, subject: str, language: Language | None = None) -> ReadingProgress:
        """Return the progress of reading a subject, given as mrkdwn; by default in the channel's language."""
        return ReadingProgress(self.reply, subject, catalogue(language or self.view.language), self.clock)

    def understand(self, text: str) -> Command:
        """Parse a text, free of Slack's markup, into a command."""
        return parse(text, self.view.reader.known, self.today, self.view.reader.usual)
