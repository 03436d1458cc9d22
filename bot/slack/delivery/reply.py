"""Replies: private ones to whoever gave a command or pressed a button, others into the thread of who asked.

A private reply uses the address that came with the request, five times within thirty minutes, and ephemeral messages after
that. Nobody can look those up, so one that was interrupted may be shown again; replies in threads go through the outbox.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from analysis.models import Statement
from bot.slack.bot import Bot
from bot.slack.delivery.steps import content, drafts, line, whisper
from bot.slack.messages.blocks import Message, fallback
from bot.slack.messages.markdown import streamed
from bot.slack.messages.words import slack_words
from bot.slack.outbox.outbox import markdown
from bot.slack.parsing.requests import Request
from bot.slack.web import Refused
from bot.store import Draft

_USES = 4  # of a response_url that are ours to plan with; Slack allows five
_REFUSAL = timedelta(minutes=1)  # between two words to a person that it is too much
_FEW = 3  # commits that are read too quickly for a word about it


class Reply:
    """The reply to one request."""

    def __init__(self, bot: Bot, request: Request, *, public: bool = False) -> None:
        self._public = public
        self._bot = bot
        self._request = request
        self._left = _USES if request.response_url else 0
        self._waiting = False  # whether what was shown last only tells of progress

    @property
    def channel(self) -> str:
        """Where it was asked for."""
        return self._request.channel

    @property
    def private(self) -> bool:
        """Whether only one person sees it."""
        request = self._request
        if self._public:
            return False
        return request.kind in ("command", "button", "terms") or (
            request.kind == "form" and (request.private or not self.root)
        )

    @property
    def root(self) -> str:
        """The ts of the thread in which a public reply stands; empty where it stands by itself."""
        request = self._request
        if request.direct and not request.thread_ts and request.kind == "message":
            return ""
        return request.thread_ts or request.ts

    @property
    def addressing(self) -> str:
        """What the person's words to the bot begin with here: a slash command cannot be used in a thread."""
        if self._request.kind != "message":
            return f"{self._bot.command} "
        return "" if self._request.direct else f"@{self._bot.web.me['user']} "

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Shows messages. `stage` tells several replies to one request apart, `replace` puts them where the button was."""
        if self.private:
            for place, message in enumerate(messages):
                self.whisper(message, replace=place == 0 and (replace or self._waiting))
            self._waiting = False
            return
        prefix = f"reply:{self._request.run}:{stage}:{self._request.channel}:"
        found = drafts(prefix, self._request.channel, messages, about, self.root or None)
        self._bot.outbox.freeze(found)
        for each in found:
            self._bot.outbox.send(each.key)

    def stream(self, statements: Iterable[Statement], about: str, question: str = "") -> None:
        """Shows an answer as it grows; where only one person sees it, when it is whole."""
        pieces = streamed(statements, question)
        if self.private:
            text = "".join(pieces)
            self.show([Message(fallback(text), tuple(markdown(text)))])
            return
        request = self._request
        key = f"answer:{request.run}:{request.channel}:000"
        root = self.root or request.ts
        self._bot.outbox.freeze([Draft(key, request.channel, {}, thread_ts=root, about=about)])
        self._bot.outbox.grow(key, request.user, pieces)

    def progress(self, text: str) -> None:
        """A word while it takes long: in place of the one before, and to nobody but who asked."""
        try:
            if self.private and self._left > 1:
                self.show([line(text)])
                self._waiting = True
            elif not self.private and not self._waiting:
                self._waiting = True
                request = self._request
                self._bot.web.whisper(request.channel, request.user, content(line(text)), self.root or None)
        except Refused:
            self._left = 0

    def slow_down(self, label: str) -> None:
        """Tells the person alone that it is too much, and seldom: whoever floods a channel is not to flood it with us."""
        bot, request = self._bot, self._request
        if bot.mail.turn(f"slower {request.user}", bot.now(), _REFUSAL, most=timedelta()) > timedelta():
            return
        told = line(slack_words(bot.language).labels[label])
        try:
            if self.private:
                self.show([told])
            else:
                bot.web.whisper(request.channel, request.user, content(told), self.root or None)
        except Refused:
            return  # somebody who left

    def watching(self, subject: str) -> "Watching":
        """Somebody who tells how far the reading of a day is."""
        return Watching(self, self._bot, subject)

    def whisper(self, message: Message, *, replace: bool = False) -> None:
        """Shows a message to the person alone, wherever that can be done."""
        request, told = self._request, content(message)
        if self._left > 0:
            self._left -= 1
            try:
                self._bot.web.respond(request.response_url, told, replace=replace)
            except Refused:
                self._left = 0  # used up, or too late
            else:
                return
        whisper(self._bot.web, request.channel, request.user, message)


class Watching:
    """Tells of progress seldom: at the beginning, and after ten seconds and a minute."""

    def __init__(self, reply: Reply, bot: Bot, subject: str) -> None:
        self._reply = reply
        self._bot = bot
        self._subject = subject
        self._steps = self._done = 0
        self._after = [timedelta(seconds=10), timedelta(minutes=1)]
        self._began: datetime = bot.now()

    def expect(self, steps: int) -> None:
        self._steps = steps
        if steps > _FEW:
            self._tell()

    def advance(self) -> None:
        self._done += 1
        if self._after and self._bot.now() - self._began >= self._after[0] and self._done < self._steps:
            del self._after[0]
            self._tell()

    def _tell(self) -> None:
        say = slack_words(self._bot.language)
        self._reply.progress(say.label("reading", subject=self._subject, done=self._done, steps=self._steps))
