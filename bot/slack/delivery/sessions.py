"""An answer that is being written: it may be stopped, or withdrawn with its question, while it streams."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Literal
from uuid import uuid4

import structlog

from analysis.cancellation import Cancelled, cancellable
from analysis.errors import StoreUnusable
from analysis.locale import Language, catalogue, mark
from bot.models.clock import Clock
from bot.slack.web import Web
from bot.slack.web_errors import Refused, SlackFailure
from bot.store import Interruption, OngoingAnswers

_LOOK = 1.0  # seconds between looks into the store whether an answer was stopped
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


class Withdrawn(Exception):
    """The question was deleted before a word of its answer was written."""


class OngoingAnswer:
    """An answer, and what ends it early, which `interruption` looks up; `takes_feedback` is whether Slack has buttons to rate it."""

    def __init__(
        self, interruption: Callable[[], Interruption] = lambda: Interruption.NONE, *, takes_feedback: bool = False
    ) -> None:
        self.interruption = interruption
        self.takes_feedback = takes_feedback

    def until_stopped(self, pieces: Iterator[str], language: Language) -> Iterator[str]:
        """Yield the pieces until the answer is stopped, and then a line that says so; ask for none if it was stopped before.

        Raise `Withdrawn` instead of the line if nothing was written for a question that was deleted.
        """
        made: SimpleQueue[str | Exception | None] = SimpleQueue()
        cancelled = Event()
        interruption, written = self.interruption(), False
        if interruption is Interruption.NONE:
            produce = partial(copy_context().run, _produce, pieces, made, cancelled)
            Thread(target=produce, name="answer", daemon=True).start()
        look = monotonic() + _LOOK
        try:
            while interruption is Interruption.NONE:
                seconds = look - monotonic()
                if seconds <= 0:
                    interruption, look = self.interruption(), monotonic() + _LOOK
                    continue
                try:
                    piece = made.get(timeout=seconds)
                except Empty:
                    continue
                if piece is None:
                    return
                if isinstance(piece, Exception):
                    raise piece
                written = True
                yield piece
        finally:
            cancelled.set()
        if interruption is Interruption.WITHDRAWN and not written:
            raise Withdrawn
        yield ("\n\n" if written else "") + catalogue(language)("⏹ This answer was stopped.")


def _produce(pieces: Iterator[str], made: SimpleQueue[str | Exception | None], cancelled: Event) -> None:
    """Put the pieces, or the error of making them, and then None into a queue; end at the next occasion once `cancelled`.

    It runs in a thread of its own, so that a stopped answer ends without waiting for a slow model.
    """
    try:
        with cancellable(cancelled.is_set):
            for piece in pieces:
                made.put(piece)
    except Cancelled:
        """Nobody reads on."""
    except Exception as exc:  # noqa: BLE001 (raised where the pieces are read)
        made.put(exc)
    made.put(None)


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
        """Show whether an answer is being written in a thread; while one is, Slack has a stop button."""
        answering = self._answers.are_any(channel, thread_ts, self._now())
        status: Literal["processing", "active"] = "processing" if answering else "active"
        self._call(partial(self._web.set_session_status, channel, thread_ts, status))

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
