"""Replies to requests: private ones to commands and buttons, others in the thread of the request.

A private reply uses the request's response_url, valid for five uses within thirty minutes, and then ephemeral messages.
Neither can be looked up, so an interrupted reply may be shown twice; replies in threads go through the outbox.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from analysis.locale import catalogue
from analysis.models import Statement
from bot.slack.bot import Bot
from bot.slack.delivery.steps import content, drafts, line, show_only_to
from bot.slack.messages.blocks import Message, fallback
from bot.slack.messages.markdown import streamed
from bot.slack.outbox.outbox import markdown
from bot.slack.parsing.requests import Request
from bot.slack.web_errors import Refused
from bot.store import Draft

_USES = 4  # planned uses of a response_url; Slack allows five
_REFUSAL = timedelta(minutes=1)  # minimum time between two rate-limit notices to a person
_FEW = 3  # commits; so few are read too quickly for a progress message


class Reply:
    """The reply to one request."""

    def __init__(self, bot: Bot, request: Request, *, public: bool = False) -> None:
        self._public = public
        self._bot = bot
        self._request = request
        self._left = _USES if request.response_url else 0
        self._waiting = False  # whether the last message shown is only progress

    @property
    def channel(self) -> str:
        """The channel of the request."""
        return self._request.channel

    @property
    def private(self) -> bool:
        """Whether only the requesting person sees the reply."""
        request = self._request
        if self._public:
            return False
        return request.kind in ("command", "button", "terms") or (
            request.kind == "form" and (request.private or not self.root)
        )

    @property
    def root(self) -> str:
        """The ts of the thread for a public reply; empty if it is posted outside threads."""
        request = self._request
        if request.direct and not request.thread_ts and request.kind == "message":
            return ""
        return request.thread_ts or request.ts

    @property
    def addressing(self) -> str:
        """The prefix of a command in this context: the slash command, a mention (in threads and channels), or nothing."""
        if self._request.kind != "message":
            return f"{self._bot.command} "
        return "" if self._request.direct else f"@{self._bot.web.me['user']} "

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Show messages. `stage` distinguishes several replies to one request; `replace` replaces the button's message."""
        if self.private:
            for place, message in enumerate(messages):
                self.show_privately(message, replace=place == 0 and (replace or self._waiting))
            self._waiting = False
            return
        prefix = f"reply:{self._request.run}:{stage}:{self._request.channel}:"
        found = drafts(prefix, self._request.channel, messages, about, self.root or None)
        self._bot.outbox.freeze(found)
        for each in found:
            self._bot.outbox.send(each.key)

    def stream(self, statements: Iterable[Statement], about: str, question: str = "") -> None:
        """Stream an answer; a private one is shown when complete."""
        pieces = streamed(statements, question)
        if self.private:
            text = "".join(pieces)
            self.show([Message(fallback(text), tuple(markdown(text)))])
            return
        request = self._request
        key = f"answer:{request.run}:{request.channel}:000"
        root = self.root or request.ts
        self._bot.outbox.freeze([Draft(key, request.channel, {}, thread_ts=root, about=about)])
        self._bot.outbox.stream(key, request.user, pieces)

    def progress(self, text: str) -> None:
        """Show a progress message to the requesting person only, replacing the previous one."""
        try:
            if self.private and self._left > 1:
                self.show([line(text)])
                self._waiting = True
            elif not self.private and not self._waiting:
                self._waiting = True
                request = self._request
                self._bot.web.post_ephemeral(request.channel, request.user, content(line(text)), self.root or None)
        except Refused:
            self._left = 0

    def slow_down(self, message: str) -> None:
        """Show the rate-limit notice `message` to the person only, at most once a minute, so that it cannot flood a channel."""
        bot, request = self._bot, self._request
        if bot.mail.reserve_slot(f"slower {request.user}", bot.now(), _REFUSAL, most=timedelta()) > timedelta():
            return
        notice = line(catalogue(bot.language)(message))
        try:
            if self.private:
                self.show([notice])
            else:
                bot.web.post_ephemeral(request.channel, request.user, content(notice), self.root or None)
        except Refused:
            return  # the person left the channel

    def watching(self, subject: str) -> "Watching":
        """Return a progress reporter for the reading of a day."""
        return Watching(self, self._bot, subject)

    def show_privately(self, message: Message, *, replace: bool = False) -> None:
        """Show a message to the requesting person only, by response_url or else as an ephemeral message."""
        request, told = self._request, content(message)
        if self._left > 0:
            self._left -= 1
            try:
                self._bot.web.respond(request.response_url, told, replace=replace)
            except Refused:
                self._left = 0  # used up or expired
            else:
                return
        show_only_to(self._bot.web, request.channel, request.user, message)


class Watching:
    """A progress reporter that posts at the start, after ten seconds and after a minute."""

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
            self._report()

    def advance(self) -> None:
        self._done += 1
        if self._after and self._bot.now() - self._began >= self._after[0] and self._done < self._steps:
            del self._after[0]
            self._report()

    def _report(self) -> None:
        say = catalogue(self._bot.language)
        self._reply.progress(
            say("⏳ Reading {subject}: {done} of {steps}", subject=self._subject, done=self._done, steps=self._steps)
        )
