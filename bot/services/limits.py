"""Limits: of a model, how many calls at once and what they may cost in a day; of a person or a program, how often it may ask."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime, timedelta
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.locale import Phrase
from analysis.models import Language, Repository
from bot.models.clock import Clock
from bot.store import Mailbox, ModelFailures, ProcessLocks, Spending
from bot.store.outcomes import budget_used_up

if TYPE_CHECKING:
    from analysis.llm import ChatModel, UsageCounter

_RETRY_AFTER = timedelta(minutes=10)  # after which a failed call is retried
Key = tuple[int | str, Language]  # commit id, or a day, and language
Purpose = Literal["digest", "answer"]
_POLL_INTERVAL = 0.5  # seconds between two looks at what other calls reserved
_MOST_POLLS = 600  # after which a call is refused, whatever others still reserve
# Each purpose's maximum share of a bot's daily budget, so that neither can starve the other.
_SHARED: dict[str, float] = {"digest": 0.8, "answer": 0.5}
_REQUEST_INTERVAL = timedelta(seconds=3)  # sustained rate: one request per caller
_REQUEST_BURST = timedelta(minutes=1)  # burst: this much backlog of requests is allowed
_QUESTION_INTERVAL = timedelta(seconds=6)  # sustained rate: one question per caller
_QUESTION_BURST = timedelta(minutes=2)  # burst: this much backlog of questions is allowed
_NOTICE_INTERVAL = timedelta(minutes=1)  # minimum time between two notices of a limit to a caller


class FailedCall(NamedTuple):
    """A failed model call: its reason, the tokens it used, and its time."""

    reason: str | Phrase
    usage: "UsageCounter"
    made_at: datetime


class FailureCache:
    """Recent failed calls, shared between threads: forty channels that get the same day do not retry forty times.

    Also records in the store, if there is one, whether the last call to the `model` succeeded, whichever process made it.
    """

    def __init__(self, now: Clock, model: str, stored: ModelFailures | None) -> None:
        self._now = now
        self._model = model
        self._stored = stored
        self._made: dict[Key, FailedCall] = {}
        self._lock = Lock()

    def record(self, key: Key, reason: str | Phrase, usage: "UsageCounter") -> None:
        """Record a failed call for `key`, with the tokens that it used."""
        now = self._now()
        with self._lock:
            self._made = {other: each for other, each in self._made.items() if now - each.made_at < _RETRY_AFTER}
            self._made[key] = FailedCall(reason, usage, now)
        self.failed(reason)

    def recent(self, key: Key) -> FailedCall | None:
        """Return the recent failed call for `key`, if any."""
        with self._lock:
            found = self._made.get(key)
        return found if found and self._now() - found.made_at < _RETRY_AFTER else None

    def failed(self, why: str | Phrase) -> None:
        """Record that the latest model call failed, whatever its subject."""
        if self._stored:
            self._stored.save(self._model, why, self._now())

    def succeeded(self) -> None:
        """Record that the latest model call succeeded."""
        if self._stored:
            self._stored.remove(self._model)


class MeteredModel:
    """A model, how many calls it takes at once, and what they may cost in a UTC day.

    `for_answers` calls are reserved for answers that people wait for, so analyses never take them all. `now` returns the
    time in UTC; `spending` records the costs, and `failures` whether the latest call failed. All processes that share the
    `locks` share the limits. Of the repositories in `private` (`owner/name` in lower case) it may read nothing.
    """

    def __init__(
        self,
        chat: "ChatModel",
        spending: Spending,
        now: Clock,
        *,
        at_once: int,
        daily_usd: float,
        for_answers: int = 0,
        locks: ProcessLocks | None = None,
        failures: ModelFailures | None = None,
        private: Collection[str] = (),
    ) -> None:
        self.chat = chat
        self.name = chat.name
        self.failures = FailureCache(now, chat.name, failures)
        self.at_once = max(1, at_once - for_answers)
        self._spending = spending
        self._now = now
        self._daily_usd = daily_usd
        self._most = _SHARED if for_answers else dict.fromkeys(_SHARED, 1.0)
        self._any = at_once
        self._locks = locks or ProcessLocks()
        self._private = private

    def may_read(self, repository: Repository) -> bool:
        """Return whether commits of a repository may be put into a prompt."""
        return repository.full_name.lower() not in self._private

    @contextmanager
    def call(self, purpose: Purpose, tokens: tuple[int, int], usage: "UsageCounter") -> Iterator[None]:
        """Hold a call slot, waiting until one is free; reserve the call's maximum cost, and record what it adds to `usage`.

        `tokens` are the most of input and of output. Raise `ModelFailure` if the reservation would exceed the day's budget,
        or the purpose's share of it, also once the calls under way have cost less than they reserved.
        """
        with self._slot(purpose), self._paid(purpose, tokens, usage):
            yield

    @contextmanager
    def _slot(self, purpose: Purpose) -> Iterator[None]:
        with ExitStack() as stack:
            if purpose != "answer":
                stack.enter_context(self._locks.slots("analyses by a model", self.at_once))
            stack.enter_context(self._locks.slots("calls of a model", self._any))
            yield

    @contextmanager
    def _paid(self, purpose: Purpose, tokens: tuple[int, int], usage: "UsageCounter") -> Iterator[None]:
        day, cost = self._now().date(), self.chat.cost
        reserved, before = cost(*tokens) or 0.0, self._cost(usage)
        if not reserved:
            yield
            return
        reservation = self._reserve(day, purpose, reserved)
        try:
            yield
        finally:
            self._spending.settle(reservation, day, purpose, self._cost(usage) - before)

    def _reserve(self, day: date, purpose: Purpose, reserved: float) -> str:
        """Reserve some of the day's budget and return the reservation; wait while calls under way may cost less than theirs."""
        usd = self._daily_usd
        for _ in range(_MOST_POLLS):
            made = self._spending.reserve(day, purpose, reserved, usd, usd * self._most[purpose], self._now())
            if made is not None:
                return made
            sleep(_POLL_INTERVAL)
        raise budget_used_up()

    def _cost(self, usage: "UsageCounter") -> float:
        return self.chat.cost(usage.input or 0, usage.output or 0, usage.cached or 0) or 0.0


class CallerLimits:
    """Rate limits of callers, kept in the store. A request that is tried again after a failure, its `run`, counts once."""

    def __init__(self, mailbox: Mailbox, now: Clock) -> None:
        self._mailbox = mailbox
        self._now = now

    def allows_request(self, caller: str, run: str = "") -> bool:
        """Return whether a request is within its caller's limit."""
        return self._allows(f"requests {caller}", _REQUEST_INTERVAL, _REQUEST_BURST, owner=run)

    def allows_question(self, caller: str, run: str = "") -> bool:
        """Return whether a question is within its caller's limit."""
        return self._allows(f"questions {caller}", _QUESTION_INTERVAL, _QUESTION_BURST, owner=run)

    def allows_notice(self, caller: str) -> bool:
        """Return whether a caller may get the notice of its limit again, so that notices cannot flood a channel."""
        return self._allows(f"slower {caller}", _NOTICE_INTERVAL, timedelta())

    def _allows(self, name: str, interval: timedelta, burst: timedelta, *, owner: str = "") -> bool:
        return self._mailbox.reserve_slot(name, self._now, interval, most=burst, owner=owner) is not None
