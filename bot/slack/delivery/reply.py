"""Replies to requests: private ones to commands and buttons, others in the thread of the request.

A private reply uses the request's response_url, valid for five uses within thirty minutes, and then ephemeral messages.
Neither can be looked up, so an interrupted reply may be shown twice; replies in threads go through the outbox.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from analysis.models import Language, Statement
from bot.slack.delivery.drafts import drafts, show_only_to
from bot.slack.delivery.sessions import AgentSessions, OngoingAnswer, Withdrawn
from bot.slack.messages.answers import feedback_buttons, streamed
from bot.slack.messages.blocks import Message, fallback
from bot.slack.messages.notices import line
from bot.slack.outbox.outbox import Outbox, markdown
from bot.slack.parsing.requests import AnyRequest, HomeRequest, MessageRequest, QuestionForm
from bot.slack.web import Web
from bot.slack.web_errors import Refused
from bot.store import Draft, Interruption

# One that shows code of a private repository is told from the others, since a model may not read it.
AnswerKind = Literal["answer", "private-answer"]
_USES = 4  # planned uses of a response_url; Slack allows five


class RequestReply:
    """The reply to one request, where only its person sees it, or in a thread."""

    def __init__(self, web: Web, outbox: Outbox, sessions: AgentSessions, request: AnyRequest) -> None:
        self._web = web
        self._outbox = outbox
        self._sessions = sessions
        self._request = request
        self._left = _USES if request.response_url else 0
        self._waiting = False  # whether the last message shown is only progress
        self._ongoing: OngoingAnswer | None = None

    @property
    def private(self) -> bool:
        """Whether only the requesting person sees the reply."""
        match self._request:
            case MessageRequest() | HomeRequest():
                return False
            case QuestionForm() as form:
                return form.private or not self.root
        return True

    @property
    def root(self) -> str:
        """The ts of the thread for a public reply; empty if it is posted outside threads."""
        request = self._request
        if isinstance(request, MessageRequest) and request.direct and not request.thread_ts:
            return ""
        return request.thread_ts or request.ts

    @property
    def _thread(self) -> str:
        """The ts of the thread for an answer, which always has one."""
        return self.root or self._request.ts

    def show(self, messages: Sequence[Message], *, about: str = "", stage: str = "", replace: bool = False) -> None:
        """Show messages. `stage` distinguishes several replies to one request; `replace` replaces the button's message."""
        if self.private:
            for place, message in enumerate(messages):
                self.show_privately(message, replace=place == 0 and (replace or self._waiting))
            self._waiting = False
            return
        prefix = f"reply:{self._request.run}:{stage}:{self._request.channel}:"
        found = drafts(prefix, self._request.channel, messages, about, self.root or None)
        self._outbox.freeze(found)
        for each in found:
            self._outbox.send(each.key)

    @contextmanager
    def answering(self) -> Iterator[OngoingAnswer]:
        """Show in the thread that an answer is being written, and let people stop it, for the duration of the block."""
        if self._ongoing or self.private:
            yield self._ongoing or OngoingAnswer()
            return
        request = self._request
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
        key = f"{kind}:{self._request.run}:{self._request.channel}:000"
        self._outbox.freeze([Draft(key, self._request.channel, {}, thread_ts=self._thread, about=about)])
        with self.answering() as ongoing:
            footer = (feedback_buttons(language),) if ongoing.takes_feedback else ()
            try:
                self._outbox.stream(key, self._request.user, ongoing.until_stopped(pieces, language), footer)
            except Withdrawn:
                self._outbox.drop(key, "its question was deleted")

    def show_progress(self, text: str) -> None:
        """Show a progress message to the requesting person only, replacing the previous one."""
        try:
            if self.private and self._left > 1:
                self.show([line(text)])
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
                self.show([line(text)])
            else:
                self._show_ephemeral(line(text))
        except Refused:
            return

    def show_privately(self, message: Message, *, replace: bool = False) -> None:
        """Show a message to the requesting person only, by response_url or else as an ephemeral message."""
        request = self._request
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
        request = self._request
        self._web.post_ephemeral(request.channel, request.user, message.content, self.root or None)
