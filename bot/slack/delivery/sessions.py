"""Agent sessions: what Slack shows in a thread while an answer is being written, and its stop button.

Source: docs.slack.dev/ai/agent-sessions. A session is `processing` from the beginning of the first answer in its thread to
the end of the last one; Slack does not change it by itself. A workspace may lack all of this, for example where the app was
installed with an earlier manifest: that is noticed at the first call, and not asked again before the bot starts anew.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Literal

import structlog

from analysis.locale import Language, catalogue, mark
from bot.slack.delivery.ongoing import OngoingAnswer
from bot.slack.web import Web
from bot.slack.web_errors import Refused, SlackFailure

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


class _Session:
    """The answers under way in a thread. `lock` keeps Slack's status in step with them; `users` are those who hold it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0
        self.answers: list[OngoingAnswer] = []


class AgentSessions:
    """The sessions of the threads in which answers are being written; thread-safe."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._available = True
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._lock = Lock()

    @contextmanager
    def answering(self, channel: str, thread_ts: str, question_ts: str) -> Iterator[OngoingAnswer]:
        """Show in a thread that an answer to a message is being written, for the duration of the block."""
        with self._session(channel, thread_ts) as session:
            answer = OngoingAnswer(question_ts)
            with session.lock:
                session.answers.append(answer)  # first, so that it is there when somebody presses the button
                self._set_status(channel, thread_ts, "processing")
            answer.takes_feedback = self._available
            try:
                yield answer
            finally:
                with session.lock:
                    session.answers.remove(answer)
                    if not session.answers:
                        self._set_status(channel, thread_ts, "active")

    def stop(self, channel: str, thread_ts: str) -> None:
        """Stop the answers in a thread; if none is left, only update Slack."""
        with self._session(channel, thread_ts) as session:
            for each in tuple(session.answers):
                each.stop()
            log.info("stopped", channel=channel)
            with session.lock:
                if not session.answers:
                    self._set_status(channel, thread_ts, "active")

    def withdraw(self, channel: str, question_ts: str) -> None:
        """Stop the answer to a message that was deleted, if there is one."""
        with self._lock:
            here = [each for (place, _), each in self._sessions.items() if place == channel]
        for answer in [answer for session in here for answer in tuple(session.answers)]:
            if answer.question_ts == question_ts:
                answer.withdraw()

    def suggest_prompts(self, channel: str, language: Language) -> None:
        """Suggest to a person in direct messages what to ask."""
        say = catalogue(language)
        prompts = [{"title": say(title), "message": say(message)} for title, message in PROMPTS]
        self._call(lambda: self._web.suggest_prompts(channel, prompts))

    @contextmanager
    def _session(self, channel: str, thread_ts: str) -> Iterator[_Session]:
        key = (channel, thread_ts)
        with self._lock:
            session = self._sessions.setdefault(key, _Session())
            session.users += 1
        try:
            yield session
        finally:
            with self._lock:
                session.users -= 1
                if not session.users:
                    del self._sessions[key]

    def _set_status(self, channel: str, thread_ts: str, status: Literal["processing", "active"]) -> None:
        self._call(lambda: self._web.set_session_status(channel, thread_ts, status))

    def _call(self, call: Callable[[], None]) -> None:
        """Call Slack unless the workspace lacks the surface; no failure keeps anybody from an answer."""
        if not self._available:
            return
        try:
            call()
        except SlackFailure as exc:
            if isinstance(exc, Refused) and exc.code in _LACKING:
                self._available = False
                log.info("no agent surface in this workspace", why=str(exc))
            else:
                log.warning("not shown", why=str(exc))
