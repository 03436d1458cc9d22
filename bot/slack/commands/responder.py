"""Handling of a stored request, whatever its kind: rate limits, the handler of its command, button or form, and errors."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from analysis.errors import DigestError, RateLimited
from analysis.locale import mark
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Outcome, seconds_until
from bot.services.limits import CallerLimits
from bot.services.reader import Channels, ChannelView
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.home import Home
from bot.slack.commands.threads import Threads
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.messages.blocks import escaped
from bot.slack.messages.notices import line
from bot.slack.parsing.command_types import Ask, Command, Suspects
from bot.slack.parsing.commands import holds_failure
from bot.slack.parsing.input import plain_lines
from bot.slack.parsing.requests import (
    AnyRequest,
    ButtonRequest,
    CommandRequest,
    JoinRequest,
    MessageRequest,
    QuestionForm,
    SubscriptionForm,
    parse_request,
)
from bot.slack.web_errors import Refused, SlackFailure, Unanswered
from bot.store import Mailbox

# Takes a command, or a request that is none, as its second argument. Without an outcome nothing is left to be done.
Handler = Callable[[Conversation, Any], Outcome | None]
_ROUNDS = 6  # attempts before a request is given up
_FAILED = mark("⚠️ {reason}")

log = structlog.get_logger(__name__)


def show_no_form(conversation: Conversation, _: ButtonRequest) -> None:
    """Tell the person of a button that opens a modal that it could not be opened."""
    say = conversation.say
    conversation.tell(say("⚠️ The form did not open; press the button again"))


@dataclass(eq=False)
class Responder:
    """Answers stored requests.

    `handlers` has the handler of each type of command and form, and of each button's action id.
    """

    _handlers: Mapping[type | str, Handler]
    _channels: Channels
    _threads: Threads
    _limits: CallerLimits
    _mailbox: Mailbox
    _converse: Callable[[AnyRequest, ChannelView], Conversation]
    _sessions: AgentSessions
    _home: Home
    _now: Clock

    def respond(self, key: str, round_: int) -> Outcome:
        """Answer a request; the outcome's pause asks for a retry after an outside failure. A retry repeats no message."""
        row = self._mailbox.request(key)
        if not row:
            self._sessions.abandon(key)
            return Outcome()
        request = parse_request(row)
        conversation = self._converse(request, self._channels.view(request.channel))
        if round_ == 0 and not self._within_limit(request):
            if self._limits.allows_notice(request.user):
                say = conversation.say
                conversation.show_notice(say("Limit: 20 requests a minute. Try again shortly"))
            return Outcome()
        with structlog.contextvars.bound_contextvars(run=request.run):
            action = {"action": request.action} if isinstance(request, ButtonRequest) else {}
            log.info("asked", kind=request.kind, channel=request.channel, **action)
            outcome = self._handle(conversation, last=round_ >= _ROUNDS)
            if isinstance(request, SubscriptionForm) and request.at_home:
                with suppress(DigestError):
                    self._home.publish(self._channels.everywhere, request.user)
            return outcome

    def _within_limit(self, request: AnyRequest) -> bool:
        """Return whether a request is within its person's limit; what is not addressed to the bot always is."""
        if isinstance(request, MessageRequest) and not request.mentioned and not request.direct:
            return True
        if isinstance(request, JoinRequest):
            return True
        return self._limits.allows_request(request.user, request.run)

    def _handle(self, conversation: Conversation, *, last: bool) -> Outcome:
        """Handle a request and report any error to the person in a line; temporary failures are retried unless this is the `last` attempt."""
        language = conversation.view.language
        report = partial(self._report_error, conversation)
        try:
            outcome = self._dispatch(conversation)
        except Unanswered as exc:
            log.warning("slack failed", why=str(exc))
            outcome = report(_FAILED, reason=exc.translated(language)) if last else Outcome(SOON)
        except RateLimited as exc:
            pause = None if last else seconds_until(exc.resets_at, self._now())
            if pause and exc.resets_at:
                time = f"{exc.resets_at.astimezone(conversation.view.tz):%H:%M}"
                outcome = report(mark("⏳ GitHub's rate limit is reached; continuing at {time}"), pause, time=time)
            else:
                outcome = report(_FAILED, pause, reason=exc.translated(language))
        except DigestError as exc:
            if isinstance(exc, SlackFailure):
                log.warning("slack refused", why=str(exc))
            outcome = report(_FAILED, reason=exc.translated(language))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            told = mark("⚠️ Something went wrong. Give your operator this number: `{run}`")
            outcome = report(told, run=conversation.request.run)
        return outcome._replace(pause=None) if last else outcome

    def _dispatch(self, conversation: Conversation) -> Outcome:
        """Have the request's handler answer it. A click on a button that no longer exists has no effect."""
        request = conversation.request
        if isinstance(request, ButtonRequest):
            handler = self._handlers.get(request.action)
            return (handler(conversation, request) if handler else None) or Outcome()
        command = self._command(conversation)
        return (self._handlers[type(command)](conversation, command) if command else None) or Outcome()

    def _command(self, conversation: Conversation) -> Command | AnyRequest | None:
        """Return what a request asks for; None if the bot stays silent. What somebody pasted as a question is for no model."""
        match conversation.request:
            case MessageRequest() as message:
                return self._threads.command(conversation, message)
            case QuestionForm(question=question, about=about):
                quoted = not conversation.private
                return Suspects(question) if holds_failure(question) else Ask(question, about, quoted=quoted)
            case CommandRequest(text=text):
                return conversation.understand(plain_lines(text))
            case other:
                return other

    def _report_error(
        self, conversation: Conversation, message: str, pause: float | None = None, **values: str
    ) -> Outcome:
        """Report an error to the person, worded by `message`: in reply to the request, else privately; in the App Home if it came from there.

        Who invited the bot asked for nothing, and is told nothing.
        """
        request, say = conversation.request, conversation.say
        if isinstance(request, JoinRequest):
            return Outcome(pause)
        shown = line(say(message, **{name: escaped(value) for name, value in values.items()}))
        try:
            if not request.channel:
                self._home.publish(conversation.view, request.user, say(message, **values))
                return Outcome(pause)
            try:
                conversation.show([shown], stage="trouble")
            except Refused:
                conversation.show_privately(shown)
        except SlackFailure as exc:
            log.warning("not told", why=str(exc))
        return Outcome(pause)
