"""One request, the view of the channel where it was made, and the reply to it.

A private reply to a command or a button uses the request's response_url, valid for five uses within thirty minutes, and then
ephemeral messages. Neither can be looked up, so an interrupted reply may be shown twice; others stand in the thread of the
request and go through the outbox.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any, Literal

from analysis.errors import Misuse
from analysis.locale import Catalogue, Phrase, catalogue
from analysis.models import Language, Repository, Statement
from bot.models.clock import Clock
from bot.models.progress import Progress
from bot.services.reader import ChannelView
from bot.slack.delivery.drafts import drafts, show_only_to
from bot.slack.delivery.sessions import AgentSessions, OngoingAnswer, Withdrawn
from bot.slack.messages.answers import feedback_buttons, streamed
from bot.slack.messages.blocks import Message, fallback
from bot.slack.messages.notices import line
from bot.slack.outbox import Outbox, markdown
from bot.slack.parsing.command_types import Command
from bot.slack.parsing.commands import parse
from bot.slack.parsing.requests import AnyRequest, HomeRequest, JoinRequest, MessageRequest, QuestionForm
from bot.slack.web import Web
from bot.slack.web_errors import Refused
from bot.store import Draft, Interruption

# One that shows code of a private repository is told from the others, since a model may not read it.
AnswerKind = Literal["answer", "private-answer"]
_USES = 4  # planned uses of a response_url; Slack allows five
_FEW = 3  # commits; so few are read too quickly for a progress message


class Conversation:
    """A request in its channel, and its reply, where only its person sees it, or in a thread.

    `now` is when its handling began, in UTC.
    """

    def __init__(
        self, web: Web, outbox: Outbox, sessions: AgentSessions, clock: Clock, request: AnyRequest, view: ChannelView
    ) -> None:
        self._web = web
        self._outbox = outbox
        self._sessions = sessions
        self._clock = clock
        self.request = request
        self.view = view
        self.now: datetime = clock()
        self._left = _USES if request.response_url else 0
        self._waiting = False  # whether the last message shown is only progress
        self._ongoing: OngoingAnswer | None = None

    # The request

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

    @property
    def private(self) -> bool:
        """Whether only the requesting person sees the reply."""
        match self.request:
            case MessageRequest() | HomeRequest() | JoinRequest():
                return False
            case QuestionForm() as form:
                return form.private or not self.root
        return True

    @property
    def root(self) -> str:
        """The ts of the thread for a public reply; empty if it is posted outside threads."""
        request = self.request
        if isinstance(request, MessageRequest) and request.direct and not request.thread_ts:
            return ""
        return request.thread_ts or request.ts

    @property
    def _thread(self) -> str:
        """The ts of the thread for an answer, which always has one."""
        return self.root or self.request.ts

    def understand(self, text: str) -> Command:
        """Parse a text, free of Slack's markup, into a command."""
        return parse(text, self.view.reader.known, self.today, self.view.reader.usual)

    # The reply

    def tell(self, mrkdwn: str, *, stage: str = "", replace: bool = False) -> None:
        """Show a line of mrkdwn; text from elsewhere in it must be `escaped`."""
        self.show([line(mrkdwn)], stage=stage, replace=replace)

    def show(
        self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False
    ) -> list[Draft]:
        """Show messages, and return them as drafts if they are public.

        `stage` distinguishes several replies to one request; `replace` replaces the button's message.
        """
        if self.private:
            for place, message in enumerate(messages):
                self.show_privately(message, replace=place == 0 and (replace or self._waiting))
            self._waiting = False
            return []
        prefix = f"reply:{self.request.run}:{stage}:{self.request.channel}:"
        found = drafts(prefix, self.request.channel, messages, about, self.root or None)
        self._outbox.freeze(found)
        for each in found:
            self._outbox.send(each.key)
        return found

    def attach(self, files: Sequence[Draft]) -> None:
        """Send files to the thread of a public reply. Raise `Refused` if Slack rejects one, after the others were sent."""
        self._outbox.freeze(files)
        refused: Refused | None = None
        for each in files:
            try:
                self._outbox.send(each.key)
            except Refused as exc:
                refused = exc
        if refused:
            raise refused

    def send_directly(self, key: str, file: dict[str, Any], about: Sequence[Repository], hidden: str) -> None:
        """Send a report about some repositories to the person's direct messages; if one of them is private show `hidden` instead.

        `file` is in the form in which the outbox stores it, under a key that begins with `key`.
        """
        say, channel = self.say, self._web.directory.direct(self.request.user)
        if any(map(self.view.reader.within(channel).hides, about)):
            self.tell(hidden)
            return
        draft = Draft(f"{key}:{channel}:000", channel, file)
        self._outbox.freeze([draft])
        self._outbox.send(draft.key)
        self.tell(say("📄 Full report sent to your DMs"))

    @contextmanager
    def answering(self) -> Iterator[OngoingAnswer]:
        """Show in the thread that an answer is being written, and let people stop it, for the duration of the block."""
        if self._ongoing or self.private:
            yield self._ongoing or OngoingAnswer()
            return
        request = self.request
        with self._sessions.answering(request.channel, self._thread, request.key) as ongoing:
            self._ongoing = ongoing
            try:
                yield ongoing
            except Refused:
                # A question that is deleted takes its thread with it.
                if ongoing.interruption() is not Interruption.WITHDRAWN:
                    raise
            finally:
                self._ongoing = None

    def stream(
        self,
        statements: Iterable[Statement],
        about: str,
        question: str = "",
        *,
        language: Language,
        kind: AnswerKind = "answer",
    ) -> None:
        """Stream an answer; a private one is shown when complete. `kind` begins the key that its message carries."""
        pieces = streamed(statements, question)
        if self.private:
            text = "".join(pieces)
            self.show([Message(fallback(text), tuple(markdown(text)))])
            return
        key = f"{kind}:{self.request.run}:{self.request.channel}:000"
        self._outbox.freeze([Draft(key, self.request.channel, {}, thread_ts=self._thread, about=about)])
        with self.answering() as ongoing:
            footer = (feedback_buttons(language),) if ongoing.takes_feedback else ()
            try:
                self._outbox.stream(key, self.request.user, ongoing.until_stopped(pieces, language), footer)
            except Withdrawn:
                self._outbox.drop(key, "its question was deleted")

    def progress(self, subject: str, language: Language | None = None) -> "ReadingProgress":
        """Return the progress of reading a subject, given as mrkdwn; by default in the channel's language."""
        return ReadingProgress(self, subject, catalogue(language or self.view.language), self._clock)

    def show_progress(self, text: str) -> None:
        """Show a progress message to the requesting person only, replacing the previous one."""
        try:
            if self.private and self._left > 1:
                self.tell(text)
                self._waiting = True
            elif not self.private and not self._waiting:
                self._waiting = True
                self._show_ephemeral(line(text))
        except Refused:
            self._left = 0

    def show_notice(self, text: str) -> None:
        """Show a line to the requesting person only, unless they left the channel."""
        try:
            if self.private:
                self.tell(text)
            else:
                self._show_ephemeral(line(text))
        except Refused:
            return

    def show_privately(self, message: Message, *, replace: bool = False) -> None:
        """Show a message to the requesting person only, by response_url or else as an ephemeral message."""
        request = self.request
        if self._left > 0:
            self._left -= 1
            try:
                self._web.respond(request.response_url, message.content, replace=replace)
            except Refused:
                self._left = 0  # used up or expired
            else:
                return
        show_only_to(self._web, request.channel, request.user, message)

    def _show_ephemeral(self, message: Message) -> None:
        request = self.request
        self._web.post_ephemeral(request.channel, request.user, message.content, self.root or None)


class ReadingProgress(Progress):
    """A progress reporter that shows the person how far it is at the start, after ten seconds and after a minute."""

    def __init__(self, conversation: Conversation, subject: str, say: Catalogue, clock: Clock) -> None:
        self._conversation = conversation
        self._subject = subject
        self._say = say
        self._clock = clock
        self._steps = self._done = 0
        self._after = [timedelta(seconds=10), timedelta(minutes=1)]
        self._began: datetime = clock()

    def stage(self, title: str) -> None:  # noqa: ARG002 (people care for the commits alone)
        """Begin to count anew."""
        self._steps = self._done = 0

    def expect(self, steps: int) -> None:
        self._steps = steps
        if steps > _FEW:
            self._report()

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._after and self._clock() - self._began >= self._after[0] and self._done < self._steps:
            del self._after[0]
            self._report()

    def _report(self) -> None:
        say, subject = self._say, self._subject
        text = say("⏳ Reading {subject}: {done} of {steps}", subject=subject, done=self._done, steps=self._steps)
        self._conversation.show_progress(text)
