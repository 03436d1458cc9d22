"""Handling of a stored request, whatever its kind: rate limits, the handler of its command, button or form, and errors."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import structlog

from analysis.errors import DigestError, RateLimited
from analysis.locale import catalogue, mark
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Outcome, seconds_until
from bot.services.limits import CallerLimits
from bot.services.reader import Channels
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.home import Home
from bot.slack.commands.threads import Threads
from bot.slack.delivery.reply import RequestReply
from bot.slack.delivery.sessions import AgentSessions
from bot.slack.messages.blocks import escaped
from bot.slack.messages.notices import line
from bot.slack.parsing.command_types import Ask, Command, ExplainCommits, Suspects
from bot.slack.parsing.commands import holds_failure
from bot.slack.parsing.input import plain_lines
from bot.slack.parsing.requests import (
    AnyRequest,
    ButtonRequest,
    CommandRequest,
    MessageRequest,
    QuestionForm,
    ShortcutRequest,
    SubscriptionForm,
    parse_request,
)
from bot.slack.web_errors import Refused, SlackFailure, Unanswered
from bot.store import Mailbox

Handler = Callable[[Conversation, Any], Outcome]  # takes a command, or a request that is none, as its second argument
_ROUNDS = 6  # attempts before a request is given up
_FAILED = mark("⚠️ {reason}")

log = structlog.get_logger(__name__)


class RequestHandlers:
    """Handles requests. `by_type` has the handler of each type of command and form, `buttons` that of each action id.

    Action ids of the form `which_N` choose one of several commits; `choose` handles them.
    """

    def __init__(
        self,
        by_type: Mapping[type, Handler],
        buttons: Mapping[str, Handler],
        choose: Handler,
        threads: Threads,
    ) -> None:
        self._by_type = by_type
        self._buttons = buttons
        self._choose = choose
        self._threads = threads

    def handle(self, conversation: Conversation) -> Outcome:
        """Handle a request; the caller reports errors to the person. A click on a button that no longer exists has no effect."""
        request = conversation.request
        if isinstance(request, ButtonRequest):
            chooses = request.action.startswith("which_")
            handler = self._choose if chooses else self._buttons.get(request.action)
            return handler(conversation, request) if handler else Outcome()
        command = self._command(conversation)
        return self._by_type[type(command)](conversation, command) if command else Outcome()

    def _command(self, conversation: Conversation) -> Command | AnyRequest | None:
        """Return what a request asks for; None if the bot stays silent. What somebody pasted as a question is for no model."""
        request = conversation.request
        if isinstance(request, MessageRequest):
            return self._threads.command(conversation, request)
        if isinstance(request, QuestionForm):
            quoted = not conversation.reply.private
            pasted = holds_failure(request.question)
            return Suspects(request.question) if pasted else Ask(request.question, request.about, quoted=quoted)
        if isinstance(request, CommandRequest):
            return conversation.understand(plain_lines(request.text))
        return ExplainCommits(request.text) if isinstance(request, ShortcutRequest) else request


def show_no_form(conversation: Conversation, _: ButtonRequest) -> Outcome:
    """Tell the person of a button that opens a modal that it could not be opened."""
    say = catalogue(conversation.view.language)
    conversation.show([line(say("⚠️ The form did not open; press the button again"))])
    return Outcome()


class Responder:
    """Answers stored requests."""

    def __init__(
        self,
        handlers: RequestHandlers,
        channels: Channels,
        limits: CallerLimits,
        mailbox: Mailbox,
        reply_to: Callable[[AnyRequest], RequestReply],
        sessions: AgentSessions,
        home: Home,
        now: Clock,
    ) -> None:
        self._handlers = handlers
        self._channels = channels
        self._limits = limits
        self._mailbox = mailbox
        self._reply_to = reply_to
        self._sessions = sessions
        self._home = home
        self._now = now

    def respond(self, key: str, round_: int) -> Outcome:
        """Answer a request; the outcome's pause asks for a retry after an outside failure. A retry repeats no message."""
        row = self._mailbox.request(key)
        if not row:
            self._sessions.abandon(key)
            return Outcome()
        request = parse_request(row)
        view = self._channels.view(request.channel)
        conversation = Conversation(request, view, self._reply_to(request), self._now())
        if round_ == 0 and not self._within_limit(request):
            if self._limits.allows_notice(request.user):
                conversation.reply.show_notice(
                    catalogue(view.language)("Limit: 20 requests a minute. Try again shortly")
                )
            return Outcome()
        with structlog.contextvars.bound_contextvars(run=request.run):
            action = {"action": request.action} if isinstance(request, ButtonRequest) else {}
            log.info("asked", kind=request.kind, channel=request.channel, **action)
            outcome = self._handle(conversation, last=round_ >= _ROUNDS)
            if isinstance(request, SubscriptionForm) and request.at_home:
                with suppress(SlackFailure):
                    self._home.publish_at_least(self._channels.everywhere, request.user)
            return outcome

    def _within_limit(self, request: AnyRequest) -> bool:
        """Return whether a request is within its person's limit; a message that is not addressed to the bot always is."""
        if isinstance(request, MessageRequest) and not request.mentioned and not request.direct:
            return True
        return self._limits.allows_request(request.user, request.run)

    def _handle(self, conversation: Conversation, *, last: bool) -> Outcome:
        """Handle a request and report any error to the person in a line; temporary failures are retried unless this is the `last` attempt."""
        view = conversation.view
        report = partial(self._report_error, conversation)
        try:
            outcome = self._handlers.handle(conversation)
        except Unanswered as exc:
            log.warning("slack failed", why=str(exc))
            outcome = report(_FAILED, reason=exc.translated(view.language)) if last else Outcome(SOON)
        except RateLimited as exc:
            pause = None if last else seconds_until(exc.resets_at, self._now())
            if pause and exc.resets_at:
                outcome = report(
                    mark("⏳ GitHub's rate limit is reached; continuing at {time}"),
                    pause,
                    time=f"{exc.resets_at.astimezone(view.tz):%H:%M}",
                )
            else:
                outcome = report(_FAILED, pause, reason=exc.translated(view.language))
        except DigestError as exc:
            if isinstance(exc, SlackFailure):
                log.warning("slack refused", why=str(exc))
            outcome = report(_FAILED, reason=exc.translated(view.language))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            outcome = report(
                mark("⚠️ Something went wrong. Give your operator this number: `{run}`"),
                run=conversation.request.run,
            )
        return outcome._replace(pause=None) if last else outcome

    def _report_error(
        self, conversation: Conversation, message: str, pause: float | None = None, **values: str
    ) -> Outcome:
        """Report an error to the person, worded by `message`: in reply to the request, else privately; in the App Home if it came from there."""
        request, view, reply = conversation.request, conversation.view, conversation.reply
        say = catalogue(view.language)
        shown = line(say(message, **{name: escaped(value) for name, value in values.items()}))
        try:
            if not request.channel:
                self._home.publish_at_least(view, request.user, say(message, **values))
                return Outcome(pause)
            try:
                reply.show([shown], stage="trouble")
            except Refused:
                reply.show_privately(shown)
        except SlackFailure as exc:
            log.warning("not told", why=str(exc))
        return Outcome(pause)
