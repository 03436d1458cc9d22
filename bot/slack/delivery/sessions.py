"""Agent sessions: what Slack shows in a thread while an answer is being written, and its stop button.

Source: docs.slack.dev/ai/agent-sessions. A session is `processing` from the beginning of the first answer in its thread to
the end of the last one; Slack does not change it by itself. Which answers those are the store tells, since several processes
may write in one thread, and the button's request reaches any of them. A workspace may lack all of this, for example where the
app was installed with an earlier manifest: each process notices that at its first call, and does not ask again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal
from uuid import uuid4

import structlog

from analysis.errors import StoreUnusable
from analysis.locale import Language, catalogue, mark
from bot.models.clock import Clock
from bot.slack.delivery.ongoing import OngoingAnswer
from bot.slack.web import Web
from bot.slack.web_errors import Refused, SlackFailure
from bot.store import Interruption, OngoingAnswers

# Slack's codes for an app, a workspace or a token without the agent surface.
_LACKING = frozenset(
    {
        *("unknown_method", "method_deprecated", "not_allowed", "not_allowed_token_type", "access_denied"),
        *("feature_not_enabled", "feature_disabled", "missing_scope", "no_permission", "team_access_not_granted"),
    }
)
# Title and message of each suggested prompt. The manifest has them, too, which Slack shows before it hears of these.
PROMPTS = (
    (mark("Yesterday's digest"), mark("yesterday")),
    (mark("What breaks my code"), "upgrade"),
    (mark("Explain a commit"), mark("Which of yesterday's commits matters most, and why?")),
    (mark("What removed a flag"), mark("Which commits removed a flag in the last 7 days?")),
)
log = structlog.get_logger(__name__)


class AgentSessions:
    """The sessions of the threads in which answers are being written; thread-safe."""

    def __init__(self, web: Web, answers: OngoingAnswers, now: Clock) -> None:
        self._web = web
        self._answers = answers
        self._now = now
        self._available = True

    @contextmanager
    def answering(self, channel: str, thread_ts: str, request: str) -> Iterator[OngoingAnswer]:
        """Show in a thread that the request with this key is being answered, for the duration of the block.

        If the process is interrupted the session is left to whoever goes on with the answer.
        """
        attempt = uuid4().hex
        self._answers.begin(request, attempt, channel, thread_ts, self._now())
        self._show_status(channel, thread_ts)
        try:
            yield OngoingAnswer(lambda: self._interruption(request, attempt), takes_feedback=self._available)
        except Exception:
            self._end(request, attempt, channel, thread_ts, finished=False)
            raise
        self._end(request, attempt, channel, thread_ts, finished=True)

    def stop(self, channel: str, thread_ts: str) -> None:
        """Stop the answers in a thread, whichever process writes them; if none is left, only update Slack."""
        stopped = self._answers.stop(channel, thread_ts, self._now())
        log.info("stopped", channel=channel, answers=stopped)
        if not stopped:
            self._show_status(channel, thread_ts)

    def abandon(self, request: str) -> None:
        """End the session of a request that is not answered any more: its message was deleted, and its process was killed."""
        if thread := self._answers.remove(request):
            self._show_status(*thread)

    def suggest_prompts(self, channel: str, language: Language) -> None:
        """Suggest to a person in direct messages what to ask."""
        say = catalogue(language)
        prompts = [{"title": say(title), "message": say(message)} for title, message in PROMPTS]
        self._call(lambda: self._web.suggest_prompts(channel, prompts))

    def _interruption(self, request: str, attempt: str) -> Interruption:
        try:
            return self._answers.interruption(request, attempt)
        except StoreUnusable as exc:
            log.warning("not known whether it was stopped", why=str(exc))
            return Interruption.NONE

    def _end(self, request: str, attempt: str, channel: str, thread_ts: str, *, finished: bool) -> None:
        if self._answers.end(request, attempt, self._now(), finished=finished):
            self._show_status(channel, thread_ts)

    def _show_status(self, channel: str, thread_ts: str) -> None:
        """Set a thread's status, and set it anew if an answer began or ended meanwhile, since Slack may mix up the order."""
        shown: bool | None = None
        while self._available and (answering := self._answers.are_any(channel, thread_ts, self._now())) != shown:
            status: Literal["processing", "active"] = "processing" if answering else "active"
            if not self._call(partial(self._web.set_session_status, channel, thread_ts, status)):
                return
            shown = answering

    def _call(self, call: Callable[[], None]) -> bool:
        """Call Slack unless the workspace lacks the surface, and return whether that worked; no failure keeps anybody from an answer."""
        if not self._available:
            return False
        try:
            call()
        except SlackFailure as exc:
            if isinstance(exc, Refused) and exc.code in _LACKING:
                self._available = False
                log.info("no agent surface in this workspace", why=str(exc))
            else:
                log.warning("not shown", why=str(exc))
            return False
        return True
