"""Analysis of commits: by a model within its limits, in concurrent calls while a day is still being read, or by rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from analysis.consequences.titles import claims
from analysis.errors import ModelFailure
from analysis.impact.net_facts import NameInFile, added_facts, net_facts
from analysis.locale import catalogue
from analysis.models import (
    MOST_FILES,
    Entry,
    Fact,
    Failure,
    Language,
    Proof,
    Ranked,
    Reason,
    Released,
    Repository,
    Shortened,
    Usage,
)
from analysis.ranking import packaged_weights, rank
from analysis.writing.by_rules import VERSION as RULES_VERSION
from analysis.writing.by_rules import analyse_by_rules
from analysis.writing.prompts import VERSION as PROMPT
from analysis.writing.reasons import MODEL
from bot.services.commit_sources import CommitSource
from bot.services.limits import FailedCall, MeteredModel
from bot.store import Store, StoredAnalysis, StoredCommit

if TYPE_CHECKING:
    from analysis.llm import ChatModel, UsageCounter
    from analysis.writing.by_model import AnalysisRequest

_RULES = "rules"
_THREADS_A_CALL = 2  # while one waits for a reply, another writes the next prompt, or checks and stores the last reply


class Analyst:
    """Concurrent analysis of commits: `submit` returns at once, and leaving the `with` block waits for all replies."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        language: Language,
        model: MeteredModel | None,
        source: CommitSource,
        on_answer: Callable[[], None] = lambda: None,
        *,
        ask: bool = True,
    ) -> None:
        self._store = store
        self._repository = repository
        self._weights = packaged_weights(repository)
        self._language = language
        self._model = model = model if model and model.may_read(repository) else None
        self._source = source
        self._on_answer = on_answer
        self._calls: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(_THREADS_A_CALL * model.at_once) if model and ask else None
        self._lasting: ModelFailure | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=error is not None)
            for call in self._calls if error is None else ():
                call.result()  # re-raise our own bugs, which are not model failures

    def prepare(self) -> None:
        """Load what a call needs, in one thread: in eight at once it takes far longer. A stored day needs none of it."""
        if self._pool and self._model:
            from analysis.writing.by_model import load

            load(self._model.chat, self._language)

    def submit(self, commit_ids: Sequence[int]) -> None:
        """Queue for the model those commits that it has not analysed yet."""
        if not self._pool or not self._model:
            return
        unanalysed = self.unanalysed(commit_ids)
        if unanalysed:
            self.prepare()
        for commit_id in unanalysed:
            self._calls.append(self._pool.submit(self._analyse, self._model, commit_id))

    def unanalysed(self, commit_ids: Sequence[int]) -> list[int]:
        """Return the ids that still need a model call; recent failures are not retried."""
        if not self._pool:
            return []
        known = self._by_model(commit_ids).keys() | self._recent_failures(commit_ids).keys()
        return [commit_id for commit_id in commit_ids if commit_id not in known]

    def entries(self, stored: Sequence[StoredCommit]) -> tuple[Entry, ...]:
        """Return the commits with their analyses: the model's if there is one, otherwise the rules'."""
        ids = [each.id for each in stored]
        links = self._store.links(stored)
        released = self._source.first_releases([each.commit for each in stored])
        by_model = self._by_model(ids)
        by_rules = self._store.analyses(ids, self._language, _RULES, RULES_VERSION)
        found = []
        for each in stored:
            ranked = rank(each.commit, each.facts, self._weights)
            saved = by_model.get(each.id)
            if saved:
                ranked = _with_override(ranked, saved)
            elif each.commit.read:
                saved = by_rules.get(each.id)
                if saved is None or saved.importance is not ranked.importance:
                    written = analyse_by_rules(each.commit, each.facts, ranked, self._language)
                    saved = StoredAnalysis(analysis=written, importance=ranked.importance)
                    self._store.save_analysis(each.id, self._language, _RULES, RULES_VERSION, saved)
            analysis = saved.analysis if saved else None
            found.append(
                Entry(
                    commit=each.commit,
                    facts=each.facts,
                    ranked=ranked,
                    links=links[each.id],
                    analysis=analysis,
                    released=released.get(each.commit.sha, Released()),
                )
            )
        return tuple(found)

    def usage(self, ids: Sequence[int]) -> Usage:
        """Return the tokens and cost (USD) of these commits' model analyses, whenever made, including recent failed calls."""
        if not self._model:
            return Usage()
        chat = self._model.chat
        by_model = self._by_model(ids)
        failed = [_usage_fields(each.usage, chat) for each in self._recent_failures(ids).values()]

        def total(name: str) -> Any:
            values = [getattr(each, name) for each in (*by_model.values(), *failed)]
            known = [value for value in values if value is not None]
            return sum(known) if known else None

        return Usage(
            model=chat.name,
            calls=total("calls") or 0,
            input_tokens=total("input_tokens"),
            output_tokens=total("output_tokens"),
            cached_tokens=total("cached_tokens"),
            cost_usd=total("cost_usd"),
            removed_claims=sum(each.removed_claims for each in by_model.values()),
        )

    def shortened(self, stored: Sequence[StoredCommit]) -> tuple[Shortened, ...]:
        """Return the commits that were not read whole, or whose input to the model was truncated, and what was left out."""
        saved = self._by_model([each.id for each in stored])
        rest = catalogue(self._language)("all patches, and all but the first {count:,} files", count=MOST_FILES)
        left_out = {each.commit.sha: saved[each.id].left_out for each in stored if each.id in saved}
        left_out |= {each.commit.sha: (rest,) for each in stored if each.commit.is_cut}
        return tuple(Shortened(sha=sha, left_out=paths) for sha, paths in left_out.items() if paths)

    def replaced(self, stored: Sequence[StoredCommit]) -> tuple[Failure, ...]:
        """Return the commits analysed by rules because the model failed, with the reasons."""
        failed = self._recent_failures([each.id for each in stored])
        return tuple(
            Failure(sha=each.commit.sha, stage="analyse", reason=failed[each.id].reason)
            for each in stored
            if each.id in failed
        )

    def _recent_failures(self, ids: Sequence[int]) -> dict[int, FailedCall]:
        """Return commit id -> its recent failed call."""
        if not self._model:
            return {}
        found = {each: self._model.failures.recent((each, self._language)) for each in ids}
        return {each: attempt for each, attempt in found.items() if attempt}

    def _by_model(self, ids: Sequence[int]) -> dict[int, StoredAnalysis]:
        return self._store.analyses(ids, self._language, self._model.name, PROMPT) if self._model else {}

    def _analyse(self, model: MeteredModel, commit_id: int) -> None:
        with self._store.locks.alone(f"analysis {commit_id} {self._language} {model.name} {PROMPT}"):
            if self.unanalysed([commit_id]):  # another thread or process may have analysed it meanwhile
                self._ask_model(model, commit_id)
        self._on_answer()

    def _ask_model(self, model: MeteredModel, commit_id: int) -> None:
        from analysis.llm import UsageCounter
        from analysis.writing.by_model import AnalysisRequest

        stored = self._store.commits([commit_id], patches=True)[0]
        ranked = rank(stored.commit, stored.facts, self._weights)
        contents = partial(self._source.contents, stored.commit)
        request = AnalysisRequest(self._repository, stored.commit, stored.facts, ranked, self._language, contents)
        usage = UsageCounter()
        try:
            if self._lasting:
                raise self._lasting
            saved = self._within_budget(model, request, usage)
        except ModelFailure as exc:
            self._remember_lasting(exc)
            model.failures.record((commit_id, self._language), exc.what, usage)
        else:
            self._store.save_analysis(commit_id, self._language, model.name, PROMPT, saved)
            model.failures.succeeded()

    def _within_budget(self, model: MeteredModel, request: "AnalysisRequest", usage: "UsageCounter") -> StoredAnalysis:
        """Ask the model, holding a call slot and a reservation of the estimated cost during each call, and not in between."""
        from analysis.writing.by_model import analyse, estimate

        tokens = estimate(request)
        analysed = analyse(request, model.chat, usage, slot=lambda: self._slot(model, tokens, usage))
        return StoredAnalysis(
            analysis=analysed.analysis,
            importance=analysed.importance,
            move_reason=analysed.move_reason,
            left_out=analysed.left_out,
            removed_claims=analysed.removed,
            **_usage_fields(usage, model.chat)._asdict(),
        )

    @contextmanager
    def _slot(self, model: MeteredModel, tokens: tuple[int, int], usage: "UsageCounter") -> Iterator[None]:
        """Hold a call slot. A failure that lasts is known before the slot is free, so that whoever waits makes no call."""
        with model.call("digest", tokens, usage):
            if self._lasting:
                raise self._lasting
            try:
                yield
            except ModelFailure as exc:
                self._remember_lasting(exc)
                raise

    def _remember_lasting(self, failure: ModelFailure) -> None:
        if failure.lasting:
            self._lasting = failure


class _UsageFields(NamedTuple):
    """Usage of a model call, under the field names of the store and the report."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


def _usage_fields(usage: "UsageCounter", chat: "ChatModel") -> _UsageFields:
    known = usage.input is not None
    cost = chat.cost(usage.input or 0, usage.output or 0, usage.cached or 0) if known else None
    return _UsageFields(usage.calls, usage.input, usage.output, usage.cached, cost)


def _with_override(ranked: Ranked, saved: StoredAnalysis) -> Ranked:
    """Return the ranking with the model's tier override, which is listed among the reasons."""
    if not saved.move_reason:
        return ranked
    reason = Reason(signal=MODEL, points=0.0, evidence=saved.move_reason)
    return ranked.model_copy(update={"importance": saved.importance, "reasons": (*ranked.reasons, reason)})


def net_changes(
    store: Store, source: CommitSource, stored: Sequence[StoredCommit], entries: Sequence[Entry]
) -> dict[str, tuple[Fact, ...]]:
    """Return SHA -> what a window's commits change in sum, where that differs from their own facts.

    It is found in the patches, and the files, of those that touch the same files.
    """
    ids = {each.commit.sha: each.id for each in stored}
    by_files = {each.commit.sha for each in stored if each.proof is Proof.FILES}

    def additions(wanted: Mapping[str, frozenset[NameInFile]]) -> dict[str, tuple[Fact, ...]]:
        whole = [each.commit for each in store.commits([ids[sha] for sha in wanted], patches=True)]
        trees = {each.sha: source.trees(each) for each in whole if each.sha in by_files}
        return {each.sha: added_facts(each, wanted[each.sha], trees.get(each.sha)) for each in whole}

    newest_first = sorted(entries, key=lambda entry: entry.commit.committed_at, reverse=True)
    return net_facts(newest_first[::-1], additions)


def with_needed_patches(store: Store, ids: Mapping[str, int], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries, those whose consequences a patch tells with theirs; `ids` maps the SHA of each to its id.

    A patch may name the replacement of what goes, and it shows whether a title is right that says something is added.
    """
    removing = (any(fact.removes and not fact.new for fact in each.facts) for each in entries)
    wanted = [ids[each.commit.sha] for each, goes in zip(entries, removing, strict=True) if goes or claims(each.commit)]
    whole = {each.commit.sha: each.commit for each in store.commits(wanted, patches=True)} if wanted else {}
    return tuple(each.model_copy(update={"commit": whole.get(each.commit.sha, each.commit)}) for each in entries)
