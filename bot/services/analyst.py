"""The analyst of a day's commits: a model within its budget, several calls at once, while the day is still being read; else rules."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from threading import BoundedSemaphore
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from analysis.errors import ModelFailure
from analysis.models import Commit, Entry, Failure, Language, Ranked, Reason, Repository, Shortened, Usage
from analysis.phrases import Phrase
from analysis.ranking import packaged_weights, rank
from analysis.writing.by_rules import VERSION as RULES_VERSION
from analysis.writing.by_rules import analyse_by_rules
from analysis.writing.prompts import VERSION as PROMPT
from analysis.writing.reasons import MODEL
from bot.services.failure_cache import FailureCache, ModelQuestion
from bot.store import Kept, Store, StoredCommit

if TYPE_CHECKING:
    from analysis.llm import ChatModel, UsageCounter
    from analysis.writing.by_model import Question

_RULES = "rules"
Purpose = Literal["digest", "answer"]
# Of a bot's daily budget: neither can use up what the other needs.
_SHARED: dict[str, float] = {"digest": 0.8, "answer": 0.5}


class Modelling:
    """The model that is asked, how many calls at once over all who ask, and what a day (UTC) may cost.

    Answers that people wait for keep a share of the calls: analyses never take all of them. `now` gives the time in UTC.
    """

    def __init__(
        self, model: "ChatModel", at_once: int, daily_usd: float, now: Callable[[], datetime], *, for_answers: int = 0
    ) -> None:
        self.model = model
        self.attempts = FailureCache(now)
        self.at_once = max(1, at_once - for_answers)
        self._daily_usd = daily_usd
        self._now = now
        self._most = _SHARED if for_answers else dict.fromkeys(_SHARED, 1.0)
        self._any = BoundedSemaphore(at_once)
        self._analyses = BoundedSemaphore(self.at_once)

    @contextmanager
    def analysing(self) -> Iterator[None]:
        """One of the calls that analyses may take, waited for."""
        with self._analyses, self._any:
            yield

    @contextmanager
    def answering(self) -> Iterator[None]:
        """One of all the calls, waited for."""
        with self._any:
            yield

    @contextmanager
    def paid(self, store: Store, purpose: Purpose, tokens: tuple[int, int], meter: "UsageCounter") -> Iterator[None]:
        """Puts aside what a call of so many tokens in and out may cost, and counts afterwards what `meter` says it did.

        `ModelFailure` when that would go over the day's budget, or over the share of it that the purpose may have.
        """
        day, cost, usd = self._now().date(), self.model.cost, self._daily_usd
        reserved = cost(*tokens) or 0.0
        if reserved and not store.reserve(day, purpose, reserved, usd, usd * self._most[purpose]):
            raise ModelFailure(Phrase("no_budget"), lasting=True)
        try:
            yield
        finally:
            if reserved:
                spent = cost(meter.input or 0, meter.output or 0, meter.cached or 0) or 0.0
                store.settle(day, purpose, reserved, spent)


class Analyst:
    """Analyses commits as they come: `submit` returns at once, leaving the block waits for the last reply."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        language: Language,
        modelling: Modelling | None,
        contents: Callable[[Repository, Commit], str],
        on_answer: Callable[[], None] = lambda: None,
        *,
        ask: bool = True,
    ) -> None:
        self._store = store
        self._repository = repository
        self._weights = store.weights(repository) or packaged_weights(repository)
        self._language = language
        self._modelling = modelling
        self._contents = contents
        self._on_answer = on_answer
        self._asked: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(modelling.at_once) if modelling and ask else None
        self._lasting: ModelFailure | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=error is not None)
            for asked in self._asked if error is None else ():
                asked.result()  # a bug of ours must not pass for a model's failure

    def submit(self, commit_ids: Sequence[int]) -> None:
        """Has the model analyse those of the commits that it has not analysed yet."""
        if not self._pool or not self._modelling:
            return
        for commit_id in self.unasked(commit_ids):
            self._asked.append(self._pool.submit(self._analyse, self._modelling, commit_id))

    def unasked(self, commit_ids: Sequence[int]) -> list[int]:
        """Those of the commits that the model is still to be asked about; what failed a moment ago is left alone."""
        if not self._pool:
            return []
        known = self._by_model(commit_ids).keys() | self._in_vain(commit_ids).keys()
        return [commit_id for commit_id in commit_ids if commit_id not in known]

    def entries(self, stored: Sequence[StoredCommit]) -> tuple[Entry, ...]:
        """The commits with their analyses: the model's where there is one, the rules' elsewhere."""
        ids = [each.id for each in stored]
        links = self._store.links(stored)
        by_model = self._by_model(ids)
        by_rules = self._store.analyses(ids, self._language, _RULES, RULES_VERSION)
        found = []
        for each in stored:
            ranked = rank(each.commit, each.facts, self._weights)
            kept = by_model.get(each.id)
            if kept:
                ranked = _with_move(ranked, kept)
            elif each.commit.read:
                kept = by_rules.get(each.id)
                if kept is None or kept.importance is not ranked.importance:
                    analysis = analyse_by_rules(each.commit, each.facts, ranked, self._language)
                    kept = Kept(analysis=analysis, importance=ranked.importance)
                    self._store.save_analysis(each.id, self._language, _RULES, RULES_VERSION, kept)
            analysis_kept = kept.analysis if kept else None
            found.append(
                Entry(commit=each.commit, facts=each.facts, ranked=ranked, links=links[each.id], analysis=analysis_kept)
            )
        return tuple(found)

    def usage(self, ids: Sequence[int]) -> Usage:
        """What the model's analyses of these commits took, whenever they were made, and what was asked in vain of late."""
        if not self._modelling:
            return Usage()
        model = self._modelling.model
        in_vain = [_paid(each.meter, model) for each in self._in_vain(ids).values()]
        kept: list[Kept | _Paid] = [*self._by_model(ids).values(), *in_vain]

        def total(values: Sequence[float | None]) -> float | None:
            known = [value for value in values if value is not None]
            return sum(known) if known else None

        counts = {
            name: total([getattr(each, name) for each in kept])
            for name in ("input_tokens", "output_tokens", "cached_tokens")
        }
        return Usage(
            model=model.name,
            calls=sum(each.calls for each in kept),
            **{name: None if value is None else int(value) for name, value in counts.items()},
            cost_usd=total([each.cost_usd for each in kept]),
            removed_claims=sum(each.removed_claims for each in self._by_model(ids).values()),
        )

    def shortened(self, stored: Sequence[StoredCommit]) -> tuple[Shortened, ...]:
        """The commits of which the model was not shown everything."""
        kept = self._by_model([each.id for each in stored])
        return tuple(
            Shortened(sha=each.commit.sha, left_out=kept[each.id].left_out)
            for each in stored
            if each.id in kept and kept[each.id].left_out
        )

    def replaced(self, stored: Sequence[StoredCommit]) -> tuple[Failure, ...]:
        """The commits that rules analysed because the model failed, and why."""
        failed = self._in_vain([each.id for each in stored])
        return tuple(
            Failure(sha=each.commit.sha, stage="analyse", reason=failed[each.id].reason)
            for each in stored
            if each.id in failed
        )

    def _in_vain(self, ids: Sequence[int]) -> dict[int, ModelQuestion]:
        """Commit id -> the attempt of late that gave no analysis."""
        if not self._modelling:
            return {}
        found = {each: self._modelling.attempts.last((each, self._language)) for each in ids}
        return {each: attempt for each, attempt in found.items() if attempt}

    def _by_model(self, ids: Sequence[int]) -> dict[int, Kept]:
        return self._store.analyses(ids, self._language, self._modelling.model.name, PROMPT) if self._modelling else {}

    def _analyse(self, modelling: Modelling, commit_id: int) -> None:
        from analysis.llm import UsageCounter
        from analysis.writing.by_model import (
            Question,  # the SDK takes half a second to import, and a stored day needs no model
        )

        stored = self._store.commits([commit_id], patches=True)[0]
        ranked = rank(stored.commit, stored.facts, self._weights)
        contents = partial(self._contents, self._repository, stored.commit)
        question = Question(self._repository, stored.commit, stored.facts, ranked, self._language, contents)
        meter = UsageCounter()
        try:
            if self._lasting:
                raise self._lasting
            kept = self._within_budget(modelling, question, meter)
        except ModelFailure as exc:
            if exc.lasting:
                self._lasting = exc
            modelling.attempts.note((commit_id, self._language), exc.what, meter)
        else:
            self._store.save_analysis(commit_id, self._language, modelling.model.name, PROMPT, kept)
            modelling.attempts.succeeded()
        self._on_answer()

    def _within_budget(self, modelling: Modelling, question: "Question", meter: "UsageCounter") -> Kept:
        """Asks, with what it may cost put aside before and what it did cost counted after."""
        from analysis.writing.by_model import analyse, estimate

        with modelling.analysing(), modelling.paid(self._store, "digest", estimate(question), meter):
            analysed = analyse(question, modelling.model, meter)
        return Kept(
            analysis=analysed.analysis,
            importance=analysed.importance,
            move_reason=analysed.move_reason,
            left_out=analysed.left_out,
            removed_claims=analysed.removed,
            **_paid(meter, modelling.model)._asdict(),
        )


class _Paid(NamedTuple):
    """What a question took, under the names that the store and the report have for it."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


def _paid(meter: "UsageCounter", model: "ChatModel") -> _Paid:
    known = meter.input is not None
    cost = model.cost(meter.input or 0, meter.output or 0, meter.cached or 0) if known else None
    return _Paid(meter.calls, meter.input, meter.output, meter.cached, cost)


def _with_move(ranked: Ranked, kept: Kept) -> Ranked:
    """The ranking after the model's word, which is shown among the reasons."""
    if not kept.move_reason:
        return ranked
    reason = Reason(signal=MODEL, points=0.0, evidence=kept.move_reason)
    return ranked.model_copy(update={"importance": kept.importance, "reasons": (*ranked.reasons, reason)})
